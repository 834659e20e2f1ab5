//===- ConvCase.h - A convolution with data and a check ---------*- C++ -*-===//
//
// What a test, tuner or tool needs to run a kernel and check its result: inputs
// to copy to a device, a poisoned result, and a comparison with the reference.
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_RUNTIME_REFERENCE_CONVCASE_H
#define TESSERA_RUNTIME_REFERENCE_CONVCASE_H

#include "dialect/Reference/Epilogue.h"
#include "dialect/Reference/NormGradient.h"
#include "dialect/Reference/TestData.h"
#include "runtime/Base/GpuTarget.h"
#include "runtime/Base/KernelArg.h"
#include "runtime/Base/Problem.h"

#include <array>
#include <string>
#include <vector>

namespace tessera {

/// Owns the host's copies of one problem's tensors, gaps included, and the
/// values of its scalars.
class ConvCase {
public:
  /// `problem` must be valid.
  ConvCase(const ConvProblem &problem, reference::DataKind kind, uint64_t seed);

  /// Replaces every f16 and bf16 subnormal of the operands by zero if `target`
  /// reads them as zeros (Erratum::FlushesHalfSubnormals), and allows sums of
  /// 8-bit floats the errors of wgmma (docs/limits.md).
  void adaptTo(const GpuTarget &target);

  /// The tensor that the problem computes: x, w or y. It is poison until a
  /// kernel's result is copied here, or numbers if the epilogue reads it.
  std::vector<char> &getResult();
  const std::vector<char> &getResult() const;

  /// Returns what every element of the result should be.
  reference::Expected getExpected() const;
  /// The same from sums that were computed elsewhere, in the order of flat
  /// indices.
  reference::Expected getExpected(std::vector<double> sums,
                                  std::vector<double> magnitudes) const;
  /// The current content of the result.
  reference::TensorView getResultView() const;

  /// Checks every element of the result.
  reference::Report check() const;
  /// Checks about `count` elements, for problems that are too large.
  reference::Report checkSample(int64_t count, uint64_t seed) const;
  /// Returns an empty string if the bytes between the elements of the result
  /// are unchanged, otherwise a message.
  std::string checkGaps() const;
  /// The same for statistics, or for the sums of a normalisation's gradient,
  /// which are those of the result's content.
  std::string checkChannelResults() const;
  /// The tensors of checkChannelResults() that a kernel writes.
  std::vector<KernelArg> getChannelResults() const;
  /// An input, result or further tensor by its name; null if there is none.
  std::vector<char> *findTensor(KernelArg arg);
  const std::vector<char> *findTensor(KernelArg arg) const;

  std::vector<char> x;
  std::vector<char> w;
  std::vector<char> y;
  std::vector<char> bias;     ///< empty without bias
  std::vector<char> residual; ///< empty without residual
  /// Of each channel of the result, in f32: poison until a kernel's results are
  /// copied here; empty without statistics.
  std::vector<char> mean, variance;
  /// The tensors of `norm_gradient` by their number, those that a kernel writes
  /// as above; empty without a normalisation's gradient, or if its kind has
  /// none.
  static constexpr int kNormTensors = 8;
  std::array<std::vector<char>, kNormTensors> normTensors;
  double alpha = 1;
  double beta = 0;
  double activAlpha = 0;
  double activBeta = 0;
  double activGamma = 0;

private:
  void flushSubnormals();
  void chooseScalars();
  void moveMeans();
  void makeNorm(uint64_t seed);
  reference::NormGradient getNorm() const;
  reference::TensorView getX() const;
  reference::TensorView getW() const;
  reference::TensorView getY() const;
  /// Views `data` with the type and strides of the result.
  reference::TensorView viewResult(const std::vector<char> &data) const;
  reference::Epilogue getEpilogue() const;
  /// Computes the sums of all elements, or of those in `sample`.
  reference::Expected addUp(const std::vector<int64_t> *sample) const;
  /// Gives sums that Winograd's transforms may compute their tiles' magnitudes.
  void allowTransforms(reference::Expected &sums) const;
  reference::Expected applyEpilogue(reference::Expected sums) const;
  /// Computes the sums and applies the epilogue.
  reference::Expected evaluate(const std::vector<int64_t> *sample) const;
  reference::Report compareWith(const reference::Expected &expected) const;

  ConvProblem problem;
  reference::DataKind kind;
  reference::ElementType type;       ///< of the operands
  reference::ElementType resultType; ///< of result and residual
  reference::ElementType biasType;
  std::vector<char> old; ///< The result's content before the kernel.
  bool hasShortSums = false;
};

} // namespace tessera

#endif // TESSERA_RUNTIME_REFERENCE_CONVCASE_H
