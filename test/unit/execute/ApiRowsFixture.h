//===- ApiRowsFixture.h - Rows as a client calls them ----------*- C++ -*-===//
//
// Tensors on the device with random elements, the MIOpen calls on an engine of
// the emulated device, and the reference as the judge. A test says which
// operands an operation has and which call is to compute them.
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_TEST_UNIT_EXECUTE_APIROWSFIXTURE_H
#define TESSERA_TEST_UNIT_EXECUTE_APIROWSFIXTURE_H

#define MIOPEN_BETA_API 1
#include "dialect/Reference/RowReference.h"
#include "runtime/Gpu/DeviceBuffer.h"

#include <gtest/gtest.h>
#include <miopen/miopen.h>
#include <tessera/tessera.h>

#include <optional>
#include <string>
#include <vector>

namespace tessera::test {

/// Elements on the host and on the device, and their descriptor. Gaps and what
/// a call is to write begin as 0xff bytes.
class ApiTensor {
public:
  /// Random elements between `least` and `most`. Without strides it is packed.
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
  /// What the device holds now.
  std::vector<char> read() const;
  /// The elements as they were made.
  const std::vector<char> &getHost() const { return host; }

  /// As an operand of the reference with the data of `bytes`; stride 0 where
  /// its length is 1.
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

/// Strides of a tensor of these lengths whose second dimension is the fastest
/// one, as NHWC.
std::vector<int> getChannelsLast(const std::vector<int> &lengths);

class ApiRows : public ::testing::Test {
protected:
  static void SetUpTestSuite();
  static void TearDownTestSuite();
  void SetUp() override;
  void TearDown() override;

  /// The results, which the device holds by now, are what the reference makes
  /// of the operation: `inputs` as they were, `outputs` as they are. With bits
  /// of reduced dimensions, the first input has the lengths of the space, and
  /// outputs of others have an element a row.
  void expectRight(std::string_view operation, uint32_t mode,
                   const std::vector<const ApiTensor *> &inputs,
                   const std::vector<const ApiTensor *> &outputs,
                   std::vector<double> scalars, uint32_t reduced = 0);

  /// The same where bit i of `reduced` says that dimension i is, with
  /// `rowOutputs` of length 1 in those, of a space of these lengths.
  void expectRowsRight(std::string_view operation,
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

#endif // TESSERA_TEST_UNIT_EXECUTE_APIROWSFIXTURE_H
