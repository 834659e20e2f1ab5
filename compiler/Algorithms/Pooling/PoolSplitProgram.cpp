//===- PoolSplitProgram.cpp - A pooling of few and large windows ----------===//
//
// Where windows are large and few, one thread for each output would leave most
// of the chip idle. Hence several threads share a window: each writes the
// partial result of its split, and its index, to a workspace, and a second
// launch merges the partial results of an output in ascending order. Of equal
// maxima the one with the smaller index wins, so that splits may be
// interleaved, which gives neighbouring columns to neighbouring lanes.
//
//===----------------------------------------------------------------------===//

#include "compiler/Algorithms/Pooling/PoolFold.h"
#include "compiler/Algorithms/Pooling/PoolSplit.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace tessera;

/// The number of 32-bit words that a split writes for each output.
static int64_t getWords(const PoolGeometry &g) {
  return g.hasIndices() ? 2 : 1;
}

/// The workspace is a tensor of y's sizes whose images are, in this order,
/// those of the first split's values and indices, the second split's values,
/// and so on.
static MemRefType getWorkspaceType(MLIRContext *context, const PoolGeometry &g,
                                   const PoolSplitTile &tile) {
  const auto &[n, c, d, h, w] = g.y.sizes;
  int64_t images = tile.getSplits() * getWords(g) * n;
  Type word = IntegerType::get(context, 32);
  if (g.x.hasChannelsLast())
    return MemRefType::get({images, d, h, w, c}, word);
  return MemRefType::get({images, c, d, h, w}, word);
}

int64_t tessera::getWorkspaceBytes(const PoolGeometry &geometry,
                                   const PoolSplitTile &tile) {
  return tile.getSplits() * getWords(geometry) * geometry.y.getElements() * 4;
}

namespace {
/// Writes both programs of one op.
class SplitProgram {
public:
  SplitProgram(dnn::PoolOp op, const PoolSplitTile &tile)
      : op(op), g(op), tile(tile), b(op),
        workspaceType(getWorkspaceType(op.getContext(), g, tile)) {}
  void build();

private:
  Value addWorkspace(func::FuncOp function);
  void buildSplits(Value workspace);
  void buildMerge(dnn::PoolOp merged, Value workspace);
  PoolTensor getWorkspace(Value workspace) const;
  PoolCoordinates getSlot(PoolBuilder &p, PoolCoordinates output, Value split,
                          int64_t word) const;
  std::array<Value, 2> getRows(PoolBuilder &p, std::array<Value, 2> range,
                               Value split) const;

  dnn::PoolOp op;
  const PoolGeometry g;
  const PoolSplitTile tile;
  OpBuilder b;
  MemRefType workspaceType;
};
} // namespace

Value SplitProgram::addWorkspace(func::FuncOp function) {
  unsigned index = function.getNumArguments();
  DictionaryAttr attributes = b.getDictionaryAttr(
      {b.getNamedAttr(dnn::kArgAttrName, b.getStringAttr("workspace")),
       b.getNamedAttr(dnn::kBytesAttrName,
                      b.getI64IntegerAttr(getWorkspaceBytes(g, tile)))});
  (void)function.insertArgument(index, workspaceType, attributes, op.getLoc());
  return function.getArgument(index);
}

PoolTensor SplitProgram::getWorkspace(Value workspace) const {
  bool channelsLast = g.x.hasChannelsLast();
  ArrayRef<int64_t> sizes = workspaceType.getShape();
  PoolTensorShape shape = g.y;
  shape.sizes[kBatch] = sizes[0];
  shape.elementBytes = 4;
  SmallVector<int64_t> strides;
  int64_t offset;
  (void)workspaceType.getStridesAndOffset(strides, offset);
  constexpr PoolDim kLast[] = {kBatch, kDepth, kRow, kColumn, kChannel};
  for (int index = 0; index < 5; ++index)
    shape.strides[channelsLast ? kLast[index] : PoolDim(index)] =
        strides[index];
  return PoolTensor(workspace,
                    channelsLast ? dnn::Layout::NHWC : dnn::Layout::NCHW, shape,
                    tile.channels);
}

/// The coordinates in the workspace of a word that `split` writes for `output`.
PoolCoordinates SplitProgram::getSlot(PoolBuilder &p, PoolCoordinates output,
                                      Value split, int64_t word) const {
  int64_t images = g.y.sizes[kBatch];
  output[kBatch] = p.add(
      p.add(p.mul(split, getWords(g) * images), output[kBatch]), word * images);
  return output;
}

/// The rows of `range` that belong to `split`.
std::array<Value, 2> SplitProgram::getRows(PoolBuilder &p,
                                           std::array<Value, 2> range,
                                           Value split) const {
  int64_t rows = llvm::divideCeilSigned(g.dims.window[1], tile.rows);
  Value first = p.mul(split, rows);
  return {p.max(range[0], first), p.min(range[1], p.add(first, rows))};
}

/// Emits the program of the splits. A point is an output and a split of its
/// window. Neighbouring lanes have neighbouring channels if these are last,
/// else neighbouring splits along columns, whose loads are coalesced.
void SplitProgram::buildSplits(Value workspace) {
  PoolBuilder p(b, op.getLoc(), op->getBlock());
  PoolTensor x(op.getX(), op.getXLayout(), g.x, tile.channels);
  PoolFold fold(op, g, tile.channels, /*inF32=*/true);
  PoolPoint point =
      startPoints(b, op, g.y.sizes, {1, tile.channels, 1, 1, 1},
                  g.x.hasChannelsLast(), {tile.rows, tile.columns});
  PoolCoordinates at = point.block;
  at[kChannel] = p.mul(at[kChannel], tile.channels);

  PoolCoordinates first = at;
  std::array<std::array<Value, 2>, 3> ranges;
  for (int dim = 0; dim < 3; ++dim) {
    ranges[dim] = getPositionsInside(p, g, dim, at[kDepth + dim]);
    first[kDepth + dim] =
        p.add(p.mul(at[kDepth + dim], g.dims.strides[dim]), -g.dims.pads[dim]);
  }
  ranges[1] = getRows(p, ranges[1], point.rowSplit);
  // Column t of this split is `start` + t * tile.columns.
  Value start = p.add(ranges[2][0], point.columnSplit);
  Value columns =
      p.max(p.sub(p.add(ranges[2][1], tile.columns - 1), start), p.index(0));
  columns = arith::DivUIOp::create(b, p.loc, columns, p.index(tile.columns));
  PoolReduction result = reduceRange(
      p, ranges[0], 1, fold.start(p), [&](Value a, PoolReduction partial) {
        return reduceRange(
            p, ranges[1], 1, partial, [&](Value r, PoolReduction partial) {
              return reduceRangeUnrolled(
                  p, {p.index(0), columns}, partial,
                  [&](Value t, PoolReduction partial) {
                    Value s = p.add(start, p.mul(t, tile.columns));
                    return foldInside(p, fold, x, first, {a, r, s}, partial);
                  });
            });
      });

  Value split = p.add(p.mul(point.rowSplit, tile.columns), point.columnSplit);
  PoolTensor partials = getWorkspace(workspace);
  Value bits = arith::BitcastOp::create(
      b, p.loc, partials.getValueType(b.getI32Type()), result.value);
  partials.store(p, bits, getSlot(p, at, split, 0));
  if (result.index)
    partials.store(p, result.index, getSlot(p, at, split, 1));
  op.erase();
}

/// Emits the program that merges the partial results of each output.
void SplitProgram::buildMerge(dnn::PoolOp merged, Value workspace) {
  b.setInsertionPoint(merged);
  PoolBuilder p(b, merged.getLoc(), merged->getBlock());
  PoolFold fold(merged, g, tile.channels, /*inF32=*/true);
  PoolTensor partials = getWorkspace(workspace);
  PoolCoordinates at =
      startPoints(b, merged, g.y.sizes, {1, tile.channels, 1, 1, 1},
                  g.x.hasChannelsLast())
          .block;
  at[kChannel] = p.mul(at[kChannel], tile.channels);
  constexpr PoolDim kInside[] = {kBatch, kChannel, kDepth, kRow, kColumn};
  PoolReduction result = reduceRangeUnrolled(
      p, {p.index(0), p.index(tile.getSplits())}, fold.start(p),
      [&](Value split, PoolReduction partial) {
        Value bits = partials.load(p, getSlot(p, at, split, 0), kInside).value;
        PoolReduction other{
            arith::BitcastOp::create(
                b, p.loc, partials.getValueType(b.getF32Type()), bits),
            nullptr};
        if (g.hasIndices())
          other.index =
              partials.load(p, getSlot(p, at, split, 1), kInside).value;
        return fold.merge(p, partial, other);
      });
  fold.store(p, result, at);
  merged.erase();
}

/// The merging function is a clone, since it takes the same arguments.
void SplitProgram::build() {
  auto function = op->getParentOfType<func::FuncOp>();
  auto merge = cast<func::FuncOp>(function->clone());
  merge.setName((function.getName() + "_merge").str());
  function->getBlock()->getOperations().insertAfter(function->getIterator(),
                                                    merge);
  dnn::PoolOp merged = *merge.getBody().front().getOps<dnn::PoolOp>().begin();
  Value mergeWorkspace = addWorkspace(merge);
  buildSplits(addWorkspace(function));
  buildMerge(merged, mergeWorkspace);
}

void tessera::buildPoolSplit(dnn::PoolOp pool, const PoolSplitTile &tile) {
  SplitProgram(pool, tile).build();
}
