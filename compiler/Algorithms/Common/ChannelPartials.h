//===- ChannelPartials.h - Numbers of channels, in partials ----------*- C++
//-*--===//
//
// What a problem asks for of each channel of its result (statistics, or what a
// normalisation's gradient needs) is computed behind the algorithm's program in
// two steps. Parts of the pixels have some numbers for each channel, in the
// workspace; one launch combines them in a fixed order, so that every run gives
// the same bits (docs/design/0041-statistics-of-results.md). Where the kernel
// that stores the result writes the partials, it is not read again; else a
// launch of its own does.
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_COMPILER_ALGORITHMS_COMMON_CHANNELPARTIALS_H
#define TESSERA_COMPILER_ALGORITHMS_COMMON_CHANNELPARTIALS_H

#include "compiler/Algorithms/Common/PointBuilder.h"
#include "dialect/IR/Dnn.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"

#include <functional>
#include <optional>
#include <string>

namespace tessera {

/// Whose channels are asked for. Plain data.
struct ChannelResult {
  std::string kernel; ///< The function that computes it.
  mlir::Location loc;
  llvm::StringRef name; ///< Of the argument: "x" or "y".
  mlir::MemRefType tensor;
  dnn::Layout layout;
  bool hasChannelsLast; ///< Whether the operand that is an image has, too.

  int64_t getChannels() const;
};

/// An argument of an appended kernel.
struct ChannelArgument {
  llvm::StringRef name;
  mlir::MemRefType type;
};

/// The type of the workspace: `numbers` of each channel in each part.
mlir::MemRefType getPartialsType(mlir::MLIRContext *context, int64_t partials,
                                 int64_t numbers, int64_t channels);

/// The argument of `function` with the name `name`, or null.
mlir::Value findArgument(mlir::func::FuncOp function, llvm::StringRef name);

/// Takes the arguments that `values` are away from their function.
void eraseArguments(llvm::ArrayRef<mlir::Value> values);

/// Adds one to the function. Returns it.
mlir::Value addArgument(mlir::func::FuncOp function,
                        const ChannelArgument &argument);

/// A kernel that is launched after all others of the module.
mlir::func::FuncOp appendKernel(mlir::ModuleOp module,
                                const ChannelResult &result,
                                llvm::StringRef suffix,
                                llvm::ArrayRef<ChannelArgument> arguments);

/// How a launch of its own divides the pixels of a tensor: part s has every
/// pixel s + i partials.
class PixelPartials {
public:
  static constexpr int64_t kThreads = 256;

  explicit PixelPartials(const ChannelResult &result);

  int64_t getPartials() const { return partials; }
  int64_t getPixels() const { return pixels; }
  int64_t getWidth() const { return width; }
  int64_t getChannelDim() const { return channelDim; }
  /// The tensor's; that of a matrix of pixels by channels where it is one.
  mlir::MemRefType getTensorType() const;

  /// Begins a program of points. Neighbouring threads have neighbouring
  /// channels if these lie together, else neighbouring pixels.
  struct Point {
    mlir::Value part, channel;
  };
  Point begin(PointBuilder &p) const;
  /// The coordinates of `width` channels of a pixel.
  PointBuilder::Values locate(PointBuilder &p, mlir::Value pixel,
                              mlir::Value channel) const;
  /// Runs `body` with kAtOnce pixels of the part at a time, some of which may
  /// be past the last one; it maps the carried values to those of the next
  /// ones.
  static constexpr int64_t kAtOnce = 8;
  PointBuilder::Values
  loop(PointBuilder &p, const Point &point, mlir::ValueRange init,
       llvm::function_ref<PointBuilder::Values(
           llvm::ArrayRef<mlir::Value> pixels, mlir::ValueRange carried)>
           body) const;
  void storePartial(PointBuilder &p, mlir::Value memory, const Point &point,
                    llvm::ArrayRef<mlir::Value> numbers) const;

private:
  const ChannelResult &result;
  /// Whether pixels are one dimension, and channels the other.
  bool isMatrix;
  int64_t channelDim, channels, pixels;
  int64_t width = 1; ///< Channels of a thread.
  int64_t partials;
};

/// A program in which a workgroup has a few channels, which are a sector of
/// memory. Each of its threads combines every 32nd part of one of them, in
/// order, and a tree those of the threads.
class PartialsCombination {
public:
  using Values = PointBuilder::Values;
  /// One part, or both, may be zeros: empty.
  using Combine = std::function<Values(llvm::ArrayRef<mlir::Value>,
                                       llvm::ArrayRef<mlir::Value>)>;

  /// `memory` is an argument of getPartialsType().
  PartialsCombination(PointBuilder &p, mlir::Value memory, Combine combine);
  /// The numbers of a channel, in the threads that have it.
  Values build();
  /// Where such a thread stores them: past the last channel in all others.
  mlir::Value getChannel() const { return channel; }
  /// The thread's channel, which may be past the last one.
  mlir::Value getOwnChannel() const { return own; }

private:
  static constexpr int64_t kChannels = 8,
                           kRows = PixelPartials::kThreads / kChannels;

  Values load(mlir::Value part);
  Values addUp(mlir::Value row);
  Values addRows(Values total, mlir::Value row, mlir::Value column);
  void put(mlir::Value shared, llvm::ArrayRef<mlir::Value> numbers,
           mlir::Value row, mlir::Value column);
  Values get(mlir::Value shared, mlir::Value row, mlir::Value column);

  PointBuilder &p;
  mlir::Value memory;
  Combine combine;
  int64_t partials, numbers, channels;
  mlir::Value own, channel;
};

/// The only store of tiles to the result in the module, if its lowering can
/// write partials, and these in the kernel's workspace; else null. Adds the
/// workspace, which is `workspace`.
struct FusedPartials {
  dnn::TileStoreOp store;
  mlir::Value workspace;
  int64_t partials;
};
std::optional<FusedPartials> fusePartials(mlir::ModuleOp module,
                                          const ChannelResult &result,
                                          int64_t numbers);

} // namespace tessera

#endif // TESSERA_COMPILER_ALGORITHMS_COMMON_CHANNELPARTIALS_H
