//===- ProblemFamily.h - The classes of a family of convolutions *- C++ -*-===//
//
// One kernel for unknown sizes suits either few pixels or many: few have so few
// tiles that more of a chip works where the reduction is split
// (docs/design/0038-sizes-as-arguments.md).
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_RUNTIME_BASE_PROBLEMFAMILY_H
#define TESSERA_RUNTIME_BASE_PROBLEMFAMILY_H

#include "runtime/Base/ConvProblem.h"

namespace tessera {

/// The pixels up to which a convolution is of the class of few pixels, whose
/// config ends in "-small": of its result, or of the reduction of backward
/// weights. Depends on channels and groups only.
int64_t countSmallPixels(const ConvProblem &problem);

} // namespace tessera

#endif // TESSERA_RUNTIME_BASE_PROBLEMFAMILY_H
