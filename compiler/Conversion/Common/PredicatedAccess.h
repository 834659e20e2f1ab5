//===- PredicatedAccess.h - Accesses under a predicate ---------*- C++ -*--===//
//
// On NVIDIA's chips any instruction may have a predicate, which costs next to
// nothing: an access needs no offset that is compared with a size, only the
// address and the check of its coordinates. AMD's have no such thing and check
// offsets for nothing instead (DeviceOps.h).
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_COMPILER_CONVERSION_COMMON_PREDICATEDACCESS_H
#define TESSERA_COMPILER_CONVERSION_COMMON_PREDICATEDACCESS_H

#include "compiler/Conversion/Common/Emitter.h"

namespace tessera {

inline bool hasPredicates(const DeviceOps &device) {
  return device.getTarget().vendor == Vendor::Nvidia;
}

/// The address `offset` bytes, an unsigned i32, behind `pointer`.
mlir::Value emitAddress(Emitter &e, mlir::Value pointer, mlir::Value offset);

/// What is known of memory that is loaded.
struct LoadedMemory {
  bool isConstant;       ///< Nothing stores to it.
  bool isStreamed;       ///< L1 need not keep it.
  bool isPinned = false; ///< Loads stay behind the wait for who writes it.
};

/// Loads `type`, an integer or a vector of i32, from `pointer`; words of
/// `otherwise` where `condition` is false, which is null if it never is.
mlir::Value loadIf(Emitter &e, mlir::Value condition, mlir::Type type,
                   mlir::Value pointer, int64_t alignment, uint32_t otherwise,
                   LoadedMemory memory);

/// The same of memory that is read once, whose lines leave the caches first;
/// zeros where `condition` is false. Stays where it is: what is loaded early is
/// on its way while something else is done.
mlir::Value loadStreamed(Emitter &e, mlir::Value condition, mlir::Type type,
                         mlir::Value pointer, int64_t alignment);

/// Stores an integer or a vector of i32 to `pointer` where `condition`, which
/// may be null, is true.
void storeIf(Emitter &e, mlir::Value condition, mlir::Value value,
             mlir::Value pointer, int64_t alignment);

/// Adds an f32 to the one at `pointer`, atomically on the device, where
/// `condition` is true.
void addIf(Emitter &e, mlir::Value condition, mlir::Value value,
           mlir::Value pointer);

} // namespace tessera

#endif // TESSERA_COMPILER_CONVERSION_COMMON_PREDICATEDACCESS_H
