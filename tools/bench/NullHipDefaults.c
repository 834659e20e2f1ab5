/*===- NullHipDefaults.c - HIP functions that do nothing --------------------===*\
|*
|* One weak definition for each that the library calls; NullHip.cpp has those
|* that must do a little. In C, where a function needs no parameters to be
|* called with some.
|*
\*===----------------------------------------------------------------------===*/

#define HIP_SYMBOL(name)                                                       \
  __attribute__((weak, visibility("default"))) int name() { return 0; }
#include "runtime/Gpu/HipSymbols.def"
