# cpack runs this on the files that it has installed, before it packs them. The
# library has the name of AMD's, so the package is a prefix of its own below the
# libraries' folder, where the loader and CMake do not look by default (Debian's
# Open MPI and LLVM have the same structure). This adds links to the prefix from
# the folders where Debian looks: programs, tessera.pc, tessera-config.cmake,
# and the documents with what policy asks for.

set(root ${CPACK_TEMPORARY_DIRECTORY})
set(prefix ${root}${CPACK_PACKAGING_INSTALL_PREFIX})
cmake_path(GET CPACK_PACKAGING_INSTALL_PREFIX PARENT_PATH libraries)
set(ours ${CMAKE_CURRENT_LIST_DIR})

# Links have our own names only: MIOpenDriver stays in the prefix.
file(MAKE_DIRECTORY ${root}/usr/bin)
file(GLOB programs RELATIVE ${prefix}/bin ${prefix}/bin/dnn-*)
foreach(program IN LISTS programs)
  file(RELATIVE_PATH target ${root}/usr/bin ${prefix}/bin/${program})
  file(CREATE_LINK ${target} ${root}/usr/bin/${program} SYMBOLIC)
endforeach()

# A program that links us by our own name also finds us when it runs: by a
# RUNPATH, which LD_LIBRARY_PATH overrules, so that it still runs with AMD's
# library.
file(READ ${prefix}/${CPACK_TESSERA_LIBDIR}/pkgconfig/miopen.pc text)
string(REGEX REPLACE "prefix=[^\n]*" "prefix=\${pcfiledir}/../tessera" text
  "${text}")
string(REPLACE "Libs: " "Libs: -Wl,-rpath,\${libdir} " text "${text}")
file(WRITE ${root}${libraries}/pkgconfig/tessera.pc "${text}")

set(config ${root}${libraries}/cmake/tessera)
file(WRITE ${config}/tessera-config.cmake
  "include(\${CMAKE_CURRENT_LIST_DIR}/../../tessera/${CPACK_TESSERA_LIBDIR}/cmake/miopen/miopen-config.cmake)\n")
configure_file(${prefix}/${CPACK_TESSERA_LIBDIR}/cmake/miopen/miopen-config-version.cmake
  ${config}/tessera-config-version.cmake COPYONLY)

file(MAKE_DIRECTORY ${root}/usr/share/doc)
file(RENAME ${prefix}/share/doc/tessera ${root}/usr/share/doc/tessera)
execute_process(COMMAND rmdir -p share/doc WORKING_DIRECTORY ${prefix}
  COMMAND_ERROR_IS_FATAL ANY) # The folder has nothing else.
# The file `copyright` has the same text.
file(REMOVE ${root}/usr/share/doc/tessera/LICENSE)
configure_file(${ours}/copyright ${root}/usr/share/doc/tessera/copyright COPYONLY)

file(STRINGS ${ours}/changelog newest LIMIT_COUNT 1)
set(version ${CPACK_PACKAGE_VERSION}-${CPACK_DEBIAN_PACKAGE_RELEASE})
if(NOT newest MATCHES "^tessera \\(${version}\\) ")
  message(FATAL_ERROR "tools/debian/changelog begins with '${newest}', but the "
    "package is version ${version}: add an entry")
endif()
execute_process(COMMAND gzip -9n INPUT_FILE ${ours}/changelog
  OUTPUT_FILE ${root}/usr/share/doc/tessera/changelog.Debian.gz
  COMMAND_ERROR_IS_FATAL ANY)
