# Installs what clients need, and builds and runs a project against it.
#
#   cmake -DBUILD=... -DSOURCE=... -DWORK=... -DC=... -DCXX=... -DGENERATOR=...
#         -DOBJDUMP=... -P check_install.cmake

function(run)
  execute_process(COMMAND ${ARGV} COMMAND_ERROR_IS_FATAL ANY)
endfunction()

set(prefix ${WORK}/prefix)
file(REMOVE_RECURSE ${WORK})
run(${CMAKE_COMMAND} --install ${BUILD} --prefix ${prefix} --component capi)
include(${CMAKE_CURRENT_LIST_DIR}/check_client.cmake)
