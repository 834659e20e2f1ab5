/*===- version.h - The release of MIOpen that we answer as -----------------===*\
|*
|* Frameworks choose code paths by these numbers, so they name the release
|* whose declarations and behaviour this library follows, not our own release
|* (that one is in tessera/tessera.h).
|*
\*===----------------------------------------------------------------------===*/

#ifndef MIOPEN_VERSION_H
#define MIOPEN_VERSION_H

#define MIOPEN_VERSION_MAJOR 3
#define MIOPEN_VERSION_MINOR 4
#define MIOPEN_VERSION_PATCH 0
#define MIOPEN_VERSION_TWEAK 0

#endif /* MIOPEN_VERSION_H */
