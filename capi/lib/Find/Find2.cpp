//===- Find2.cpp - Problems, options and the search of miopen/find2.h -----===//

// The declarations give the beta functions default visibility.
#define MIOPEN_BETA_API 1
#include <miopen/find2.h>

#include "capi/lib/Find/Find2Problem.h"
#include "capi/lib/Common/Objects.h"

using namespace tessera;
using namespace tessera::capi;

//===----------------------------------------------------------------------===//
// Problems
//===----------------------------------------------------------------------===//

/// InvalidArgument if the direction is unknown, or inference for a convolution.
static Status checkDirection(int direction, bool isConv) {
  if (direction == miopenProblemDirectionInference && !isConv)
    return Status::ok();
  return checkEnum(direction, miopenProblemDirectionBackwardWeights,
                   "direction");
}

static ApiResult createProblem(miopenProblem_t &problem,
                               const miopenConvolutionDescriptor *conv,
                               miopenProblemDirection_t direction) {
  if (Status status = checkDirection(direction, conv); !status.isOk())
    return status;
  problem = makeObject<miopenProblem>();
  problem->direction = direction;
  if (conv)
    problem->conv = *conv;
  return Status::ok();
}

static ApiResult setTensor(miopenProblem &problem, int id,
                           const miopenTensorDescriptor &tensor) {
  if (problem.isFused)
    return invalidArgument("the tensors of a fused problem follow from those "
                           "of its operations");
  if (id == miopenTensorArgumentIdInvalid ||
      (problem.conv && (id < 0 || id > int(miopenTensorConvolutionY))) ||
      (problem.softmax &&
       (id < int(miopenTensorSoftmaxX) || id > int(miopenTensorSoftmaxDY))))
    return invalidArgument("the problem has no tensor with the id " +
                           std::to_string(id));
  if (tensor.getRank() == 0)
    return invalidArgument("the tensor was never set");
  problem.tensors.insert_or_assign(id, tensor);
  return Status::ok();
}

static ApiResult findSolutions(miopenHandle &handle,
                               const miopenProblem &problem,
                               const miopenFindOptions &options,
                               miopenSolution_t *solutions, size_t *count,
                               size_t maxCount) {
  if (maxCount < 1)
    return invalidArgument("maxSolutions is 0");
  if (problem.isFused || (!problem.conv && !problem.softmax))
    return notSupported("only problems of convolutions and softmax have "
                        "solutions");
  if (ApiResult result = findSolution(handle, problem, options, solutions[0]);
      result.getStatus() != miopenStatusSuccess)
    return result;
  setIfWanted(count, size_t(1));
  return Status::ok();
}

extern "C" {

miopenStatus_t
miopenCreateConvProblem(miopenProblem_t *problem,
                        miopenConvolutionDescriptor_t operatorDesc,
                        miopenProblemDirection_t direction) {
  return guard(__func__, REQUIRED(problem, operatorDesc), [&]() -> ApiResult {
    return createProblem(*problem, operatorDesc, direction);
  });
}

miopenStatus_t miopenCreateMhaProblem(miopenProblem_t *problem,
                                      miopenMhaDescriptor_t operatorDesc,
                                      miopenProblemDirection_t direction) {
  return guard(__func__, REQUIRED(problem, operatorDesc), [&]() -> ApiResult {
    return createProblem(*problem, nullptr, direction);
  });
}

miopenStatus_t
miopenCreateActivationProblem(miopenProblem_t *problem,
                              miopenActivationDescriptor_t operatorDesc,
                              miopenProblemDirection_t direction) {
  return guard(__func__, REQUIRED(problem, operatorDesc), [&]() -> ApiResult {
    return createProblem(*problem, nullptr, direction);
  });
}

miopenStatus_t
miopenCreateBatchnormProblem(miopenProblem_t *problem,
                             miopenBatchNormMode_t mode, bool,
                             miopenProblemDirection_t direction) {
  return guard(__func__, REQUIRED(problem), [&]() -> ApiResult {
    if (Status status = checkEnum(mode, miopenBNSpatial, "mode");
        !status.isOk())
      return status;
    return createProblem(*problem, nullptr, direction);
  });
}

miopenStatus_t miopenCreateBiasProblem(miopenProblem_t *problem,
                                       miopenProblemDirection_t direction) {
  return guard(__func__, REQUIRED(problem), [&]() -> ApiResult {
    return createProblem(*problem, nullptr, direction);
  });
}

miopenStatus_t
miopenCreateSoftmaxProblem(miopenProblem_t *problem,
                           miopenSoftmaxDescriptor_t operatorDesc,
                           miopenProblemDirection_t direction) {
  return guard(__func__, REQUIRED(problem, operatorDesc), [&]() -> ApiResult {
    ApiResult result = createProblem(*problem, nullptr, direction);
    if (result.getStatus() == miopenStatusSuccess)
      (*problem)->softmax = *operatorDesc;
    return result;
  });
}

miopenStatus_t miopenFuseProblems(miopenProblem_t problem1,
                                  miopenProblem_t problem2) {
  return guard(__func__, REQUIRED(problem1, problem2), [&]() -> ApiResult {
    problem1->isFused = true;
    return Status::ok();
  });
}

miopenStatus_t miopenDestroyProblem(miopenProblem_t problem) {
  return destroyObject(__func__, REQUIRED(problem), problem);
}

miopenStatus_t
miopenSetProblemTensorDescriptor(miopenProblem_t problem,
                                 miopenTensorArgumentId_t id,
                                 const miopenTensorDescriptor_t descriptor) {
  return guard(__func__, REQUIRED(problem, descriptor), [&]() -> ApiResult {
    return setTensor(*problem, static_cast<int>(id), *descriptor);
  });
}

miopenStatus_t miopenCreateFindOptions(miopenFindOptions_t *options) {
  return createObject(__func__, REQUIRED(options), options);
}

miopenStatus_t miopenDestroyFindOptions(miopenFindOptions_t options) {
  return destroyObject(__func__, REQUIRED(options), options);
}

miopenStatus_t miopenSetFindOptionTuning(miopenFindOptions_t options,
                                         int value) {
  return guard(__func__, REQUIRED(options), [&]() -> ApiResult {
    options->isSearchAsked = value != 0;
    return Status::ok();
  });
}

miopenStatus_t miopenSetFindOptionResultsOrder(miopenFindOptions_t options,
                                               miopenFindResultsOrder_t value) {
  return guard(__func__, REQUIRED(options), [&]() -> ApiResult {
    // There is one solution, so that every order is the same.
    return checkEnum(value, miopenFindResultsOrderByWorkspaceSize, "order");
  });
}

miopenStatus_t miopenSetFindOptionWorkspaceLimit(miopenFindOptions_t options,
                                                 size_t value) {
  return guard(__func__, REQUIRED(options), [&]() -> ApiResult {
    options->workspaceLimit = value;
    return Status::ok();
  });
}

miopenStatus_t
miopenSetFindOptionPreallocatedWorkspace(miopenFindOptions_t options,
                                         void *buffer, size_t size) {
  return guard(__func__, REQUIRED(options), [&]() -> ApiResult {
    options->workspace = buffer;
    options->workspaceBytes = size;
    return Status::ok();
  });
}

miopenStatus_t miopenSetFindOptionPreallocatedTensor(
    miopenFindOptions_t options, miopenTensorArgumentId_t id, void *buffer) {
  return guard(__func__, REQUIRED(options), [&]() -> ApiResult {
    options->tensors.insert_or_assign(static_cast<int>(id), buffer);
    return Status::ok();
  });
}

miopenStatus_t miopenSetFindOptionAttachBinaries(miopenFindOptions_t options,
                                                 unsigned attach) {
  return guard(__func__, REQUIRED(options), [&]() -> ApiResult {
    if (attach > 1)
      return invalidArgument("attach is neither 0 nor 1");
    return Status::ok();
  });
}

miopenStatus_t miopenFindSolutions(miopenHandle_t handle,
                                   miopenProblem_t problem,
                                   miopenFindOptions_t options,
                                   miopenSolution_t *solutions,
                                   size_t *numSolutions, size_t maxSolutions) {
  return guard(__func__, REQUIRED(handle, problem, orNull(options), solutions),
               [&]() -> ApiResult {
                 return findSolutions(*handle, *problem,
                                      options ? *options : miopenFindOptions(),
                                      solutions, numSolutions, maxSolutions);
               });
}

} // extern "C"
