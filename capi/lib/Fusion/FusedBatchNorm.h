//===- FusedBatchNorm.h - A plan that is a batch normalisation -*- C++ -*--===//

#ifndef TESSERA_CAPI_LIB_FUSION_FUSEDBATCHNORM_H
#define TESSERA_CAPI_LIB_FUSION_FUSEDBATCHNORM_H

#include "capi/lib/Fusion/FusionPlan.h"

namespace tessera::capi {

/// Whether the plan is a batch normalisation, alone or followed by an
/// activation, or the gradients of both, in either order.
bool isFusedBatchNorm(const miopenFusionPlanDescriptor &plan);

/// Runs the normalisation of a plan, with its activation, on `data`. Compiles
/// its kernel at the first call.
ApiResult executeBatchNorm(miopenHandle &handle,
                           const miopenFusionPlanDescriptor &plan,
                           const PlanData &data,
                           const miopenOperatorArgs &args);

} // namespace tessera::capi

#endif // TESSERA_CAPI_LIB_FUSION_FUSEDBATCHNORM_H
