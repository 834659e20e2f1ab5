//===- Workgroup.cpp - Types and ops of the wg dialect --------------------===//

#include "dialect/Workgroup/Workgroup.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/MathExtras.h"

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
// Types
//===----------------------------------------------------------------------===//

/// Reads `count` sizes with an element's type behind them, if it is asked for.
static ParseResult parseSizes(AsmParser &parser, SmallVector<int64_t> &sizes,
                              size_t count, Type *element) {
  llvm::SMLoc loc = parser.getCurrentLocation();
  if (parser.parseDimensionList(sizes, /*allowDynamic=*/false,
                                /*withTrailingX=*/element != nullptr) ||
      (element && parser.parseType(*element)))
    return failure();
  if (sizes.size() != count)
    return parser.emitError(loc) << "needs " << count << " sizes";
  return success();
}

Type BufferType::parse(AsmParser &parser) {
  SmallVector<int64_t> sizes;
  Type element;
  StringRef major;
  int64_t swizzle = 0;
  llvm::SMLoc loc = parser.getCurrentLocation();
  if (parser.parseLess() || parseSizes(parser, sizes, 3, &element) ||
      parser.parseComma() || parser.parseKeyword(&major) ||
      parser.parseInteger(swizzle))
    return {};
  bool isSplit = false, isMirrored = false;
  if (succeeded(parser.parseOptionalComma())) {
    isSplit = succeeded(parser.parseOptionalKeyword("split"));
    isMirrored = !isSplit;
    if (isMirrored && parser.parseKeyword("mirror"))
      return {};
  }
  if (parser.parseGreater())
    return {};
  return BufferType::getChecked([&] { return parser.emitError(loc); },
                                parser.getContext(), sizes[0], sizes[1],
                                sizes[2], element, major == "column_major",
                                swizzle, isSplit, isMirrored);
}

void BufferType::print(AsmPrinter &printer) const {
  printer << "<" << getSlots() << "x" << getRows() << "x" << getColumns() << "x"
          << getElementType() << ", "
          << (getColumnMajor() ? "column_major " : "row_major ") << getSwizzle()
          << (getIsSplit()      ? ", split>"
              : getIsMirrored() ? ", mirror>"
                                : ">");
}

LogicalResult BufferType::verify(function_ref<InFlightDiagnostic()> emitError,
                                 int64_t slots, int64_t rows, int64_t columns,
                                 Type element, bool columnMajor,
                                 int64_t swizzle, bool isSplit,
                                 bool isMirrored) {
  if (slots < 1 || rows < 1 || columns < 1 || !element.isIntOrFloat())
    return emitError() << "needs slots, rows and columns of numbers";
  if (swizzle != 128 && swizzle != 64 && swizzle != 32)
    return emitError() << "has a swizzle of " << swizzle
                       << " bytes, but there are 128, 64 and 32";
  const int64_t bytes = columns * element.getIntOrFloatBitWidth() / 8;
  if (isSplit && !element.isF32())
    return emitError() << "splits " << element << ", but f32 has terms";
  const int64_t rowBytes = rows * element.getIntOrFloatBitWidth() / 8;
  if (isMirrored && (isSplit || !columnMajor || rowBytes != swizzle))
    return emitError() << "has a mirror, but no columns of " << swizzle
                       << " bytes that lie together";
  if (!columnMajor && bytes != swizzle)
    return emitError() << "has rows of " << bytes << " bytes, but a swizzle of "
                       << swizzle;
  return success();
}

BufferType BufferType::withRows(int64_t rows) const {
  return get(getContext(), getSlots(), rows, getColumns(), getElementType(),
             getColumnMajor(), getSwizzle(), getIsSplit(),
             /*isMirrored=*/false);
}

int64_t BufferType::getSlotBytes() const {
  constexpr int64_t kAlignment = 1024; // Of a pattern of 128 bytes.
  return llvm::alignTo(getRows() * getColumns() *
                           getElementType().getIntOrFloatBitWidth() / 8,
                       kAlignment) *
         (getIsSplit() ? 2 : 1);
}

Type BoxType::parse(AsmParser &parser) {
  SmallVector<int64_t> sizes;
  Type element;
  if (parser.parseLess() || parseSizes(parser, sizes, 2, &element) ||
      parser.parseGreater())
    return {};
  return BoxType::get(parser.getContext(), sizes[0], sizes[1], element);
}

void BoxType::print(AsmPrinter &printer) const {
  printer << "<" << getRows() << "x" << getColumns() << "x" << getElementType()
          << ">";
}

Type FragmentType::parse(AsmParser &parser) {
  SmallVector<int64_t> sizes;
  Type element;
  if (parser.parseLess() || parseSizes(parser, sizes, 2, &element))
    return {};
  const bool isSplit = succeeded(parser.parseOptionalComma());
  if ((isSplit && parser.parseKeyword("split")) || parser.parseGreater())
    return {};
  return FragmentType::get(parser.getContext(), sizes[0], sizes[1], element,
                           isSplit);
}

void FragmentType::print(AsmPrinter &printer) const {
  printer << "<" << getRows() << "x" << getColumns() << "x" << getElementType()
          << (getIsSplit() ? ", split>" : ">");
}

Type AccType::parse(AsmParser &parser) {
  SmallVector<int64_t> sizes;
  if (parser.parseLess() || parseSizes(parser, sizes, 2, nullptr))
    return {};
  const bool isSwapped = succeeded(parser.parseOptionalComma());
  if ((isSwapped &&
       (parser.parseKeyword("lanes") || parser.parseKeyword("m"))) ||
      parser.parseGreater())
    return {};
  return AccType::get(parser.getContext(), sizes[0], sizes[1], isSwapped);
}

void AccType::print(AsmPrinter &printer) const {
  printer << "<" << getRows() << "x" << getColumns()
          << (getIsSwapped() ? ", lanes m>" : ">");
}

Type SumsType::parse(AsmParser &parser) {
  SmallVector<int64_t> sizes;
  llvm::SMLoc loc = parser.getCurrentLocation();
  if (parser.parseLess() || parseSizes(parser, sizes, 3, nullptr) ||
      parser.parseGreater())
    return {};
  return SumsType::getChecked([&] { return parser.emitError(loc); },
                              parser.getContext(), sizes[0], sizes[1],
                              sizes[2]);
}

void SumsType::print(AsmPrinter &printer) const {
  printer << "<" << getSlots() << "x" << getRows() << "x" << getColumns()
          << ">";
}

/// What tcgen05.mma of one workgroup takes: 128 rows of all lanes.
LogicalResult SumsType::verify(function_ref<InFlightDiagnostic()> emitError,
                               int64_t slots, int64_t rows, int64_t columns) {
  constexpr int64_t kLanes = 128, kWords = 512, kUnit = 16, kMost = 256;
  if (slots < 1 || rows != kLanes || columns < kUnit || columns % kUnit != 0 ||
      columns > kMost || slots * columns > kWords)
    return emitError() << "needs slots of " << kLanes << " rows and up to "
                       << kMost << " columns, in multiples of " << kUnit
                       << ", and at most " << kWords << " columns in all";
  return success();
}

int64_t AccType::countBlocks() const {
  constexpr int64_t kRows = 64; // Of one wgmma.
  return (getIsSwapped() ? getColumns() : getRows()) / kRows;
}

int64_t AccType::getProductColumns() const {
  return getIsSwapped() ? getRows() : getColumns();
}

#define GET_TYPEDEF_CLASSES
#include "dialect/Workgroup/WorkgroupTypes.cpp.inc"

void WgDialect::registerTypes() {
  addTypes<
#define GET_TYPEDEF_LIST
#include "dialect/Workgroup/WorkgroupTypes.cpp.inc"
      >();
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

LogicalResult ProgramOp::verify() {
  if (getWorkgroups() < 1 || getResident() < 1 || getCluster().value_or(2) < 2)
    return emitOpError("needs workgroups, and two or more in a cluster");
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
  return checkArguments(*this, getBody().front(), 1);
}

//===----------------------------------------------------------------------===//
// Copies and products
//===----------------------------------------------------------------------===//

LogicalResult BoxOp::verify() {
  BoxType box = getResult().getType();
  if (box.getElementType() != getView().getType().getElementType())
    return emitOpError("has a box of other elements than its view");
  return success();
}

Value tessera::wg::getWhole(Value operand) {
  if (auto load = operand.getDefiningOp<LoadOp>())
    operand = load.getBuffer();
  if (auto slide = operand.getDefiningOp<SlideOp>())
    return slide.getBuffer();
  while (auto rows = operand.getDefiningOp<SliceOp>())
    operand = rows.getBuffer();
  return operand;
}

StagesOp tessera::wg::findStages(Value operand) {
  auto users = getWhole(operand).getUsers();
  auto user = llvm::find_if(users, llvm::IsaPred<StagesOp>);
  return user == users.end() ? StagesOp() : cast<StagesOp>(*user);
}

LogicalResult CopyOp::verify() {
  BoxType box = getBox().getType();
  BufferType buffer = getBuffer().getType();
  auto stages = getStages().getDefiningOp<StagesOp>();
  if (!getBox().getDefiningOp<BoxOp>() || !stages ||
      !llvm::is_contained(stages.getBuffers(), getBuffer()))
    return emitOpError(
        "needs a box that wg.box made, and a buffer of the stages");
  const bool slides = getBox().getDefiningOp<BoxOp>().getSlides();
  if (box.getElementType() != buffer.getElementType() ||
      box.getColumns() != buffer.getColumns() ||
      (slides ? box.getRows() % buffer.getRows() != 0
              : box.getRows() > buffer.getRows()) ||
      slides != buffer.getIsMirrored())
    return emitOpError() << "copies " << box << " to slots of " << buffer;
  return success();
}

LogicalResult SliceOp::verify() {
  BufferType from = getBuffer().getType(), to = getResult().getType();
  if (to.getRows() > from.getRows() || to != from.withRows(to.getRows()))
    return emitOpError() << "takes " << to << " from " << from;
  return success();
}

LogicalResult SlideOp::verify() {
  BufferType from = getBuffer().getType(), to = getResult().getType();
  if (!getBuffer().getDefiningOp<AllocOp>() || !findStages(getBuffer()) ||
      !from.getIsMirrored() || to.getRows() % from.getRows() != 0 ||
      to != from.withRows(to.getRows()))
    return emitOpError() << "takes " << to << " from " << from
                         << ", which needs stages and a mirror";
  if (static_cast<int64_t>(getPitch()) < 1 ||
      static_cast<int64_t>(getAhead()) < 0 ||
      static_cast<int64_t>(getAhead()) + 2 > from.getSlots())
    return emitOpError() << "reads " << getAhead() + 1
                         << " stages at once, and so needs one more than that, "
                         << "but has " << from.getSlots();
  return success();
}

LogicalResult PrepareOp::verify() {
  constexpr int64_t kColumns = 32, kSwizzle = 128;
  BufferType type = getBuffer().getType();
  if (!findStages(getBuffer()) || !getBuffer().getDefiningOp<AllocOp>())
    return emitOpError("needs a whole buffer of stages");
  if (!type.getElementType().isF32() || type.getColumns() != kColumns ||
      type.getSwizzle() != kSwizzle)
    return emitOpError() << "changes " << kColumns
                         << " columns of f32, in pieces of " << kSwizzle
                         << " bytes, but has " << type;
  if (!type.getIsSplit() && !type.getColumnMajor())
    return emitOpError() << "has " << type << ", which wgmma reads as it is";
  return success();
}

LogicalResult LoadOp::verify() {
  constexpr int64_t kColumns = 32, kSwizzle = 128;
  BufferType from = getBuffer().getType();
  FragmentType to = getResult().getType();
  if (!findStages(getBuffer()))
    return emitOpError("needs rows of a buffer of stages");
  if (!from.getElementType().isF32() || from.getColumns() != kColumns ||
      from.getSwizzle() != kSwizzle || from.getIsSplit() ||
      (!to.getIsSplit() && !from.getColumnMajor()) ||
      to.getElementType() != from.getElementType() ||
      to.getColumns() != from.getColumns() || to.getRows() > from.getRows())
    return emitOpError() << "loads " << to << " from " << from << ", but "
                         << "fragments are " << kColumns
                         << " columns of f32 in pieces of " << kSwizzle
                         << " bytes, column_major unless they are split";
  return success();
}

ParseResult MmaOp::parse(OpAsmParser &parser, OperationState &result) {
  OpAsmParser::UnresolvedOperand a, b, acc;
  Type typeA;
  BufferType typeB;
  AccType type;
  auto parseBuffer = [&](Type &buffer) {
    buffer = BufferType::parse(parser);
    return success(buffer != nullptr);
  };
  if (parser.parseOperand(a) || parser.parseComma() || parser.parseOperand(b))
    return failure();
  const bool hasAcc = succeeded(parser.parseOptionalKeyword("add"));
  if ((hasAcc && parser.parseOperand(acc)) ||
      parser.parseOptionalAttrDict(result.attributes) || parser.parseColon() ||
      parser.parseCustomTypeWithFallback(typeA, parseBuffer) ||
      parser.parseComma() || parser.parseCustomTypeWithFallback(typeB) ||
      parser.parseArrow() || parser.parseCustomTypeWithFallback(type) ||
      parser.resolveOperand(a, typeA, result.operands) ||
      parser.resolveOperand(b, typeB, result.operands) ||
      (hasAcc && parser.resolveOperand(acc, type, result.operands)))
    return failure();
  result.addTypes(type);
  return success();
}

void MmaOp::print(OpAsmPrinter &printer) {
  printer << " " << getA() << ", " << getB();
  if (getAcc())
    printer << " add " << getAcc();
  printer.printOptionalAttrDict((*this)->getAttrs());
  printer << " : ";
  if (auto buffer = dyn_cast<BufferType>(getA().getType()))
    printer.printStrippedAttrOrType(buffer);
  else
    printer << getA().getType();
  printer << ", ";
  printer.printStrippedAttrOrType(getB().getType());
  printer << " -> ";
  printer.printStrippedAttrOrType(getResult().getType());
}

/// Of A in registers, which are f32: that B is changed as A is on its way.
static LogicalResult verifyFragment(MmaOp mma) {
  auto a = dyn_cast<FragmentType>(mma.getA().getType());
  BufferType b = mma.getB().getType();
  if (!a)
    return b.getIsSplit() ? mma.emitOpError("has one operand that is split")
                          : success();
  if (a.getIsSplit() != b.getIsSplit())
    return mma.emitOpError("has one operand that is split");
  if (!findStages(mma.getB()).getReady())
    return mma.emitOpError("has A in registers, and needs B of stages that "
                           "warps make ready");
  if (mma.getResult().getType().getIsSwapped() || mma.getShares())
    return mma.emitOpError("has A in registers, which are rows of the result, "
                           "and all of a step");
  return success();
}

/// Of rows that slide: all blocks of B are one instruction's, which reads on
/// into the mirror.
static LogicalResult verifySlide(MmaOp mma) {
  auto a = mma.getA().getDefiningOp<SlideOp>();
  auto b = mma.getB().getDefiningOp<SlideOp>();
  if (!a && !b)
    return success();
  if ((a && b) || mma.getResult().getType().getIsSwapped())
    return mma.emitOpError(
        "has rows that slide, and needs them of one operand, lanes along n");
  constexpr int64_t kRows = 64;
  if (a)
    return a.getBuffer().getType().getRows() == kRows
               ? success()
               : mma.emitOpError("needs blocks of 64 rows of an A that slides");
  const int64_t columns = b.getBuffer().getType().getColumns();
  const int64_t reach =
      static_cast<int64_t>(b.getPitch()) * (b.countBlocks() - 1) +
      SlideOp::kShare - 1;
  if (reach > columns)
    return mma.emitOpError() << "reads " << reach << " columns behind the last "
                             << "slot, of which the mirror has " << columns;
  return success();
}

/// What wgmma takes: 64 rows by 8 to 256 columns, and f32 in rows only.
LogicalResult MmaOp::verify() {
  constexpr int64_t kRows = 64, kUnit = 8, kMostColumns = 256;
  BufferType b = getB().getType();
  if (!findStages(getA()) || !findStages(getB()))
    return emitOpError("needs operands in buffers of stages");
  if (failed(verifyFragment(*this)) || failed(verifySlide(*this)))
    return failure();
  auto fragment = getA().getDefiningOp<LoadOp>();
  auto a =
      cast<BufferType>((fragment ? fragment.getBuffer() : getA()).getType());
  AccType acc = getResult().getType();
  Type element = a.getElementType();
  const bool isF8 = isa<Float8E4M3FNType, Float8E5M2Type>(element);
  if (element != b.getElementType() || a.getColumns() != b.getColumns() ||
      !(element.isF16() || element.isBF16() || element.isF32() || isF8))
    return emitOpError("needs operands of as many columns of f16, bf16, f32, "
                       "f8E4M3FN or f8E5M2");
  if ((element.isF32() || isF8) && !fragment &&
      (a.getColumnMajor() || b.getColumnMajor()))
    return emitOpError() << "multiplies " << element
                         << ", of which wgmma reads rows only";
  const int64_t blocks = acc.countBlocks(), columns = acc.getProductColumns();
  if (blocks * kRows !=
          (acc.getIsSwapped() ? acc.getColumns() : acc.getRows()) ||
      blocks == 0 || columns % kUnit != 0 || columns < kUnit ||
      columns > kMostColumns)
    return emitOpError() << "has sums of " << acc << ", but wgmma has " << kRows
                         << " rows and up to " << kMostColumns
                         << " columns, in multiples of " << kUnit;
  const int64_t rows = fragment ? fragment.getType().getRows() : a.getRows();
  if (acc.getRows() > rows || acc.getColumns() > b.getRows())
    return emitOpError() << "has sums of " << acc << " of operands with "
                         << rows << " and " << b.getRows() << " rows";
  constexpr int64_t kShareBytes = 32; // Of a reduction, an instruction's.
  const int64_t all =
      a.getColumns() * element.getIntOrFloatBitWidth() / 8 / kShareBytes;
  if (auto shares = getShares();
      shares && (shares->size() != 2 || (*shares)[0] < 0 || (*shares)[1] < 1 ||
                 (*shares)[0] + (*shares)[1] > all))
    return emitOpError() << "needs shares [first, count] of " << all;
  if (getAcc() && getAcc().getType() != acc)
    return emitOpError("adds to sums of another type");
  return success();
}

/// Columns of the sums are rows of b.
LogicalResult MmaSumsOp::verify() {
  BufferType a = getA().getType(), b = getB().getType();
  SumsType sums = getSums().getType();
  Type element = a.getElementType();
  if (!findStages(getA()) || !findStages(getB()) || !findStages(getSums()))
    return emitOpError("needs operands and sums of stages");
  if (element != b.getElementType() || a.getColumns() != b.getColumns() ||
      !(element.isF16() || element.isBF16()))
    return emitOpError("needs operands of as many columns of f16 or bf16");
  if (sums.getRows() > a.getRows() || sums.getColumns() > b.getRows())
    return emitOpError() << "has sums of " << sums << " of operands with "
                         << a.getRows() << " and " << b.getRows() << " rows";
  return success();
}

LogicalResult LoadSumsOp::verify() {
  SumsType sums = getSums().getType();
  AccType acc = getResult().getType();
  if (!findStages(getSums()) || acc.getIsSwapped() ||
      acc.getRows() != sums.getRows() || acc.getColumns() != sums.getColumns())
    return emitOpError() << "loads " << acc << " from stages of " << sums;
  return success();
}

//===----------------------------------------------------------------------===//
// Results
//===----------------------------------------------------------------------===//

LogicalResult ResultOp::verify() {
  constexpr int64_t kRows = 16, kRowBytes = 128;
  BufferType staging = getStaging().getType();
  if (!getStaging().getDefiningOp<AllocOp>() || staging.getRows() != kRows ||
      staging.getSwizzle() != kRowBytes ||
      staging.getElementType() != getView().getType().getElementType())
    return emitOpError() << "needs slots of " << kRows << " rows of "
                         << kRowBytes << " bytes of the result's type";
  const auto staged = static_cast<int64_t>(getStaged());
  if (staged > kRowBytes || staged < kRowBytes / 8 || kRowBytes % staged != 0)
    return emitOpError() << "stages " << staged << " bytes of rows of "
                         << kRowBytes;
  return success();
}

/// The epilogue takes the sum and an element of each further tensor.
LogicalResult StoreOp::verify() {
  auto result = getResult().getDefiningOp<ResultOp>();
  if (!result)
    return emitOpError("needs what wg.result made");
  if (getEpilogue().empty())
    return result.getExtras().empty()
               ? success()
               : emitOpError("needs an epilogue for its tensors");
  Block &body = getEpilogue().front();
  if (!getEpilogue().hasOneBlock() ||
      body.getNumArguments() != 1 + result.getExtras().size() ||
      llvm::any_of(body.getArgumentTypes(),
                   [](Type type) { return !type.isF32(); }) ||
      !isa<YieldOp>(body.back()) ||
      !body.back().getOperand(0).getType().isF32())
    return emitOpError() << "needs an epilogue of "
                         << 1 + result.getExtras().size() << " f32s to an f32";
  return success();
}

#define GET_OP_CLASSES
#include "dialect/Workgroup/WorkgroupOps.cpp.inc"
