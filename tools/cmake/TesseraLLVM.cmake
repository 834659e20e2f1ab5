# Finds MLIR, LLVM and LLD 22.1 and makes them link statically.
#
# Debian builds LLVM with one shared library, and every exported MLIR and LLD
# archive names that library in its interface. A process that uses our library
# may hold another LLVM (PyTorch, AMD's comgr), so ours must be inside, with
# hidden symbols: the interface entries are replaced by the component archives.

list(PREPEND CMAKE_PREFIX_PATH /usr/lib/llvm-22)
find_package(MLIR 22.1 REQUIRED CONFIG)
find_package(LLD 22.1 REQUIRED CONFIG)
tessera_use_archive(ZLIB::ZLIB z)
tessera_use_archive(zstd::libzstd_shared zstd)
list(APPEND CMAKE_MODULE_PATH "${MLIR_CMAKE_DIR}" "${LLVM_CMAKE_DIR}")
set(MLIR_BINARY_DIR ${CMAKE_BINARY_DIR})
include(TableGen)
include(AddLLVM)
include(AddMLIR)

separate_arguments(TESSERA_LLVM_DEFINITIONS NATIVE_COMMAND ${LLVM_DEFINITIONS})
list(FILTER TESSERA_LLVM_DEFINITIONS INCLUDE REGEX "^-D")
list(TRANSFORM TESSERA_LLVM_DEFINITIONS REPLACE "^-D" "")

llvm_map_components_to_libnames(llvm_archives
  core support irreader passes target codegen mc mcparser mcdisassembler object
  amdgpucodegen amdgpuasmparser amdgpudesc amdgpuinfo amdgpudisassembler
  nvptxcodegen nvptxdesc nvptxinfo lto dtlto linker ipo bitwriter bitreader
  option frontendopenmp)

foreach(target IN LISTS MLIR_EXPORTED_TARGETS LLD_EXPORTED_TARGETS)
  if(TARGET ${target})
    get_target_property(libraries ${target} INTERFACE_LINK_LIBRARIES)
    if(libraries)
      list(TRANSFORM libraries REPLACE "^LLVM$" "tessera_llvm")
      set_property(TARGET ${target}
        PROPERTY INTERFACE_LINK_LIBRARIES "${libraries}")
    endif()
  endif()
endforeach()
# LLVMLTO needs LLVMExtensions, which needs Polly, which no package that we
# install has: LLVMStubs.cpp replaces it.
get_target_property(libraries LLVMExtensions INTERFACE_LINK_LIBRARIES)
list(REMOVE_ITEM libraries Polly)
set_property(TARGET LLVMExtensions
  PROPERTY INTERFACE_LINK_LIBRARIES "${libraries}")

# Everything of LLVM that the compiler needs.
add_library(tessera_llvm INTERFACE)
target_link_libraries(tessera_llvm INTERFACE ${llvm_archives})

# Our targets that include LLVM or MLIR headers link this.
add_library(tessera_llvm_headers INTERFACE)
target_include_directories(tessera_llvm_headers SYSTEM INTERFACE
  ${LLVM_INCLUDE_DIRS} ${MLIR_INCLUDE_DIRS} ${CMAKE_BINARY_DIR})
target_compile_definitions(tessera_llvm_headers INTERFACE
  ${TESSERA_LLVM_DEFINITIONS})

# Reading MLIR's headers takes three to twelve seconds, so they are precompiled.
# tessera_llvm_headers would put the build folder's path into the precompiled
# header.
add_library(tessera_installed_llvm INTERFACE)
target_include_directories(tessera_installed_llvm SYSTEM INTERFACE
  ${LLVM_INCLUDE_DIRS} ${MLIR_INCLUDE_DIRS})
target_compile_definitions(tessera_installed_llvm INTERFACE
  ${TESSERA_LLVM_DEFINITIONS})
tessera_add_pch(mlir
  mlir/IR/Builders.h
  mlir/IR/BuiltinOps.h
  mlir/IR/IRMapping.h
  mlir/IR/Matchers.h
  mlir/IR/OpImplementation.h
  mlir/IR/PatternMatch.h
  mlir/IR/TypeUtilities.h
  mlir/Pass/Pass.h
  mlir/Dialect/Arith/IR/Arith.h
  mlir/Dialect/Func/IR/FuncOps.h
  mlir/Dialect/GPU/IR/GPUDialect.h
  mlir/Dialect/LLVMIR/LLVMDialect.h
  mlir/Dialect/LLVMIR/NVVMDialect.h
  mlir/Dialect/LLVMIR/ROCDLDialect.h
  mlir/Dialect/Math/IR/Math.h
  mlir/Dialect/MemRef/IR/MemRef.h
  mlir/Dialect/SCF/IR/SCF.h
  mlir/Dialect/Vector/IR/VectorOps.h
  LINK tessera_installed_llvm)
