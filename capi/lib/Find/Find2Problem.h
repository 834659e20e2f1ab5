//===- Find2Problem.h - A problem and options of Find 2.0 ------*- C++ -*--===//

#ifndef TESSERA_CAPI_LIB_FIND_FIND2PROBLEM_H
#define TESSERA_CAPI_LIB_FIND_FIND2PROBLEM_H

#include "capi/lib/Convolution/ConvolutionDescriptor.h"
#include "capi/lib/Common/ErrorGuard.h"
#include "capi/lib/Softmax/SoftmaxDescriptor.h"
#include "capi/lib/Tensor/TensorDescriptor.h"

#include <limits>
#include <map>
#include <optional>

/// An operation, a direction and tensors. Owned by the client; any number of
/// threads may read it at once.
struct miopenProblem {
  tessera::capi::ObjectTag tag = {};
  miopenProblemDirection_t direction;
  /// The descriptor of a convolution or a softmax. Other operations have no
  /// solutions, and nothing about them is stored.
  std::optional<miopenConvolutionDescriptor> conv;
  std::optional<miopenSoftmaxDescriptor> softmax;
  bool isFused = false;
  std::map<int, miopenTensorDescriptor> tensors;

  const miopenTensorDescriptor *getTensor(int id) const {
    const auto found = tensors.find(id);
    return found == tensors.end() ? nullptr : &found->second;
  }
};

/// Options of miopenFindSolutions(). The client owns them and the buffers.
struct miopenFindOptions {
  tessera::capi::ObjectTag tag = {};
  bool isSearchAsked = false;
  size_t workspaceLimit = std::numeric_limits<size_t>::max();
  void *workspace = nullptr;
  size_t workspaceBytes = 0;
  std::map<int, void *> tensors;
};

namespace tessera::capi {

/// Finds the one solution of a problem and measures it, on the buffers of the
/// options or on memory that it allocates.
ApiResult findSolution(miopenHandle &handle, const miopenProblem &problem,
                       const miopenFindOptions &options,
                       miopenSolution_t &solution);

} // namespace tessera::capi

#endif // TESSERA_CAPI_LIB_FIND_FIND2PROBLEM_H
