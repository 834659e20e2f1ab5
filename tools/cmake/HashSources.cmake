# Writes OUTPUT: the revision of the compiler as a C++ string literal, made of
# the version of LLVM and a hash of each file that LIST names, under ROOT.
file(STRINGS ${LIST} sources)
list(SORT sources)
set(hashes "")
foreach(source IN LISTS sources)
  file(SHA256 ${ROOT}/${source} hash)
  string(APPEND hashes "${source} ${hash}\n")
endforeach()
string(SHA256 all "${hashes}")
string(SUBSTRING ${all} 0 16 all)
file(WRITE ${OUTPUT} "\"llvm-${LLVM}-${all}\"\n")
