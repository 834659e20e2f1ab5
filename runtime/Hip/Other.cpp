//===- Other.cpp - Small entry points that are no hipError_t --------------===//
//
// NotSupported.cpp returns an error code; these functions return something
// else.
//
//===----------------------------------------------------------------------===//

#include "runtime/Hip/Export.h"

/// The names of calls are for profilers, which are never notified of a call.
TESSERA_HIP const char *hipApiName(uint32_t) { return "unknown"; }
TESSERA_HIP const char *hipGetCmdName(unsigned) { return "unknown"; }

TESSERA_HIP hipChannelFormatDesc
hipCreateChannelDesc(int x, int y, int z, int w, hipChannelFormatKind kind) {
  return {x, y, z, w, kind};
}

/// A precompiled header for run-time compilation, which does not exist here.
TESSERA_HIP void __hipGetPCH(const char **header, unsigned *size) {
  *header = nullptr;
  *size = 0;
}

// Textures and surfaces are registered by the program; using one fails.
TESSERA_HIP void __hipRegisterSurface(void **, void *, char *, char *, int,
                                      int) {}
TESSERA_HIP void __hipRegisterTexture(void **, void *, char *, char *, int, int,
                                      int) {}
