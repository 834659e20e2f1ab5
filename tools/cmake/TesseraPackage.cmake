# Installs files other than programs and libraries, and configures `cpack`,
# which makes a Debian package of everything that is installed.
include(GNUInstallDirs)
install(DIRECTORY docs/ DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(DIRECTORY test/sweep/lists DESTINATION ${CMAKE_INSTALL_DOCDIR}/examples)
install(FILES LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME tessera)
# The project has no address; RFC 2606 reserves .invalid, so that nobody has
# this one.
set(CPACK_PACKAGE_CONTACT "The Tessera authors <authors@tessera.invalid>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY
  "compiler of deep learning primitives behind MIOpen's C API")
set(CPACK_DEBIAN_PACKAGE_DESCRIPTION
"Tessera answers to the names of AMD's MIOpen: a problem comes in through its
C API, a GPU kernel compiled for exactly that problem goes out, and is kept in
a database. There are convolutions, poolings, normalisations, reductions and
operations on elements, for AMD's and NVIDIA's chips.

The package has the library, its compiler, an emulated device that runs AMD's
code objects on machines without a GPU, HIP over NVIDIA's driver, headers, and
the programs dnn-driver, dnn-emu, dnn-fit, dnn-onnx, dnn-opt, dnn-sweep and
dnn-tune. It can be installed beside MIOpen: nothing finds this library in
MIOpen's place unless it is told to.")
# The prefix is a folder of its own, because the files have the names of AMD's
# (tools/debian/arrange.cmake).
set(CPACK_PACKAGING_INSTALL_PREFIX
  /usr/lib/${CMAKE_LIBRARY_ARCHITECTURE}/tessera)
set(CPACK_PRE_BUILD_SCRIPTS ${CMAKE_CURRENT_SOURCE_DIR}/tools/debian/arrange.cmake)
set(CPACK_TESSERA_LIBDIR ${CMAKE_INSTALL_LIBDIR})
set(CPACK_STRIP_FILES ON)
set(CPACK_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS
  OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE
  WORLD_READ WORLD_EXECUTE)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_RELEASE 1)
set(CPACK_DEBIAN_PACKAGE_SECTION libs)
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
# MIOpen's headers include HIP's.
set(CPACK_DEBIAN_PACKAGE_SUGGESTS libamdhip64-dev)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
# Libraries of the package that depend on one another.
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS_PRIVATE_DIRS ${CMAKE_LIBRARY_OUTPUT_DIRECTORY})
include(CPack)
