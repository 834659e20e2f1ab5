//===- FusionPlan.h - A fusion plan and its arguments ----------*- C++ -*--===//

#ifndef TESSERA_CAPI_LIB_FUSION_FUSIONPLAN_H
#define TESSERA_CAPI_LIB_FUSION_FUSIONPLAN_H

#include "capi/lib/Common/ErrorGuard.h"
#include "capi/lib/Convolution/ConvolutionDescriptor.h"
#include "capi/lib/Handle/HandleState.h"

#include <miopen/fusion.h>

#include <map>
#include <memory>
#include <vector>

/// An operation of a plan, which owns it. Immutable.
struct miopenFusionOpDescriptor {
  tessera::capi::ObjectTag tag = {};
  enum class Kind {
    Convolution,
    Bias,
    Activation,
    LastOfConvolution = Activation,
    ActivationBackward,
    BatchNormInference,
    BatchNormForward,
    BatchNormBackward,
  };
  Kind kind;
  miopenConvolutionDescriptor conv = {};
  miopenTensorDescriptor tensor = {}; ///< Describes filter, bias or parameters.
  miopenActivationMode_t mode = miopenActivationPASTHRU;
  miopenBatchNormMode_t normMode = miopenBNPerActivation;
};

/// A plan. Owned by the client.
struct miopenFusionPlanDescriptor {
  tessera::capi::ObjectTag tag = {};
  miopenTensorDescriptor input;
  std::vector<tessera::capi::ObjectPtr<miopenFusionOpDescriptor>> ops = {};
  bool isCompiled = false;
};

/// Arguments of operations. Owned by the client, as is the memory.
struct miopenOperatorArgs {
  tessera::capi::ObjectTag tag = {};
  struct Values {
    const void *memory = nullptr; ///< Filter or bias.
    double alpha = 0;
    double beta = 0;
    double gamma = 0;
    // The arguments of a batch normalisation. Those that its kind does not have
    // are null.
    const void *x = nullptr;
    const void *scale = nullptr;
    const void *bias = nullptr;
    const void *mean = nullptr; ///< Estimated or saved mean.
    const void *variance = nullptr;
    void *runningMean = nullptr;
    void *runningVariance = nullptr;
    void *scaleGradient = nullptr;
    void *biasGradient = nullptr;
    double factor = 0;
    double epsilon = 0;
  };
  std::map<const miopenFusionOpDescriptor *, Values> values;
};

namespace tessera::capi {

using FusionOp = miopenFusionOpDescriptor;

/// Whether the plan is a convolution, then an optional bias, then an optional
/// activation.
bool isFusedConvolution(const miopenFusionPlanDescriptor &plan);

/// Whether the plan is a convolution, then an optional bias, then a batch
/// normalisation by given statistics, then an optional activation. It is two
/// launches, the second of which replaces the result of the first.
bool isNormalizedConvolution(const miopenFusionPlanDescriptor &plan);

/// Prepares the kernel of a plan; UnsupportedOp if there is none.
ApiResult compilePlan(miopenHandle &handle, miopenFusionPlanDescriptor &plan);

/// Tensors and workspace of one execution.
struct PlanData {
  const miopenTensorDescriptor &inputDesc;
  const void *input;
  const miopenTensorDescriptor &outputDesc;
  void *output;
  void *workspace;
  size_t workspaceBytes;
};
ApiResult executePlan(miopenHandle &handle,
                      const miopenFusionPlanDescriptor &plan,
                      const PlanData &data, const miopenOperatorArgs &args);

/// Stores the arguments of an operation, which must be of kind `kind`.
Status setArgs(miopenOperatorArgs &args, const FusionOp &op,
               FusionOp::Kind kind, const void *alpha, const void *beta,
               const miopenOperatorArgs::Values &values);

} // namespace tessera::capi

#endif // TESSERA_CAPI_LIB_FUSION_FUSIONPLAN_H
