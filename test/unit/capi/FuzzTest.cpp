//===- FuzzTest.cpp - Random calls never crash ----------------------------===//
//
// Calls functions with a body in random order, with null pointers, objects that
// earlier calls made, enumerators that are none and numbers that are too small
// or too large. Only what a caller must know is kept: an object that was
// destroyed is not used again, and arrays are as long as they are said to be.
// Whatever is answered is right as long as it is a status.
//
//===----------------------------------------------------------------------===//

#define MIOPEN_BETA_API 1
#include "test/unit/capi/FakeEngine.h"

#include <miopen/miopen.h>
#include <tessera/tessera.h>

#include <limits>
#include <map>
#include <random>
#include <string_view>
#include <type_traits>
#include <typeindex>

using namespace tessera;
using namespace tessera::test;

/// Structs of the API that are no objects behind a handle.
template <typename T>
static constexpr bool kIsPlain =
    std::is_same_v<T, miopenConvAlgoPerf_t> ||
    std::is_same_v<T, miopenConvSolution_t> ||
    std::is_same_v<T, std::remove_pointer_t<hipStream_t>>;

/// Whether the function makes an object that its caller owns.
static bool isMaker(std::string_view name) {
  return name.starts_with("miopenCreate") &&
         (!name.starts_with("miopenCreateOp") ||
          name == "miopenCreateOperatorArgs");
}

static bool isDestroyer(std::string_view name) {
  return name.find("Destroy") != name.npos;
}

namespace {
class Fuzzer {
public:
  explicit Fuzzer(unsigned seed) : random(seed) {}

  /// Calls `function` with arguments drawn by their types.
  template <typename... Args>
  void call(miopenStatus_t (*function)(Args...), const char *name,
            bool hasArrays) {
    maxNumber = hasArrays ? 77 : std::numeric_limits<int>::max();
    for (uint64_t &word : memory)
      word = drawNumber();
    made = typeid(void);
    isDestroyed = isDestroyer(name);
    const miopenStatus_t status = function(draw<Args>()...);
    ASSERT_GE(status, miopenStatusSuccess) << name;
    ASSERT_LE(status, miopenStatusVersionMismatch) << name;
    if (status != miopenStatusSuccess)
      return;
    ++successes;
    if (isMaker(name) && object)
      objects[made].push_back(object);
  }

  size_t countObjects() const {
    size_t count = 0;
    for (const auto &[type, pool] : objects)
      count += pool.size();
    return count;
  }

  int successes = 0;

private:
  int64_t drawNumber() {
    constexpr int64_t kNumbers[] = {-2147483648, -1, 0, 1, 1,  1, 2,
                                    3,           4,  5, 8, 16, 77};
    const size_t index = random() % (std::size(kNumbers) + 1);
    return index < std::size(kNumbers) ? kNumbers[index] : maxNumber;
  }

  /// One that a call made, or null; of a destroying call, for the last time.
  template <typename T>
  T drawObject() {
    std::vector<void *> &pool = objects[typeid(T)];
    if (pool.empty() || random() % 8 == 0)
      return nullptr;
    const size_t index = random() % pool.size();
    void *object = pool[index];
    if (isDestroyed)
      pool.erase(pool.begin() + index);
    return static_cast<T>(object);
  }

  template <typename T>
  T draw() {
    using Value = std::remove_const_t<T>;
    if constexpr (std::is_enum_v<Value>) {
      return static_cast<Value>(random() % 8 ? random() % 6 : drawNumber());
    } else if constexpr (std::is_same_v<Value, bool>) {
      return random() % 2;
    } else if constexpr (std::is_arithmetic_v<Value>) {
      return static_cast<Value>(drawNumber());
    } else if constexpr (std::is_class_v<std::remove_pointer_t<Value>> &&
                         !kIsPlain<std::remove_pointer_t<Value>>) {
      return drawObject<Value>();
    } else {
      return drawPointer<Value>();
    }
  }

  /// To memory of random words; to an empty slot where an object is made.
  template <typename T>
  T drawPointer() {
    if (random() % 8 == 0)
      return nullptr;
    using Target = std::remove_cv_t<std::remove_pointer_t<T>>;
    if constexpr (std::is_pointer_v<Target>) {
      object = nullptr;
      made = typeid(Target);
      return reinterpret_cast<T>(&object);
    } else {
      return reinterpret_cast<T>(memory);
    }
  }

  std::mt19937 random;
  int64_t maxNumber = 0;
  uint64_t memory[1024] = {};
  /// What the call may make: where it puts it, and of what type.
  void *object = nullptr;
  std::type_index made = typeid(void);
  bool isDestroyed = false;
  std::map<std::type_index, std::vector<void *>> objects;
};
} // namespace

/// Functions whose arrays are as long as a number says that they are.
static bool hasArrays(std::string_view name) {
  return name == "miopenSetNdTensorDescriptorWithLayout" ||
         name == "miopenSetTensorDescriptor" ||
         name == "miopenSetTensorDescriptorV2" ||
         name == "miopenSetRNNDataSeqTensorDescriptor";
}

namespace {
struct Row {
  const char *name;
  void (*call)(Fuzzer &);
};
class Fuzz : public FakeEngineTest {};
} // namespace

#define ROW(name)                                                              \
  {#name, [](Fuzzer &fuzzer) { fuzzer.call(name, #name, hasArrays(#name)); }}

static constexpr Row kRows[] = {
    ROW(miopenSetOpArgsConvForward),
    ROW(miopenSetOpArgsActivForward),
    ROW(miopenSetOpArgsBiasForward),
    ROW(miopenConvolutionBiasActivationForward),
    ROW(tesseraDestroySoftmaxDescriptor),
    ROW(tesseraDestroyMhaDescriptor),
    ROW(miopenCreate),
    ROW(miopenCreateWithStream),
    ROW(miopenDestroy),
    ROW(miopenSetStream),
    ROW(miopenGetStream),
    ROW(miopenGetKernelTime),
    ROW(miopenEnableProfiling),
    ROW(miopenSetTuningPolicy),
    ROW(miopenGetTuningPolicy),
    ROW(miopenCreateTensorDescriptor),
    ROW(miopenSet4dTensorDescriptor),
    ROW(miopenSetNdTensorDescriptorWithLayout),
    ROW(miopenSet4dTensorDescriptorEx),
    ROW(miopenGet4dTensorDescriptor),
    ROW(miopenSetTensorDescriptor),
    ROW(miopenSetTensorDescriptorV2),
    ROW(miopenGetTensorDescriptorSize),
    ROW(miopenGetTensorDescriptor),
    ROW(miopenSetTensorCastType),
    ROW(miopenGetTensorCastType),
    ROW(miopenDestroyTensorDescriptor),
    ROW(miopenGetTensorNumBytes),
    ROW(miopenCreateConvolutionDescriptor),
    ROW(miopenInitConvolutionDescriptor),
    ROW(miopenInitConvolutionNdDescriptor),
    ROW(miopenGetConvolutionSpatialDim),
    ROW(miopenGetConvolutionDescriptor),
    ROW(miopenGetConvolutionNdDescriptor),
    ROW(miopenGetConvolutionGroupCount),
    ROW(miopenSetConvolutionGroupCount),
    ROW(miopenSetTransposeConvOutputPadding),
    ROW(miopenSetTransposeConvNdOutputPadding),
    ROW(miopenGetConvolutionForwardOutputDim),
    ROW(miopenGetConvolutionNdForwardOutputDim),
    ROW(miopenDestroyConvolutionDescriptor),
    ROW(miopenSetConvolutionAttribute),
    ROW(miopenGetConvolutionAttribute),
    ROW(miopenSetConvolutionFindMode),
    ROW(miopenGetConvolutionFindMode),
    ROW(miopenHiddenSetConvolutionFindMode),
    ROW(miopenHiddenGetConvolutionFindMode),
    ROW(miopenConvolutionForwardGetWorkSpaceSize),
    ROW(miopenFindConvolutionForwardAlgorithm),
    ROW(miopenConvolutionForward),
    ROW(miopenConvolutionForwardGetSolutionCount),
    ROW(miopenConvolutionForwardGetSolution),
    ROW(miopenConvolutionForwardGetSolutionWorkspaceSize),
    ROW(miopenConvolutionForwardCompileSolution),
    ROW(miopenConvolutionForwardImmediate),
    ROW(miopenConvolutionBackwardDataGetWorkSpaceSize),
    ROW(miopenFindConvolutionBackwardDataAlgorithm),
    ROW(miopenConvolutionBackwardData),
    ROW(miopenConvolutionBackwardDataGetSolutionCount),
    ROW(miopenConvolutionBackwardDataGetSolution),
    ROW(miopenConvolutionBackwardDataGetSolutionWorkspaceSize),
    ROW(miopenConvolutionBackwardDataCompileSolution),
    ROW(miopenConvolutionBackwardDataImmediate),
    ROW(miopenConvolutionBackwardWeightsGetWorkSpaceSize),
    ROW(miopenFindConvolutionBackwardWeightsAlgorithm),
    ROW(miopenConvolutionBackwardWeights),
    ROW(miopenConvolutionBackwardWeightsGetSolutionCount),
    ROW(miopenConvolutionBackwardWeightsGetSolution),
    ROW(miopenConvolutionBackwardWeightsGetSolutionWorkspaceSize),
    ROW(miopenConvolutionBackwardWeightsCompileSolution),
    ROW(miopenConvolutionBackwardWeightsImmediate),
    ROW(miopenCreatePoolingDescriptor),
    ROW(miopenSetPoolingIndexType),
    ROW(miopenGetPoolingIndexType),
    ROW(miopenSetPoolingWorkSpaceIndexMode),
    ROW(miopenGetPoolingWorkSpaceIndexMode),
    ROW(miopenSet2dPoolingDescriptor),
    ROW(miopenGet2dPoolingDescriptor),
    ROW(miopenGetPoolingForwardOutputDim),
    ROW(miopenSetNdPoolingDescriptor),
    ROW(miopenGetNdPoolingDescriptor),
    ROW(miopenGetPoolingNdForwardOutputDim),
    ROW(miopenPoolingGetWorkSpaceSize),
    ROW(miopenPoolingGetWorkSpaceSizeV2),
    ROW(miopenPoolingForward),
    ROW(miopenPoolingBackward),
    ROW(miopenDestroyPoolingDescriptor),
    ROW(miopenCreateConvProblem),
    ROW(miopenCreateMhaProblem),
    ROW(miopenCreateMhaDescriptor),
    ROW(miopenSetMhaDescriptor),
    ROW(miopenGetMhaDescriptor),
    ROW(miopenDestroyProblem),
    ROW(miopenSetProblemTensorDescriptor),
    ROW(miopenCreateFindOptions),
    ROW(miopenDestroyFindOptions),
    ROW(miopenSetFindOptionTuning),
    ROW(miopenSetFindOptionResultsOrder),
    ROW(miopenSetFindOptionWorkspaceLimit),
    ROW(miopenSetFindOptionPreallocatedWorkspace),
    ROW(miopenSetFindOptionPreallocatedTensor),
    ROW(miopenSetFindOptionAttachBinaries),
    ROW(miopenDestroySolution),
    ROW(miopenLoadSolution),
    ROW(miopenSaveSolution),
    ROW(miopenGetSolutionSize),
    ROW(miopenGetSolutionWorkspaceSize),
    ROW(miopenGetSolutionTime),
    ROW(miopenGetSolutionSolverId),
    ROW(miopenGetSolverIdConvAlgorithm),
    ROW(miopenCreateActivationProblem),
    ROW(miopenCreateBatchnormProblem),
    ROW(miopenFuseProblems),
    ROW(miopenCreateBiasProblem),
    ROW(miopenCreateSoftmaxProblem),
    ROW(miopenCreateActivationDescriptor),
    ROW(miopenSetActivationDescriptor),
    ROW(miopenGetActivationDescriptor),
    ROW(miopenDestroyActivationDescriptor),
    ROW(miopenDeriveBNTensorDescriptor),
    ROW(miopenCreateDropoutDescriptor),
    ROW(miopenDestroyDropoutDescriptor),
    ROW(miopenDropoutGetReserveSpaceSize),
    ROW(miopenDropoutGetStatesSize),
    ROW(miopenGetDropoutDescriptor),
    ROW(miopenRestoreDropoutDescriptor),
    ROW(miopenSetDropoutDescriptor),
    ROW(miopenCreateFusionPlan),
    ROW(miopenDestroyFusionPlan),
    ROW(miopenCompileFusionPlan),
    ROW(miopenFusionPlanGetWorkSpaceSize),
    ROW(miopenFusionPlanConvolutionGetAlgo),
    ROW(miopenCreateOpConvForward),
    ROW(miopenCreateOpActivationForward),
    ROW(miopenCreateOpActivationBackward),
    ROW(miopenCreateOpBiasForward),
    ROW(miopenCreateOpBatchNormInference),
    ROW(miopenCreateOpBatchNormForward),
    ROW(miopenCreateOpBatchNormBackward),
    ROW(miopenCreateOperatorArgs),
    ROW(miopenDestroyOperatorArgs),
    ROW(miopenExecuteFusionPlan),
    ROW(miopenExecuteFusionPlan_v2),
    ROW(miopenCreateCTCLossDescriptor),
    ROW(miopenGetCTCLossDescriptor),
    ROW(miopenDestroyCTCLossDescriptor),
    ROW(miopenSetCTCLossDescriptor),
    ROW(miopenCreateLRNDescriptor),
    ROW(miopenSetLRNDescriptor),
    ROW(miopenGetLRNDescriptor),
    ROW(miopenDestroyLRNDescriptor),
    ROW(miopenCreateReduceTensorDescriptor),
    ROW(miopenDestroyReduceTensorDescriptor),
    ROW(miopenSetReduceTensorDescriptor),
    ROW(miopenGetReduceTensorDescriptor),
    ROW(miopenCreateSeqTensorDescriptor),
    ROW(miopenDestroySeqTensorDescriptor),
    ROW(miopenCreateRNNDescriptor),
    ROW(miopenGetRNNDescriptor),
    ROW(miopenGetRNNDescriptor_V2),
    ROW(miopenDestroyRNNDescriptor),
    ROW(miopenSetRNNDescriptor),
    ROW(miopenSetRNNDescriptor_V2),
    ROW(miopenSetRNNDataSeqTensorDescriptor),
    ROW(miopenGetRNNDataSeqTensorDescriptor),
    ROW(miopenSetRNNPaddingMode),
    ROW(miopenGetRNNPaddingMode),
    ROW(miopenCreateSoftmaxDescriptor),
    ROW(miopenSetSoftmaxDescriptor),
    ROW(miopenGetSoftmaxDescriptor),
};

// No sequence of calls crashes; some of them get through.
TEST_F(Fuzz, RandomCallsGiveStatuses) {
  constexpr int kCalls = 40000;
  setenv("MIOPEN_LOG_LEVEL", "1", 1); // Nothing was logged yet.
  Fuzzer fuzzer(2026);
  std::mt19937 random(11);
  for (int i = 0; i < kCalls && !HasFatalFailure(); ++i) {
    kRows[random() % std::size(kRows)].call(fuzzer);
    engine->problems.clear();
    engine->launches.clear();
  }
  EXPECT_GT(fuzzer.successes, kCalls / 20);
  for (int round = 0; round < 2000 && fuzzer.countObjects() != 0; ++round)
    for (const Row &row : kRows)
      if (isDestroyer(row.name))
        row.call(fuzzer);
  EXPECT_EQ(fuzzer.countObjects(), 0u);
}
