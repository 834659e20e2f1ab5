//===- TileProgram.cpp - A kernel function, found and checked -------------===//

#include "compiler/Conversion/Cooperative/TileProgram.h"
#include "compiler/Conversion/Common/SizeArguments.h"
#include "compiler/Conversion/Cooperative/TileSupport.h"
#include "compiler/Target/ElementType.h"

using namespace mlir;
using namespace tessera;

//===----------------------------------------------------------------------===//
// Finding the ops
//===----------------------------------------------------------------------===//

/// The only op of type OpT in `block`, or null.
template <typename OpT>
static OpT findOnly(Block &block) {
  auto ops = block.getOps<OpT>();
  return llvm::hasSingleElement(ops) ? *ops.begin() : OpT();
}

static LogicalResult findOps(func::FuncOp function, TileProgram &program) {
  program.function = function;
  if (function.isDeclaration() || !function.getBody().hasOneBlock())
    return function.emitOpError("needs a body of one block to be a kernel");
  program.tiles = findOnly<dnn::ForEachTileOp>(function.getBody().front());
  if (!program.tiles)
    return function.emitOpError("needs one dnn.for_each_tile");
  Block &body = program.tiles.getBody().front();
  program.pipeline = findOnly<dnn::PipelineOp>(body);
  program.store = findOnly<dnn::TileStoreOp>(body);
  if (!program.pipeline || !program.store || body.getOperations().size() != 2)
    return program.tiles.emitOpError("needs one pipeline and one store");
  Operation *loaded = program.pipeline.getLoad().front().getTerminator();
  Block &compute = program.pipeline.getCompute().front();
  program.mma = findOnly<dnn::TileMmaOp>(compute);
  if (!program.mma || compute.getOperations().size() != 2 ||
      loaded->getNumOperands() != 2)
    return program.pipeline.emitOpError(
        "needs two loaded tiles and one dnn.tile_mma");
  program.loadM = loaded->getOperand(0).getDefiningOp<dnn::TileLoadOp>();
  program.loadN = loaded->getOperand(1).getDefiningOp<dnn::TileLoadOp>();
  if (!program.loadM || !program.loadN)
    return program.pipeline.emitOpError("needs tiles that dnn.tile_load made");
  return success();
}

//===----------------------------------------------------------------------===//
// Do they fit together
//===----------------------------------------------------------------------===//

/// Kernels take tensors and scalars (as doubles from a launch), and return
/// nothing.
static LogicalResult checkSignature(func::FuncOp function) {
  if (function.getNumResults() != 0)
    return function.emitOpError("returns a value, but a kernel cannot");
  for (Type type : function.getArgumentTypes())
    if (!isa<MemRefType>(type) && !type.isF32() && !type.isF64())
      return function.emitOpError()
             << "takes " << type
             << ", but a kernel takes memrefs and f32 or f64 scalars";
  return success();
}

static LogicalResult checkView(TileProgram &program, Operation *user,
                               Value view) {
  dnn::ViewOp op = TileProgram::getView(view);
  auto argument = op ? dyn_cast<BlockArgument>(op.getSource()) : nullptr;
  if (!argument || argument.getOwner() != &program.function.getBody().front())
    return user->emitOpError(
        "needs a dnn.view of an argument of the kernel function");
  const SizeArguments sizes(program.function);
  if (!llvm::all_of(op.getOpenSizes(),
                    [&](Value size) { return sizes.getExpr(size); }))
    return op.emitOpError("needs sizes that are made of constants and of sizes "
                          "of the kernel's tensors");
  return success();
}

/// The uses of values: loads and store at the tile's place, the product of the
/// two loaded tiles in their order, its result to the store.
static LogicalResult checkUses(TileProgram &program) {
  Block &tile = program.tiles.getBody().front();
  Value position[] = {tile.getArgument(0), tile.getArgument(1),
                      tile.getArgument(2)};
  Value k = program.pipeline.getLoad().front().getArgument(0);
  auto isAt = [](auto op, Value group, Value row, Value column) {
    return op.getGroup() == group && op.getRow() == row &&
           op.getColumn() == column;
  };
  if (!isAt(program.loadM, position[0], position[1], k))
    return program.loadM.emitOpError("needs the position [group, m, k]");
  if (!isAt(program.loadN, position[0], position[2], k))
    return program.loadN.emitOpError("needs the position [group, n, k]");
  if (!isAt(program.store, position[0], position[1], position[2]) ||
      program.store.getValue() != program.pipeline.getResult())
    return program.store.emitOpError(
        "needs the pipeline's result and the position [group, m, n]");
  Block &compute = program.pipeline.getCompute().front();
  if (program.mma.getA() != compute.getArgument(0) ||
      program.mma.getB() != compute.getArgument(1) ||
      program.mma.getAcc() != compute.getArgument(2) ||
      compute.getTerminator()->getOperand(0) != program.mma.getResult())
    return program.mma.emitOpError(
        "needs the loaded tiles and the accumulator in their order, and its "
        "result to be yielded");
  return success();
}

/// Whether the kernel has `value` as a scalar: an argument, or, of f32, an f64
/// argument that is truncated.
static bool isScalarArgument(TileProgram &program, Value value) {
  Block *entry = &program.function.getBody().front();
  if (!value.getType().isF32() && !value.getType().isF64())
    return false;
  if (auto truncation = value.getDefiningOp<arith::TruncFOp>())
    value = truncation.getIn();
  auto argument = dyn_cast<BlockArgument>(value);
  return argument && argument.getOwner() == entry &&
         (argument.getType().isF32() || argument.getType().isF64());
}

/// Epilogues compute from their arguments and from scalars of the kernel.
static LogicalResult checkEpilogue(TileProgram &program) {
  dnn::TileStoreOp store = program.store;
  auto isInside = [&](Value operand) {
    return operand.getParentRegion() == &store.getEpilogue();
  };
  auto areAvailable = [&](Operation *op) {
    return (op->getNumResults() == 1 &&
            isScalarArgument(program, op->getResult(0))) ||
           llvm::all_of(op->getOperands(), [&](Value operand) {
             return isInside(operand) || isScalarArgument(program, operand);
           });
  };
  WalkResult result = store.getEpilogue().walk([&](Operation *op) {
    bool isScalar = op->hasTrait<OpTrait::Elementwise>() ||
                    op->hasTrait<OpTrait::ConstantLike>() ||
                    op->hasTrait<OpTrait::IsTerminator>();
    return isScalar && areAvailable(op) ? WalkResult::advance()
                                        : WalkResult::interrupt();
  });
  if (result.wasInterrupted())
    return store.emitOpError("needs an epilogue of elementwise ops on its "
                             "arguments and on scalar arguments of the "
                             "kernel");
  const bool isDouble = store.getValue().getType().getElementType().isF64();
  for (Value extra : store.getExtras()) {
    Type element = cast<dnn::ViewType>(extra.getType()).getElementType();
    if (!hasF32Sums(element) && !element.isSignlessInteger(8) &&
        !(isDouble && element.isF64()))
      return store.emitOpError()
             << "needs further tensors of i8 or of floats no wider than its "
                "sums, but has "
             << element;
  }
  return success();
}

/// The sizes of everything agree.
static LogicalResult checkSizes(TileProgram &program) {
  auto pipeline = program.pipeline;
  ArrayRef<int64_t> acc = program.mma.getAcc().getType().getShape();
  for (dnn::TileLoadOp load : {program.loadM, program.loadN}) {
    dnn::CoordsAttr coords = TileProgram::getView(load.getView()).getCoords();
    if (coords.getSpace(2) != pipeline.getReduce())
      return load.emitOpError(
          "needs a view whose columns are the pipeline's reduction");
    if (load.getType().getShape()[1] !=
        static_cast<int64_t>(pipeline.getStep()))
      return load.emitOpError()
             << "needs tiles as wide as the step, " << pipeline.getStep();
  }
  ArrayRef<int64_t> extents = program.store.getView().getType().getShape();
  ArrayRef<int64_t> counts = program.tiles.getCounts();
  ArrayRef<int64_t> m = program.loadM.getView().getType().getShape();
  ArrayRef<int64_t> n = program.loadN.getView().getType().getShape();
  const int64_t splits = pipeline.getSplits().value_or(1);
  if (pipeline.getUsed() && !parseSizeExpr(*pipeline.getUsed()))
    return pipeline.emitOpError()
           << "uses '" << *pipeline.getUsed()
           << "' of its splits, which is no expression of sizes";
  if (counts[0] % splits != 0)
    return pipeline.emitOpError()
           << "needs groups for " << splits << " splits, but has " << counts[0];
  if (program.tiles.getTile() != acc || counts[0] != extents[0] ||
      counts[1] != (ShapedType::isDynamic(extents[1])
                        ? extents[1]
                        : llvm::divideCeilSigned(extents[1], acc[0])) ||
      counts[2] != llvm::divideCeilSigned(extents[2], acc[1]))
    return program.tiles.emitOpError(
        "needs counts and tiles that cover the stored view");
  if (m[0] != extents[0] || n[0] != extents[0] || m[1] != extents[1] ||
      n[1] != extents[2])
    return program.store.emitOpError(
        "needs a view of the rows of both operands");
  return success();
}

//===----------------------------------------------------------------------===//
// The whole program
//===----------------------------------------------------------------------===//

OpenNumber TileProgram::countTilesM() {
  const int64_t count = tiles.getCounts()[1];
  if (!ShapedType::isDynamic(count))
    return count;
  const OpenNumber rows =
      ViewAccess(getView(store.getView())).getSpace(1).getExtent();
  return OpenNumber(ceilDiv(rows.toExpr(), SizeExpr(tiles.getTile()[0])));
}

OpenNumber TileProgram::countSplits() {
  if (std::optional<StringRef> used = pipeline.getUsed())
    return OpenNumber(*parseSizeExpr(*used));
  return pipeline.getSplits().value_or(1);
}

bool TileProgram::hasUnknownSizes() {
  return SizeArguments(function).areUnknown() ||
         ShapedType::isDynamicShape(tiles.getCounts()) ||
         ShapedType::isDynamicShape(pipeline.getReduce());
}

int64_t TileProgram::getAccumulatorRegisters() {
  int64_t perWave = rowsM * rowsN / waves[0] / waves[1] /
                    (instruction.rows * instruction.columns);
  return perWave * instruction.accRegs * sumType.getIntOrFloatBitWidth() / 32;
}

/// What the ops say.
static void readParts(TileProgram &program) {
  dnn::PipelineOp pipeline = program.pipeline;
  dnn::TileMmaOp mma = program.mma;
  dnn::TileStoreOp store = program.store;
  ArrayRef<int64_t> acc = mma.getAcc().getType().getShape();
  program.viewM = TileProgram::getView(program.loadM.getView());
  program.viewN = TileProgram::getView(program.loadN.getView());
  program.viewD = TileProgram::getView(store.getView());
  for (Value extra : store.getExtras())
    program.extras.push_back(TileProgram::getView(extra));
  program.epilogue = &store.getEpilogue();
  program.isAtomic = store.getAtomic();
  program.rowsM = acc[0];
  program.rowsN = acc[1];
  program.step = static_cast<int64_t>(pipeline.getStep());
  program.buffers = static_cast<int64_t>(pipeline.getBuffers());
  program.isDirect = pipeline.getCopy() == dnn::CopyKind::DirectToLds;
  program.waves.assign(mma.getWaves().begin(), mma.getWaves().end());
  program.lanesAlongN = mma.getLanes() == dnn::TileDim::N;
  program.instructionName = mma.getInstruction();
  program.sumType = mma.getAcc().getType().getElementType();
  program.opM = program.loadM;
  program.opN = program.loadN;
  program.opLoop = pipeline;
  program.opMma = mma;
  program.opStore = store;
}

LogicalResult tessera::matchTileProgram(func::FuncOp function,
                                        const GpuTarget &target,
                                        TileProgram &program) {
  if (failed(findOps(function, program)) ||
      failed(SizeArguments(function).check()))
    return failure();
  readParts(program);
  const bool isElsewhere = program.isTma() || program.isAmpere();
  if (failed(checkUnknownSizes(program)))
    return failure();
  if (program.tiles.getRun() && !program.isAmpere())
    return program.tiles.emitOpError(
        "has runs of tiles, but only copies by cp_async know them");
  if ((!isElsewhere && failed(checkPipelineSupport(program, target))) ||
      failed(checkSignature(function)))
    return failure();
  for (auto [op, view] :
       {std::pair<Operation *, Value>{program.loadM, program.loadM.getView()},
        {program.loadN, program.loadN.getView()},
        {program.store, program.store.getView()}})
    if (failed(checkView(program, op, view)))
      return failure();
  for (Value extra : program.store.getExtras())
    if (failed(checkView(program, program.store, extra)))
      return failure();
  if (failed(checkUses(program)) || failed(checkEpilogue(program)) ||
      failed(checkSizes(program)))
    return failure();
  // What other instructions need is checked where they are lowered (Hopper,
  // Ampere).
  if (isElsewhere)
    return success();
  return checkTileSupport(program, target);
}
