# A client's project, written as for AMD's package. PACKAGE is miopen, the name of
# that package, or tessera.
cmake_minimum_required(VERSION 3.20)
project(client LANGUAGES C CXX)

find_package(${PACKAGE} 3.0 REQUIRED)
add_executable(client client.c)
target_link_libraries(client PRIVATE MIOpen)
add_executable(client-cpp client.cpp)
target_link_libraries(client-cpp PRIVATE MIOpen)

# The same client, by pkg-config.
find_package(PkgConfig REQUIRED)
pkg_check_modules(miopen_pc REQUIRED IMPORTED_TARGET ${PACKAGE}>=3.0)
add_executable(client-pc client.c)
target_link_libraries(client-pc PRIVATE PkgConfig::miopen_pc)
