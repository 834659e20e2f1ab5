//===- Models.h - The cost models whose constants are fitted ---*- C++ -*--===//
//
// A search knows a model as a list of numbers and a function that ranks the
// tiles of a problem by them. The models' own files say what the numbers are
// (compiler/Algorithms/*/*Rates.def).
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_TOOLS_DNN_FIT_MODELS_H
#define TESSERA_TOOLS_DNN_FIT_MODELS_H

#include "compiler/Algorithms/Algorithm.h"

#include <functional>
#include <limits>
#include <string>
#include <vector>

namespace tessera::fit {

/// One value for each constant.
using Rates = std::vector<double>;

struct Constant {
  std::string name;
  /// The compiler's value.
  double value;
  /// The hardware's limit.
  double most = std::numeric_limits<double>::infinity();
};

/// A model for one chip.
struct Model {
  std::string name;
  std::vector<Constant> constants;
  /// Empty for a problem that the model does not cover; else in an order that
  /// does not depend on the rates.
  std::function<std::vector<Candidate>(const Problem &, const Rates &)>
      getCandidates;
  /// Prints the rows of the model's file.
  std::function<std::string(const Rates &)> format;

  Rates getRates() const;
};

/// The names of all models: "wgmma, wgmma-tf32, wgmma-weights, gemm, gemm-all,
/// groups, stem, single, pool, rowwise, all".
std::string getModelNames();

/// InvalidArgument if there is no such model, or if it does not exist for the
/// chip.
ErrorOr<Model> makeModel(const std::string &name, const GpuTarget &target);

} // namespace tessera::fit

#endif // TESSERA_TOOLS_DNN_FIT_MODELS_H
