//===- WorkgroupProducts.cpp - Copies by TMA and products of wgmma --------===//

#include "dialect/Workgroup/Workgroup.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/OpImplementation.h"

using namespace mlir;
using namespace tessera::wg;

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
  if (getAt())
    return verifyOfWaves();
  if (getBehind() || getBox() || getPixel() || getImage())
    return emitOpError("has a slot, or a tap, and so needs to say which");
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
  Type typeA, typeB;
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
      parser.parseComma() ||
      parser.parseCustomTypeWithFallback(typeB, parseBuffer) ||
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
  auto printOperand = [&](Type type) {
    if (auto buffer = dyn_cast<BufferType>(type))
      printer.printStrippedAttrOrType(buffer);
    else
      printer << type;
  };
  printOperand(getA().getType());
  printer << ", ";
  printOperand(getB().getType());
  printer << " -> ";
  printer.printStrippedAttrOrType(getResult().getType());
}

/// Of A in registers, which are f32: that B is changed as A is on its way.
static LogicalResult verifyFragment(MmaOp mma) {
  auto a = dyn_cast<FragmentType>(mma.getA().getType());
  auto b = cast<BufferType>(mma.getB().getType());
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
  if (getInstruction())
    return verifyOfWaves();
  auto b = dyn_cast<BufferType>(getB().getType());
  if (!b)
    return emitOpError("has B in registers, and names no matrix instruction");
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
