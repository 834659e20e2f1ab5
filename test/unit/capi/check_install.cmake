# Installs the component that clients need, and builds and runs a project against
# it; then installs all other components and runs the programs.
#
#   cmake -DBUILD=... -DLIBDIR=... -DSOURCE=... -DWORK=... -DC=... -DCXX=...
#         -DGENERATOR=... -DOBJDUMP=... -P check_install.cmake

function(run)
  execute_process(COMMAND ${ARGV} COMMAND_ERROR_IS_FATAL ANY)
endfunction()

set(prefix ${WORK}/prefix)
file(REMOVE_RECURSE ${WORK})
run(${CMAKE_COMMAND} --install ${BUILD} --prefix ${prefix} --component capi)
set(ENV{CMAKE_PREFIX_PATH} ${prefix})
set(ENV{PKG_CONFIG_PATH} ${prefix}/${LIBDIR}/pkgconfig)
set(name miopen)
include(${CMAKE_CURRENT_LIST_DIR}/check_client.cmake)

run(${CMAKE_COMMAND} --install ${BUILD} --prefix ${prefix})
set(programs ${prefix}/bin)
set(documents ${prefix}/share/doc/tessera)
set(loader_path ${prefix}/${LIBDIR}:${prefix}/${LIBDIR}/hip)
include(${CMAKE_CURRENT_LIST_DIR}/check_programs.cmake)
file(REMOVE_RECURSE ${WORK}) # Half a gigabyte.
