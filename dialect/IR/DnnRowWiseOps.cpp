//===- DnnRowWiseOps.cpp - Syntax and verifier of row-wise operations -----===//
//
// The verifier rejects malformed problems: passes and kernels rely on the
// constraints below without checking them again. Each check has its label from
// docs/spec/row-wise.md.
//
//===----------------------------------------------------------------------===//

#include "dialect/IR/Dnn.h"
#include "dialect/IR/Steps.h"
#include "dialect/IR/TensorMemory.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/Support/MathExtras.h"

#include <limits>

using namespace mlir;
using namespace tessera::dnn;

//===----------------------------------------------------------------------===//
// Helpers
//===----------------------------------------------------------------------===//

int64_t RowWiseOp::getRowLength() {
  int64_t length = 1;
  for (int64_t dim : getReduced())
    length *= getLengths()[dim];
  return length;
}

bool RowWiseOp::isOnePerRow(MemRefType type) {
  return llvm::all_of(getReduced(),
                      [&](int64_t dim) { return type.getDimSize(dim) == 1; });
}

Type RowWiseOp::getComputeType() {
  auto isDouble = [](Type type) {
    return cast<MemRefType>(type).getElementType().isF64();
  };
  Builder b(getContext());
  for (OperandRange tensors : {getInputs(), getRowOutputs(), getOutputs()})
    if (llvm::any_of(tensors.getTypes(), isDouble))
      return b.getF64Type();
  return b.getF32Type();
}

Type RowWiseOp::getWidened(MemRefType type) {
  Type element = type.getElementType();
  if (isa<FloatType>(element))
    return getComputeType();
  Builder b(getContext());
  return element.isInteger(64) ? element : b.getI32Type();
}

SmallVector<ReduceKind> RowWiseOp::getKindsOf(size_t index) {
  return llvm::map_to_vector(
      cast<ArrayAttr>(getKinds()[index]),
      [](Attribute kind) { return cast<ReduceKindAttr>(kind).getValue(); });
}

static bool hasIndex(ReduceKind kind) {
  return kind == ReduceKind::ArgMax || kind == ReduceKind::ArgMin;
}

SmallVector<Type> RowWiseOp::getResultTypesOf(size_t index) {
  SmallVector<Type> types;
  Operation *yield = getReduces()[index].front().getTerminator();
  for (auto [kind, type] :
       llvm::zip_equal(getKindsOf(index), yield->getOperandTypes())) {
    types.push_back(type);
    if (kind == ReduceKind::Moments)
      types.push_back(type);
    if (hasIndex(kind))
      types.push_back(Builder(getContext()).getI32Type());
  }
  return types;
}

SmallVector<Type> RowWiseOp::getRowValueTypes() {
  if (!hasRow())
    return {};
  auto yielded = getRow().front().getTerminator()->getOperandTypes();
  return llvm::to_vector(llvm::drop_begin(yielded, getRowOutputs().size()));
}

void RowWiseOp::getEffects(
    SmallVectorImpl<SideEffects::EffectInstance<MemoryEffects::Effect>>
        &effects) {
  for (OpOperand &operand : getInputsMutable())
    effects.emplace_back(MemoryEffects::Read::get(), &operand);
  for (OpOperand &operand : getRowOutputsMutable())
    effects.emplace_back(MemoryEffects::Write::get(), &operand);
  for (OpOperand &operand : getOutputsMutable())
    effects.emplace_back(MemoryEffects::Write::get(), &operand);
}

//===----------------------------------------------------------------------===//
// Syntax
//===----------------------------------------------------------------------===//

/// Parses `ins(%x, %y : memref<...>, memref<...>)`, which is optional.
static ParseResult parseGroup(OpAsmParser &parser, OperationState &state,
                              StringRef word, int32_t &count) {
  SmallVector<OpAsmParser::UnresolvedOperand> operands;
  SmallVector<Type> types;
  count = 0;
  if (failed(parser.parseOptionalKeyword(word)))
    return success();
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseLParen() || parser.parseOperandList(operands) ||
      parser.parseColonTypeList(types) || parser.parseRParen() ||
      parser.resolveOperands(operands, types, loc, state.operands))
    return failure();
  count = operands.size();
  return success();
}

/// Parses the reductions: `reduce sum, max {...}`, any number of times.
static ParseResult
parseReduces(OpAsmParser &parser, SmallVectorImpl<Attribute> &kinds,
             SmallVectorImpl<std::unique_ptr<Region>> &regions) {
  Builder &b = parser.getBuilder();
  while (succeeded(parser.parseOptionalKeyword("reduce"))) {
    SmallVector<Attribute> own;
    auto parseKind = [&]() -> ParseResult {
      FailureOr<ReduceKind> kind = FieldParser<ReduceKind>::parse(parser);
      if (failed(kind))
        return failure();
      own.push_back(ReduceKindAttr::get(b.getContext(), *kind));
      return success();
    };
    regions.push_back(std::make_unique<Region>());
    if (parser.parseCommaSeparatedList(parseKind) ||
        parser.parseRegion(*regions.back()))
      return failure();
    kinds.push_back(b.getArrayAttr(own));
  }
  return success();
}

/// Parses "64", or "?" if the length is unknown.
static ParseResult parseLength(OpAsmParser &parser, int64_t &length) {
  length = ShapedType::kDynamic;
  if (succeeded(parser.parseOptionalQuestion()))
    return success();
  return parser.parseInteger(length);
}

ParseResult RowWiseOp::parse(OpAsmParser &parser, OperationState &state) {
  Builder &b = parser.getBuilder();
  SmallVector<int64_t> lengths;
  if (parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, [&] {
        return parseLength(parser, lengths.emplace_back());
      }))
    return failure();
  Attribute reduced = b.getDenseI64ArrayAttr({});
  if (succeeded(parser.parseOptionalKeyword("reduced")) &&
      !(reduced = DenseI64ArrayAttr::parse(parser, Type())))
    return failure();
  std::array<int32_t, 4> counts;
  if (parseGroup(parser, state, "ins", counts[0]) ||
      parseGroup(parser, state, "rowouts", counts[1]) ||
      parseGroup(parser, state, "outs", counts[2]) ||
      parseGroup(parser, state, "scalars", counts[3]))
    return failure();

  Region *row = state.addRegion();
  Region *map = state.addRegion();
  SmallVector<Attribute> kinds;
  SmallVector<std::unique_ptr<Region>> reduces;
  if (parseReduces(parser, kinds, reduces) ||
      (succeeded(parser.parseOptionalKeyword("row")) &&
       parser.parseRegion(*row)) ||
      (succeeded(parser.parseOptionalKeyword("map")) &&
       parser.parseRegion(*map)) ||
      parser.parseOptionalAttrDict(state.attributes))
    return failure();
  state.addRegions(reduces);

  auto &properties = state.getOrAddProperties<RowWiseOp::Properties>();
  properties.lengths = b.getDenseI64ArrayAttr(lengths);
  properties.reduced = cast<DenseI64ArrayAttr>(reduced);
  properties.kinds = b.getArrayAttr(kinds);
  properties.operandSegmentSizes = counts;
  return success();
}

static void printGroup(OpAsmPrinter &printer, StringRef word,
                       OperandRange operands) {
  if (!operands.empty())
    printer << " " << word << "(" << operands << " : " << operands.getTypes()
            << ")";
}

void RowWiseOp::print(OpAsmPrinter &printer) {
  auto printNumbers = [&](ArrayRef<int64_t> numbers) {
    printer << "[";
    llvm::interleaveComma(numbers, printer, [&](int64_t number) {
      if (ShapedType::isDynamic(number))
        printer << "?";
      else
        printer << number;
    });
    printer << "]";
  };
  auto printRegion = [&](StringRef word, Region &region) {
    printer.printNewline();
    printer << "  " << word << " ";
    printer.printRegion(region);
  };
  printer << " ";
  printNumbers(getLengths());
  if (!getReduced().empty()) {
    printer << " reduced ";
    printNumbers(getReduced());
  }
  printGroup(printer, "ins", getInputs());
  printGroup(printer, "rowouts", getRowOutputs());
  printGroup(printer, "outs", getOutputs());
  printGroup(printer, "scalars", getScalars());
  for (auto [i, region] : llvm::enumerate(getReduces())) {
    std::string words = "reduce ";
    llvm::raw_string_ostream stream(words);
    llvm::interleaveComma(getKindsOf(i), stream, [&](ReduceKind kind) {
      stream << stringifyEnum(kind);
    });
    printRegion(words, region);
  }
  if (hasRow())
    printRegion("row", getRow());
  if (hasMap())
    printRegion("map", getMap());
  printer.printOptionalAttrDict(
      (*this)->getAttrs(),
      {"lengths", "reduced", "kinds", "operandSegmentSizes"});
}

//===----------------------------------------------------------------------===//
// Verifier: the space and its tensors
//===----------------------------------------------------------------------===//

/// Checks rowwise_c1, rowwise_c2 and rowwise_c18, which restrict the space.
static LogicalResult verifySpace(RowWiseOp op) {
  constexpr size_t kMaxRank = 5;
  ArrayRef<int64_t> lengths = op.getLengths();
  if (lengths.empty() || lengths.size() > kMaxRank ||
      llvm::any_of(llvm::seq(lengths.size()), [&](size_t dim) {
        const bool mayBeOpen = dim == 0 && !op.isReduced(0);
        return lengths[dim] < 1 &&
               !(mayBeOpen && ShapedType::isDynamic(lengths[dim]));
      })) /*rowwise_c1*/
    return op.emitOpError()
           << "needs 1 to " << kMaxRank
           << " dimensions of at least 1, of which the first may be unknown "
              "if it is not reduced, but has ["
           << lengths << "]";
  int64_t last = -1;
  for (int64_t dim : op.getReduced()) {
    if (dim <= last ||
        dim >= static_cast<int64_t>(lengths.size())) /*rowwise_c2*/
      return op.emitOpError()
             << "needs reduced dimensions in ascending order "
                "and below "
             << lengths.size() << ", but has [" << op.getReduced() << "]";
    last = dim;
  }
  uint64_t row = 1;
  for (int64_t dim : op.getReduced())
    row = llvm::SaturatingMultiply<uint64_t>(row, lengths[dim]);
  constexpr uint64_t kMaxRow = std::numeric_limits<int32_t>::max();
  if (row > kMaxRow) /*rowwise_c18*/
    return op.emitOpError() << "needs rows of at most " << kMaxRow
                            << " elements, but has " << row;
  return success();
}

/// Checks rowwise_c3, rowwise_c7 and rowwise_c9, which hold for every tensor.
static LogicalResult verifyTensor(RowWiseOp op, MemRefType type) {
  if (type.getRank() != static_cast<int64_t>(op.getLengths().size()) ||
      ShapedType::isDynamicShape(type.getShape().drop_front()) ||
      (type.isDynamicDim(0) && !ShapedType::isDynamic(op.getLengths()[0])))
    /*rowwise_c3*/
    return op.emitOpError() << "needs tensors of static sizes, but for an "
                               "unknown first one of the space, and rank "
                            << op.getLengths().size() << ", but has " << type;
  SmallVector<int64_t> strides;
  int64_t offset = 0;
  if (failed(type.getStridesAndOffset(strides, offset)) || offset != 0 ||
      llvm::any_of(strides, [](int64_t stride) { return stride < 1; }))
    /*rowwise_c7*/
    return op.emitOpError() << "needs static strides of at least 1 and no "
                               "offset, but has "
                            << type;
  Type element = type.getElementType();
  if (!element.isF16() && !element.isBF16() && !element.isF32() &&
      !element.isF64() && !element.isSignlessInteger(8) &&
      !element.isSignlessInteger(32) &&
      !element.isSignlessInteger(64)) /*rowwise_c9*/
    return op.emitOpError() << "needs elements of type f16, bf16, f32, f64, "
                               "i8, i32 or i64, but has "
                            << element;
  return success();
}

/// Checks rowwise_c3 to rowwise_c11, which restrict tensors and scalars.
static LogicalResult verifyTensors(RowWiseOp op) {
  for (Type operand : op->getOperandTypes())
    if (auto type = dyn_cast<MemRefType>(operand))
      if (failed(verifyTensor(op, type)))
        return failure();

  auto getShapeError = [&](StringRef what, Type type) {
    return op.emitOpError() << "needs " << what << " of the space ["
                            << op.getLengths() << "], but has " << type;
  };
  for (Type type : op.getInputs().getTypes())
    for (auto [size, length] :
         llvm::zip(cast<MemRefType>(type).getShape(), op.getLengths()))
      if (size != 1 && size != length) /*rowwise_c4*/
        return getShapeError("inputs of size 1 or the size", type);
  const bool hasSteps = op->hasAttr(kStepsAttrName);
  for (Type type : op.getRowOutputs().getTypes())
    for (auto [dim, size] : llvm::enumerate(cast<MemRefType>(type).getShape()))
      if (size != (op.isReduced(dim) ? 1 : op.getLengths()[dim]) &&
          !(hasSteps && dim == 0 && size == 1)) /*rowwise_c5*/
        return getShapeError("row outputs of size 1 where the space is reduced "
                             "and else the size",
                             type);
  for (Type type : op.getOutputs().getTypes())
    if (cast<MemRefType>(type).getShape() != op.getLengths()) /*rowwise_c6*/
      return getShapeError("outputs of the sizes", type);
  for (OperandRange results : {op.getRowOutputs(), op.getOutputs()})
    for (Type type : results.getTypes())
      if (!hasDistinctElements(cast<MemRefType>(type))) /*rowwise_c8*/
        return op.emitOpError() << "needs results whose elements do not "
                                   "overlap, but has "
                                << type;
  if (op.getRowOutputs().empty() && op.getOutputs().empty()) /*rowwise_c10*/
    return op.emitOpError("needs a row output or an output");
  for (Type type : op.getScalars().getTypes())
    if (type != op.getComputeType()) /*rowwise_c11*/
      return op.emitOpError() << "needs scalars of " << op.getComputeType()
                              << ", but has " << type;
  return success();
}

//===----------------------------------------------------------------------===//
// Verifier: the regions
//===----------------------------------------------------------------------===//

/// Checks rowwise_c13: the region is one block with these arguments and a
/// yield.
static LogicalResult verifyBlock(RowWiseOp op, StringRef word, Region &region,
                                 TypeRange arguments) {
  if (region.empty() || region.getArgumentTypes() != arguments) /*rowwise_c13*/
    return op.emitOpError()
           << "needs a region " << word << " that takes (" << arguments << ")";
  return success();
}

static LogicalResult verifyReduce(RowWiseOp op, size_t index) {
  auto getError = [&] {
    return op.emitOpError() << "needs a reduction that yields ";
  };
  SmallVector<ReduceKind> kinds = op.getKindsOf(index);
  ValueRange yielded =
      op.getReduces()[index].front().getTerminator()->getOperands();
  if (yielded.size() != kinds.size()) /*rowwise_c14*/
    return getError() << "a value for each of its " << kinds.size()
                      << " kinds, but it yields " << yielded.size();
  for (auto [kind, value] : llvm::zip_equal(kinds, yielded)) {
    Type type = value.getType();
    bool isInteger = type.isSignlessInteger(32) || type.isSignlessInteger(64);
    if (type != op.getComputeType() &&
        (!isInteger || kind == ReduceKind::Moments)) /*rowwise_c14*/
      return getError() << op.getComputeType()
                        << (kind == ReduceKind::Moments ? "" : ", i32 or i64")
                        << " for " << stringifyEnum(kind) << ", but it yields "
                        << type;
  }
  return success();
}

/// Checks rowwise_c15 and rowwise_c16: a value that is stored has its tensor's
/// widened type.
static LogicalResult verifyResults(RowWiseOp op, StringRef word, Region &region,
                                   OperandRange tensors, bool mayHaveMore) {
  ValueRange yielded = region.front().getTerminator()->getOperands();
  if (yielded.size() < tensors.size() ||
      (yielded.size() > tensors.size() && !mayHaveMore))
    return op.emitOpError()
           << "needs a region " << word << " that yields a value for each of "
           << tensors.size() << " tensors, but it yields " << yielded.size();
  for (auto [tensor, value] : llvm::zip(tensors, yielded)) {
    Type wanted = op.getWidened(cast<MemRefType>(tensor.getType()));
    if (value.getType() != wanted)
      return op.emitOpError() << "needs a region " << word << " that yields "
                              << wanted << " for " << tensor.getType()
                              << ", but it yields " << value.getType();
  }
  return success();
}

static LogicalResult verifyBodies(RowWiseOp op) {
  SmallVector<Type> elements, once, rest(op.getScalars().getTypes());
  for (Type input : op.getInputs().getTypes()) {
    auto type = cast<MemRefType>(input);
    elements.push_back(op.getWidened(type));
    if (op.isOnePerRow(type))
      once.push_back(elements.back());
  }
  if (op.getKinds().size() != op.getReduces().size() ||
      llvm::any_of(op.getKinds(), [](Attribute kinds) {
        return cast<ArrayAttr>(kinds).empty();
      })) /*rowwise_c12*/
    return op.emitOpError("needs one kind or more for each reduction");
  for (size_t i = 0; i < op.getReduces().size(); ++i) {
    if (failed(verifyBlock(op, "reduce", op.getReduces()[i],
                           llvm::to_vector(llvm::concat<Type>(
                               SmallVector<Type>(elements), rest)))) ||
        failed(verifyReduce(op, i)))
      return failure();
    llvm::append_range(rest, op.getResultTypesOf(i));
  }
  if (op.hasRow() || !op.getRowOutputs().empty()) {
    llvm::append_range(once, rest);
    if (failed(verifyBlock(op, "row", op.getRow(), once)) ||
        failed(verifyResults(op, "row", op.getRow(), op.getRowOutputs(),
                             /*mayHaveMore=*/true))) /*rowwise_c15*/
      return failure();
    llvm::append_range(rest, op.getRowValueTypes());
  }
  if (!op.hasMap() && op.getOutputs().empty())
    return success();
  llvm::append_range(elements, rest);
  if (failed(verifyBlock(op, "map", op.getMap(), elements)) ||
      failed(verifyResults(op, "map", op.getMap(), op.getOutputs(),
                           /*mayHaveMore=*/false))) /*rowwise_c16*/
    return failure();
  return success();
}

//===----------------------------------------------------------------------===//
// Steps
//===----------------------------------------------------------------------===//

std::optional<SmallVector<Carried>> tessera::dnn::getCarried(RowWiseOp op) {
  auto list = op->getAttrOfType<ArrayAttr>(kStepsAttrName);
  if (!list)
    return std::nullopt;
  SmallVector<Carried> carried;
  for (auto numbers : list.getAsRange<DenseI64ArrayAttr>())
    carried.push_back(
        {numbers[0], llvm::to_vector(llvm::drop_begin(numbers.asArrayRef()))});
  return carried;
}

/// Whether the row outputs, one behind the other along the reduced dimension,
/// can be the input of the next step.
static bool canCarry(RowWiseOp op, ArrayRef<int64_t> numbers) {
  auto isBelow = [](int64_t number, size_t count) {
    return number >= 0 && number < static_cast<int64_t>(count);
  };
  if (numbers.size() < 2 || !isBelow(numbers[0], op.getInputs().size()))
    return false;
  auto input = cast<MemRefType>(op.getInputs()[numbers[0]].getType());
  int64_t elements = 0;
  for (int64_t number : numbers.drop_front()) {
    if (!isBelow(number, op.getRowOutputs().size()))
      return false;
    auto output = cast<MemRefType>(op.getRowOutputs()[number].getType());
    if (output.getElementType() != input.getElementType())
      return false;
    elements += output.getDimSize(2);
  }
  if (input.getDimSize(0) != 1 && op.getLengths()[0] != 1)
    return false;
  return op.isOnePerRow(input)
             ? numbers.size() == 2
             : input.getDimSize(2) == 1 && input.getDimSize(3) == elements;
}

/// Checks rowwise_c19: steps are rows of the space [steps, sequences, units,
/// elements], of which the last dimension is reduced.
static LogicalResult verifySteps(RowWiseOp op) {
  Attribute attr = op->getAttr(kStepsAttrName);
  if (!attr)
    return success();
  auto list = dyn_cast<ArrayAttr>(attr);
  const bool isSpace = op.getLengths().size() == 4 &&
                       op.getReduced() == ArrayRef<int64_t>{3} && !op.hasMap();
  if (!list || !isSpace || !llvm::all_of(list, [&](Attribute each) {
        auto numbers = dyn_cast<DenseI64ArrayAttr>(each);
        return numbers && canCarry(op, numbers.asArrayRef());
      })) /*rowwise_c19*/
    return op.emitOpError()
           << "needs a space of steps, sequences, units and elements, of which "
              "the last are reduced, no map, and in '"
           << kStepsAttrName
           << "' arrays of an input and of the row outputs that it is in the "
              "next step";
  return success();
}

LogicalResult RowWiseOp::verify() {
  if (failed(verifySpace(*this)) || failed(verifyTensors(*this)) ||
      failed(verifySteps(*this)))
    return failure();
  return verifyBodies(*this);
}

/// Checks rowwise_c17: region `row` has no element whose index could be asked
/// for.
static LogicalResult verifyNumber(Operation *op) {
  auto rows = cast<RowWiseOp>(op->getParentOp());
  if (op->getParentRegion() == &rows.getRow()) /*rowwise_c17*/
    return op->emitOpError("needs an element, but region row has none");
  return success();
}

LogicalResult RowIndexOp::verify() { return verifyNumber(*this); }
LogicalResult ElementIndexOp::verify() { return verifyNumber(*this); }

#define GET_OP_CLASSES
#include "dialect/IR/DnnRowWiseOps.cpp.inc"
