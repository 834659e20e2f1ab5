//===- ObjectsTest.cpp - Objects that are not what they should be ---------===//
//
// CapiFuzz passes every kind of wrong object to every function
// (BadObjectsAreTold). These tests check the messages, and what becomes of the
// memory.
//
//===----------------------------------------------------------------------===//

#define MIOPEN_BETA_API 1
#include "test/unit/capi/Descriptors.h"
#include "test/unit/capi/FakeEngine.h"

#include <tessera/tessera.h>

#include <algorithm>
#include <string>

using namespace tessera::test;

namespace {
class Objects : public FakeEngineTest {};
} // namespace

/// The message of a call, which must have refused its argument.
static std::string getRefusal(miopenStatus_t status) {
  EXPECT_EQ(status, miopenStatusBadParm);
  return tesseraGetLastErrorMessage();
}

static int getSize(miopenTensorDescriptor_t tensor) {
  int size = -1;
  EXPECT_EQ(miopenGetTensorDescriptorSize(tensor, &size), miopenStatusSuccess);
  return size;
}

// The message names the argument, and says what it points at.
TEST_F(Objects, WrongOnesAreNamed) {
  miopenHandle_t handle = nullptr;
  ASSERT_EQ(miopenCreate(&handle), miopenStatusSuccess);
  ConvDesc conv;
  const auto wrong = reinterpret_cast<miopenTensorDescriptor_t>(
      static_cast<miopenConvolutionDescriptor_t>(conv));
  int size = 0;
  EXPECT_EQ(getRefusal(miopenGetTensorDescriptorSize(wrong, &size)),
            "miopenGetTensorDescriptorSize: tensorDesc is a convolution "
            "descriptor, not a tensor descriptor");
  EXPECT_EQ(getRefusal(miopenDestroyTensorDescriptor(wrong)),
            "miopenDestroyTensorDescriptor: tensorDesc is a convolution "
            "descriptor, not a tensor descriptor");
  // This is the address of a handle instead of the handle.
  TensorDesc tensor;
  miopenTensorDescriptor_t own = tensor;
  EXPECT_EQ(getRefusal(miopenGetTensorDescriptorSize(
                reinterpret_cast<miopenTensorDescriptor_t>(&own), &size)),
            "miopenGetTensorDescriptorSize: tensorDesc does not point at a "
            "tensor descriptor");
  ASSERT_EQ(miopenDestroy(handle), miopenStatusSuccess);
  EXPECT_EQ(getRefusal(miopenSetStream(handle, nullptr)),
            "miopenSetStream: handle is a handle that has been destroyed");
  EXPECT_EQ(getRefusal(miopenDestroy(handle)),
            "miopenDestroy: handle is a handle that has been destroyed");
}

// Arguments that may be null are checked if they are not, and so are the
// elements of arrays.
TEST_F(Objects, OptionalOnesAndArraysAreLookedAt) {
  miopenHandle_t handle = nullptr;
  ASSERT_EQ(miopenCreate(&handle), miopenStatusSuccess);
  float memory[8] = {};
  TensorDesc x(miopenTensorNCHW, {1, 2, 1, 1}),
      y(miopenTensorNCHW, {1, 4, 1, 1});
  miopenTensorDescriptor_t gone = nullptr;
  ASSERT_EQ(miopenCreateTensorDescriptor(&gone), miopenStatusSuccess);
  ASSERT_EQ(miopenDestroyTensorDescriptor(gone), miopenStatusSuccess);
  auto normalise = [&](miopenTensorDescriptor_t mean) {
    return miopenGroupNormForward(handle, MIOPEN_ELEMENTWISE_AFFINE, x, memory,
                                  nullptr, nullptr, nullptr, nullptr, 1, 1e-5f,
                                  x, memory, mean, nullptr, nullptr, nullptr);
  };
  EXPECT_EQ(normalise(nullptr), miopenStatusSuccess);
  EXPECT_EQ(getRefusal(normalise(gone)),
            "miopenGroupNormForward: meanDesc is a tensor descriptor that has "
            "been destroyed");
  const miopenTensorDescriptor_t inputs[] = {x, gone};
  const void *xs[] = {memory, memory + 2};
  EXPECT_EQ(
      getRefusal(miopenCatForward(handle, 2, inputs, xs, y, memory + 4, 1)),
      "miopenCatForward: a descriptor of xDescs is a tensor descriptor "
      "that has been destroyed");
  ASSERT_EQ(miopenDestroy(handle), miopenStatusSuccess);
}

// Destroying a plan destroys its operations, which it owns.
TEST_F(Objects, OperationsEndWithTheirPlan) {
  TensorDesc x(miopenTensorNCHW, {1, 2, 1, 1});
  miopenFusionPlanDescriptor_t plan = nullptr;
  miopenFusionOpDescriptor_t op = nullptr;
  miopenOperatorArgs_t args = nullptr;
  ASSERT_EQ(miopenCreateFusionPlan(&plan, miopenVerticalFusion, x),
            miopenStatusSuccess);
  ASSERT_EQ(miopenCreateOpActivationForward(plan, &op, miopenActivationRELU),
            miopenStatusSuccess);
  ASSERT_EQ(miopenCreateOperatorArgs(&args), miopenStatusSuccess);
  const float one = 1, zero = 0;
  auto set = [&] {
    return miopenSetOpArgsActivForward(args, op, &one, &zero, 0, 0, 0);
  };
  EXPECT_EQ(set(), miopenStatusSuccess);
  ASSERT_EQ(miopenDestroyFusionPlan(plan), miopenStatusSuccess);
  EXPECT_EQ(getRefusal(set()),
            "miopenSetOpArgsActivForward: activFwdOp is an operation of a "
            "fusion plan that has been destroyed");
  ASSERT_EQ(miopenDestroyOperatorArgs(args), miopenStatusSuccess);
}

// A copy of a descriptor in another object has its values and not its tag.
// Setting a descriptor keeps its tag.
TEST_F(Objects, ValuesAreSetAndTagsStay) {
  TensorDesc tensor(miopenTensorNCHW, {1, 2, 3, 4});
  EXPECT_EQ(getSize(tensor), 4);
  ASSERT_EQ(miopenSet4dTensorDescriptor(tensor, miopenFloat, 0, 0, 0, 0),
            miopenStatusSuccess);
  EXPECT_EQ(getSize(tensor), 0);
}

// Blocks are used again, the oldest first, so that a client which makes and
// destroys descriptors for each call does not need more and more memory.
TEST_F(Objects, MemoryIsUsedAgain) {
  std::vector<miopenTensorDescriptor_t> seen;
  for (int i = 0; i < 1000; ++i) {
    miopenTensorDescriptor_t tensor = nullptr;
    ASSERT_EQ(miopenCreateTensorDescriptor(&tensor), miopenStatusSuccess);
    ASSERT_EQ(getSize(tensor), 0);
    ASSERT_EQ(miopenSet4dTensorDescriptor(tensor, miopenFloat, 1, 2, 3, 4),
              miopenStatusSuccess);
    ASSERT_EQ(miopenDestroyTensorDescriptor(tensor), miopenStatusSuccess);
    EXPECT_EQ(miopenDestroyTensorDescriptor(tensor), miopenStatusBadParm);
    if (std::ranges::find(seen, tensor) == seen.end())
      seen.push_back(tensor);
  }
  EXPECT_LT(seen.size(), 100u);
}
