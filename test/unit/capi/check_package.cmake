# Packs everything, unpacks the package somewhere else, and builds and runs a
# project against it: nothing in it may name the place where it was made.
#
#   cmake -DCPACK=... -DBUILD=... -DSOURCE=... -DWORK=... -DC=... -DCXX=...
#         -DGENERATOR=... -DOBJDUMP=... -P check_package.cmake

function(run)
  execute_process(COMMAND ${ARGV} COMMAND_ERROR_IS_FATAL ANY)
endfunction()

file(REMOVE_RECURSE ${WORK})
# Not compressed: only the content is looked at.
run(${CPACK} --config ${BUILD}/CPackConfig.cmake -B ${WORK}/package
  -D CPACK_DEBIAN_COMPRESSION_TYPE=none)
file(GLOB package ${WORK}/package/tessera_*.deb)
run(dpkg-deb --extract ${package} ${WORK}/root)
set(prefix ${WORK}/root/opt/tessera)
foreach(file lib/libMIOpen.so.1 lib/libtessera-compiler.so
    lib/libtessera-emulator.so libexec/tessera/tessera-compile-worker
    bin/dnn-opt bin/dnn-driver include/miopen/miopen.h)
  if(NOT EXISTS ${prefix}/${file})
    message(FATAL_ERROR "the package lacks ${file}")
  endif()
endforeach()
include(${CMAKE_CURRENT_LIST_DIR}/check_client.cmake)
file(REMOVE_RECURSE ${WORK}) # Half a gigabyte.
