# tessera_add_lanes(NAME source... [LINK library...])
# A static library whose sources are compiled twice, for hosts with AVX2 and for
# hosts with AVX-512. Each half becomes one object file with a single global
# symbol, tesseraAddOpcodesAvx2 or tesseraAddOpcodesAvx512: if the two shared
# inline functions, as C++ allows, an old host could execute the code of a new
# one. Under the address sanitizer its flag stays global too; each library has
# one of them.
find_program(TESSERA_LD NAMES ld.bfd REQUIRED)

function(tessera_add_lanes name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "LINK")
  _tessera_add_half(Avx2 -march=x86-64-v3)
  _tessera_add_half(Avx512 -march=x86-64-v4 -mprefer-vector-width=512)
  add_library(${name} STATIC ${halves})
  set_target_properties(${name} PROPERTIES LINKER_LANGUAGE CXX)
  target_include_directories(${name} PUBLIC ${CMAKE_SOURCE_DIR})
  target_link_libraries(${name} PUBLIC ${arg_LINK})
endfunction()

# Appends the object file of one half to `halves` of the caller.
macro(_tessera_add_half half)
  set(objects ${name}${half})
  add_library(${objects} OBJECT ${arg_UNPARSED_ARGUMENTS})
  target_include_directories(${objects} PRIVATE ${CMAKE_SOURCE_DIR})
  target_compile_definitions(${objects} PRIVATE
    TESSERA_ADD_OPCODES=tesseraAddOpcodes${half})
  target_compile_options(${objects} PRIVATE
    -O3 -fno-math-errno -Wno-pass-failed -ffp-contract=off ${ARGN})
  set(half_object ${CMAKE_CURRENT_BINARY_DIR}/${objects}.o)
  add_custom_command(OUTPUT ${half_object}
    COMMAND ${TESSERA_LD} -r --force-group-allocation -o ${half_object}
      $<TARGET_OBJECTS:${objects}>
    COMMAND ${CMAKE_OBJCOPY} --keep-global-symbol=tesseraAddOpcodes${half}
      --keep-global-symbol=___asan_globals_registered ${half_object}
    DEPENDS ${objects} $<TARGET_OBJECTS:${objects}>
    COMMAND_EXPAND_LISTS VERBATIM
    COMMENT "Sealing ${objects}")
  set_source_files_properties(${half_object} PROPERTIES
    EXTERNAL_OBJECT TRUE GENERATED TRUE)
  list(APPEND halves ${half_object})
endmacro()
