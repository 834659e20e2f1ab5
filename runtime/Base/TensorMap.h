//===- TensorMap.h - How a copy engine sees a tensor -----------*- C++ -*--===//
//
// From sm_90 on a kernel asks the chip's tensor memory accelerator for whole
// tiles. A descriptor of 128 bytes describes the tile; only the driver can
// encode it, once the tensor's address is known. The compiler therefore states
// here what the driver will be asked for, and the launch encodes it. Sizes,
// strides and corners may be expressions of a problem's sizes, of which the
// runtime makes numbers (docs/design/0038-sizes-as-arguments.md).
//
// Source: CUDA driver API, "Tensor Map Object Management" (cuTensorMapEncode*);
// PTX ISA 8.6, section "Tensor copies" (im2col mode, swizzling).
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_RUNTIME_BASE_TENSORMAP_H
#define TESSERA_RUNTIME_BASE_TENSORMAP_H

#include "runtime/Base/ErrorOr.h"
#include "runtime/Base/KernelArg.h"
#include "runtime/Base/ProblemTypes.h"
#include "runtime/Base/SizeExpr.h"

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace tessera {

/// One descriptor. Dimensions are in the order of memory, beginning with the
/// innermost one, whose elements are contiguous. Plain data.
struct TensorMap {
  static constexpr uint32_t kMaxRank = 5;
  static constexpr uint32_t kMaxSpatial = kMaxRank - 2;

  enum class Mode : uint8_t {
    Tiled, ///< A box of elements along each dimension.
    Plain, ///< The same, but not swizzled.
    /// Pixels of an im2col matrix: some channels (dimension 0) at some
    /// positions of a window's corner, which moves through the images.
    Im2col,
  };

  KernelArg tensor = KernelArg::X; ///< The tensor that it describes,
  uint64_t offset = 0;             ///< from this byte, which may be open.
  DataType dataType = DataType::F16;
  /// Copies round F32 to ten bits of mantissa; "tf32" in the text.
  bool roundsToTf32 = false;
  Mode mode = Mode::Tiled;
  uint32_t rank = 2;
  std::array<uint64_t, kMaxRank> sizes{1, 1, 1, 1, 1};
  std::array<uint64_t, kMaxRank> strides{}; ///< Bytes; [0] is not used.
  /// Tiled, Plain: the elements of a box along each dimension. Im2col: the
  /// channels and pixels of a copy.
  std::array<uint32_t, kMaxRank> box{1, 1, 1, 1, 1};
  /// The number of elements from one position of the traversal to the next.
  std::array<uint32_t, kMaxRank> steps{1, 1, 1, 1, 1};
  /// Im2col: where the corner's traversal begins and ends along each spatial
  /// dimension, relative to the tensor's first and last element.
  std::array<int32_t, kMaxSpatial> lower{};
  std::array<int32_t, kMaxSpatial> upper{};

  /// The lists of numbers, in the order of the text.
  enum class List : uint8_t {
    Offset, ///< Of one number.
    Sizes,
    Strides,
    Box,
    Steps,
    Lower,
    Upper
  };
  /// A number that depends on unknown sizes: what is added less what is
  /// subtracted. That index of the list has 0.
  struct OpenEntry {
    List list;
    uint32_t index;
    SizeExpr added, subtracted;

    friend bool operator==(const OpenEntry &, const OpenEntry &) = default;
  };
  /// In the order of the text.
  std::vector<OpenEntry> open;

  /// The same map for a problem: nothing of it is open any more. NotSupported
  /// if a number is beyond what a map can say.
  ErrorOr<TensorMap> bind(const SizeExpr::Lookup &lookup) const;

  /// Prints
  /// "x:f16:im2col:256,14,14,64:512,7168,100352:64,128:1,1,1,1:-1,-1:-1,-1"
  /// without blanks: sizes, strides, box, steps, lower and upper corner. With
  /// an offset, "workspace+4096:..". A number that is open is "xd1", or, with
  /// what is subtracted, "yd1.2.*~xd1"; an offset has nothing subtracted.
  std::string toText() const;

  /// Bytes of the innermost dimension of a box of matrix operands. The swizzle
  /// has as many bytes: 128, 64 or 32; a box of 16 bytes is not swizzled.
  static constexpr uint32_t kBoxBytes = 128;

  friend bool operator==(const TensorMap &, const TensorMap &) = default;
};

/// Reads exactly what TensorMap::toText() writes.
ErrorOr<TensorMap> parseTensorMap(std::string_view text);

} // namespace tessera

#endif // TESSERA_RUNTIME_BASE_TENSORMAP_H
