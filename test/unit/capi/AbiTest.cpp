//===- AbiTest.cpp - Values and layouts that binaries depend on -----------===//
//
// Programs compiled against AMD's headers contain these numbers and pass them
// to this library. There is nothing to run: the compiler does the checks.
//
//===----------------------------------------------------------------------===//

#define MIOPEN_BETA_API 1
#include <miopen/miopen.h>
#include <tessera/problem.h>
#include <tessera/tessera.h>

#include <gtest/gtest.h>
#include <type_traits>

static_assert(miopenStatusSuccess == 0 && miopenStatusNotInitialized == 1 &&
              miopenStatusInvalidValue == 2 && miopenStatusBadParm == 3 &&
              miopenStatusAllocFailed == 4 && miopenStatusInternalError == 5 &&
              miopenStatusNotImplemented == 6 &&
              miopenStatusUnknownError == 7 && miopenStatusUnsupportedOp == 8 &&
              miopenStatusGpuOperationsSkipped == 9 &&
              miopenStatusVersionMismatch == 10);

static_assert(miopenHalf == 0 && miopenFloat == 1 && miopenInt32 == 2 &&
              miopenInt8 == 3 && miopenBFloat16 == 5 && miopenDouble == 6 &&
              miopenFloat8 == 7 && miopenBFloat8 == 8 && miopenInt64 == 9);

static_assert(miopenTensorNCHW == 0 && miopenTensorNHWC == 1 &&
              miopenTensorCHWN == 2 && miopenTensorNCHWc4 == 3 &&
              miopenTensorNCHWc8 == 4 && miopenTensorCHWNc4 == 5 &&
              miopenTensorCHWNc8 == 6 && miopenTensorNCDHW == 7 &&
              miopenTensorNDHWC == 8);

static_assert(miopenActivationPASTHRU == 0 && miopenActivationRELU == 3 &&
              miopenActivationELU == 9 && miopenBNPerActivation == 0 &&
              miopenBNSpatial == 1 && MIOPEN_SOFTMAX_LOG == 2 &&
              MIOPEN_REDUCE_TENSOR_NORM2 == 7 && miopenLSTM == 2 &&
              miopenGRU == 3 && miopenTuningPolicyNone == 1 &&
              miopenTuningPolicyDbClean == 5);

static_assert(miopenProblemDirectionInference == 4 &&
              miopenTensorConvolutionX == 1 && miopenTensorConvolutionW == 2 &&
              miopenTensorConvolutionY == 3 && miopenTensorBias == 43 &&
              miopenTensorBatchnormDY == 61 &&
              static_cast<unsigned>(miopenTensorMhaMask) == 0x80000001u &&
              sizeof(miopenTensorArgumentId_t) == 4 &&
              sizeof(miopenTensorArgument_t) == 24 &&
              offsetof(miopenTensorArgument_t, descriptor) == 8 &&
              offsetof(miopenTensorArgument_t, buffer) == 16);

static_assert(MIOPEN_BACKEND_VARIANT_PACK_DESCRIPTOR == 31 &&
              MIOPEN_TYPE_RNG_DISTRIBUTION == 29 &&
              MIOPEN_POINTWISE_RECIPROCAL == 49 &&
              MIOPEN_ATTR_OPERATION_RNG_OFFSET_DESC == 2313);

static_assert(miopenConvolution == 0 && miopenTranspose == 1 &&
              miopenGroupConv == 2 && miopenDepthwise == 3);

static_assert(
    miopenConvolutionFwdAlgoGEMM == 0 && miopenConvolutionFwdAlgoDirect == 1 &&
    miopenConvolutionFwdAlgoFFT == 2 && miopenConvolutionFwdAlgoWinograd == 3 &&
    miopenConvolutionFwdAlgoImplicitGEMM == 5 &&
    miopenConvolutionAlgoGEMM == 0 && miopenConvolutionAlgoDirect == 1 &&
    miopenConvolutionAlgoFFT == 2 && miopenConvolutionAlgoWinograd == 3 &&
    miopenConvolutionAlgoImplicitGEMM == 5 &&
    miopenConvolutionBwdWeightsAlgoGEMM == 0 &&
    miopenConvolutionBwdWeightsAlgoDirect == 1 &&
    miopenConvolutionBwdWeightsAlgoWinograd == 3 &&
    miopenConvolutionBwdWeightsAlgoImplicitGEMM == 5 &&
    miopenConvolutionBwdDataAlgoGEMM == 0 &&
    miopenConvolutionBwdDataAlgoDirect == 1 &&
    miopenConvolutionBwdDataAlgoFFT == 2 &&
    miopenConvolutionBwdDataAlgoWinograd == 3 &&
    miopenTransposeBwdDataAlgoGEMM == 4 &&
    miopenConvolutionBwdDataAlgoImplicitGEMM == 5);

// Only MIOpen 2.1 to 2.5 had these, and only for forward convolutions.
static_assert(miopenConvolutionFwdAlgoStaticCompiledGEMM == 6 &&
              miopenConvolutionAlgoStaticCompiledGEMM == 6);

// The order of the operands, which differs between directions and between the
// two modes. Only types can be compared: dyDesc comes first, dw or dx last.
static_assert(
    std::is_same_v<decltype(miopenConvolutionBackwardData),
                   miopenStatus_t(miopenHandle_t, const void *,
                                  const miopenTensorDescriptor_t, const void *,
                                  const miopenTensorDescriptor_t, const void *,
                                  const miopenConvolutionDescriptor_t,
                                  miopenConvBwdDataAlgorithm_t, const void *,
                                  const miopenTensorDescriptor_t, void *,
                                  void *, size_t)> &&
    std::is_same_v<decltype(miopenConvolutionBackwardWeights),
                   miopenStatus_t(miopenHandle_t, const void *,
                                  const miopenTensorDescriptor_t, const void *,
                                  const miopenTensorDescriptor_t, const void *,
                                  const miopenConvolutionDescriptor_t,
                                  miopenConvBwdWeightsAlgorithm_t, const void *,
                                  const miopenTensorDescriptor_t, void *,
                                  void *, size_t)>);

static_assert(MIOPEN_CONVOLUTION_ATTRIB_FP16_ALT_IMPL == 0 &&
              MIOPEN_CONVOLUTION_ATTRIB_DETERMINISTIC == 1 &&
              MIOPEN_CONVOLUTION_ATTRIB_FP8_ROUNDING_MODE == 2 &&
              MIOPEN_CONVOLUTION_ATTRIB_MATH_TYPE == 3);

static_assert(miopenConvolutionFindModeNormal == 1 &&
              miopenConvolutionFindModeFast == 2 &&
              miopenConvolutionFindModeHybrid == 3 &&
              miopenConvolutionFindModeDynamicHybrid == 5 &&
              miopenConvolutionFindModeTrustVerify == 6 &&
              miopenConvolutionFindModeTrustVerifyFull == 7 &&
              miopenConvolutionFindModeDefault == 5);

static_assert(miopenPoolingMax == 0 && miopenPoolingAverage == 1 &&
              miopenPoolingAverageInclusive == 2 && miopenIndexUint8 == 0 &&
              miopenIndexUint16 == 1 && miopenIndexUint32 == 2 &&
              miopenIndexUint64 == 3 && miopenPoolingWorkspaceIndexMask == 0 &&
              miopenPoolingWorkspaceIndexImage == 1);

static_assert(sizeof(miopenConvAlgoPerf_t) == 16 &&
              offsetof(miopenConvAlgoPerf_t, fwd_algo) == 0 &&
              offsetof(miopenConvAlgoPerf_t, bwd_data_algo) == 0 &&
              offsetof(miopenConvAlgoPerf_t, time) == 4 &&
              offsetof(miopenConvAlgoPerf_t, memory) == 8);

static_assert(sizeof(miopenConvSolution_t) == 32 &&
              offsetof(miopenConvSolution_t, time) == 0 &&
              offsetof(miopenConvSolution_t, workspace_size) == 8 &&
              offsetof(miopenConvSolution_t, solution_id) == 16 &&
              offsetof(miopenConvSolution_t, algorithm) == 24);

static_assert(std::is_same_v<miopenAcceleratorQueue_t, hipStream_t>);

static_assert(sizeof(tesseraCounters) == 56 &&
              offsetof(tesseraCounters, compiled) == 8 &&
              sizeof(tesseraStageTime) == 40 &&
              offsetof(tesseraKernelInfo, tile) == 56 &&
              offsetof(tesseraKernelInfo, stages) == 184 &&
              sizeof(tesseraProblemArguments) == 272 &&
              offsetof(tesseraProblemArguments, mean) == 256 &&
              offsetof(tesseraProblemArguments, tensors) == 112 &&
              offsetof(tesseraProblemArguments, alpha) == 72);

// If this file compiled, the test has passed.
TEST(Abi, HoldsAtCompileTime) { SUCCEED(); }
