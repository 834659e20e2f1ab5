# Compares what a shared library exports with the reviewed list, both ways.
#
#   cmake -DNM=... -DLIBRARY=... -DMAP=... -P check_exports.cmake

execute_process(COMMAND ${NM} -D --defined-only ${LIBRARY}
  OUTPUT_VARIABLE symbols COMMAND_ERROR_IS_FATAL ANY)
string(REGEX MATCHALL "[0-9a-f]+ [A-Za-z] [^\n]+" symbols "${symbols}")
list(TRANSFORM symbols REPLACE "^[0-9a-f]+ [A-Za-z] " "")
list(TRANSFORM symbols REPLACE "@.*$" "")
list(SORT symbols)

file(READ ${MAP} map)
string(REGEX REPLACE "/\\*[^*]*\\*/" "" map "${map}")
string(REGEX MATCHALL "(_Z[0-9]+)?(miopen|tessera|hipdnn|CreateEp|ReleaseEp)[A-Za-z0-9_]+" expected "${map}")
list(SORT expected)

set(missing ${expected})
list(REMOVE_ITEM missing ${symbols})
set(unexpected ${symbols})
list(REMOVE_ITEM unexpected ${expected})
if(missing OR unexpected OR NOT expected)
  message(FATAL_ERROR "missing: ${missing}\nunexpected: ${unexpected}")
endif()
