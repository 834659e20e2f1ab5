//===- Workgroup.cpp - The wg dialect, its frame and results --------------===//

#include "dialect/Workgroup/Workgroup.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"

#include <limits>

using namespace mlir;
using namespace tessera::wg;

#include "dialect/Workgroup/WorkgroupDialect.cpp.inc"

void WgDialect::initialize() {
  registerTypes();
  addOperations<
#define GET_OP_LIST
#include "dialect/Workgroup/WorkgroupOps.cpp.inc"
      >();
}

ProgramOp tessera::wg::findProgram(Operation *function) {
  if (function->getNumRegions() == 0 || function->getRegion(0).empty())
    return {};
  auto programs = function->getRegion(0).front().getOps<ProgramOp>();
  return programs.empty() ? ProgramOp() : *programs.begin();
}

//===----------------------------------------------------------------------===//
// Frame
//===----------------------------------------------------------------------===//

static LogicalResult checkArguments(Operation *op, Block &block,
                                    unsigned count) {
  if (block.getNumArguments() != count ||
      llvm::any_of(block.getArgumentTypes(),
                   [](Type type) { return !type.isInteger(32); }))
    return op->emitOpError() << "needs a body that takes " << count
                             << (count == 1 ? " i32" : " i32s");
  return success();
}

/// A number, or `?`, which is 0: as many as there are tiles.
static ParseResult parseWorkgroups(OpAsmParser &parser,
                                   IntegerAttr &workgroups) {
  Builder &b = parser.getBuilder();
  if (failed(parser.parseOptionalQuestion()))
    return parser.parseAttribute(workgroups, b.getI64Type());
  workgroups = b.getI64IntegerAttr(0);
  return success();
}

static void printWorkgroups(OpAsmPrinter &printer, Operation * /*op*/,
                            IntegerAttr workgroups) {
  if (workgroups.getInt() == 0)
    printer << "?";
  else
    printer << workgroups.getInt();
}

/// The type of a buffer that there may be, behind a comma.
static ParseResult parseFurtherBuffer(OpAsmParser &parser, Type &type) {
  BufferType buffer;
  if (failed(parser.parseOptionalComma()))
    return success();
  if (failed(parser.parseCustomTypeWithFallback(buffer)))
    return failure();
  type = buffer;
  return success();
}

static void printFurtherBuffer(OpAsmPrinter &printer, Operation * /*op*/,
                               Type type) {
  if (!type)
    return;
  printer << ", ";
  printer.printStrippedAttrOrType(cast<BufferType>(type));
}

/// Types of buffers.
static ParseResult parseBuffers(OpAsmParser &parser,
                                SmallVectorImpl<Type> &types) {
  return parser.parseCommaSeparatedList([&] {
    BufferType buffer;
    if (failed(parser.parseCustomTypeWithFallback(buffer)))
      return failure();
    types.push_back(buffer);
    return success();
  });
}

static void printBuffers(OpAsmPrinter &printer, Operation * /*op*/,
                         TypeRange types) {
  llvm::interleaveComma(types, printer, [&](Type type) {
    printer.printStrippedAttrOrType(cast<BufferType>(type));
  });
}

/// `m` or `n`.
static ParseResult parseDim(OpAsmParser &parser,
                            tessera::dnn::TileDimAttr &dim) {
  StringRef word;
  llvm::SMLoc loc = parser.getCurrentLocation();
  if (failed(parser.parseKeyword(&word)))
    return failure();
  auto found = tessera::dnn::symbolizeTileDim(word);
  if (!found)
    return parser.emitError(loc) << "needs m or n";
  dim = tessera::dnn::TileDimAttr::get(parser.getContext(), *found);
  return success();
}

static void printDim(OpAsmPrinter &printer, Operation * /*op*/,
                     tessera::dnn::TileDimAttr dim) {
  printer << tessera::dnn::stringifyTileDim(dim.getValue());
}

LogicalResult WalkOp::verify() {
  constexpr int64_t kMost = std::numeric_limits<int32_t>::max();
  if (static_cast<int64_t>(getTiles()) < 1 ||
      static_cast<int64_t>(getTiles()) > kMost)
    return emitOpError("needs a number of tiles that an i32 counts");
  return success();
}

LogicalResult ProgramOp::verify() {
  const bool areAsTiles = getWorkgroups() == 0 && getTiles() && getWaves();
  if ((getWorkgroups() < 1 && !areAsTiles) || getResident().value_or(1) < 1 ||
      getCluster().value_or(2) < 2)
    return emitOpError("needs workgroups, and two or more in a cluster");
  if (auto waves = getWaves();
      waves && (waves->size() != 2 || (*waves)[0] < 1 || (*waves)[1] < 1))
    return emitOpError("needs waves along both sides of the tile");
  if (getTiles() && getCluster())
    return emitOpError("launches as many workgroups as there are tiles, which "
                       "are in no cluster");
  if (getWorkgroups() % getCluster().value_or(1) != 0)
    return emitOpError() << "has " << getWorkgroups() << " workgroups in "
                         << "clusters of " << *getCluster();
  return checkArguments(*this, getBody().front(), 2);
}

static int64_t getSlots(Value buffer) {
  if (auto sums = dyn_cast<SumsType>(buffer.getType()))
    return sums.getSlots();
  return cast<BufferType>(buffer.getType()).getSlots();
}

int64_t StagesOp::countStages() { return getSlots(getBuffers().front()); }

bool StagesOp::haveSums() {
  return isa<SumsType>(getBuffers().front().getType());
}

static bool isMirrored(Value buffer) {
  auto type = dyn_cast<BufferType>(buffer.getType());
  return type && type.getIsMirrored();
}

bool StagesOp::slides() { return isMirrored(getBuffers().front()); }

LogicalResult StagesOp::verify() {
  if (getBuffers().empty())
    return emitOpError("needs a buffer");
  if (!llvm::all_equal(llvm::map_range(getBuffers(), getSlots)))
    return emitOpError("needs buffers of as many slots");
  if (getBuffers().size() > 1 &&
      llvm::any_of(getBuffers().getTypes(), llvm::IsaPred<SumsType>))
    return emitOpError("has sums, and so needs no other buffer");
  if (llvm::any_of(getBuffers(), [&](Value buffer) {
        Operation *alloc = buffer.getDefiningOp();
        return !llvm::isa_and_present<AllocOp, AllocSumsOp>(alloc) ||
               findStages(buffer) != *this;
      }))
    return emitOpError("needs buffers of its own that wg.alloc made");
  if (getBuffers().size() > 1 && llvm::any_of(getBuffers(), isMirrored))
    return emitOpError("needs stages of its own for a buffer with a mirror");
  if (getFull() < 1 || getReady().value_or(1) < 1 || getEmpty().value_or(1) < 1)
    return emitOpError(
        "needs arrivals of one or more for full, ready and empty");
  return success();
}

/// `thread`, or a number of `warps` or `warpgroups`.
static ParseResult parseRoleThreads(OpAsmParser &parser, IntegerAttr &groups,
                                    UnitAttr &thread, IntegerAttr &warps) {
  Builder &b = parser.getBuilder();
  groups = b.getI64IntegerAttr(1);
  if (succeeded(parser.parseOptionalKeyword("thread"))) {
    thread = b.getUnitAttr();
    return success();
  }
  if (succeeded(parser.parseOptionalKeyword("warps")))
    return parser.parseAttribute(warps, b.getI64Type());
  return failure(parser.parseKeyword("warpgroups") ||
                 parser.parseAttribute(groups, b.getI64Type()));
}

static void printRoleThreads(OpAsmPrinter &printer, RoleOp role,
                             IntegerAttr groups, UnitAttr thread,
                             IntegerAttr warps) {
  if (thread)
    printer << "thread";
  else if (warps)
    printer << "warps " << warps.getInt();
  else
    printer << "warpgroups " << groups.getInt();
}

/// What setmaxnreg takes.
LogicalResult RoleOp::verify() {
  constexpr int64_t kUnit = 8, kLeast = 24, kMost = 256;
  const auto registers = static_cast<int64_t>(getRegisters());
  if (registers % kUnit != 0 || registers < kLeast || registers > kMost)
    return emitOpError() << "has " << registers
                         << " registers, but needs a multiple of " << kUnit
                         << " from " << kLeast << " to " << kMost;
  if (getWarpgroups() < 1 || getWarps().value_or(1) < 1)
    return emitOpError("needs a warpgroup, or a warp");
  if (getFirst() && !getThread())
    return emitOpError("begins before others, and needs to be of a thread");
  return checkArguments(*this, getBody().front(), 1);
}

//===----------------------------------------------------------------------===//
// Results
//===----------------------------------------------------------------------===//

LogicalResult ResultOp::verify() {
  constexpr int64_t kRows = 16, kRowBytes = 128;
  if (!getStaging())
    return getStaged() || getByRows()
               ? emitOpError("needs a buffer to stage anything")
               : success();
  if (getAtomic())
    return emitOpError("adds to memory, and so stages nothing");
  BufferType staging = getStaging().getType();
  if (!getStaged() && staging.getLayout() == Layout::Mixed)
    return success();
  if (!getStaging().getDefiningOp<AllocOp>() || staging.getRows() != kRows ||
      staging.getSwizzle() != kRowBytes ||
      staging.getElementType() != getView().getType().getElementType())
    return emitOpError() << "needs slots of " << kRows << " rows of "
                         << kRowBytes << " bytes of the result's type";
  const auto staged = static_cast<int64_t>(getStaged().value_or(0));
  if (staged > kRowBytes || staged < kRowBytes / 8 || kRowBytes % staged != 0)
    return emitOpError() << "stages " << staged << " bytes of rows of "
                         << kRowBytes;
  return success();
}

/// The epilogue takes the sum and an element of each further tensor: f64 where
/// the result is, else f32.
LogicalResult StoreOp::verify() {
  auto result = getResult().getDefiningOp<ResultOp>();
  if (!result)
    return emitOpError("needs what wg.result made");
  if (getEpilogue().empty())
    return result.getExtras().empty()
               ? success()
               : emitOpError("needs an epilogue for its tensors");
  Block &body = getEpilogue().front();
  const Type element = result.getView().getType().getElementType();
  const Type compute =
      element.isF64() ? element : Float32Type::get(getContext());
  if (!getEpilogue().hasOneBlock() ||
      body.getNumArguments() != 1 + result.getExtras().size() ||
      llvm::any_of(body.getArgumentTypes(),
                   [&](Type type) { return type != compute; }) ||
      !isa<YieldOp>(body.back()) ||
      body.back().getOperand(0).getType() != compute)
    return emitOpError() << "needs an epilogue of "
                         << 1 + result.getExtras().size() << " " << compute
                         << " to one " << compute;
  return success();
}

#define GET_OP_CLASSES
#include "dialect/Workgroup/WorkgroupOps.cpp.inc"
