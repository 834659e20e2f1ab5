//===- GeneralConvData.cpp - Forward and backward data, for any problem ---===//
//
// Both directions reduce products with the filter over the taps of a window
// and over the channels of the tensor that they read. A thread owns one pixel
// of some neighbouring channels of the result. The directions differ in which
// pixel a tap reads, and in which of the filter's two channel dimensions is
// reduced.
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
  bool ownsWholeGroups() const;
  void makePoint();
  void chooseStep();
  PointBuilder::Values emitTaps(int64_t spatialDim, PointBuilder::Values taps,
                                PointBuilder::Values pixel,
                                ValueRange accumulators);
  PointBuilder::Values emitChannels(ValueRange taps, ValueRange pixel,
                                    ValueRange accumulators);
  Value loadFilter(ValueRange taps, Value first, int64_t column, int64_t dim,
                   int64_t count);
  /// The first channel of this thread's group in a tensor with `perGroup`
  /// channels a group.
  Value getGroupStart(int64_t perGroup) { return p.mul(group, perGroup); }

  PointBuilder &p;
  const ConvProgram &program;
  const GeneralTile &tile;
  bool isForward;
  const ConvTensor &source; ///< The tensor that is read through the window.
  const ConvTensor &result;
  int64_t reduced;              ///< Channels of a group that are reduced.
  int64_t owned;                ///< Channels of a group of the result.
  int64_t reducedDim, ownedDim; ///< The same, as dimensions of w.
  int64_t step = 1;             ///< Channels that are reduced at once.
  /// Whether an accumulator is a vector of `step` partial sums of one element,
  /// and not a vector of elements.
  bool vectorizesReduction = false;

  Value outer, group, block; ///< This thread's point.
  PointBuilder::Values position;
};
} // namespace

/// Whether neighbours along the channels would be threads of different groups,
/// and read filters that lie apart, one by one, while a thread's own channels
/// fill whole sectors of 32 bytes.
bool DataProgram::ownsWholeGroups() const {
  constexpr int64_t kSectorBits = 8 * 32;
  return program.dims.groups > 1 && owned == tile.block &&
         owned * result.getElementType().getIntOrFloatBitWidth() >= kSectorBits;
}

/// Neighbouring threads own elements that are neighbours in the result, so that
/// their stores are coalesced, or pixels of one group.
void DataProgram::makePoint() {
  int64_t spatial = result.getNumSpatial();
  SmallVector<Size> sizes = {p.getSize(result.memory, 0)};
  SmallVector<Size> channels = {program.dims.groups, owned / tile.block};
  bool channelsLast = result.hasChannelsInnermost() && !ownsWholeGroups();
  if (!channelsLast)
    llvm::append_range(sizes, channels);
  for (int64_t i = 0; i < spatial; ++i)
    sizes.push_back(p.getSize(result.memory, result.getSpatialDim(i)));
  if (channelsLast)
    llvm::append_range(sizes, channels);
  ValueRange point = p.forEachPointOf(sizes, tile.threads);
  outer = point[0];
  group = point[channelsLast ? 1 + spatial : 1];
  block = p.mul(point[channelsLast ? 2 + spatial : 2], tile.block);
  position = PointBuilder::Values(point.slice(channelsLast ? 1 : 3, spatial));
}

/// A step is as many channels of the source as one access can load. If the
/// filter has as many contiguous channels, the two vectors are multiplied
/// element by element; else each channel of the source is multiplied with a
/// vector of the filter along the thread's own channels.
void DataProgram::chooseStep() {
  constexpr int64_t kBytes = 16;
  auto widest = [&](const ConvTensor &tensor, int64_t dim, int64_t size) {
    int64_t bytes = tensor.getElementType().getIntOrFloatBitWidth() / 8;
    int64_t limit = std::min(kBytes / bytes, size & -size);
    return getAccessWidth(tensor.getType(), dim, limit);
  };
  step = widest(source, source.getChannelDim(), reduced);
  vectorizesReduction =
      step > 1 && widest(program.w, reducedDim, reduced) >= step;
}

/// Loads `count` elements of the filter along `dim`, beginning at this thread's
/// channel `column` and at reduced channel `first`.
Value DataProgram::loadFilter(ValueRange taps, Value first, int64_t column,
                              int64_t dim, int64_t count) {
  Value mine = p.add(block, column);
  Value outputs = p.add(getGroupStart(program.getOutputsPerGroup()),
                        isForward ? mine : first);
  Value inputs = isForward ? first : mine;
  return p.convert(p.loadBlock(program.w.memory, dim, count,
                               program.w.order(outputs, inputs, taps)),
                   program.getAccType());
}

/// Accumulates the products of one tap over all channels.
PointBuilder::Values DataProgram::emitChannels(ValueRange taps,
                                               ValueRange pixel,
                                               ValueRange accumulators) {
  return p.loop(reduced / step, accumulators, [&](Value i, ValueRange carried) {
    Value first = p.mul(i, step);
    Value channel = p.add(getGroupStart(reduced), first);
    Value data =
        p.convert(p.loadBlock(source.memory, source.getChannelDim(), step,
                              source.order(outer, channel, pixel)),
                  program.getAccType());
    PointBuilder::Values next(carried);
    if (vectorizesReduction) {
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

/// Loops over the taps of spatial dimension `spatialDim` and of those inside
/// it. A forward tap reads pixel * stride + tap * dilation - pad. A backward
/// tap reads the output pixel for which this expression is the thread's own
/// pixel; with a stride there may be none.
PointBuilder::Values DataProgram::emitTaps(int64_t spatialDim,
                                           PointBuilder::Values taps,
                                           PointBuilder::Values pixel,
                                           ValueRange accumulators) {
  if (spatialDim == source.getNumSpatial())
    return emitChannels(taps, pixel, accumulators);
  int64_t stride = program.strides[spatialDim];
  int64_t pad = program.pads[spatialDim];
  int64_t dilation = program.dilations[spatialDim];
  return p.loop(
      program.filter[spatialDim], accumulators,
      [&](Value tap, ValueRange carried) {
        auto inner = [&](Value coordinate) {
          PointBuilder::Values allTaps(taps), allPixel(pixel);
          allTaps.push_back(tap);
          allPixel.push_back(coordinate);
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
  Type type = program.getAccType();
  PointBuilder::Values accumulators =
      vectorizesReduction ? PointBuilder::Values(tile.block, p.zero(type, step))
                          : PointBuilder::Values{p.zero(type, tile.block)};
  accumulators = emitTaps(0, {}, {}, accumulators);
  if (vectorizesReduction)
    for (Value &accumulator : accumulators)
      accumulator = p.sumElements(accumulator);
  Value channel = p.add(getGroupStart(owned), block);
  emitResult(p, program,
             accumulators.size() == 1 ? accumulators[0]
                                      : p.makeBlock(accumulators),
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
