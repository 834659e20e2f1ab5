# A project of somebody else, in the words that AMD's package is used with; PACKAGE
# is its name, miopen, or our own.
cmake_minimum_required(VERSION 3.20)
project(client LANGUAGES C CXX)

find_package(${PACKAGE} 3.0 REQUIRED)
add_executable(client client.c)
target_link_libraries(client PRIVATE MIOpen)
add_executable(client-cpp client.cpp)
target_link_libraries(client-cpp PRIVATE MIOpen)

# The same through pkg-config.
find_package(PkgConfig REQUIRED)
pkg_check_modules(miopen_pc REQUIRED IMPORTED_TARGET ${PACKAGE}>=3.0)
add_executable(client-pc client.c)
target_link_libraries(client-pc PRIVATE PkgConfig::miopen_pc)
