# Precompiled headers: the headers that most sources of a kind include, compiled
# once.
#
# CMake's own precompiled headers hold paths of the checkout, so that no two
# build folders have the same one, and ccache, which hashes what a source
# includes, would find nothing that another folder has compiled. Here the main
# file is a small header of the C library, and the headers are included before
# it.
#
# A source still includes what it uses, because -DTESSERA_PCH=OFF and compilers
# other than clang have no precompiled header.
option(TESSERA_PCH "Use precompiled headers (clang only)" ON)
if(NOT CMAKE_CXX_COMPILER_ID MATCHES "Clang")
  set(TESSERA_PCH OFF)
endif()

find_file(TESSERA_STDINT_H stdint.h REQUIRED)

# tessera_add_pch(NAME HEADER... [LINK library...] [OPTIONS flag...])
# A precompiled header of the HEADERs, with the definitions and include directories
# of the libraries, compiled with the flags of its users.
function(tessera_add_pch name)
  if(NOT TESSERA_PCH)
    return()
  endif()
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "LINK;OPTIONS")
  list(TRANSFORM arg_UNPARSED_ARGUMENTS PREPEND "SHELL:-include ")
  set_source_files_properties(${TESSERA_STDINT_H} PROPERTIES LANGUAGE CXX)
  add_library(tessera_${name}_pch OBJECT ${TESSERA_STDINT_H})
  target_link_libraries(tessera_${name}_pch PRIVATE ${arg_LINK})
  # Without time stamps its bytes depend only on its contents.
  target_compile_options(tessera_${name}_pch PRIVATE
    "SHELL:-x c++-header" ${arg_UNPARSED_ARGUMENTS} ${arg_OPTIONS}
    "SHELL:-Xclang -fno-pch-timestamp" -fpch-instantiate-templates)
  # Objects of other targets can depend on this file, but not on an object
  # library.
  set(stamp ${CMAKE_BINARY_DIR}/tessera_${name}_pch.stamp)
  add_custom_command(OUTPUT ${stamp}
    COMMAND ${CMAKE_COMMAND} -E touch ${stamp}
    DEPENDS $<TARGET_OBJECTS:tessera_${name}_pch> VERBATIM)
  add_custom_target(tessera_${name}_pch_is_made DEPENDS ${stamp})
endfunction()

# tessera_use_pch(NAME target...)
# Lets the C++ sources of the targets begin with a precompiled header. They must
# be compiled with the flags of all (no -march of their own).
function(tessera_use_pch name)
  if(NOT TESSERA_PCH)
    return()
  endif()
  set(pch $<TARGET_OBJECTS:tessera_${name}_pch>)
  foreach(target IN LISTS ARGN)
    add_dependencies(${target} tessera_${name}_pch_is_made)
    # clang's list of an object's dependencies leaves precompiled headers out.
    get_target_property(sources ${target} SOURCES)
    get_target_property(folder ${target} SOURCE_DIR)
    list(FILTER sources INCLUDE REGEX "\\.cpp$")
    foreach(source IN LISTS sources)
      cmake_path(ABSOLUTE_PATH source BASE_DIRECTORY ${folder})
      set_property(SOURCE ${source} TARGET_DIRECTORY ${target} APPEND
        PROPERTY OBJECT_DEPENDS ${CMAKE_BINARY_DIR}/tessera_${name}_pch.stamp)
    endforeach()
    target_compile_options(${target} PRIVATE
      "$<$<COMPILE_LANGUAGE:CXX>:SHELL:-Xclang -include-pch -Xclang ${pch}>")
  endforeach()
endfunction()

tessera_add_pch(std
  algorithm array chrono filesystem fstream functional map memory mutex optional
  set span sstream string string_view thread unordered_map utility variant vector)
