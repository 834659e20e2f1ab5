# Helpers that give our targets the same settings.

# tessera_add_library(NAME source... [LINK library...] [PCH name])
# A static library whose headers are included from the repository root. PCH is the
# precompiled header of its sources (TesseraPch.cmake): std, mlir or none; the
# default is std.
function(tessera_add_library name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "PCH" "LINK")
  add_library(${name} STATIC ${arg_UNPARSED_ARGUMENTS})
  target_include_directories(${name} PUBLIC ${CMAKE_SOURCE_DIR})
  target_link_libraries(${name} PUBLIC ${arg_LINK})
  if(NOT arg_PCH)
    set(arg_PCH std)
  endif()
  if(NOT arg_PCH STREQUAL none)
    tessera_use_pch(${arg_PCH} ${name})
  endif()
endfunction()

# tessera_add_test_program(NAME source... [LINK library...] [PCH name])
# A GoogleTest executable that its caller adds to ctest, perhaps more than once. PCH
# is as above, with the default gtest. Sources with gtest are not optimised: nearly
# all their time is spent in the libraries that they call, and they compile in half
# the time. A test that computes by itself uses gtest_optimized.
function(tessera_add_test_program name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "PCH" "LINK")
  add_executable(${name} ${arg_UNPARSED_ARGUMENTS})
  target_include_directories(${name} PRIVATE ${CMAKE_SOURCE_DIR})
  target_link_libraries(${name} PRIVATE ${arg_LINK} GTest::gtest_main)
  if(NOT arg_PCH)
    set(arg_PCH gtest)
    target_compile_options(${name} PRIVATE -O0)
  endif()
  tessera_use_pch(${arg_PCH} ${name})
endfunction()

# tessera_add_test(NAME source... [LINK library...] [PCH name])
# Like tessera_add_test_program(); ctest runs it as one test.
function(tessera_add_test name)
  tessera_add_test_program(${ARGV})
  add_test(NAME ${name} COMMAND ${name})
endfunction()
