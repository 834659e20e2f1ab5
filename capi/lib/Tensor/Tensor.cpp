//===- Tensor.cpp - miopen/tensor.h ---------------------------------------===//

#include <miopen/tensor.h>

#include "capi/lib/Common/Objects.h"
#include "capi/lib/Tensor/TensorDescriptor.h"
#include "runtime/Base/ErrorOr.h"

#include <algorithm>
#include <array>
#include <limits>
#include <numeric>
#include <span>

using namespace tessera;
using namespace tessera::capi;

std::optional<DataType> capi::findDataType(int dataType) {
  switch (dataType) {
#define DATA_TYPE(NAME, TEXT, BYTES, DRIVER, MIOPEN, ...)                      \
  case MIOPEN:                                                                 \
    return DataType::NAME;
#include "runtime/Base/DataTypes.def"
  default:
    return std::nullopt;
  }
}

int64_t capi::getElementBytes(int dataType) {
  const std::optional<DataType> known = findDataType(dataType);
  return known ? getByteSize(*known) : 0;
}

/// The number of bytes from the first element to the end of the last one, which
/// lies `last` elements behind what lengths and strides say; InvalidArgument if
/// it does not fit in 64 bits.
static ErrorOr<int64_t> getSpanBytes(int64_t elementBytes,
                                     std::span<const int64_t> lengths,
                                     std::span<const int64_t> strides,
                                     int64_t last = 0) {
  for (size_t i = 0; i < lengths.size(); ++i) {
    int64_t offset;
    if (__builtin_mul_overflow(lengths[i] - 1, strides[i], &offset) ||
        __builtin_add_overflow(last, offset, &last))
      return invalidArgument("the tensor is larger than 2^63 bytes");
  }
  int64_t bytes;
  if (last == std::numeric_limits<int64_t>::max() ||
      __builtin_mul_overflow(last + 1, elementBytes, &bytes))
    return invalidArgument("the tensor is larger than 2^63 bytes");
  return bytes;
}

ErrorOr<size_t> capi::getTensorBytes(const miopenTensorDescriptor &tensor) {
  if (tensor.getRank() == 0)
    return invalidArgument("the tensor was never set");
  // The last element of a tensor with blocks is the last one of its block.
  const ErrorOr<int64_t> bytes =
      getSpanBytes(getElementBytes(tensor.dataType), tensor.lengths,
                   tensor.strides, tensor.vectorLength - 1);
  if (!bytes)
    return bytes.getStatus();
  return static_cast<size_t>(*bytes);
}

/// Strides of a packed tensor. `order` lists the dimensions by descending
/// stride.
static ErrorOr<std::vector<int64_t>>
getPackedStrides(std::span<const int64_t> lengths, std::span<const int> order) {
  std::vector<int64_t> strides(lengths.size());
  int64_t stride = 1;
  for (size_t i = order.size(); i-- > 0;) {
    strides[order[i]] = stride;
    if (__builtin_mul_overflow(stride, lengths[order[i]], &stride))
      return invalidArgument("the tensor is larger than 2^63 elements");
  }
  return strides;
}

static ErrorOr<std::vector<int64_t>>
getPackedStrides(std::span<const int64_t> lengths) {
  std::vector<int> order(lengths.size());
  std::iota(order.begin(), order.end(), 0);
  return getPackedStrides(lengths, order);
}

static Status checkAtLeastOne(std::span<const int64_t> numbers,
                              const char *what) {
  for (int64_t number : numbers)
    if (number < 1)
      return invalidArgument(std::string(what) + " " + std::to_string(number) +
                             " is below 1");
  return Status::ok();
}

Status capi::checkDataType(miopenDataType_t dataType) {
  if (getElementBytes(dataType) == 0)
    return invalidArgument("data type " + std::to_string(dataType) +
                           " is unknown");
  return Status::ok();
}

/// InvalidArgument if the packed size of the elements does not fit in 64 bits.
/// The span of the tensor does not show that, because strides may overlap.
static Status checkPackedBytes(int64_t elementBytes,
                               std::span<const int64_t> lengths) {
  int64_t bytes = elementBytes;
  for (int64_t length : lengths)
    if (__builtin_mul_overflow(bytes, length, &bytes))
      return invalidArgument("the tensor is larger than 2^63 bytes");
  return Status::ok();
}

/// Checks all arguments, then sets the descriptor.
static Status setTensor(miopenTensorDescriptor &desc, miopenDataType_t dataType,
                        std::vector<int64_t> lengths,
                        ErrorOr<std::vector<int64_t>> strides) {
  if (!strides)
    return strides.getStatus();
  if (Status status = checkDataType(dataType); !status.isOk())
    return status;
  if (Status status = checkAtLeastOne(lengths, "length"); !status.isOk())
    return status;
  if (Status status = checkAtLeastOne(*strides, "stride"); !status.isOk())
    return status;
  if (Status status = checkPackedBytes(getElementBytes(dataType), lengths);
      !status.isOk())
    return status;
  if (auto bytes = getSpanBytes(getElementBytes(dataType), lengths, *strides);
      !bytes)
    return bytes.getStatus();
  desc.dataType = dataType;
  desc.castType.reset();
  desc.vectorLength = 1;
  desc.hasBatchLast = false;
  desc.lengths = std::move(lengths);
  desc.strides = std::move(*strides);
  return Status::ok();
}

/// Implements miopenSetTensorDescriptor() and V2, which differ in the type of
/// the numbers.
template <typename Number>
static ApiResult setTensorNd(miopenTensorDescriptor &desc,
                             miopenDataType_t dataType, int rank,
                             const Number *lengths, const Number *strides) {
  if (!lengths || rank < 1)
    return {miopenStatusInvalidValue, "there are no lengths"};
  std::vector<int64_t> lengthsCopy(lengths, lengths + rank);
  if (Status status = checkAtLeastOne(lengthsCopy, "length"); !status.isOk())
    return status;
  if (!strides)
    return setTensor(desc, dataType, lengthsCopy,
                     getPackedStrides(lengthsCopy));
  return setTensor(desc, dataType, std::move(lengthsCopy),
                   std::vector<int64_t>(strides, strides + rank));
}

/// Makes the descriptor empty, as a new one is; functions that need a tensor
/// refuse it. Programs for MIOpen 1 and 2 set all lengths to 0 if they have no
/// tensor yet.
static Status makeEmpty(miopenTensorDescriptor &desc,
                        miopenDataType_t dataType) {
  if (Status status = checkDataType(dataType); !status.isOk())
    return status;
  desc = {};
  desc.dataType = dataType;
  return Status::ok();
}

/// The dimensions of `layout` by descending stride; empty if it is not
/// implemented.
static std::span<const int> getLayoutOrder(miopenTensorLayout_t layout) {
  static constexpr std::array<int, 4> kNchw{0, 1, 2, 3};
  static constexpr std::array<int, 4> kNhwc{0, 2, 3, 1};
  static constexpr std::array<int, 4> kChwn{1, 2, 3, 0};
  static constexpr std::array<int, 5> kNcdhw{0, 1, 2, 3, 4};
  static constexpr std::array<int, 5> kNdhwc{0, 2, 3, 4, 1};
  switch (layout) {
  case miopenTensorNCHW:
    return kNchw;
  case miopenTensorNHWC:
    return kNhwc;
  case miopenTensorCHWN:
    return kChwn;
  case miopenTensorNCDHW:
    return kNcdhw;
  case miopenTensorNDHWC:
    return kNdhwc;
  default:
    return {};
  }
}

/// How many channels lie side by side in blocks of `layout`; 1 if none do.
static int getVectorLength(miopenTensorLayout_t layout) {
  switch (layout) {
  case miopenTensorNCHWc4:
  case miopenTensorCHWNc4:
    return 4;
  case miopenTensorNCHWc8:
  case miopenTensorCHWNc8:
    return 8;
  default:
    return 1;
  }
}

/// Sets a packed tensor of blocks of channels from its lengths N, C, H, W.
static ApiResult setVectorTensor(miopenTensorDescriptor &desc,
                                 miopenDataType_t dataType,
                                 miopenTensorLayout_t layout,
                                 std::span<const int> given) {
  if (given.size() != 4)
    return invalidArgument("the layout has 4 dimensions, but there are " +
                           std::to_string(given.size()) + " lengths");
  const int vectorLength = getVectorLength(layout);
  const bool hasBatchLast =
      layout == miopenTensorCHWNc4 || layout == miopenTensorCHWNc8;
  if (given[1] % vectorLength != 0)
    return invalidArgument("blocks of " + std::to_string(vectorLength) +
                           " do not divide " + std::to_string(given[1]) +
                           " channels");
  std::vector<int64_t> lengths(given.begin(), given.end());
  if (Status status = checkAtLeastOne(lengths, "length"); !status.isOk())
    return status;
  if (Status status = checkPackedBytes(getElementBytes(dataType), lengths);
      !status.isOk())
    return status;
  lengths[1] /= vectorLength;
  if (hasBatchLast)
    std::rotate(lengths.begin(), lengths.begin() + 1, lengths.end());
  ErrorOr<std::vector<int64_t>> strides = getPackedStrides(lengths);
  if (strides)
    for (int64_t &stride : *strides)
      stride *= vectorLength;
  if (Status status =
          setTensor(desc, dataType, std::move(lengths), std::move(strides));
      !status.isOk())
    return status;
  desc.vectorLength = vectorLength;
  desc.hasBatchLast = hasBatchLast;
  return Status::ok();
}

static ApiResult setTensorWithLayout(miopenTensorDescriptor &desc,
                                     miopenDataType_t dataType,
                                     miopenTensorLayout_t layout,
                                     const int *lengths, int rank) {
  if (!lengths || rank < 1)
    return {miopenStatusInvalidValue, "there are no lengths"};
  if (getVectorLength(layout) > 1)
    return setVectorTensor(desc, dataType, layout,
                           {lengths, static_cast<size_t>(rank)});
  const std::span<const int> order = getLayoutOrder(layout);
  if (order.empty())
    return invalidArgument("layout " + std::to_string(layout) + " is unknown");
  if (static_cast<int>(order.size()) != rank)
    return invalidArgument("the layout has " + std::to_string(order.size()) +
                           " dimensions, but there are " +
                           std::to_string(rank) + " lengths");
  std::vector<int64_t> lengthsCopy(lengths, lengths + rank);
  if (Status status = checkAtLeastOne(lengthsCopy, "length"); !status.isOk())
    return status;
  return setTensor(desc, dataType, lengthsCopy,
                   getPackedStrides(lengthsCopy, order));
}

/// Writes `numbers` to the int array of a client, unless it is null.
static Status copyToInts(std::span<const int64_t> numbers, int *ints) {
  if (!ints)
    return Status::ok();
  for (int64_t number : numbers) {
    if (number > std::numeric_limits<int>::max())
      return invalidArgument(std::to_string(number) +
                             " does not fit in an int");
    *ints++ = static_cast<int>(number);
  }
  return Status::ok();
}

extern "C" {

miopenStatus_t
miopenCreateTensorDescriptor(miopenTensorDescriptor_t *tensorDesc) {
  return createObject(__func__, REQUIRED(tensorDesc), tensorDesc);
}

miopenStatus_t miopenSet4dTensorDescriptor(miopenTensorDescriptor_t tensorDesc,
                                           miopenDataType_t dataType, int n,
                                           int c, int h, int w) {
  return guard(__func__, REQUIRED(anyLayout(tensorDesc)), [&]() -> ApiResult {
    if (!n && !c && !h && !w)
      return makeEmpty(*tensorDesc, dataType);
    const int lengths[] = {n, c, h, w};
    return setTensorNd<int>(*tensorDesc, dataType, 4, lengths, nullptr);
  });
}

miopenStatus_t miopenSetNdTensorDescriptorWithLayout(
    miopenTensorDescriptor_t tensorDesc, miopenDataType_t dataType,
    miopenTensorLayout_t tensorLayout, const int *lens, int num_lens) {
  return guard(__func__, REQUIRED(anyLayout(tensorDesc)), [&]() -> ApiResult {
    return setTensorWithLayout(*tensorDesc, dataType, tensorLayout, lens,
                               num_lens);
  });
}

miopenStatus_t miopenSet4dTensorDescriptorEx(
    miopenTensorDescriptor_t tensorDesc, miopenDataType_t dataType, int n,
    int c, int h, int w, int nStride, int cStride, int hStride, int wStride) {
  return guard(__func__, REQUIRED(anyLayout(tensorDesc)), [&]() -> ApiResult {
    const int lengths[] = {n, c, h, w};
    const int strides[] = {nStride, cStride, hStride, wStride};
    return setTensorNd<int>(*tensorDesc, dataType, 4, lengths, strides);
  });
}

miopenStatus_t miopenGet4dTensorDescriptor(miopenTensorDescriptor_t tensorDesc,
                                           miopenDataType_t *dataType, int *n,
                                           int *c, int *h, int *w, int *nStride,
                                           int *cStride, int *hStride,
                                           int *wStride) {
  return guard(
      __func__,
      REQUIRED(anyLayout(tensorDesc), dataType, n, c, h, w, nStride, cStride,
               hStride, wStride),
      [&]() -> ApiResult {
        if (tensorDesc->getRank() != 4)
          return invalidArgument("the tensor has " +
                                 std::to_string(tensorDesc->getRank()) +
                                 " dimensions, not 4");
        std::array<int, 4> lengths;
        std::array<int, 4> strides;
        if (Status status = copyToInts(tensorDesc->lengths, lengths.data());
            !status.isOk())
          return status;
        if (Status status = copyToInts(tensorDesc->strides, strides.data());
            !status.isOk())
          return status;
        *dataType = tensorDesc->dataType;
        *n = lengths[0], *c = lengths[1], *h = lengths[2], *w = lengths[3];
        *nStride = strides[0], *cStride = strides[1];
        *hStride = strides[2], *wStride = strides[3];
        return Status::ok();
      });
}

miopenStatus_t miopenSetTensorDescriptor(miopenTensorDescriptor_t tensorDesc,
                                         miopenDataType_t dataType, int nbDims,
                                         const int *dimsA,
                                         const int *stridesA) {
  return guard(__func__, REQUIRED(anyLayout(tensorDesc)), [&]() -> ApiResult {
    return setTensorNd(*tensorDesc, dataType, nbDims, dimsA, stridesA);
  });
}

// A size_t of 2^63 or more becomes negative in setTensorNd() and is refused
// there.
miopenStatus_t miopenSetTensorDescriptorV2(miopenTensorDescriptor_t tensorDesc,
                                           miopenDataType_t dataType,
                                           int nbDims, const size_t *dimsA,
                                           const size_t *stridesA) {
  return guard(__func__, REQUIRED(anyLayout(tensorDesc)), [&]() -> ApiResult {
    return setTensorNd(*tensorDesc, dataType, nbDims, dimsA, stridesA);
  });
}

miopenStatus_t
miopenGetTensorDescriptorSize(miopenTensorDescriptor_t tensorDesc, int *size) {
  return guard(__func__, REQUIRED(anyLayout(tensorDesc), size),
               [&]() -> ApiResult {
                 *size = tensorDesc->getRank();
                 return Status::ok();
               });
}

miopenStatus_t miopenGetTensorDescriptor(miopenTensorDescriptor_t tensorDesc,
                                         miopenDataType_t *dataType, int *dimsA,
                                         int *stridesA) {
  return guard(__func__, REQUIRED(anyLayout(tensorDesc)), [&]() -> ApiResult {
    if (dataType)
      *dataType = tensorDesc->dataType;
    if (Status status = copyToInts(tensorDesc->lengths, dimsA); !status.isOk())
      return status;
    return copyToInts(tensorDesc->strides, stridesA);
  });
}

miopenStatus_t miopenSetTensorCastType(miopenTensorDescriptor_t tensorDesc,
                                       miopenDataType_t cast_type) {
  return guard(__func__, REQUIRED(anyLayout(tensorDesc)), [&]() -> ApiResult {
    if (Status status = checkDataType(cast_type); !status.isOk())
      return status;
    tensorDesc->castType = cast_type;
    return Status::ok();
  });
}

miopenStatus_t miopenGetTensorCastType(miopenTensorDescriptor_t tensorDesc,
                                       miopenDataType_t *cast_type) {
  return guard(
      __func__, REQUIRED(anyLayout(tensorDesc), cast_type), [&]() -> ApiResult {
        *cast_type = tensorDesc->castType.value_or(tensorDesc->dataType);
        return Status::ok();
      });
}

miopenStatus_t
miopenDestroyTensorDescriptor(miopenTensorDescriptor_t tensorDesc) {
  return destroyObject(__func__, REQUIRED(anyLayout(tensorDesc)), tensorDesc);
}

miopenStatus_t miopenGetTensorNumBytes(miopenTensorDescriptor_t tensorDesc,
                                       size_t *numBytes) {
  return guard(__func__, REQUIRED(anyLayout(tensorDesc), numBytes),
               [&]() -> ApiResult {
                 const ErrorOr<size_t> bytes = getTensorBytes(*tensorDesc);
                 if (!bytes)
                   return bytes.getStatus();
                 *numBytes = *bytes;
                 return Status::ok();
               });
}

} // extern "C"
