//===- ConvertedTraffic.h - What launches that convert move ----*- C++ -*--===//

#ifndef TESSERA_COMPILER_ALGORITHMS_CONVERTED_CONVERTEDTRAFFIC_H
#define TESSERA_COMPILER_ALGORITHMS_CONVERTED_CONVERTEDTRAFFIC_H

#include "runtime/Base/ConvProblem.h"
#include "runtime/Base/GpuTarget.h"

#include <array>

namespace tessera {

/// What is read and written to bring the tensors of a convolution into the
/// workspace with channels last, and the operands as `operandType`.
class ConvertedTraffic {
public:
  ConvertedTraffic(const ConvProblem &conv, DataType operandType);
  explicit ConvertedTraffic(const ConvProblem &conv)
      : ConvertedTraffic(conv, conv.dataType) {}

  /// Offsets into a workspace have 31 bits.
  static constexpr int64_t kMostWorkspace = int64_t(1) << 31;

  int64_t countWorkspace() const;
  /// The bytes of the filter's copy; none without one.
  int64_t countFilter() const { return tensors[1].written; }
  bool isResultTransposed() const { return tensors[result].written > 0; }
  bool isEmpty() const { return countWorkspace() == 0; }

  /// Clocks of the launches, one for the operands and one for the result: each
  /// begins, reads and writes.
  double estimateClocks(const GpuTarget &target) const;
  /// Those without the result's.
  double estimateOperandClocks(const GpuTarget &target) const;
  /// Those of the filter's alone.
  double estimateFilterClocks(const GpuTarget &target) const;

private:
  /// Bytes that are moved for a tensor; none without a copy.
  struct Copy {
    int64_t read = 0, written = 0;

    double estimateClocks(const GpuTarget &target) const;
  };
  std::array<Copy, 3> tensors; ///< x, w, y.
  size_t result;
};

} // namespace tessera

#endif // TESSERA_COMPILER_ALGORITHMS_CONVERTED_CONVERTEDTRAFFIC_H
