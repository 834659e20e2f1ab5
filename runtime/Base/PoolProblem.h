//===- PoolProblem.h - A pooling that is asked for -------------*- C++ -*--===//

#ifndef TESSERA_RUNTIME_BASE_POOLPROBLEM_H
#define TESSERA_RUNTIME_BASE_POOLPROBLEM_H

#include "runtime/Base/ErrorOr.h"
#include "runtime/Base/ProblemTypes.h"

#include <string>

namespace tessera {

enum class PoolMode : uint8_t { Max, Average, AverageInclusive, MaxNan };

/// Whether a mode chooses an element, which has an index.
constexpr bool isMaximum(PoolMode mode) {
  return mode == PoolMode::Max || mode == PoolMode::MaxNan;
}

/// The unsigned type that forward max writes and backward max reads for each
/// element of y. None: forward without indices, and averages.
enum class IndexType : uint8_t { None, U8, U16, U32, U64 };

/// What an index counts: offsets in the window, padding included, or pixels of
/// the image, (d H + h) W + w.
enum class IndexMode : uint8_t { Mask, Image };

/// Pooling forward (y from x) or backward (dx from dy;
/// Direction::BackwardData). In a backward problem x and y stand for dx and dy.
///
/// x is [batch, channels, in], y is [batch, channels, getOutput()]. Indices
/// are packed in the order of y's layout (NCHW if y is strided).
struct PoolProblem {
  Direction direction = Direction::Forward;
  PoolMode mode = PoolMode::Max;
  DataType dataType = DataType::F32;
  Layout xLayout = Layout::NCHW;
  Layout yLayout = Layout::NCHW;
  Strides xStrides;
  Strides yStrides;
  int64_t batch = 1;
  int64_t channels = 1;
  Spatial in;
  Spatial window;
  Pads pad;      ///< Before the first element of each dimension.
  Pads extraPad; ///< See ConvProblem.
  Spatial stride;
  IndexType indexType = IndexType::None;
  IndexMode indexMode = IndexMode::Mask;

  friend bool operator==(const PoolProblem &, const PoolProblem &) = default;

  /// See ConvProblem.
  Pads getPadAfter() const { return pad + extraPad; }
  void setPadAfter(const Pads &after) { extraPad = after - pad; }
  bool hasUnequalPads() const { return extraPad != Pads(); }

  /// max(1, floor((in + padding of both ends - window) / stride) + 1) (MIOpen,
  /// src/pooling.cpp).
  Spatial getOutput() const;

  bool hasDepth() const;

  TensorLengths getInputLengths() const;
  TensorLengths getOutputLengths() const;
  Strides getInputStrides() const;
  Strides getOutputStrides() const;

  /// Returns InvalidArgument with the first rule that is broken, else ok.
  Status verify() const;
  /// The checks of verify() that concern the indices: MIOpen has a status of
  /// its own for a type that is too small.
  Status verifyIndices() const;

  /// See ConvProblem::canonicalize().
  PoolProblem canonicalize() const;

  /// The network config, e.g.
  /// "pool-fwd-max-f16-nhwc,nhwc-n64c64h112w112-y3x3-p1x1-s2x2-iu8mask";
  /// "-inone" without indices, and padding as in that of ConvProblem.
  std::string toNetworkConfig() const;
};

/// Bytes of one index; 0 for None.
int64_t getByteSize(IndexType type);

std::string_view getName(PoolMode mode);
std::string_view getName(IndexType type);
std::string_view getName(IndexMode mode);

} // namespace tessera

#endif // TESSERA_RUNTIME_BASE_POOLPROBLEM_H
