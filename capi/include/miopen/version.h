/*===- version.h - The release of MIOpen that we answer as ----------------===*/
/**
 * @file
 * Frameworks choose code paths by these numbers, so that they name the release
 * of MIOpen whose declarations and behaviour this library follows. The release
 * of this library is in tessera/tessera.h.
 */

#ifndef MIOPEN_VERSION_H
#define MIOPEN_VERSION_H

/** Major number of the release. */
#define MIOPEN_VERSION_MAJOR 3
/** Minor number of the release. */
#define MIOPEN_VERSION_MINOR 4
/** Patch number of the release. */
#define MIOPEN_VERSION_PATCH 0
/** Always 0. */
#define MIOPEN_VERSION_TWEAK 0

#endif /* MIOPEN_VERSION_H */
