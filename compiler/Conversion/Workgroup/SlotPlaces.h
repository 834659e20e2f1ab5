//===- SlotPlaces.h - Which slot a number of bytes begins ------*- C++ -*--===//
//
// Where slots of rows that taps share are swapped, loops carry the bytes where
// one begins. Inside of a loop a slot is known by what the loop began with:
// when another one has come to be there, the two exchange their names.
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_COMPILER_CONVERSION_WORKGROUP_SLOTPLACES_H
#define TESSERA_COMPILER_CONVERSION_WORKGROUP_SLOTPLACES_H

#include "dialect/Workgroup/Workgroup.h"

#include "mlir/Dialect/SCF/IR/SCF.h"

namespace tessera {

/// Of the slots of A.
class SlotPlaces {
public:
  SlotPlaces(wg::ProgramOp program, mlir::Value bufferA);

  /// The slot that begins `bytes` behind the buffer, by its name here; nothing
  /// if that is not known, or is no slot's begin. A constant is none if slots
  /// are swapped.
  std::optional<int64_t> find(mlir::Value bytes, bool isSwapped) const;
  /// Which slots a loop's arguments say at its begin, -1 for others.
  llvm::SmallVector<int64_t> findCarried(mlir::scf::ForOp loop,
                                         bool isSwapped) const;
  /// From here on `values` say `slots`, those of -1 nothing.
  void name(mlir::ValueRange values, llvm::ArrayRef<int64_t> slots);
  /// Slots have exchanged their names.
  void forget() { places.clear(); }

private:
  void collect(mlir::Value bytes);

  wg::BufferType type;
  /// Values that say where a slot begins; and of those of them that are known
  /// here, which slot that is.
  llvm::DenseSet<mlir::Value> areBegins;
  llvm::DenseMap<mlir::Value, int64_t> places;
};

} // namespace tessera

#endif // TESSERA_COMPILER_CONVERSION_WORKGROUP_SLOTPLACES_H
