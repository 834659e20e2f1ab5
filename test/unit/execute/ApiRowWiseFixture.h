//===- ApiRowWiseFixture.h - Row-wise calls of a client --------*- C++ -*--===//
//
// Creates tensors with random elements on the device, serves MIOpen's calls by
// an engine of the emulated device, and compares results with the reference. A
// test says which operands an operation has and which call computes them.
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_TEST_UNIT_EXECUTE_APIROWWISEFIXTURE_H
#define TESSERA_TEST_UNIT_EXECUTE_APIROWWISEFIXTURE_H

#define MIOPEN_BETA_API 1
#include "dialect/Reference/RowWiseReference.h"
#include "runtime/Gpu/DeviceBuffer.h"

#include <gtest/gtest.h>
#include <miopen/miopen.h>
#include <tessera/tessera.h>

#include <optional>
#include <string>
#include <vector>

namespace tessera::test {

/// A tensor with its descriptor and its elements on the host and on the device.
/// Gaps between elements hold 0xff bytes, and poison() writes the same to
/// everything that a call must overwrite.
class ApiTensor {
public:
  /// Creates random elements between `least` and `most`. A tensor without
  /// strides is packed.
  ApiTensor(miopenDataType_t type, std::vector<int> lengths,
            std::vector<int> strides = {}, double least = -4, double most = 4);
  ~ApiTensor();
  ApiTensor(const ApiTensor &) = delete;
  ApiTensor &operator=(const ApiTensor &) = delete;

  miopenTensorDescriptor_t getDesc() const { return desc; }
  void *getData() const { return buffer->get(); }
  const std::vector<int> &getLengths() const { return lengths; }
  reference::ElementType getType() const;

  /// Sets every element.
  void fill(double value);
  /// Sets all bytes, gaps included.
  void setBytes(std::vector<char> bytes);
  /// Overwrites the device's copy with 0xff bytes.
  void poison();
  /// Returns the bytes that the device holds.
  std::vector<char> read() const;
  /// Returns the bytes that were last copied from the host to the device.
  const std::vector<char> &getHost() const { return host; }

  /// Returns an operand of the reference with the data of `bytes`. Its stride
  /// is 0 along dimensions of length 1, so that they broadcast.
  reference::RowOperand getOperand(reference::RowRole role,
                                   const std::vector<char> &bytes) const;

private:
  void upload();

  miopenDataType_t type;
  std::vector<int> lengths, strides;
  std::vector<char> host;
  std::optional<DeviceBuffer> buffer;
  miopenTensorDescriptor_t desc = nullptr;
};

/// Returns the strides of a packed tensor whose second dimension varies
/// fastest, like NHWC.
std::vector<int> getChannelsLast(const std::vector<int> &lengths);

class ApiRowWise : public ::testing::Test {
protected:
  static void SetUpTestSuite();
  static void TearDownTestSuite();
  void SetUp() override;
  void TearDown() override;

  /// Expects that `outputs` on the device are what the reference computes from
  /// the host's copies of `inputs`. Bit i of `reduced` says that dimension i is
  /// reduced: then the first input has the lengths of the iteration space, and
  /// outputs of other lengths hold one element for each row.
  void expectRight(std::string_view operation, uint32_t mode,
                   const std::vector<const ApiTensor *> &inputs,
                   const std::vector<const ApiTensor *> &outputs,
                   std::vector<double> scalars, uint32_t reduced = 0);

  /// Does the same for an iteration space of `lengths`. `rowOutputs` have
  /// length 1 along the reduced dimensions.
  void expectRowWiseRight(std::string_view operation,
                          const std::vector<int> &lengths, uint32_t reduced,
                          const std::vector<const ApiTensor *> &inputs,
                          const std::vector<const ApiTensor *> &rowOutputs,
                          const std::vector<const ApiTensor *> &outputs);

  miopenHandle_t handle = nullptr;
};

#define ASSERT_OK(call)                                                        \
  ASSERT_EQ(call, miopenStatusSuccess) << tesseraGetLastErrorMessage()
#define EXPECT_OK(call)                                                        \
  EXPECT_EQ(call, miopenStatusSuccess) << tesseraGetLastErrorMessage()

} // namespace tessera::test

#endif // TESSERA_TEST_UNIT_EXECUTE_APIROWWISEFIXTURE_H
