# Builds and runs a project against the package ${name}, which CMake and pkg-config
# find by their environment variables. check_install.cmake and check_package.cmake
# include this file and document the other variables.

file(COPY ${SOURCE}/client.c ${SOURCE}/client.cpp DESTINATION ${WORK}/source)
file(COPY_FILE ${SOURCE}/project.cmake ${WORK}/source/CMakeLists.txt)
run(${CMAKE_COMMAND} -S ${WORK}/source -B ${WORK}/build -G ${GENERATOR}
  -DPACKAGE=${name} -DCMAKE_C_COMPILER=${C} -DCMAKE_CXX_COMPILER=${CXX})
run(${CMAKE_COMMAND} --build ${WORK}/build)
foreach(program client client-cpp client-pc)
  run(${WORK}/build/${program})
  # The client needs the library by MIOpen's name, so that it runs with AMD's too.
  execute_process(COMMAND ${OBJDUMP} -p ${WORK}/build/${program}
    OUTPUT_VARIABLE headers COMMAND_ERROR_IS_FATAL ANY)
  if(NOT headers MATCHES "NEEDED +libMIOpen.so.1\n"
      OR headers MATCHES "NEEDED +libtessera")
    message(FATAL_ERROR
      "${program} does not name libMIOpen.so.1 as its library:\n${headers}")
  endif()
endforeach()
