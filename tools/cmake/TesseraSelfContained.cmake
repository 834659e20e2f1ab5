# TESSERA_SELF_CONTAINED: programs and libraries that need only glibc of the
# machine, so that they can be copied to one with a GPU and little else. glibc
# itself stays shared: a static one cannot open the GPU's driver.
option(TESSERA_SELF_CONTAINED
  "Link everything but glibc statically, and find libraries by relative paths" OFF)

if(TESSERA_SELF_CONTAINED)
  add_link_options(-static-libstdc++ -static-libgcc -s)
  set(CMAKE_BUILD_RPATH_USE_ORIGIN ON)
endif()

# tessera_use_archive(TARGET NAME): whatever links the imported TARGET gets
# libNAME.a.
function(tessera_use_archive target name)
  if(NOT TESSERA_SELF_CONTAINED OR NOT TARGET ${target})
    return()
  endif()
  find_library(TESSERA_ARCHIVE_${name} NAMES lib${name}.a REQUIRED)
  foreach(suffix "" _NONE _RELEASE _RELWITHDEBINFO)
    set_target_properties(${target} PROPERTIES
      IMPORTED_LOCATION${suffix} ${TESSERA_ARCHIVE_${name}})
  endforeach()
endfunction()
