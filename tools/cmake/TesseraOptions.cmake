# Flags that hold for every target of ours.

include(CheckLinkerFlag)
include(CheckCXXCompilerFlag)

add_compile_options(-Wall -Wextra -Wno-unused-parameter -Werror=unused-result)
if(TESSERA_WERROR)
  add_compile_options(-Werror)
endif()

# Programs are compiled with it too, so that they share precompiled headers with
# the libraries.
add_compile_options(-fPIC)

# Line tables are enough to debug with and a tenth of the size of full debug
# information, which MLIR's templates inflate.
set(CMAKE_CXX_FLAGS_RELWITHDEBINFO "-O2 -gline-tables-only")
set(CMAKE_C_FLAGS_RELWITHDEBINFO "-O2 -gline-tables-only")
if(NOT CMAKE_CXX_COMPILER_ID MATCHES "Clang")
  set(CMAKE_CXX_FLAGS_RELWITHDEBINFO "-O2 -g1")
  set(CMAKE_C_FLAGS_RELWITHDEBINFO "-O2 -g1")
endif()

# lld links the static LLVM in about a second; GNU ld needs six.
check_linker_flag(CXX -fuse-ld=lld TESSERA_HAS_LLD)
if(TESSERA_HAS_LLD)
  add_link_options(-fuse-ld=lld)
endif()
add_compile_options(-ffunction-sections -fdata-sections)
add_link_options(-Wl,--gc-sections -Wl,--as-needed)
# The symbols of the LLVM inside would be a third of the library.
add_link_options($<$<CONFIG:Release>:-s>)

find_program(TESSERA_CCACHE ccache)
if(TESSERA_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  # Paths below the checkout are hashed as relative ones, so that every checkout
  # and build folder of this machine shares what one of them has compiled. Line
  # tables then hold the paths of the first (gdb's `set substitute-path`).
  # Precompiled headers need the sloppiness.
  set(launcher env CCACHE_SLOPPINESS=pch_defines,time_macros
    CCACHE_BASEDIR=${CMAKE_SOURCE_DIR} CCACHE_NOHASHDIR=1 ${TESSERA_CCACHE})
  set(CMAKE_C_COMPILER_LAUNCHER ${launcher})
  set(CMAKE_CXX_COMPILER_LAUNCHER ${launcher})
endif()
