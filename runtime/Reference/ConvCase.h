//===- ConvCase.h - A convolution with data and a judge --------*- C++ -*-===//
//
// What everybody needs who runs a kernel to judge it: inputs to copy to a
// device, a poisoned result, and a verdict on what came back.
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_RUNTIME_REFERENCE_CONVCASE_H
#define TESSERA_RUNTIME_REFERENCE_CONVCASE_H

#include "dialect/Reference/Epilogue.h"
#include "dialect/Reference/TestData.h"
#include "runtime/Base/Problem.h"

#include <string>
#include <vector>

namespace tessera {

/// Owns the host's copies of one problem's tensors, gaps included, and the
/// values of its scalars.
class ConvCase {
public:
  /// `problem` must be valid.
  ConvCase(const ConvProblem &problem, reference::DataKind kind, uint64_t seed);

  /// Makes every f16 and bf16 subnormal of the factors a zero, for chips that
  /// read them as zeros (Erratum::FlushesHalfSubnormals).
  void flushSubnormals();

  /// The tensor that the problem computes: one of x, w and y. Poison until a
  /// kernel's result is copied here; if the epilogue reads it, numbers.
  std::vector<char> &getResult();
  const std::vector<char> &getResult() const;

  /// What every element of the result should be.
  reference::Expected getExpected() const;
  /// The same from sums that somebody else has added up, in the order of flat
  /// indices.
  reference::Expected getExpected(std::vector<double> sums,
                                  std::vector<double> magnitudes) const;
  /// The result as it is.
  reference::TensorView getResultView() const;

  /// Judges every element of the result.
  reference::Report check() const;
  /// Judges about `count` elements of it, for problems that are too large.
  reference::Report checkSample(int64_t count, uint64_t seed) const;
  /// Empty if the bytes between the elements of the result are what they were,
  /// else a sentence.
  std::string checkGaps() const;

  std::vector<char> x;
  std::vector<char> w;
  std::vector<char> y;
  std::vector<char> bias;     ///< Empty if there is none.
  std::vector<char> residual; ///< Empty if there is none.
  double alpha = 1;
  double beta = 0;
  double activAlpha = 0;
  double activBeta = 0;
  double activGamma = 0;

private:
  void chooseScalars();
  reference::TensorView getX() const;
  reference::TensorView getW() const;
  reference::TensorView getY() const;
  /// `data` with the type and strides of the result.
  reference::TensorView viewResult(const std::vector<char> &data) const;
  reference::Epilogue getEpilogue() const;
  /// The sums of all elements, or of those in `sample`.
  reference::Expected addUp(const std::vector<int64_t> *sample) const;
  reference::Expected applyEpilogue(reference::Expected sums) const;
  /// Sums and epilogue.
  reference::Expected evaluate(const std::vector<int64_t> *sample) const;
  reference::Report judge(const reference::Expected &expected) const;

  ConvProblem problem;
  reference::DataKind kind;
  reference::ElementType type;       ///< Of the factors.
  reference::ElementType resultType; ///< Of result, bias and residual.
  std::vector<char> old;             ///< The result before the kernel.
};

} // namespace tessera

#endif // TESSERA_RUNTIME_REFERENCE_CONVCASE_H
