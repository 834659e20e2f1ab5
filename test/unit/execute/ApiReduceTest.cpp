//===- ApiReduceTest.cpp - Softmax and reductions on a device -------------===//

#include "test/unit/execute/ApiRowWiseFixture.h"

#include <algorithm>
#include <cmath>
#include <cstring>

using namespace tessera;
using namespace tessera::test;
using reference::RowRole;

static const float kOne = 1, kZero = 0;
static constexpr miopenDataType_t kFloats[] = {miopenHalf, miopenBFloat16,
                                               miopenFloat};

namespace {
/// The operation that a call has computed, as the reference needs it.
struct Reduced {
  std::string_view operation;
  uint32_t mode = 0;
  std::vector<int> lengths;
  uint32_t reduced = 0;
  std::vector<double> scalars = {1, 0};
};

class ApiReduce : public ApiRowWise {
protected:
  void SetUp() override {
    ApiRowWise::SetUp();
    ASSERT_OK(miopenCreateReduceTensorDescriptor(&reduction));
  }
  void TearDown() override {
    EXPECT_OK(miopenDestroyReduceTensorDescriptor(reduction));
    ApiRowWise::TearDown();
  }

  /// Expects that the results, all of role `role`, are what the reference
  /// computes from the inputs.
  static void expectReduced(const Reduced &what,
                            const std::vector<const ApiTensor *> &inputs,
                            RowRole role,
                            const std::vector<reference::RowOperand> &results) {
    reference::RowShape shape;
    shape.operation = what.operation;
    shape.mode = what.mode;
    shape.scalars = what.scalars;
    shape.rank = static_cast<int>(what.lengths.size());
    std::ranges::copy(what.lengths, shape.lengths.begin());
    shape.reduced = what.reduced;
    for (const ApiTensor *input : inputs)
      shape.tensors.push_back(
          input->getOperand(RowRole::Input, input->getHost()));
    for (reference::RowOperand result : results) {
      result.role = role;
      shape.tensors.push_back(result);
    }
    EXPECT_EQ(reference::compareRows(shape, reference::evaluateRows(shape)), "")
        << what.operation << " mode " << what.mode;
  }
  static void expectSoftmax(const Reduced &what,
                            const std::vector<const ApiTensor *> &inputs,
                            const ApiTensor &output) {
    const std::vector<char> bytes = output.read();
    expectReduced(what, inputs, RowRole::Output,
                  {output.getOperand(RowRole::Output, bytes)});
  }

  void setReduction(int op, bool keepsNan = false, bool hasIndices = false,
                    miopenIndicesType_t indices = MIOPEN_32BIT_INDICES) {
    EXPECT_OK(miopenSetReduceTensorDescriptor(
        reduction, static_cast<miopenReduceTensorOp_t>(op), miopenFloat,
        keepsNan ? MIOPEN_PROPAGATE_NAN : MIOPEN_NOT_PROPAGATE_NAN,
        hasIndices ? MIOPEN_REDUCE_TENSOR_FLATTENED_INDICES
                   : MIOPEN_REDUCE_TENSOR_NO_INDICES,
        indices));
  }
  miopenStatus_t reduce(const ApiTensor &a, const ApiTensor &c,
                        const ApiTensor *indices = nullptr,
                        const float *alpha = &kOne,
                        const float *beta = &kZero) {
    size_t bytes = 0, workspace = 1;
    EXPECT_OK(miopenGetReductionIndicesSize(handle, reduction, a.getDesc(),
                                            c.getDesc(), &bytes));
    EXPECT_OK(miopenGetReductionWorkspaceSize(handle, reduction, a.getDesc(),
                                              c.getDesc(), &workspace));
    EXPECT_EQ(workspace, 0u);
    EXPECT_EQ(bytes, indices ? indices->getHost().size() : 0u);
    return miopenReduceTensor(handle, reduction,
                              indices ? indices->getData() : nullptr, bytes,
                              nullptr, 0, alpha, a.getDesc(), a.getData(), beta,
                              c.getDesc(), c.getData());
  }

  miopenReduceTensorDescriptor_t reduction = nullptr;
};
} // namespace

//===----------------------------------------------------------------------===//
// Softmax
//===----------------------------------------------------------------------===//

// Tests every algorithm and mode in every type with an odd number of pixels,
// forward and backward.
TEST_F(ApiReduce, Softmax) {
  const std::vector<int> lengths = {3, 37, 5, 7};
  for (miopenDataType_t type : kFloats)
    for (int algorithm = 0; algorithm <= MIOPEN_SOFTMAX_LOG; ++algorithm)
      for (int mode :
           {MIOPEN_SOFTMAX_MODE_INSTANCE, MIOPEN_SOFTMAX_MODE_CHANNEL}) {
        const uint32_t reduced = mode == MIOPEN_SOFTMAX_MODE_CHANNEL ? 2 : 14;
        ApiTensor x(type, lengths), y(type, lengths), dy(type, lengths);
        y.poison();
        ASSERT_OK(miopenSoftmaxForward_V2(
            handle, &kOne, x.getDesc(), x.getData(), &kZero, y.getDesc(),
            y.getData(), static_cast<miopenSoftmaxAlgorithm_t>(algorithm),
            static_cast<miopenSoftmaxMode_t>(mode)));
        expectSoftmax({"softmax_fwd", uint32_t(algorithm), lengths, reduced},
                      {&x}, y);
        ApiTensor dx(type, lengths);
        dx.poison();
        ASSERT_OK(miopenSoftmaxBackward_V2(
            handle, &kOne, x.getDesc(), x.getData(), dy.getDesc(), dy.getData(),
            &kZero, dx.getDesc(), dx.getData(),
            static_cast<miopenSoftmaxAlgorithm_t>(algorithm),
            static_cast<miopenSoftmaxMode_t>(mode)));
        expectSoftmax({"softmax_bwd", uint32_t(algorithm), lengths, reduced},
                      {&x, &dy}, dx);
      }
}

// Tests alpha and beta, channels last, gaps, two dimensions, and a result that
// overwrites its input.
TEST_F(ApiReduce, SoftmaxScaled) {
  const std::vector<int> lengths = {2, 24, 3, 5};
  const float alpha = 0.5f, beta = -0.75f;
  ApiTensor x(miopenHalf, lengths, getChannelsLast(lengths));
  ApiTensor y(miopenHalf, lengths, {400, 16, 5, 1});
  ASSERT_OK(miopenSoftmaxForward(handle, &alpha, x.getDesc(), x.getData(),
                                 &beta, y.getDesc(), y.getData()));
  expectSoftmax({"softmax_fwd", 1, lengths, 2, {alpha, beta}}, {&x, &y}, y);
  ApiTensor dy(miopenHalf, lengths), dx(miopenHalf, lengths);
  ASSERT_OK(miopenSoftmaxBackward(handle, &alpha, x.getDesc(), x.getData(),
                                  dy.getDesc(), dy.getData(), &beta,
                                  dx.getDesc(), dx.getData()));
  expectSoftmax({"softmax_bwd", 1, lengths, 2, {alpha, beta}}, {&x, &dy, &dx},
                dx);
  ApiTensor matrix(miopenFloat, {9, 1000});
  ASSERT_OK(miopenSoftmaxForward(handle, &kOne, matrix.getDesc(),
                                 matrix.getData(), &kZero, matrix.getDesc(),
                                 matrix.getData()));
  expectSoftmax({"softmax_fwd", 1, {9, 1000}, 2}, {&matrix}, matrix);
}

// Refuses tensors that do not fit each other, and values that are not in the
// enum.
TEST_F(ApiReduce, SoftmaxRefusals) {
  ApiTensor x(miopenFloat, {2, 3, 4, 5}), other(miopenFloat, {2, 3, 5, 4});
  auto run = [&](const ApiTensor &in, const ApiTensor &out, int mode) {
    return miopenSoftmaxForward_V2(handle, &kOne, in.getDesc(), in.getData(),
                                   &kZero, out.getDesc(), out.getData(),
                                   MIOPEN_SOFTMAX_FAST,
                                   static_cast<miopenSoftmaxMode_t>(mode));
  };
  EXPECT_EQ(run(x, other, 1), miopenStatusBadParm);
  EXPECT_STREQ(tesseraGetLastErrorMessage(),
               "miopenSoftmaxForward_V2: x and y have different lengths");
  EXPECT_EQ(run(x, x, 2), miopenStatusBadParm);
}

/// Finds a solution of a softmax by Find 2.0, saves it and loads it again.
static miopenSolution_t
findSolution(miopenHandle_t handle, miopenSoftmaxDescriptor_t softmax,
             miopenProblemDirection_t direction,
             const std::vector<miopenTensorArgument_t> &tensors) {
  miopenProblem_t problem = nullptr;
  miopenSolution_t found = nullptr, loaded = nullptr;
  size_t count = 0, size = 0;
  EXPECT_OK(miopenCreateSoftmaxProblem(&problem, softmax, direction));
  EXPECT_EQ(miopenFindSolutions(handle, problem, nullptr, &found, &count, 1),
            miopenStatusInvalidValue);
  for (const miopenTensorArgument_t &tensor : tensors)
    EXPECT_OK(miopenSetProblemTensorDescriptor(problem, tensor.id,
                                               *tensor.descriptor));
  EXPECT_EQ(miopenSetProblemTensorDescriptor(problem, miopenTensorConvolutionX,
                                             *tensors[0].descriptor),
            miopenStatusBadParm);
  EXPECT_OK(miopenFindSolutions(handle, problem, nullptr, &found, &count, 1));
  EXPECT_EQ(count, 1u);
  EXPECT_OK(miopenGetSolutionSize(found, &size));
  std::string bytes(size, 0);
  EXPECT_OK(miopenSaveSolution(found, bytes.data()));
  EXPECT_OK(miopenLoadSolution(&loaded, bytes.data(), size));
  EXPECT_OK(miopenDestroySolution(found));
  EXPECT_OK(miopenDestroyProblem(problem));
  return loaded;
}

// Find 2.0 solves both directions with the descriptor's alpha and beta, where
// beta adds what the result's memory holds. A missing tensor is refused.
TEST_F(ApiReduce, SoftmaxSolutions) {
  const std::vector<int> lengths = {2, 37, 3, 5};
  const float alpha = 0.5f, beta = -0.75f;
  miopenSoftmaxDescriptor_t softmax;
  ASSERT_OK(miopenCreateSoftmaxDescriptor(&softmax));
  ASSERT_OK(miopenSetSoftmaxDescriptor(softmax, alpha, beta, MIOPEN_SOFTMAX_LOG,
                                       MIOPEN_SOFTMAX_MODE_CHANNEL));
  ApiTensor x(miopenHalf, lengths), y(miopenHalf, lengths);
  ApiTensor dy(miopenHalf, lengths), dx(miopenHalf, lengths);
  miopenTensorDescriptor_t desc = x.getDesc();
  const std::vector<miopenTensorArgument_t> forward = {
      {miopenTensorSoftmaxX, &desc, x.getData()},
      {miopenTensorSoftmaxY, &desc, y.getData()}};
  miopenSolution_t solution =
      findSolution(handle, softmax, miopenProblemDirectionForward, forward);
  EXPECT_EQ(miopenRunSolution(handle, solution, 1, forward.data(), nullptr, 0),
            miopenStatusInvalidValue);
  EXPECT_OK(miopenRunSolution(handle, solution, 2, forward.data(), nullptr, 0));
  expectSoftmax({"softmax_fwd", 2, lengths, 2, {alpha, beta}}, {&x, &y}, y);
  EXPECT_OK(miopenDestroySolution(solution));
  const std::vector<miopenTensorArgument_t> backward = {
      {miopenTensorSoftmaxDX, &desc, dx.getData()},
      {miopenTensorSoftmaxY, &desc, x.getData()},
      {miopenTensorSoftmaxDY, &desc, dy.getData()}};
  solution =
      findSolution(handle, softmax, miopenProblemDirectionBackward, backward);
  EXPECT_OK(
      miopenRunSolution(handle, solution, 3, backward.data(), nullptr, 0));
  expectSoftmax({"softmax_bwd", 2, lengths, 2, {alpha, beta}}, {&x, &dy, &dx},
                dx);
  EXPECT_OK(miopenDestroySolution(solution));
  EXPECT_OK(tesseraDestroySoftmaxDescriptor(softmax));
}

//===----------------------------------------------------------------------===//
// Reductions
//===----------------------------------------------------------------------===//

// Tests the eight operations in every type over the inner, the outer and all
// dimensions.
TEST_F(ApiReduce, ReduceTensor) {
  const std::vector<int> lengths = {5, 6, 7, 9};
  for (miopenDataType_t type : kFloats)
    for (int op = 0; op <= MIOPEN_REDUCE_TENSOR_NORM2; ++op)
      for (uint32_t reduced : {12u, 5u, 15u}) {
        std::vector<int> result = lengths;
        for (size_t dim = 0; dim < 4; ++dim)
          if (reduced >> dim & 1)
            result[dim] = 1;
        const bool isProduct = op == MIOPEN_REDUCE_TENSOR_MUL;
        ApiTensor a(type, lengths, {}, isProduct ? 0.98 : -4,
                    isProduct ? 1.02 : 4);
        ApiTensor c(type, result);
        c.poison();
        setReduction(op);
        ASSERT_OK(reduce(a, c));
        const std::vector<char> bytes = c.read();
        expectReduced({"reduce", uint32_t(op), lengths, reduced}, {&a},
                      RowRole::RowOutput,
                      {c.getOperand(RowRole::RowOutput, bytes)});
      }
}

// The indices say where an extreme is, and of equal elements the first one
// counts. Alpha scales the result and beta adds the old one.
TEST_F(ApiReduce, ReduceIndices) {
  const std::vector<int> lengths = {4, 33, 6, 2}, result = {4, 1, 6, 1};
  const float alpha = 2, beta = 0.5f;
  for (int op : {MIOPEN_REDUCE_TENSOR_MIN, MIOPEN_REDUCE_TENSOR_MAX,
                 MIOPEN_REDUCE_TENSOR_AMAX})
    for (bool isEqual : {false, true}) {
      ApiTensor a(miopenHalf, lengths), c(miopenHalf, result);
      ApiTensor indices(miopenInt32, result);
      if (isEqual)
        a.fill(1.5);
      indices.poison();
      setReduction(op, /*keepsNan=*/true, /*hasIndices=*/true);
      ASSERT_OK(reduce(a, c, &indices, &alpha, &beta));
      const std::vector<char> bytes = c.read(), numbers = indices.read();
      expectReduced({"reduce", uint32_t(op) | 24, lengths, 10, {alpha, beta}},
                    {&a, &c}, RowRole::RowOutput,
                    {c.getOperand(RowRole::RowOutput, bytes),
                     indices.getOperand(RowRole::RowOutput, numbers)});
    }
}

// The descriptor says whether a NaN is the extreme or is ignored.
TEST_F(ApiReduce, ReduceNan) {
  ApiTensor a(miopenFloat, {1, 3}), c(miopenFloat, {1, 1});
  const float elements[] = {-1, NAN, 2};
  std::vector<char> bytes(sizeof elements);
  std::memcpy(bytes.data(), elements, sizeof elements);
  a.setBytes(bytes);
  for (bool keepsNan : {false, true})
    for (int op : {MIOPEN_REDUCE_TENSOR_MIN, MIOPEN_REDUCE_TENSOR_MAX,
                   MIOPEN_REDUCE_TENSOR_AMAX}) {
      setReduction(op, keepsNan);
      ASSERT_OK(reduce(a, c));
      float result;
      std::memcpy(&result, c.read().data(), sizeof result);
      if (keepsNan)
        EXPECT_TRUE(std::isnan(result)) << op;
      else
        EXPECT_EQ(result, op == MIOPEN_REDUCE_TENSOR_MIN ? -1 : 2) << op;
    }
}

// Doubles can be reduced, also to a result of another type.
TEST_F(ApiReduce, ReduceTypes) {
  const double one = 1, zero = 0;
  for (miopenDataType_t to : {miopenDouble, miopenFloat}) {
    ApiTensor a(miopenDouble, {7, 300}), c(to, {7, 1});
    setReduction(MIOPEN_REDUCE_TENSOR_AVG);
    ASSERT_OK(miopenReduceTensor(handle, reduction, nullptr, 0, nullptr, 0,
                                 &one, a.getDesc(), a.getData(), &zero,
                                 c.getDesc(), c.getData()));
    const std::vector<char> bytes = c.read();
    expectReduced({"reduce", 5, {7, 300}, 2}, {&a}, RowRole::RowOutput,
                  {c.getOperand(RowRole::RowOutput, bytes)});
  }
}

// What cannot be reduced is refused with MIOpen's status.
TEST_F(ApiReduce, ReduceRefusals) {
  ApiTensor a(miopenFloat, {4, 5}), c(miopenFloat, {4, 1});
  ApiTensor odd(miopenFloat, {2, 1}), flat(miopenFloat, {4});
  setReduction(MIOPEN_REDUCE_TENSOR_MAX, false, /*hasIndices=*/true);
  auto run = [&](const ApiTensor &to) {
    return miopenReduceTensor(handle, reduction, nullptr, 0, nullptr, 0, &kOne,
                              a.getDesc(), a.getData(), &kZero, to.getDesc(),
                              to.getData());
  };
  EXPECT_EQ(run(c), miopenStatusUnknownError);
  EXPECT_STREQ(tesseraGetLastErrorMessage(),
               "miopenReduceTensor: the indices need 16 bytes, but have 0");
  setReduction(MIOPEN_REDUCE_TENSOR_MAX, false, true, MIOPEN_64BIT_INDICES);
  EXPECT_EQ(run(c), miopenStatusUnknownError);
  EXPECT_STREQ(tesseraGetLastErrorMessage(),
               "miopenReduceTensor: indices have 32 bits");
  setReduction(MIOPEN_REDUCE_TENSOR_MAX);
  EXPECT_EQ(run(odd), miopenStatusUnknownError);
  EXPECT_EQ(run(flat), miopenStatusUnknownError);
  EXPECT_EQ(run(a), miopenStatusUnknownError);
}

//===----------------------------------------------------------------------===//
// Along one dimension, and the gradient of a bias
//===----------------------------------------------------------------------===//

// Tests sums and products along each dimension, with NaNs left out.
TEST_F(ApiReduce, Calculation) {
  const std::vector<int> lengths = {6, 11, 5};
  for (int dim = 0; dim < 3; ++dim)
    for (int op :
         {MIOPEN_REDUCE_CALCULATION_PROD, MIOPEN_REDUCE_CALCULATION_SUM}) {
      std::vector<int> result = lengths, kept = lengths;
      result.erase(result.begin() + dim);
      kept[dim] = 1;
      ApiTensor x(miopenFloat, lengths, {}, 0.5, 1.5);
      ApiTensor y(miopenFloat, result), shape(miopenFloat, kept);
      ASSERT_OK(miopenReduceCalculationForward(
          handle, MIOPEN_REDUCE_CALCULATION_NOT_PROPAGATE_NAN, nullptr, 0,
          x.getDesc(), x.getData(), dim,
          static_cast<miopenReduceCalculationOp_t>(op), y.getDesc(),
          y.getData()));
      const std::vector<char> bytes = y.read();
      const uint32_t mode = op == MIOPEN_REDUCE_CALCULATION_PROD ? 33 : 32;
      expectReduced({"reduce", mode, lengths, 1u << dim}, {&x},
                    RowRole::RowOutput,
                    {shape.getOperand(RowRole::RowOutput, bytes)});
    }
}

// Tests extremes with their indices, and the indices alone.
TEST_F(ApiReduce, Extreme) {
  const std::vector<int> lengths = {6, 11, 5}, result = {6, 5},
                         kept = {6, 1, 5};
  for (int op = MIOPEN_REDUCE_EXTREME_ARGMIN; op <= MIOPEN_REDUCE_EXTREME_MAX;
       ++op) {
    ApiTensor x(miopenBFloat16, lengths), y(miopenBFloat16, result);
    ApiTensor indices(miopenInt32, result), shape(miopenBFloat16, kept);
    ApiTensor indexShape(miopenInt32, kept);
    const bool hasValue = op >= MIOPEN_REDUCE_EXTREME_MIN;
    ASSERT_OK(miopenReduceExtremeForward(
        handle, x.getDesc(), x.getData(), 1,
        static_cast<miopenReduceExtremeOp_t>(op),
        hasValue ? y.getDesc() : nullptr, hasValue ? y.getData() : nullptr,
        indices.getDesc(), indices.getData()));
    const std::vector<char> values = y.read(), numbers = indices.read();
    std::vector<reference::RowOperand> results;
    if (hasValue)
      results.push_back(shape.getOperand(RowRole::RowOutput, values));
    results.push_back(indexShape.getOperand(RowRole::RowOutput, numbers));
    const uint32_t mode = (op % 2 ? 2 : 3) | (hasValue ? 16 : 64);
    expectReduced({"reduce", mode, lengths, 2}, {&x}, RowRole::RowOutput,
                  results);
  }
}

// Tests the gradient of a bias in images with channels first and last, in two
// and three dimensions.
TEST_F(ApiReduce, BackwardBias) {
  for (const std::vector<int> &lengths :
       {std::vector<int>{3, 16, 9, 7}, std::vector<int>{2, 5, 4, 3, 6}})
    for (miopenDataType_t type : kFloats)
      for (bool isLast : {false, true}) {
        std::vector<int> channels(lengths.size(), 1);
        channels[1] = lengths[1];
        ApiTensor dy(type, lengths,
                     isLast ? getChannelsLast(lengths) : std::vector<int>());
        ApiTensor db(type, channels);
        db.poison();
        ASSERT_OK(miopenConvolutionBackwardBias(handle, &kOne, dy.getDesc(),
                                                dy.getData(), &kZero,
                                                db.getDesc(), db.getData()));
        const std::vector<char> bytes = db.read();
        const uint32_t all = (1u << lengths.size()) - 1;
        expectReduced({"reduce", 0, lengths, all & ~2u}, {&dy},
                      RowRole::RowOutput,
                      {db.getOperand(RowRole::RowOutput, bytes)});
      }
}
