//===- Registry.h - All algorithms of the compiler --------------*- C++ -*-===//

#ifndef TESSERA_COMPILER_ALGORITHMS_REGISTRY_H
#define TESSERA_COMPILER_ALGORITHMS_REGISTRY_H

namespace tessera {

class Algorithm;

/// Each is defined in the file of its name and lives until the process ends.
const Algorithm &getChannelsLast();
const Algorithm &getDepthwise();
const Algorithm &getGeneralConv();
const Algorithm &getImplicitGemm();
const Algorithm &getNarrowGroups();
const Algorithm &getPacked();
const Algorithm &getStem();
const Algorithm &getToeplitz();
const Algorithm &getWinograd();
const Algorithm &getPool();
const Algorithm &getPoolSplit();
const Algorithm &getRowWiseMap();
const Algorithm &getRecurrent();
const Algorithm &getRows();
const Algorithm &getRowWiseSplit();

} // namespace tessera

#endif // TESSERA_COMPILER_ALGORITHMS_REGISTRY_H
