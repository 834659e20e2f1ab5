//===- Problem.h - What is asked of the library ----------------*- C++ -*-===//
//
// A problem is plain data: operation, direction, shapes, layouts, types and
// window. Its canonical text, the network config, is the key of every cache
// and database, so two problems are the same exactly when their texts are.
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_RUNTIME_BASE_PROBLEM_H
#define TESSERA_RUNTIME_BASE_PROBLEM_H

#include "runtime/Base/ErrorOr.h"

#include <cstdint>
#include <string>
#include <string_view>

namespace tessera {

enum class Direction { Forward, BackwardData, BackwardWeights };

enum class DataType { F16, BF16, F32, F64, I8, I32 };

/// Order of the dimensions in memory, packed. The filter's layout uses the
/// same two names: NCHW means K,C,Y,X and NHWC means K,Y,X,C (C per group).
enum class Layout { NCHW, NHWC };

/// One number for each spatial dimension. 2-D problems leave depth neutral.
struct Spatial {
  int64_t h = 1;
  int64_t w = 1;

  friend bool operator==(const Spatial &, const Spatial &) = default;
};

/// A 2-D convolution (cross-correlation, as MIOpen defines it).
///
/// Shapes are in elements. x is [batch, inChannels, in], w is
/// [outChannels, inChannels / groups, filter], y is
/// [batch, outChannels, getOutput()].
struct ConvProblem {
  Direction direction = Direction::Forward;
  DataType dataType = DataType::F32;
  Layout xLayout = Layout::NCHW;
  Layout wLayout = Layout::NCHW;
  Layout yLayout = Layout::NCHW;
  int64_t batch = 1;
  int64_t inChannels = 1;
  int64_t outChannels = 1;
  int64_t groups = 1;
  Spatial in;
  Spatial filter;
  Spatial pad{0, 0};
  Spatial stride;
  Spatial dilation;

  friend bool operator==(const ConvProblem &, const ConvProblem &) = default;

  /// Output height and width: (in + 2 pad - (1 + dilation (filter - 1))) /
  /// stride + 1, at least 1 (MIOpen, src/convolution.cpp).
  Spatial getOutput() const;

  /// Elements of each tensor.
  int64_t getInputElements() const;
  int64_t getFilterElements() const;
  int64_t getOutputElements() const;

  /// Multiply-add counted as two operations.
  double getFlops() const;

  /// InvalidArgument with the first rule that is broken, else ok.
  Status verify() const;

  /// The network config, e.g.
  /// "conv-fwd-f16-nhwc,nhwc,nhwc-n64c256h14w14-k256y3x3-p1x1-s1x1-d1x1-g1".
  std::string toNetworkConfig() const;
};

/// The only kind of problem so far.
using Problem = ConvProblem;

/// Bytes of one element.
int64_t getByteSize(DataType type);

/// Lower-case names used in every text: "f16", "nhwc", "fwd".
std::string_view getName(DataType type);
std::string_view getName(Layout layout);
std::string_view getName(Direction direction);

/// Reads what toNetworkConfig() writes.
ErrorOr<Problem> parseNetworkConfig(std::string_view text);

/// Reads a MIOpenDriver command line ("convfp16 -n 64 -c 256 ...", with or
/// without a leading program name; short and long flags). Flags that do not
/// describe the problem (iterations, verification, timing) are ignored.
ErrorOr<Problem> parseDriverCommand(std::string_view command);

/// The reverse: a line that dnn-driver and MIOpenDriver replay.
std::string toDriverCommand(const Problem &problem);

} // namespace tessera

#endif // TESSERA_RUNTIME_BASE_PROBLEM_H
