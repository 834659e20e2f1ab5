//===- SlotState.h - What has been done to slots of LDS --------*- C++ -*--===//

#ifndef TESSERA_COMPILER_CONVERSION_WORKGROUP_SLOTSTATE_H
#define TESSERA_COMPILER_CONVERSION_WORKGROUP_SLOTSTATE_H

#include "mlir/Dialect/SCF/IR/SCF.h"

#include <map>
#include <set>

namespace tessera {

/// A slot of a buffer, by its number.
using Slot = std::pair<void *, int64_t>;
inline Slot getSlot(mlir::Value buffer, int64_t slot) {
  return {buffer.getAsOpaquePointer(), slot};
}

/// The next of so many parts.
using NextPart = std::pair<int64_t, int64_t>;

/// A number that programs compute: so many times another one, and more; or, if
/// there is no other one, a constant.
struct KnownNumber {
  mlir::Value base;
  int64_t scale = 0, more = 0;

  static KnownNumber of(mlir::Value value);
  bool operator==(const KnownNumber &) const = default;
};

/// That an iteration of a loop comes, so many behind this one; of a loop that
/// has not begun, 1 is its first.
struct WhenComes {
  mlir::Operation *loop = nullptr;
  int64_t iterations = 0;

  bool operator==(const WhenComes &) const = default;
};

/// What is true of slots on all ways to a place, or, of what is a danger, on
/// some.
struct SlotState {
  std::set<Slot> full;                ///< For all waves.
  std::set<Slot> written, read;       ///< Since the last barrier.
  std::set<Slot> copied;              ///< Directly, and in no group yet.
  std::vector<std::set<Slot>> groups; ///< On their way, the oldest first.
  std::set<void *> tables;            ///< Of tiles, since the last barrier.
  std::map<Slot, NextPart> begun;     ///< Of what is done part by part.
  std::map<Slot, int64_t> taps;       ///< Of what has been copied there.
  std::map<Slot, KnownNumber> blocks; ///< Or lines, copied there.
  std::map<Slot, WhenComes> awaited;  ///< Filled only if that comes.
  bool isSwapped = false;             ///< Whether slots have got other numbers.

  bool operator==(const SlotState &) const = default;
  bool isUnderWay(Slot slot) const;
  void join(const SlotState &other);
  /// Gives all slots other names.
  void rename(llvm::function_ref<Slot(Slot)> getName);
  /// Takes copies that are there for such as may be under way, as they are in
  /// `after`, which ends an iteration of a loop that begins with this. Whether
  /// that is all that makes a difference between their groups.
  bool weaken(const SlotState &after);
  /// Whether a slot is known to have something else.
  bool differs(const SlotState &after) const;
  /// `loop` begins, with an iteration that has the number of its lower bound,
  /// of which constants are `scale` times, and more, unless that is 0; or an
  /// iteration begins; or has ended, and numbers become those that the next one
  /// has for the same; or no iteration comes any more.
  void enter(mlir::scf::ForOp loop, int64_t scale);
  void beginIteration(mlir::scf::ForOp loop);
  void endIteration(mlir::scf::ForOp loop);
  void leave(mlir::scf::ForOp loop);
};

} // namespace tessera

#endif // TESSERA_COMPILER_CONVERSION_WORKGROUP_SLOTSTATE_H
