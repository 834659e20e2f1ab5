//===- ExtensionTest.cpp - Operators of PyTorch, answered without Python --===//
//
// On a PyTorch of our own (FakeTorch.h). test/python/test_torch.py is on
// PyTorch's.
//
//===----------------------------------------------------------------------===//

#include "capi/torch/Extension.h"
#include "test/unit/Support/FakeTorch.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <thread>

using namespace tessera;
using namespace tessera::torch;

namespace {

/// What the library was asked for.
struct Run {
  void *handle;
  std::string problem;
  tesseraProblemArguments arguments;
};
std::vector<Run> runs;
std::vector<void *> streams;
miopenStatus_t status = miopenStatusSuccess;
bool allowsTf32 = false;

miopenStatus_t runProblem(miopenHandle_t handle, const char *problem,
                          const tesseraProblemArguments *arguments) {
  runs.push_back({handle, problem, *arguments});
  return status;
}
miopenStatus_t setStream(miopenHandle_t, miopenAcceleratorQueue_t stream) {
  streams.push_back(stream);
  return miopenStatusSuccess;
}

const auto kHandle = reinterpret_cast<miopenHandle_t>(0x1000);

/// "op(Tensor x, Tensor? w, int[] pad, int? limit, float scale)
///  -> (Tensor, Tensor, Tensor)", whose Python plans a launch with a workspace,
/// the sum of x, and nothing.
class TorchExtension : public testing::Test {
protected:
  FakeTorch &torch = FakeTorch::get();
  int x = 0, w = 0;      ///< Memory of the arguments.
  int asked = 0;         ///< How often Python was.
  bool plans = true;     ///< Whether it makes a plan.
  Call *plan = nullptr;  ///< The last one.
  std::string complaint; ///< What it fails with.
  StableValue stack[5];  ///< Of the last call.

  void SetUp() override {
    static const Settings settings = {true, runProblem, setStream,
                                      [] { return int32_t(allowsTf32); }};
    ASSERT_TRUE(tesseraTorchStart(&settings));
    LibraryHandle library = tesseraTorchNewReplacements("aten", "CUDA");
    ASSERT_TRUE(tesseraTorchReplace(library, "op", "Ttloi", true));
    torch.dispatch = [this](const std::string &name, StableValue *values) {
      return name == "tessera::op" ? answer(values) : sum(name, values);
    };
    runs.clear();
    streams.clear();
    status = miopenStatusSuccess;
    allowsTf32 = false;
  }

  /// Python's answer.
  int32_t answer(StableValue *values) {
    ++asked;
    freeArguments(values);
    for (int i = 0; i < 3; ++i)
      values[i] = torch.newTensor({0}, nullptr);
    if (!complaint.empty())
      tesseraTorchFail(complaint.c_str());
    else if (Call *made = plans ? tesseraTorchNewCall(kHandle, 0) : nullptr)
      addTo(made);
    return 0;
  }
  static void freeArguments(StableValue *values) {
    auto freeTensor = [](StableValue value) {
      aotiDelete(reinterpret_cast<TensorHandle>(value));
    };
    freeTensor(values[0]);
    if (auto *optional = reinterpret_cast<StableValue *>(values[1])) {
      freeTensor(*optional);
      delete optional;
    }
    torch_delete_list(reinterpret_cast<ListHandle>(values[2]));
    delete reinterpret_cast<StableValue *>(values[3]);
  }
  static void aotiDelete(TensorHandle tensor) {
    aoti_torch_delete_tensor_object(tensor);
  }
  void addTo(Call *made) {
    plan = made;
    const int64_t sizes[] = {4, 5}, strides[] = {5, 1}, dims[] = {1};
    tesseraTorchAddNew(plan, 2, sizes, strides, kFakeFloat32);
    tesseraTorchAddSum(plan, 1, dims, 0);
    tesseraProblemArguments arguments = TESSERA_PROBLEM_ARGUMENTS_INIT;
    arguments.workSpaceSize = 64;
    const uint32_t offsets[] = {offsetof(tesseraProblemArguments, x),
                                offsetof(tesseraProblemArguments, w),
                                offsetof(tesseraProblemArguments, y)};
    const int numbers[] = {0, 1, ~0};
    tesseraTorchAddLaunch(plan, "problem", &arguments, 3, offsets, numbers);
    tesseraTorchSetScalar(plan, 4, 2);
    for (int result : {~0, ~1, Call::kNothing})
      tesseraTorchAddResult(plan, result);
    tesseraTorchKeepCall(plan);
  }
  int32_t sum(const std::string &name, StableValue *values) {
    EXPECT_EQ(name, "aten::sumdim_IntList");
    auto *optional = reinterpret_cast<StableValue *>(values[1]);
    auto *dims = reinterpret_cast<ListHandle>(*optional);
    EXPECT_EQ(dims->values, std::vector<StableValue>{1});
    torch_delete_list(dims);
    delete optional;
    aotiDelete(reinterpret_cast<TensorHandle>(values[0]));
    values[0] = torch.newTensor({4}, nullptr);
    return 0;
  }

  /// Calls the operator, with results in `stack`.
  void call(std::vector<int64_t> sizes, double scale = 0.5) {
    stack[0] = torch.newTensor(sizes, &x);
    stack[1] = reinterpret_cast<StableValue>(
        new StableValue(torch.newTensor({3}, &w)));
    stack[2] = torch.newList({1, 2});
    stack[3] = 0;
    stack[4] = std::bit_cast<StableValue>(scale);
    torch.replaced.at("op")(stack, 5, 3);
  }
  /// Frees the results; nothing else may be there.
  void freeResults() {
    for (int i = 0; i < 3; ++i)
      aotiDelete(reinterpret_cast<TensorHandle>(stack[i]));
    EXPECT_EQ(torch.live, 0);
  }
};

// Python is asked once. Then the plan is carried out with the tensors and the
// scalar of each call, on the current stream.
TEST_F(TorchExtension, CarriesOutAPlan) {
  call({4, 5});
  freeResults();
  EXPECT_EQ(asked, 1);
  int stream;
  torch.stream = &stream;
  call({4, 5}, 0.25);
  EXPECT_EQ(asked, 1);
  EXPECT_EQ(tesseraTorchGetCount(plan), 1u);
  ASSERT_EQ(runs.size(), 1u);
  EXPECT_EQ(runs[0].handle, kHandle);
  EXPECT_EQ(runs[0].problem, "problem");
  EXPECT_EQ(streams, std::vector<void *>{&stream});
  const tesseraProblemArguments &given = runs[0].arguments;
  EXPECT_EQ(given.x, &x);
  EXPECT_EQ(given.w, &w);
  auto *result = reinterpret_cast<TensorHandle>(stack[0]);
  EXPECT_EQ(given.y, result->data);
  EXPECT_TRUE(given.workSpace);
  EXPECT_EQ(given.scalars[2], 0.25);
  EXPECT_EQ(result->strides, (std::vector<int64_t>{5, 1}));
  EXPECT_EQ(reinterpret_cast<TensorHandle>(stack[1])->sizes.size(), 1u);
  EXPECT_FALSE(reinterpret_cast<TensorHandle>(stack[2])->isDefined);
  freeResults();
}

// What a plan depends on is in its key; a plan is of the thread that made it.
TEST_F(TorchExtension, AsksForOtherArguments) {
  auto callAndFree = [&](std::vector<int64_t> sizes) {
    call(sizes);
    freeResults();
  };
  callAndFree({6, 5});
  callAndFree({6, 6});
  EXPECT_EQ(asked, 2);
  allowsTf32 = true;
  callAndFree({6, 5});
  EXPECT_EQ(asked, 3);
  std::thread([&] { callAndFree({6, 5}); }).join();
  EXPECT_EQ(asked, 4);
  callAndFree({6, 5});
  callAndFree({6, 6});
  EXPECT_EQ(asked, 5);
  EXPECT_EQ(runs.size(), 1u);
}

// Whatever fails goes to Python, which gets the arguments as they came.
TEST_F(TorchExtension, AsksWhenAPlanFails) {
  call({7, 5});
  freeResults();
  auto callAndExpect = [&](int count) {
    call({7, 5});
    freeResults();
    EXPECT_EQ(asked, count);
  };
  status = miopenStatusInternalError;
  callAndExpect(2);
  status = miopenStatusSuccess;
  torch.isMemoryExhausted = true;
  callAndExpect(3);
  torch.isMemoryExhausted = false;
  callAndExpect(3);
  EXPECT_EQ(tesseraTorchGetCount(plan), 1u);
}

// The plan is of one device, and PyTorch's current one may be another.
TEST_F(TorchExtension, AsksOnAnotherDevice) {
  call({8, 5});
  freeResults();
  torch.device = 1;
  call({8, 5});
  torch.device = 0;
  freeResults();
  EXPECT_EQ(asked, 2);
  EXPECT_TRUE(runs.empty());
}

// Python's exceptions arrive as their text, also one of a call without a plan.
TEST_F(TorchExtension, PassesErrorsOn) {
  complaint = "no such luck";
  try {
    call({9, 5});
    ADD_FAILURE() << "no exception";
  } catch (const std::exception &error) {
    EXPECT_STREQ(error.what(), "no such luck");
  }
  EXPECT_EQ(torch.live, 0);
  complaint.clear();
  plans = false;
  for (int i = 0; i < 2; ++i) {
    call({9, 5});
    freeResults();
  }
  EXPECT_EQ(asked, 3);
  EXPECT_FALSE(tesseraTorchNewCall(kHandle, 0)) << "no call is being answered";
}

} // namespace
