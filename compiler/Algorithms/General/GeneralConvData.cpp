//===- GeneralConvData.cpp - Forward and backward data, for any problem ---===//
//
// Both directions sum, over the taps of a window and over the channels of the
// tensor they read, products with a filter. A thread owns one pixel of some
// neighbouring channels of the result. They differ in which pixel a tap reads,
// and in which of the filter's two channels is summed over.
//
//===----------------------------------------------------------------------===//

#include "compiler/Algorithms/General/GeneralConv.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace tessera;

namespace {
class DataProgram {
public:
  DataProgram(PointBuilder &p, const ConvProgram &program,
              const GeneralTile &tile)
      : p(p), program(program), tile(tile),
        isForward(program.hasDirection(dnn::ConvDirection::Forward)),
        source(isForward ? program.x : program.y),
        result(isForward ? program.y : program.x),
        reduced(isForward ? program.getInputsPerGroup()
                          : program.getOutputsPerGroup()),
        owned(isForward ? program.getOutputsPerGroup()
                        : program.getInputsPerGroup()),
        reducedDim(isForward ? program.w.getChannelDim()
                             : program.w.getOuterDim()),
        ownedDim(isForward ? program.w.getOuterDim()
                           : program.w.getChannelDim()) {}

  void emit();

private:
  void makePoint();
  void chooseStep();
  PointBuilder::Values emitTaps(int64_t spatialDim, PointBuilder::Values taps,
                                PointBuilder::Values pixel, ValueRange sums);
  PointBuilder::Values emitChannels(ValueRange taps, ValueRange pixel,
                                    ValueRange sums);
  Value loadFilter(ValueRange taps, Value first, int64_t column, int64_t dim,
                   int64_t count);
  /// first channel of this thread's group, in a tensor with `perGroup`.
  Value getGroupStart(int64_t perGroup) { return p.mul(group, perGroup); }

  PointBuilder &p;
  const ConvProgram &program;
  const GeneralTile &tile;
  bool isForward;
  const ConvTensor &source; ///< What is read through the window.
  const ConvTensor &result;
  int64_t reduced;              ///< Channels of a group that are summed over.
  int64_t owned;                ///< Channels of a group of the result.
  int64_t reducedDim, ownedDim; ///< The same, as dimensions of w.
  int64_t step = 1;             ///< Channels that are summed at once.
  bool sumsAlongStep = false;   ///< A sum is a block of `step` parts.

  Value outer, group, block; ///< This thread's point.
  PointBuilder::Values position;
};
} // namespace

/// Neighbouring threads own what is close together in the result.
void DataProgram::makePoint() {
  int64_t spatial = result.getNumSpatial();
  SmallVector<int64_t> sizes = {result.getType().getDimSize(0)};
  SmallVector<int64_t> channels = {program.dims.groups, owned / tile.block};
  bool channelsLast = result.hasChannelsInnermost();
  if (!channelsLast)
    llvm::append_range(sizes, channels);
  for (int64_t i = 0; i < spatial; ++i)
    sizes.push_back(result.getSpatialSize(i));
  if (channelsLast)
    llvm::append_range(sizes, channels);
  ValueRange point = p.forEachPoint(sizes, tile.threads);
  outer = point[0];
  group = point[channelsLast ? 1 + spatial : 1];
  block = p.mul(point[channelsLast ? 2 + spatial : 2], tile.block);
  position = PointBuilder::Values(point.slice(channelsLast ? 1 : 3, spatial));
}

/// As many channels of the source at once as lie together: multiplied with as
/// many of the filter, if these lie together too; else each with a block of
/// the filter along the thread's channels.
void DataProgram::chooseStep() {
  constexpr int64_t kBytes = 16;
  auto widest = [&](const ConvTensor &tensor, int64_t dim, int64_t size) {
    int64_t bytes = tensor.getElementType().getIntOrFloatBitWidth() / 8;
    int64_t limit = std::min(kBytes / bytes, size & -size);
    return getAccessWidth(tensor.getType(), dim, limit);
  };
  step = widest(source, source.getChannelDim(), reduced);
  sumsAlongStep = step > 1 && widest(program.w, reducedDim, reduced) >= step;
}

/// A block of the filter along `dim`, its first element at this thread's
/// channel `column` and at channel `first` of those summed over.
Value DataProgram::loadFilter(ValueRange taps, Value first, int64_t column,
                              int64_t dim, int64_t count) {
  Value mine = p.add(block, column);
  Value outputs = p.add(getGroupStart(program.getOutputsPerGroup()),
                        isForward ? mine : first);
  Value inputs = isForward ? first : mine;
  return p.convert(p.loadBlock(program.w.memory, dim, count,
                               program.w.order(outputs, inputs, taps)),
                   program.getSumType());
}

/// One tap: all channels.
PointBuilder::Values
DataProgram::emitChannels(ValueRange taps, ValueRange pixel, ValueRange sums) {
  return p.loop(reduced / step, sums, [&](Value i, ValueRange carried) {
    Value first = p.mul(i, step);
    Value channel = p.add(getGroupStart(reduced), first);
    Value data =
        p.convert(p.loadBlock(source.memory, source.getChannelDim(), step,
                              source.order(outer, channel, pixel)),
                  program.getSumType());
    PointBuilder::Values next(carried);
    if (sumsAlongStep) {
      for (int64_t column = 0; column < tile.block; ++column)
        next[column] =
            p.mulAdd(data, loadFilter(taps, first, column, reducedDim, step),
                     next[column]);
      return next;
    }
    for (int64_t k = 0; k < step; ++k)
      next[0] = p.mulAdd(
          p.splat(p.getElement(data, k), tile.block),
          loadFilter(taps, p.add(first, k), 0, ownedDim, tile.block), next[0]);
    return next;
  });
}

/// The taps along one spatial dimension, and the ones inside. Forward, a tap
/// reads pixel * stride + tap * dilation - pad; backward, it is reached from
/// the pixel for which that is this thread's, if there is one.
PointBuilder::Values DataProgram::emitTaps(int64_t spatialDim,
                                           PointBuilder::Values taps,
                                           PointBuilder::Values pixel,
                                           ValueRange sums) {
  if (spatialDim == source.getNumSpatial())
    return emitChannels(taps, pixel, sums);
  int64_t stride = program.strides[spatialDim];
  int64_t pad = program.pads[spatialDim];
  int64_t dilation = program.dilations[spatialDim];
  return p.loop(
      program.filter[spatialDim], sums, [&](Value tap, ValueRange carried) {
        auto inner = [&](Value at) {
          PointBuilder::Values allTaps(taps), allPixel(pixel);
          allTaps.push_back(tap);
          allPixel.push_back(at);
          return emitTaps(spatialDim + 1, allTaps, allPixel, carried);
        };
        if (isForward)
          return inner(p.add(
              p.add(p.mul(position[spatialDim], stride), p.mul(tap, dilation)),
              -pad));
        Value reach =
            p.add(p.add(position[spatialDim], pad), p.mul(tap, -dilation));
        if (stride == 1)
          return inner(reach);
        Value by = p.index(stride);
        Value rest = arith::RemSIOp::create(p.b, p.loc, reach, by);
        Value isReached = arith::CmpIOp::create(
            p.b, p.loc, arith::CmpIPredicate::eq, rest, p.index(0));
        return p.branch(isReached, carried, [&] {
          return inner(arith::DivSIOp::create(p.b, p.loc, reach, by));
        });
      });
}

void DataProgram::emit() {
  makePoint();
  chooseStep();
  Type type = program.getSumType();
  PointBuilder::Values sums =
      sumsAlongStep ? PointBuilder::Values(tile.block, p.zero(type, step))
                    : PointBuilder::Values{p.zero(type, tile.block)};
  sums = emitTaps(0, {}, {}, sums);
  if (sumsAlongStep)
    for (Value &sum : sums)
      sum = p.sumElements(sum);
  Value channel = p.add(getGroupStart(owned), block);
  emitResult(p, program, sums.size() == 1 ? sums[0] : p.makeBlock(sums),
             result.getChannelDim(), result.order(outer, channel, position),
             program.getArguments());
}

void tessera::buildGeneralData(const ConvProgram &program,
                               const GeneralTile &tile) {
  dnn::ConvOp conv = program.getConv();
  OpBuilder b(conv);
  PointBuilder p(b, conv.getLoc());
  DataProgram(p, program, tile).emit();
  conv.erase();
}
