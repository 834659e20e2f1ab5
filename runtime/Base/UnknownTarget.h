//===- UnknownTarget.h - A chip that is in no table ------------*- C++ -*--===//

#ifndef TESSERA_RUNTIME_BASE_UNKNOWNTARGET_H
#define TESSERA_RUNTIME_BASE_UNKNOWNTARGET_H

#include "runtime/Base/GpuTarget.h"
#include "runtime/Base/Status.h"

namespace tessera {

/// The failure for a name that findTarget() does not find: InvalidArgument with
/// the nearest name, if one is near, and all of them.
Status refuseTarget(std::string_view name);
/// The same where only the chips in `known` are accepted.
Status refuseTarget(std::string_view name, std::span<const GpuTarget> known);

} // namespace tessera

#endif // TESSERA_RUNTIME_BASE_UNKNOWNTARGET_H
