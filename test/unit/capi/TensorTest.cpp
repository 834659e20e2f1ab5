//===- TensorTest.cpp - Tests of miopen/tensor.h --------------------------===//

#include "test/unit/capi/Descriptors.h"

#include <tessera/tessera.h>

#include <cstdint>
#include <string>

using namespace tessera::test;

// MIOpen's own driver declares these functions itself.
miopenStatus_t miopenGet4dTensorDescriptorLengths(miopenTensorDescriptor_t,
                                                  int *, int *, int *, int *);
miopenStatus_t miopenGet4dTensorDescriptorStrides(miopenTensorDescriptor_t,
                                                  int *, int *, int *, int *);
miopenStatus_t miopenGet5dTensorDescriptorLengths(miopenTensorDescriptor_t,
                                                  int *, int *, int *, int *,
                                                  int *);
miopenStatus_t miopenGet5dTensorDescriptorStrides(miopenTensorDescriptor_t,
                                                  int *, int *, int *, int *,
                                                  int *);
miopenStatus_t miopenGetNdTensorDescriptorVectorLength(miopenTensorDescriptor_t,
                                                       size_t *);
int miopenGetTensorDescriptorElementSize(miopenTensorDescriptor_t);

static constexpr auto kUnknownType = static_cast<miopenDataType_t>(4);

/// Reads lengths followed by strides.
static std::vector<int> read(miopenTensorDescriptor_t desc) {
  int rank = 0;
  EXPECT_EQ(miopenGetTensorDescriptorSize(desc, &rank), miopenStatusSuccess);
  std::vector<int> numbers(2 * rank);
  miopenDataType_t type;
  EXPECT_EQ(miopenGetTensorDescriptor(desc, &type, numbers.data(),
                                      numbers.data() + rank),
            miopenStatusSuccess);
  return numbers;
}

// A 4-D descriptor is packed NCHW and reads back as it was set.
TEST(Tensor, Set4dIsPackedNchw) {
  TensorDesc desc;
  ASSERT_EQ(miopenSet4dTensorDescriptor(desc, miopenHalf, 2, 3, 5, 7), 0);
  miopenDataType_t type;
  int n, c, h, w, ns, cs, hs, ws;
  ASSERT_EQ(miopenGet4dTensorDescriptor(desc, &type, &n, &c, &h, &w, &ns, &cs,
                                        &hs, &ws),
            miopenStatusSuccess);
  EXPECT_EQ(type, miopenHalf);
  EXPECT_EQ((std::vector{n, c, h, w}), (std::vector{2, 3, 5, 7}));
  EXPECT_EQ((std::vector{ns, cs, hs, ws}), (std::vector{105, 35, 7, 1}));
}

// Lengths stay in NCHW order whatever the layout; the strides show it.
TEST(Tensor, LayoutsGiveTheirStrides) {
  const std::vector<int> lengths{2, 3, 5, 7};
  EXPECT_EQ(read(TensorDesc(miopenTensorNHWC, lengths)),
            (std::vector{2, 3, 5, 7, 105, 1, 21, 3}));
  EXPECT_EQ(read(TensorDesc(miopenTensorCHWN, lengths)),
            (std::vector{2, 3, 5, 7, 1, 70, 14, 2}));
  EXPECT_EQ(read(TensorDesc(miopenTensorNDHWC, {2, 3, 4, 5, 7})),
            (std::vector{2, 3, 4, 5, 7, 420, 1, 105, 21, 3}));
  EXPECT_EQ(read(TensorDesc(miopenTensorNCDHW, {2, 3, 4, 5, 7})),
            (std::vector{2, 3, 4, 5, 7, 420, 140, 35, 7, 1}));
}

// Null strides mean packed, as ONNX Runtime relies on; given ones are kept.
TEST(Tensor, SetNdTakesOrMakesStrides) {
  TensorDesc desc;
  const int lengths[] = {4, 3, 2};
  const int strides[] = {100, 10, 2};
  ASSERT_EQ(miopenSetTensorDescriptor(desc, miopenFloat, 3, lengths, nullptr),
            miopenStatusSuccess);
  EXPECT_EQ(read(desc), (std::vector{4, 3, 2, 6, 2, 1}));
  ASSERT_EQ(miopenSetTensorDescriptor(desc, miopenFloat, 3, lengths, strides),
            miopenStatusSuccess);
  EXPECT_EQ(read(desc), (std::vector{4, 3, 2, 100, 10, 2}));
  ASSERT_EQ(miopenSet4dTensorDescriptorEx(desc, miopenFloat, 2, 3, 5, 7, 200,
                                          60, 10, 1),
            miopenStatusSuccess);
  EXPECT_EQ(read(desc), (std::vector{2, 3, 5, 7, 200, 60, 10, 1}));
}

// The 64-bit setter takes what an int cannot hold; the int getters then refuse
// instead of cutting numbers off.
TEST(Tensor, SetV2Takes64Bits) {
  TensorDesc desc;
  const size_t lengths[] = {1, size_t(1) << 33};
  ASSERT_EQ(miopenSetTensorDescriptorV2(desc, miopenHalf, 2, lengths, nullptr),
            miopenStatusSuccess);
  size_t bytes = 0;
  ASSERT_EQ(miopenGetTensorNumBytes(desc, &bytes), miopenStatusSuccess);
  EXPECT_EQ(bytes, size_t(1) << 34);
  int read[2];
  EXPECT_EQ(miopenGetTensorDescriptor(desc, nullptr, read, nullptr),
            miopenStatusBadParm);
}

// The size in bytes is from the first element to the end of the last, gaps
// included.
TEST(Tensor, NumBytesCountsGapsBetweenStrides) {
  TensorDesc desc;
  size_t bytes = 0;
  const int lengths[] = {2, 3};
  const int strides[] = {10, 2};
  ASSERT_EQ(miopenSetTensorDescriptor(desc, miopenDouble, 2, lengths, strides),
            miopenStatusSuccess);
  ASSERT_EQ(miopenGetTensorNumBytes(desc, &bytes), miopenStatusSuccess);
  EXPECT_EQ(bytes, (10u + 4u + 1u) * 8u);
}

// Every data type has its size.
TEST(Tensor, NumBytesFollowsTheDataType) {
  constexpr auto kFloat8 = static_cast<miopenDataType_t>(7);
  constexpr auto kBFloat8 = static_cast<miopenDataType_t>(8);
  const std::vector<std::pair<miopenDataType_t, size_t>> sizes{
      {miopenHalf, 2},  {miopenFloat, 4},  {miopenInt32, 4},
      {miopenInt8, 1},  {miopenDouble, 8}, {miopenBFloat16, 2},
      {miopenInt64, 8}, {kFloat8, 1},      {kBFloat8, 1}};
  for (auto [type, size] : sizes) {
    TensorDesc desc;
    size_t bytes = 0;
    ASSERT_EQ(miopenSet4dTensorDescriptor(desc, type, 1, 1, 1, 3), 0) << type;
    ASSERT_EQ(miopenGetTensorNumBytes(desc, &bytes), 0);
    EXPECT_EQ(bytes, 3 * size) << type;
  }
}

// Null descriptors and out pointers are BadParm everywhere.
TEST(Tensor, NullPointersAreBadParm) {
  TensorDesc desc(miopenTensorNCHW, {1, 2, 3, 4});
  const int lengths[] = {1, 2, 3, 4};
  const size_t lengths64[] = {1, 2, 3, 4};
  int i;
  miopenDataType_t type;
  EXPECT_EQ(miopenCreateTensorDescriptor(nullptr), miopenStatusBadParm);
  EXPECT_EQ(miopenDestroyTensorDescriptor(nullptr), miopenStatusBadParm);
  EXPECT_EQ(miopenSet4dTensorDescriptor(nullptr, miopenHalf, 1, 1, 1, 1),
            miopenStatusBadParm);
  EXPECT_EQ(miopenSet4dTensorDescriptorEx(nullptr, miopenHalf, 1, 1, 1, 1, 1, 1,
                                          1, 1),
            miopenStatusBadParm);
  EXPECT_EQ(miopenSetTensorDescriptor(nullptr, miopenHalf, 4, lengths, nullptr),
            miopenStatusBadParm);
  EXPECT_EQ(
      miopenSetTensorDescriptorV2(nullptr, miopenHalf, 4, lengths64, nullptr),
      miopenStatusBadParm);
  EXPECT_EQ(miopenSetNdTensorDescriptorWithLayout(nullptr, miopenHalf,
                                                  miopenTensorNCHW, lengths, 4),
            miopenStatusBadParm);
  EXPECT_EQ(miopenGetTensorDescriptorSize(desc, nullptr), miopenStatusBadParm);
  EXPECT_EQ(miopenGetTensorDescriptorSize(nullptr, &i), miopenStatusBadParm);
  EXPECT_EQ(miopenGetTensorDescriptor(nullptr, nullptr, nullptr, nullptr),
            miopenStatusBadParm);
  EXPECT_EQ(miopenGet4dTensorDescriptor(desc, &type, &i, &i, &i, nullptr, &i,
                                        &i, &i, &i),
            miopenStatusBadParm);
  EXPECT_EQ(miopenGetTensorNumBytes(desc, nullptr), miopenStatusBadParm);
}

// Outputs that the client leaves out when reading are skipped.
TEST(Tensor, GetTakesNullForWhatIsNotWanted) {
  TensorDesc desc(miopenTensorNCHW, {1, 2, 3, 4}, miopenHalf);
  miopenDataType_t type;
  EXPECT_EQ(miopenGetTensorDescriptor(desc, &type, nullptr, nullptr), 0);
  EXPECT_EQ(type, miopenHalf);
}

// Missing lengths are InvalidValue, unlike every other mistake.
TEST(Tensor, MissingLengthsAreInvalidValue) {
  TensorDesc desc;
  const int lengths[] = {1, 2, 3, 4};
  const size_t lengths64[] = {1, 2, 3, 4};
  EXPECT_EQ(miopenSetTensorDescriptor(desc, miopenHalf, 4, nullptr, nullptr),
            miopenStatusInvalidValue);
  EXPECT_EQ(miopenSetTensorDescriptor(desc, miopenHalf, 0, lengths, nullptr),
            miopenStatusInvalidValue);
  EXPECT_EQ(miopenSetTensorDescriptor(desc, miopenHalf, -1, lengths, nullptr),
            miopenStatusInvalidValue);
  EXPECT_EQ(
      miopenSetTensorDescriptorV2(desc, miopenHalf, 0, lengths64, nullptr),
      miopenStatusInvalidValue);
  EXPECT_EQ(miopenSetNdTensorDescriptorWithLayout(desc, miopenHalf,
                                                  miopenTensorNCHW, nullptr, 4),
            miopenStatusInvalidValue);
}

// Old programs set four lengths of 0 if there is no tensor yet. The descriptor
// is then as if it was never set, and a convolution with it is BadParm.
TEST(Tensor, AllZerosIsEmpty) {
  TensorDesc desc;
  ASSERT_EQ(miopenSet4dTensorDescriptor(desc, miopenFloat, 1, 2, 3, 4), 0);
  ASSERT_EQ(miopenSet4dTensorDescriptor(desc, miopenFloat, 0, 0, 0, 0), 0);
  int rank = -1;
  ASSERT_EQ(miopenGetTensorDescriptorSize(desc, &rank), 0);
  EXPECT_EQ(rank, 0);
  size_t bytes = 1;
  EXPECT_EQ(miopenGetTensorNumBytes(desc, &bytes),
            miopenGetTensorNumBytes(TensorDesc(), &bytes));
  ConvDesc conv;
  int lengths[4];
  EXPECT_EQ(miopenGetConvolutionForwardOutputDim(conv, desc, desc, &lengths[0],
                                                 &lengths[1], &lengths[2],
                                                 &lengths[3]),
            miopenStatusBadParm);
}

// Lengths and strides below 1 and unknown types and layouts are BadParm.
TEST(Tensor, WrongNumbersAreBadParm) {
  TensorDesc desc;
  const int lengths[] = {1, 2, 3, 4};
  const int zeroStride[] = {1, 1, 0, 1};
  const size_t huge[] = {1, SIZE_MAX};
  EXPECT_EQ(miopenSet4dTensorDescriptor(desc, miopenHalf, 1, 0, 1, 1),
            miopenStatusBadParm);
  EXPECT_EQ(miopenSet4dTensorDescriptor(desc, miopenHalf, 1, 1, -1, 1),
            miopenStatusBadParm);
  EXPECT_EQ(miopenSet4dTensorDescriptor(desc, kUnknownType, 1, 1, 1, 1),
            miopenStatusBadParm);
  EXPECT_EQ(miopenSetTensorDescriptor(desc, miopenHalf, 4, lengths, zeroStride),
            miopenStatusBadParm);
  EXPECT_EQ(miopenSetTensorDescriptorV2(desc, miopenHalf, 2, huge, nullptr),
            miopenStatusBadParm);
  EXPECT_EQ(
      miopenSetNdTensorDescriptorWithLayout(
          desc, miopenHalf, static_cast<miopenTensorLayout_t>(99), lengths, 4),
      miopenStatusBadParm);
  EXPECT_EQ(miopenSetNdTensorDescriptorWithLayout(
                desc, miopenHalf, miopenTensorNCDHW, lengths, 4),
            miopenStatusBadParm);
}

// Sizes that do not fit in 64 bits are refused before they wrap around.
TEST(Tensor, SizesBeyond64BitsAreBadParm) {
  TensorDesc desc;
  const size_t lengths[] = {size_t(1) << 32, size_t(1) << 32};
  const size_t strides[] = {size_t(1) << 32, 1};
  EXPECT_EQ(miopenSetTensorDescriptorV2(desc, miopenHalf, 2, lengths, nullptr),
            miopenStatusBadParm);
  EXPECT_EQ(miopenSetTensorDescriptorV2(desc, miopenHalf, 2, lengths, strides),
            miopenStatusBadParm);
}

// With blocks of channels, lengths and strides are those of the blocks, in the
// order C, H, W, N if the batch is last, as MIOpen reports them.
TEST(Tensor, BlocksOfChannels) {
  TensorDesc desc;
  const int lengths[] = {2, 24, 3, 5};
  const auto set = [&](miopenTensorLayout_t layout) {
    EXPECT_EQ(miopenSetNdTensorDescriptorWithLayout(desc, miopenHalf, layout,
                                                    lengths, 4),
              miopenStatusSuccess);
    size_t bytes = 0;
    EXPECT_EQ(miopenGetTensorNumBytes(desc, &bytes), miopenStatusSuccess);
    EXPECT_EQ(bytes, 2u * 2 * 24 * 3 * 5);
    return read(desc);
  };
  EXPECT_EQ(set(miopenTensorNCHWc4), (std::vector{2, 6, 3, 5, 360, 60, 20, 4}));
  EXPECT_EQ(set(miopenTensorNCHWc8),
            (std::vector{2, 3, 3, 5, 360, 120, 40, 8}));
  EXPECT_EQ(set(miopenTensorCHWNc4), (std::vector{6, 3, 5, 2, 120, 40, 8, 4}));
  EXPECT_EQ(set(miopenTensorCHWNc8), (std::vector{3, 3, 5, 2, 240, 80, 16, 8}));
  // Another setter forgets the blocks.
  ASSERT_EQ(miopenSet4dTensorDescriptor(desc, miopenHalf, 1, 2, 3, 4),
            miopenStatusSuccess);
  size_t bytes = 0;
  ASSERT_EQ(miopenGetTensorNumBytes(desc, &bytes), miopenStatusSuccess);
  EXPECT_EQ(bytes, 48u);
}

// Blocks divide the channels of tensors of four dimensions.
TEST(Tensor, RefusesBlocksThatDoNotFit) {
  TensorDesc desc(miopenTensorNCHW, {1, 2, 3, 4});
  const auto set = [&](std::vector<int> lengths) {
    return miopenSetNdTensorDescriptorWithLayout(
        desc, miopenInt8, miopenTensorCHWNc8, lengths.data(),
        static_cast<int>(lengths.size()));
  };
  EXPECT_EQ(set({1, 12, 3, 4}), miopenStatusBadParm);
  EXPECT_EQ(std::string(tesseraGetLastErrorMessage()),
            "miopenSetNdTensorDescriptorWithLayout: blocks of 8 do not divide "
            "12 channels");
  EXPECT_EQ(set({1, 8, 3, 4, 5}), miopenStatusBadParm);
  EXPECT_EQ(set({0, 8, 3, 4}), miopenStatusBadParm);
  EXPECT_EQ(set({1, -8, 3, 4}), miopenStatusBadParm);
  EXPECT_EQ(read(desc), (std::vector{1, 2, 3, 4, 24, 12, 4, 1}));
}

// A refused setter leaves the descriptor as it was, and says why.
TEST(Tensor, AFailureChangesNothingAndHasAText) {
  TensorDesc desc(miopenTensorNCHW, {1, 2, 3, 4});
  ASSERT_EQ(miopenSet4dTensorDescriptor(desc, miopenHalf, 9, 9, -7, 9),
            miopenStatusBadParm);
  EXPECT_EQ(std::string(tesseraGetLastErrorMessage()),
            "miopenSet4dTensorDescriptor: length -7 is below 1");
  EXPECT_EQ(read(desc), (std::vector{1, 2, 3, 4, 24, 12, 4, 1}));
}

// A descriptor that was never set has no dimensions and no size.
TEST(Tensor, UnsetDescriptorIsEmpty) {
  TensorDesc desc;
  int rank = -1;
  size_t bytes;
  EXPECT_EQ(miopenGetTensorDescriptorSize(desc, &rank), miopenStatusSuccess);
  EXPECT_EQ(rank, 0);
  EXPECT_EQ(miopenGetTensorNumBytes(desc, &bytes), miopenStatusBadParm);
}

// The 4-D getter refuses other ranks.
TEST(Tensor, Get4dNeedsFourDimensions) {
  TensorDesc desc(miopenTensorNCDHW, {1, 2, 3, 4, 5});
  miopenDataType_t type;
  int i;
  EXPECT_EQ(
      miopenGet4dTensorDescriptor(desc, &type, &i, &i, &i, &i, &i, &i, &i, &i),
      miopenStatusBadParm);
}

// The functions with names mangled as C++ read descriptors as the others do.
TEST(Tensor, AnswersMIOpensDriver) {
  const TensorDesc flat(miopenTensorNHWC, {2, 3, 5, 7});
  const TensorDesc deep(miopenTensorNCDHW, {2, 3, 4, 5, 7});
  int n, c, d, h, w;
  ASSERT_EQ(miopenGet4dTensorDescriptorLengths(flat, &n, &c, &h, &w), 0);
  EXPECT_EQ((std::vector{n, c, h, w}), (std::vector{2, 3, 5, 7}));
  ASSERT_EQ(miopenGet4dTensorDescriptorStrides(flat, &n, &c, &h, &w), 0);
  EXPECT_EQ((std::vector{n, c, h, w}), (std::vector{105, 1, 21, 3}));
  ASSERT_EQ(miopenGet5dTensorDescriptorLengths(deep, &n, &c, &d, &h, &w), 0);
  EXPECT_EQ((std::vector{n, c, d, h, w}), (std::vector{2, 3, 4, 5, 7}));
  ASSERT_EQ(miopenGet5dTensorDescriptorStrides(deep, &n, &c, &d, &h, &w), 0);
  EXPECT_EQ((std::vector{n, c, d, h, w}), (std::vector{420, 140, 35, 7, 1}));
  size_t vector = 0;
  ASSERT_EQ(miopenGetNdTensorDescriptorVectorLength(flat, &vector), 0);
  EXPECT_EQ(vector, 1u);
  EXPECT_EQ(miopenGetTensorDescriptorElementSize(deep), 840);
  EXPECT_EQ(miopenGetTensorDescriptorElementSize(nullptr), 0);
  EXPECT_EQ(miopenGet4dTensorDescriptorLengths(deep, &n, &c, &h, &w),
            miopenStatusBadParm);
  EXPECT_EQ(miopenGet5dTensorDescriptorStrides(deep, &n, &c, &d, &h, nullptr),
            miopenStatusBadParm);
}
