//===- ApiRowWiseFixture.cpp - Row-wise operations as a client calls them -===//

#include "test/unit/execute/ApiRowWiseFixture.h"

#include "capi/lib/Common/Library.h"
#include "dialect/Reference/Random.h"
#include "test/unit/execute/ConvFixture.h"

#include <algorithm>
#include <deque>

using namespace tessera;
using namespace tessera::test;
using reference::ElementType;

static ElementType getElementType(miopenDataType_t type) {
  switch (type) {
  case miopenHalf:
    return ElementType::F16;
  case miopenBFloat16:
    return ElementType::BF16;
  case miopenDouble:
    return ElementType::F64;
  case miopenInt8:
    return ElementType::I8;
  case miopenInt32:
    return ElementType::I32;
  case miopenInt64:
    return ElementType::I64;
  default:
    return ElementType::F32;
  }
}

/// Calls `visit` with the offset of each element, in row-major order.
template <typename Visitor>
static void visitElements(const std::vector<int> &lengths,
                          const std::vector<int> &strides, Visitor visit) {
  std::vector<int> at(lengths.size());
  while (true) {
    int64_t offset = 0;
    for (size_t dim = 0; dim < at.size(); ++dim)
      offset += int64_t(at[dim]) * strides[dim];
    visit(offset);
    size_t dim = at.size();
    while (dim > 0 && ++at[dim - 1] == lengths[dim - 1])
      at[--dim] = 0;
    if (dim == 0)
      return;
  }
}

static std::vector<int> getPacked(const std::vector<int> &lengths) {
  std::vector<int> strides(lengths.size());
  int stride = 1;
  for (size_t dim = lengths.size(); dim-- > 0;) {
    strides[dim] = stride;
    stride *= lengths[dim];
  }
  return strides;
}

std::vector<int> test::getChannelsLast(const std::vector<int> &lengths) {
  std::vector<int> strides(lengths.size());
  int stride = lengths[1];
  strides[1] = 1;
  for (size_t dim = lengths.size(); dim-- > 0;)
    if (dim != 1) {
      strides[dim] = stride;
      stride *= lengths[dim];
    }
  return strides;
}

ApiTensor::ApiTensor(miopenDataType_t type, std::vector<int> lengthsIn,
                     std::vector<int> stridesIn, double least, double most)
    : type(type), lengths(std::move(lengthsIn)),
      strides(stridesIn.empty() ? getPacked(lengths) : std::move(stridesIn)) {
  EXPECT_EQ(miopenCreateTensorDescriptor(&desc), 0);
  EXPECT_OK(miopenSetTensorDescriptor(desc, type,
                                      static_cast<int>(lengths.size()),
                                      lengths.data(), strides.data()));
  size_t bytes = 0;
  EXPECT_OK(miopenGetTensorNumBytes(desc, &bytes));
  host.assign(bytes, '\xff');
  static uint64_t seed = getSeed();
  ++seed;
  int64_t number = 0;
  visitElements(lengths, strides, [&](int64_t offset) {
    const double fraction =
        static_cast<double>(reference::getRandomBits(seed, number++) >> 11) *
        0x1p-53;
    reference::storeElement(getType(), host.data(), offset,
                            least + fraction * (most - least));
  });
  upload();
}

ApiTensor::~ApiTensor() { EXPECT_EQ(miopenDestroyTensorDescriptor(desc), 0); }

ElementType ApiTensor::getType() const { return getElementType(type); }

void ApiTensor::upload() {
  if (!buffer) {
    auto made = DeviceBuffer::allocate(getGpu(), host.size());
    ASSERT_TRUE(made) << made.getStatus().getMessage();
    buffer.emplace(std::move(*made));
  }
  const Status status = buffer->copyFromHost(host.data(), host.size());
  EXPECT_TRUE(status.isOk()) << status.getMessage();
}

void ApiTensor::fill(double value) {
  visitElements(lengths, strides, [&](int64_t offset) {
    reference::storeElement(getType(), host.data(), offset, value);
  });
  upload();
}

void ApiTensor::setBytes(std::vector<char> bytes) {
  ASSERT_EQ(bytes.size(), host.size());
  host = std::move(bytes);
  upload();
}

void ApiTensor::poison() {
  const std::vector<char> poison(host.size(), '\xff');
  const Status status = buffer->copyFromHost(poison.data(), poison.size());
  EXPECT_TRUE(status.isOk()) << status.getMessage();
}

std::vector<char> ApiTensor::read() const {
  std::vector<char> bytes(host.size());
  const Status status =
      getGpu().check(getGpu().hipMemcpy(bytes.data(), buffer->get(),
                                        bytes.size(), hipMemcpyDeviceToHost),
                     "hipMemcpy");
  EXPECT_TRUE(status.isOk()) << status.getMessage();
  return bytes;
}

reference::RowOperand
ApiTensor::getOperand(reference::RowRole role,
                      const std::vector<char> &bytes) const {
  reference::RowOperand operand{getType(), role, {}, bytes.data()};
  for (size_t dim = 0; dim < lengths.size(); ++dim)
    operand.strides[dim] = lengths[dim] == 1 ? 0 : strides[dim];
  return operand;
}

//===----------------------------------------------------------------------===//
// ApiRowWise
//===----------------------------------------------------------------------===//

void ApiRowWise::SetUpTestSuite() {
  capi::replaceEngineForTesting(makeEngine(capi::makeCompiler()));
}

void ApiRowWise::TearDownTestSuite() { capi::replaceEngineForTesting(nullptr); }

void ApiRowWise::SetUp() { ASSERT_OK(miopenCreate(&handle)); }

void ApiRowWise::TearDown() { EXPECT_OK(miopenDestroy(handle)); }

void ApiRowWise::expectRight(std::string_view operation, uint32_t mode,
                             const std::vector<const ApiTensor *> &inputs,
                             const std::vector<const ApiTensor *> &outputs,
                             std::vector<double> scalars, uint32_t reduced) {
  using reference::RowRole;
  reference::RowShape shape;
  shape.operation = operation;
  shape.mode = mode;
  shape.scalars = std::move(scalars);
  shape.reduced = reduced;
  const std::vector<int> &lengths =
      reduced ? inputs[0]->getLengths() : outputs[0]->getLengths();
  shape.rank = static_cast<int>(lengths.size());
  std::ranges::copy(lengths, shape.lengths.begin());
  std::vector<std::vector<char>> results;
  for (const ApiTensor *output : outputs)
    results.push_back(output->read());
  for (const ApiTensor *input : inputs)
    shape.tensors.push_back(
        input->getOperand(RowRole::Input, input->getHost()));
  for (size_t i = 0; i < outputs.size(); ++i)
    shape.tensors.push_back(outputs[i]->getOperand(
        outputs[i]->getLengths() == lengths ? RowRole::Output
                                            : RowRole::RowOutput,
        results[i]));
  EXPECT_EQ(reference::compareRows(shape, reference::evaluateRows(shape)), "")
      << operation << " mode " << mode;
}

void ApiRowWise::expectRowWiseRight(
    std::string_view operation, const std::vector<int> &lengths,
    uint32_t reduced, const std::vector<const ApiTensor *> &inputs,
    const std::vector<const ApiTensor *> &rowOutputs,
    const std::vector<const ApiTensor *> &outputs) {
  using reference::RowRole;
  reference::RowShape shape;
  shape.operation = operation;
  shape.rank = static_cast<int>(lengths.size());
  shape.reduced = reduced;
  std::ranges::copy(lengths, shape.lengths.begin());
  std::deque<std::vector<char>> results;
  auto add = [&](const std::vector<const ApiTensor *> &tensors, RowRole role) {
    for (const ApiTensor *tensor : tensors)
      shape.tensors.push_back(
          tensor->getOperand(role, results.emplace_back(tensor->read())));
  };
  for (const ApiTensor *input : inputs)
    shape.tensors.push_back(
        input->getOperand(RowRole::Input, input->getHost()));
  add(rowOutputs, RowRole::RowOutput);
  add(outputs, RowRole::Output);
  EXPECT_EQ(reference::compareRows(shape, reference::evaluateRows(shape)), "")
      << operation;
}
