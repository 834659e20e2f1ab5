//===- DriverRows.h - What commands for rows have in common ----*- C++ -*--===//
//
// MIOpenDriver's tensors of row-wise operations are packed. So each command has
// a struct of what its flags say, a description of them, and two functions: one
// makes the problem, the other guesses the command of a canonical problem. Who
// asks for a line reads it again and compares, so that a guess may be wrong.
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_RUNTIME_DRIVERCOMMAND_DRIVERROWS_H
#define TESSERA_RUNTIME_DRIVERCOMMAND_DRIVERROWS_H

#include "runtime/Base/RowWiseKind.h"
#include "runtime/DriverCommand/DriverFlags.h"

namespace tessera {

/// A problem whose tensors are packed.
struct PackedRows {
  RowWiseProblem problem;
  /// Whether the second dimension is the innermost one in memory.
  bool isChannelsLast = false;

  PackedRows(RowWiseKind op, std::span<const int64_t> lengths);

  /// Adds tensors that are broadcast along the dimensions in `shared`.
  void add(int count, DataType type, RowRole role, uint32_t shared = 0);
};

/// Batch, channels, height and width.
template <typename Flags, typename LengthsT>
void describeImages(Flags &flags, LengthsT &lengths) {
  flags.number("-n", lengths[0]);
  flags.number("-c", lengths[1]);
  flags.number("-H", lengths[2]);
  flags.number("-W", lengths[3]);
}

/// NotSupported unless the type is f16, bf16 or f32, which MIOpenDriver has
/// words for.
Status checkRowType(std::string_view operation, DataType type);

/// The product of some lengths, which is 1 of none.
int64_t countElements(const RowWiseProblem &p, int first, int last);

} // namespace tessera

#endif // TESSERA_RUNTIME_DRIVERCOMMAND_DRIVERROWS_H
