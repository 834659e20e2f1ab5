//===- GemmUnit.h - What a compute unit takes for its tiles ----*- C++ -*--===//
//
// The part of GemmCost.h for chips that the AMD clock has numbers for: what it
// predicts is seldom the time of one busy resource, but that of workgroups that
// share a unit, and of the last one, which has it alone and waits.
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_COMPILER_ALGORITHMS_IMPLICITGEMM_GEMMUNIT_H
#define TESSERA_COMPILER_ALGORITHMS_IMPLICITGEMM_GEMMUNIT_H

#include "compiler/Algorithms/ImplicitGemm/GemmCost.h"

namespace tessera {

/// Clocks for which a step of one workgroup holds a resource of its unit.
struct StepClocks {
  /// Of the SIMDs, if they all had a wave of it, and the matrix units' part.
  double issue, products;
  double lds, address;
  /// What L2 is asked for, in bytes, and what it is asked for beyond a die.
  double bytes, farBytes;
};

/// What the busiest unit has.
struct UnitWork {
  double groups;    ///< One after the other, or some at a time.
  double resident;  ///< At a time.
  double steps;     ///< Of a workgroup.
  double waves;     ///< Of a workgroup, over the SIMDs of a unit.
  double iteration; ///< Steps between two waits for memory.
  double stored;    ///< Bytes of lines that a workgroup's results touch.
  /// Units that have no last workgroup leave their share of L2 to the others.
  double share;
};

/// Clocks of the busiest unit.
double estimateUnit(const StepClocks &step, const UnitWork &work,
                    const GemmRates &rates);

} // namespace tessera

#endif // TESSERA_COMPILER_ALGORITHMS_IMPLICITGEMM_GEMMUNIT_H
