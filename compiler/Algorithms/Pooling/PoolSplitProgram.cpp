//===- PoolSplitProgram.cpp - A pooling of few and wide windows -----------===//
//
// A window of the size of an image, and few of them: one thread for each output
// would leave most of the chip idle. So several threads share a window; each
// writes its part's result, and its index, to a workspace, and a second launch
// merges the parts of an output in ascending order. Of equal maxima the one
// with the smaller index wins, so the parts may be interleaved, which puts
// neighbouring columns into neighbouring lanes.
//
//===----------------------------------------------------------------------===//

#include "compiler/Algorithms/Pooling/PoolFold.h"
#include "compiler/Algorithms/Pooling/PoolSplit.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace tessera;

/// Words of 32 bits that a part leaves for each output.
static int64_t getWords(const PoolGeometry &g) {
  return g.hasIndices() ? 2 : 1;
}

/// The workspace as a tensor of y's sizes whose images are those of the first
/// part's values, its indices, the second part's values and so on.
static MemRefType getWorkspaceType(MLIRContext *context, const PoolGeometry &g,
                                   const PoolSplitTile &tile) {
  const auto &[n, c, d, h, w] = g.y.sizes;
  int64_t images = tile.getParts() * getWords(g) * n;
  Type word = IntegerType::get(context, 32);
  if (g.x.hasChannelsLast())
    return MemRefType::get({images, d, h, w, c}, word);
  return MemRefType::get({images, c, d, h, w}, word);
}

int64_t tessera::getWorkspaceBytes(const PoolGeometry &geometry,
                                   const PoolSplitTile &tile) {
  return tile.getParts() * getWords(geometry) * geometry.y.getElements() * 4;
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
  void buildParts(Value workspace);
  void buildMerge(dnn::PoolOp merged, Value workspace);
  PoolTensor getWorkspace(Value workspace) const;
  PoolPlace getSlot(PoolBuilder &p, PoolPlace output, Value part,
                    int64_t word) const;
  std::array<Value, 2> getRows(PoolBuilder &p, std::array<Value, 2> range,
                               Value part) const;

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
  for (int place = 0; place < 5; ++place)
    shape.strides[channelsLast ? kLast[place] : PoolDim(place)] =
        strides[place];
  return PoolTensor(workspace,
                    channelsLast ? dnn::Layout::NHWC : dnn::Layout::NCHW, shape,
                    tile.channels);
}

/// Where `part` keeps a word of the output.
PoolPlace SplitProgram::getSlot(PoolBuilder &p, PoolPlace output, Value part,
                                int64_t word) const {
  int64_t images = g.y.sizes[kBatch];
  output[kBatch] = p.add(
      p.add(p.mul(part, getWords(g) * images), output[kBatch]), word * images);
  return output;
}

/// The rows of `range` that are of one part: neighbours.
std::array<Value, 2> SplitProgram::getRows(PoolBuilder &p,
                                           std::array<Value, 2> range,
                                           Value part) const {
  int64_t rows = llvm::divideCeilSigned(g.dims.window[1], tile.rows);
  Value first = p.mul(part, rows);
  return {p.max(range[0], first), p.min(range[1], p.add(first, rows))};
}

/// The program of the parts. A point is an output and a part of its window; the
/// parts along the columns, or else the channels, are neighbouring lanes.
void SplitProgram::buildParts(Value workspace) {
  PoolBuilder p(b, op.getLoc(), op->getBlock());
  PoolTensor x(op.getX(), op.getXLayout(), g.x, tile.channels);
  PoolFold fold(op, g, tile.channels, /*inF32=*/true);
  PoolPoint point =
      startPoints(b, op, g.y.sizes, {1, tile.channels, 1, 1, 1},
                  g.x.hasChannelsLast(), {tile.rows, tile.columns});
  PoolPlace at = point.block;
  at[kChannel] = p.mul(at[kChannel], tile.channels);

  PoolPlace first = at;
  std::array<std::array<Value, 2>, 3> ranges;
  for (int dim = 0; dim < 3; ++dim) {
    ranges[dim] = getPositionsInside(p, g, dim, at[kDepth + dim]);
    first[kDepth + dim] =
        p.add(p.mul(at[kDepth + dim], g.dims.strides[dim]), -g.dims.pads[dim]);
  }
  ranges[1] = getRows(p, ranges[1], point.rowPart);
  // Column t of this part is `start` + t * parts.
  Value start = p.add(ranges[2][0], point.columnPart);
  Value columns =
      p.max(p.sub(p.add(ranges[2][1], tile.columns - 1), start), p.index(0));
  columns = arith::DivUIOp::create(b, p.loc, columns, p.index(tile.columns));
  PoolReduction result =
      walkRange(p, ranges[0], 1, fold.start(p), [&](Value a, PoolReduction so) {
        return walkRange(p, ranges[1], 1, so, [&](Value r, PoolReduction so) {
          return walkRangeAtOnce(
              p, {p.index(0), columns}, so, [&](Value t, PoolReduction so) {
                Value s = p.add(start, p.mul(t, tile.columns));
                return foldInside(p, fold, x, first, {a, r, s}, so);
              });
        });
      });

  Value part = p.add(p.mul(point.rowPart, tile.columns), point.columnPart);
  PoolTensor parts = getWorkspace(workspace);
  Value bits = arith::BitcastOp::create(
      b, p.loc, parts.getValueType(b.getI32Type()), result.value);
  parts.store(p, bits, getSlot(p, at, part, 0));
  if (result.index)
    parts.store(p, result.index, getSlot(p, at, part, 1));
  op.erase();
}

/// The program that merges the parts of each output.
void SplitProgram::buildMerge(dnn::PoolOp merged, Value workspace) {
  b.setInsertionPoint(merged);
  PoolBuilder p(b, merged.getLoc(), merged->getBlock());
  PoolFold fold(merged, g, tile.channels, /*inF32=*/true);
  PoolTensor parts = getWorkspace(workspace);
  PoolPlace at = startPoints(b, merged, g.y.sizes, {1, tile.channels, 1, 1, 1},
                             g.x.hasChannelsLast())
                     .block;
  at[kChannel] = p.mul(at[kChannel], tile.channels);
  constexpr PoolDim kInside[] = {kBatch, kChannel, kDepth, kRow, kColumn};
  PoolReduction result = walkRangeAtOnce(
      p, {p.index(0), p.index(tile.getParts())}, fold.start(p),
      [&](Value part, PoolReduction so) {
        Value bits = parts.load(p, getSlot(p, at, part, 0), kInside).value;
        PoolReduction other{
            arith::BitcastOp::create(b, p.loc,
                                     parts.getValueType(b.getF32Type()), bits),
            nullptr};
        if (g.hasIndices())
          other.index = parts.load(p, getSlot(p, at, part, 1), kInside).value;
        return fold.merge(p, so, other);
      });
  fold.store(p, result, at);
  merged.erase();
}

/// The merging function takes the same arguments.
void SplitProgram::build() {
  auto function = op->getParentOfType<func::FuncOp>();
  auto merge = cast<func::FuncOp>(function->clone());
  merge.setName((function.getName() + "_merge").str());
  function->getBlock()->getOperations().insertAfter(function->getIterator(),
                                                    merge);
  dnn::PoolOp merged = *merge.getBody().front().getOps<dnn::PoolOp>().begin();
  Value mergeWorkspace = addWorkspace(merge);
  buildParts(addWorkspace(function));
  buildMerge(merged, mergeWorkspace);
}

void tessera::buildPoolSplit(dnn::PoolOp pool, const PoolSplitTile &tile) {
  SplitProgram(pool, tile).build();
}
