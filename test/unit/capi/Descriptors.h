//===- Descriptors.h - Descriptors that clean up after a test --*- C++ -*--===//

#ifndef TESSERA_TEST_UNIT_CAPI_DESCRIPTORS_H
#define TESSERA_TEST_UNIT_CAPI_DESCRIPTORS_H

#include <gtest/gtest.h>
#include <miopen/miopen.h>

#include <vector>

namespace tessera::test {

/// Owns a tensor descriptor; converts to the handle.
class TensorDesc {
public:
  TensorDesc() { EXPECT_EQ(miopenCreateTensorDescriptor(&desc), 0); }
  /// A packed tensor.
  TensorDesc(miopenTensorLayout_t layout, const std::vector<int> &lengths,
             miopenDataType_t type = miopenFloat)
      : TensorDesc() {
    EXPECT_EQ(miopenSetNdTensorDescriptorWithLayout(
                  desc, type, layout, lengths.data(),
                  static_cast<int>(lengths.size())),
              miopenStatusSuccess);
  }
  ~TensorDesc() { EXPECT_EQ(miopenDestroyTensorDescriptor(desc), 0); }
  TensorDesc(const TensorDesc &) = delete;
  TensorDesc &operator=(const TensorDesc &) = delete;

  operator miopenTensorDescriptor_t() const { return desc; }

private:
  miopenTensorDescriptor_t desc = nullptr;
};

/// Owns a convolution descriptor; converts to the handle.
class ConvDesc {
public:
  ConvDesc() { EXPECT_EQ(miopenCreateConvolutionDescriptor(&desc), 0); }
  /// The same padding, stride and dilation in both dimensions.
  ConvDesc(int pad, int stride, int dilation, int groups = 1,
           miopenConvolutionMode_t mode = miopenConvolution)
      : ConvDesc() {
    EXPECT_EQ(miopenInitConvolutionDescriptor(desc, mode, pad, pad, stride,
                                              stride, dilation, dilation),
              miopenStatusSuccess);
    EXPECT_EQ(miopenSetConvolutionGroupCount(desc, groups), 0);
  }
  ~ConvDesc() { EXPECT_EQ(miopenDestroyConvolutionDescriptor(desc), 0); }
  ConvDesc(const ConvDesc &) = delete;
  ConvDesc &operator=(const ConvDesc &) = delete;

  operator miopenConvolutionDescriptor_t() const { return desc; }

private:
  miopenConvolutionDescriptor_t desc = nullptr;
};

} // namespace tessera::test

#endif // TESSERA_TEST_UNIT_CAPI_DESCRIPTORS_H
