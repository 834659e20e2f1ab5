# Builds and runs a project against what lies under ${prefix}. Included by
# check_install.cmake and check_package.cmake, which say what the variables are.

set(ENV{PKG_CONFIG_PATH} "")
foreach(folder lib lib64 lib/x86_64-linux-gnu)
  string(APPEND path "${prefix}/${folder}/pkgconfig:")
endforeach()
set(ENV{PKG_CONFIG_PATH} ${path})

file(COPY ${SOURCE}/client.c ${SOURCE}/client.cpp DESTINATION ${WORK}/source)
file(COPY_FILE ${SOURCE}/project.cmake ${WORK}/source/CMakeLists.txt)
run(${CMAKE_COMMAND} -S ${WORK}/source -B ${WORK}/build -G ${GENERATOR}
  -DCMAKE_PREFIX_PATH=${prefix} -DCMAKE_C_COMPILER=${C}
  -DCMAKE_CXX_COMPILER=${CXX})
run(${CMAKE_COMMAND} --build ${WORK}/build)
foreach(program client client-cpp client-pc)
  run(${WORK}/build/${program})
  # It records MIOpen's name, so that it runs with AMD's library too.
  execute_process(COMMAND ${OBJDUMP} -p ${WORK}/build/${program}
    OUTPUT_VARIABLE headers COMMAND_ERROR_IS_FATAL ANY)
  if(NOT headers MATCHES "NEEDED +libMIOpen.so.1\n"
      OR headers MATCHES "NEEDED +libtessera")
    message(FATAL_ERROR
      "${program} does not name libMIOpen.so.1 as its library:\n${headers}")
  endif()
endforeach()
