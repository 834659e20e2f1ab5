# Makes the Debian package, checks it with lintian, unpacks it in another folder,
# and builds and runs a project against it: no file in it may contain the path where
# it was made.
#
#   cmake -DCPACK=... -DBUILD=... -DLIBDIR=... -DSOURCE=... -DWORK=... -DC=...
#         -DCXX=... -DGENERATOR=... -DOBJDUMP=... -DLINTIAN=... -P check_package.cmake

function(run)
  execute_process(COMMAND ${ARGV} COMMAND_ERROR_IS_FATAL ANY)
endfunction()

file(REMOVE_RECURSE ${WORK})
# The package is not compressed, which saves time; lintian must not complain of it.
run(${CPACK} --config ${BUILD}/CPackConfig.cmake -B ${WORK}/package
  -D CPACK_DEBIAN_COMPRESSION_TYPE=none)
file(GLOB package ${WORK}/package/tessera_*.deb)
if(LINTIAN)
  run(${LINTIAN} --allow-root --fail-on error --tag-display-limit 0
    --suppress-tags uses-no-compression-for-data-tarball ${package})
endif()
run(dpkg-deb --extract ${package} ${WORK}/root)
file(REMOVE_RECURSE ${WORK}/package)

# No file may have the path of a file of AMD's package, or be where the loader, the
# compiler and CMake look for MIOpen by default.
file(GLOB_RECURSE files LIST_DIRECTORIES false RELATIVE ${WORK}/root ${WORK}/root/*)
set(libraries usr/lib/x86_64-linux-gnu)
foreach(file IN LISTS files)
  if(NOT file MATCHES "^${libraries}/tessera/|^usr/share/doc/tessera/"
      AND NOT file MATCHES "^usr/bin/dnn-[a-z]+$"
      AND NOT file MATCHES "^${libraries}/(pkgconfig/tessera.pc|cmake/tessera/tessera-)")
    message(FATAL_ERROR "the package has the file ${file}")
  endif()
endforeach()
set(prefix ${WORK}/root/${libraries}/tessera)
set(documents ${WORK}/root/usr/share/doc/tessera)
foreach(file ${LIBDIR}/libMIOpen.so.1 ${LIBDIR}/libtessera-compiler.so
    ${LIBDIR}/libtessera-emulator.so libexec/tessera/tessera-compile-worker
    bin/MIOpenDriver include/miopen/miopen.h)
  if(NOT EXISTS ${prefix}/${file})
    message(FATAL_ERROR "the package lacks ${file}")
  endif()
endforeach()
foreach(file copyright changelog.Debian.gz)
  if(NOT EXISTS ${documents}/${file})
    message(FATAL_ERROR "the package lacks Debian's ${file}")
  endif()
endforeach()

# The name tessera is found in Debian's default paths, MIOpen's name only in the
# folder of the package.
set(name tessera)
set(ENV{CMAKE_PREFIX_PATH} ${WORK}/root/usr)
set(ENV{PKG_CONFIG_PATH} ${WORK}/root/${libraries}/pkgconfig)
include(${CMAKE_CURRENT_LIST_DIR}/check_client.cmake)
set(ENV{CMAKE_PREFIX_PATH} ${prefix})
set(programs ${WORK}/root/usr/bin)
set(loader_path ${prefix}/${LIBDIR}/hip)
include(${CMAKE_CURRENT_LIST_DIR}/check_programs.cmake)
file(REMOVE_RECURSE ${WORK}) # Half a gigabyte.
