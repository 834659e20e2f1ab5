//===- SizeArguments.cpp - Sizes that are arguments of a kernel -----------===//

#include "compiler/Conversion/Common/SizeArguments.h"
#include "dialect/IR/Dnn.h"
#include "dialect/IR/OpenMemory.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace tessera;

//===----------------------------------------------------------------------===//
// Expressions
//===----------------------------------------------------------------------===//

static std::optional<KernelArg> getKind(func::FuncOp function, Value value) {
  auto argument = dyn_cast<BlockArgument>(value);
  if (!argument || argument.getOwner() != &function.getBody().front())
    return std::nullopt;
  auto name = function.getArgAttrOfType<StringAttr>(argument.getArgNumber(),
                                                    dnn::kArgAttrName);
  return name ? parseKernelArg(name.getValue()) : std::nullopt;
}

/// An unknown size of a tensor of the function; nothing if it has no name.
static std::optional<SizeExpr> findSize(func::FuncOp function, Value tensor,
                                        int64_t dim) {
  const std::optional<KernelArg> kind = getKind(function, tensor);
  if (!kind)
    return std::nullopt;
  if (auto sizes = function.getArgAttrOfType<ArrayAttr>(
          cast<BlockArgument>(tensor).getArgNumber(), dnn::kSizesAttrName)) {
    auto text = dim < static_cast<int64_t>(sizes.size())
                    ? dyn_cast<StringAttr>(sizes[dim])
                    : StringAttr();
    const ErrorOr<SizeExpr> size = parseSizeExpr(text ? text.getValue() : "");
    return size ? std::optional(*size) : std::nullopt;
  }
  return SizeExpr::makeSize(*kind, dim);
}

std::optional<SizeExpr> SizeArguments::getExpr(Value value) const {
  APInt number;
  if (matchPattern(value, m_ConstantInt(&number)))
    return number.isNegative() ? std::nullopt
                               : std::optional<SizeExpr>(number.getSExtValue());
  Operation *op = value.getDefiningOp();
  if (auto dim = dyn_cast_if_present<memref::DimOp>(op)) {
    const std::optional<int64_t> index = dim.getConstantIndex();
    auto type = dyn_cast<MemRefType>(dim.getSource().getType());
    if (!index || !type || *index >= type.getRank())
      return std::nullopt;
    if (!type.isDynamicDim(*index))
      return SizeExpr(type.getDimSize(*index));
    return findSize(function, dim.getSource(), *index);
  }
  const char symbol = isa_and_present<arith::AddIOp>(op)        ? '+'
                      : isa_and_present<arith::MulIOp>(op)      ? '*'
                      : isa_and_present<arith::DivUIOp>(op)     ? '/'
                      : isa_and_present<arith::CeilDivUIOp>(op) ? '^'
                                                                : 0;
  if (!symbol || !value.getType().isIndex())
    return std::nullopt;
  const std::optional<SizeExpr> lhs = getExpr(op->getOperand(0));
  const std::optional<SizeExpr> rhs = getExpr(op->getOperand(1));
  if (!lhs || !rhs)
    return std::nullopt;
  return SizeExpr::combine(*lhs, symbol, *rhs);
}

bool SizeArguments::areUnknown() const {
  func::FuncOp own = function;
  return llvm::any_of(own.getFunctionType().getInputs(), [](Type type) {
    auto memory = dyn_cast<MemRefType>(type);
    return memory && !memory.hasStaticShape();
  });
}

LogicalResult SizeArguments::check() const {
  func::FuncOp own = function;
  for (auto [i, type] : llvm::enumerate(own.getArgumentTypes())) {
    auto memory = dyn_cast<MemRefType>(type);
    if (!memory)
      continue;
    for (StringRef name :
         {StringRef(dnn::kSizesAttrName), StringRef(dnn::kMemoryAttrName)}) {
      auto sizes = own.getArgAttrOfType<ArrayAttr>(i, name);
      const auto isSize = [](Attribute size) {
        auto text = dyn_cast<StringAttr>(size);
        return text && bool(parseSizeExpr(text.getValue()));
      };
      if (sizes && (static_cast<int64_t>(sizes.size()) != memory.getRank() ||
                    !llvm::all_of(sizes, isSize)))
        return own.emitOpError()
               << "needs an expression of sizes in '" << name
               << "' for each dimension of " << memory << ", but has " << sizes;
    }
  }
  return success();
}

SmallVector<SizeExpr> SizeArguments::getSizes(BlockArgument argument) const {
  auto type = cast<MemRefType>(argument.getType());
  SmallVector<SizeExpr> sizes;
  for (auto [dim, size] : llvm::enumerate(type.getShape()))
    sizes.push_back(ShapedType::isDynamic(size)
                        ? findSize(function, argument, dim).value_or(size)
                        : SizeExpr(size));
  return sizes;
}

SmallVector<SizeExpr> SizeArguments::getStrides(BlockArgument argument) const {
  auto type = cast<MemRefType>(argument.getType());
  auto [strides, offset] = type.getStridesAndOffset();
  SmallVector<SizeExpr> result(strides.begin(), strides.end());
  if (!ShapedType::isDynamicShape(strides))
    return result;
  SmallVector<SizeExpr> sizes = getSizes(argument);
  SizeExpr packed = 1;
  for (size_t dim = sizes.size(); dim-- > 0;) {
    result[dim] = packed;
    packed = packed * sizes[dim];
  }
  return result;
}

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

Value SizeArguments::getArgument(KernelArg kind, const SizeExpr &size) {
  const std::string name = std::string(getName(kind)) + "=" + size.toText();
  Value &argument = arguments[name];
  if (argument)
    return argument;
  Builder b(kernel.getContext());
  const unsigned index = kernel.getNumArguments();
  NamedAttribute attribute(dnn::kArgAttrName, b.getStringAttr(name));
  (void)kernel.insertArgument(index, b.getI64Type(),
                              b.getDictionaryAttr(attribute), kernel.getLoc());
  return argument = kernel.getArgument(index);
}

Value SizeArguments::getShared(Emitter &e, const std::string &name,
                               llvm::function_ref<Value()> make) {
  Value value = shared.lookup(name);
  if (!value) {
    OpBuilder::InsertionGuard guard(e.b);
    // Behind what it may be made of.
    if (lastShared)
      e.b.setInsertionPointAfter(lastShared);
    else
      e.b.setInsertionPointToStart(&kernel.getBody().front());
    value = make();
    lastShared = value.getDefiningOp();
    shared[name] = value;
  }
  return value;
}

static Value truncate(Emitter &e, Value wide) {
  return arith::TruncIOp::create(e.b, e.loc, e.b.getI32Type(), wide);
}

Value SizeArguments::emit(Emitter &e, const SizeExpr &size) {
  if (size.getNumber())
    return e.constant(*size.getNumber());
  return getShared(e, size.toText(), [&] {
    return truncate(e, getArgument(KernelArg::Size, size));
  });
}

Value SizeArguments::emitWide(Emitter &e, const SizeExpr &size) {
  if (size.getNumber())
    return e.constant(e.b.getI64IntegerAttr(*size.getNumber()));
  return getArgument(KernelArg::Size, size);
}

Value SizeArguments::emitQuotient(Emitter &e, Value value, const SizeExpr &by) {
  if (by.getNumber())
    return e.divu(value, *by.getNumber());
  Value multiplier = getShared(e, "multiplier=" + by.toText(), [&] {
    return truncate(e, getArgument(KernelArg::Divisor, by));
  });
  Value shift = getShared(e, "shift=" + by.toText(), [&] {
    Value both = getArgument(KernelArg::Divisor, by);
    Value high =
        arith::ConstantOp::create(e.b, e.loc, e.b.getI64IntegerAttr(32));
    return truncate(e, arith::ShRUIOp::create(e.b, e.loc, both, high));
  });
  Value twice = arith::ShLIOp::create(e.b, e.loc, value, e.constant(1));
  auto product = arith::MulUIExtendedOp::create(e.b, e.loc, twice, multiplier);
  return arith::ShRUIOp::create(e.b, e.loc, product.getHigh(), shift);
}

Value SizeArguments::emitRemainder(Emitter &e, Value value,
                                   const SizeExpr &by) {
  if (by.getNumber())
    return e.remu(value, *by.getNumber());
  Value whole = arith::MulIOp::create(e.b, e.loc, emitQuotient(e, value, by),
                                      emit(e, by));
  return arith::SubIOp::create(e.b, e.loc, value, whole);
}

//===----------------------------------------------------------------------===//
// Open numbers
//===----------------------------------------------------------------------===//

Value Emitter::constant(const OpenNumber &value) {
  if (value.isKnown())
    return constant(int64_t(value));
  const auto [added, subtracted] = value.toExprs();
  Value sum = sizes->emit(*this, added);
  if (subtracted == SizeExpr())
    return sum;
  return arith::SubIOp::create(b, loc, sum, sizes->emit(*this, subtracted));
}

Value Emitter::wideConstant(const OpenNumber &value) {
  if (value.isKnown())
    return constant(b.getI64IntegerAttr(value));
  return sizes->emitWide(*this, value.toExpr());
}

Value Emitter::divu(Value lhs, const OpenNumber &rhs) {
  if (rhs.isKnown() || isZero(lhs))
    return rhs.isKnown() ? divu(lhs, int64_t(rhs)) : lhs;
  return sizes->emitQuotient(*this, lhs, rhs.toExpr());
}

Value Emitter::remu(Value lhs, const OpenNumber &rhs) {
  if (rhs.isKnown() || isZero(lhs))
    return rhs.isKnown() ? remu(lhs, int64_t(rhs)) : lhs;
  return sizes->emitRemainder(*this, lhs, rhs.toExpr());
}

//===----------------------------------------------------------------------===//
// Replacement
//===----------------------------------------------------------------------===//

/// The operand of `op`, a quotient or a remainder, that an argument divides.
static Value getDividend(Operation *op, const SizeArguments &sizes) {
  if (!isa<arith::DivUIOp, arith::RemUIOp>(op) ||
      !op->getResult(0).getType().isIndex() || sizes.getExpr(op->getResult(0)))
    return {};
  const std::optional<SizeExpr> by = sizes.getExpr(op->getOperand(1));
  return by && !by->getNumber() ? op->getOperand(0) : Value();
}

void SizeArguments::replaceSizes(Emitter &e, KnownRanges &known) {
  constexpr int64_t kMost = std::numeric_limits<int32_t>::max() / 2;
  SmallVector<Operation *> dead;
  kernel.walk([&](Operation *op) {
    e.b.setInsertionPoint(op);
    if (Value dividend = getDividend(op, *this)) {
      const SizeExpr by = *getExpr(op->getOperand(1));
      Value narrow =
          arith::IndexCastOp::create(e.b, e.loc, e.b.getI32Type(), dividend);
      Value result = isa<arith::DivUIOp>(op) ? emitQuotient(e, narrow, by)
                                             : emitRemainder(e, narrow, by);
      op->getResult(0).replaceAllUsesWith(e.toIndex(result));
      return dead.push_back(op);
    }
    if (op->getNumResults() == 1 && getExpr(op->getResult(0)))
      return isa<arith::ConstantOp>(op) ? void() : dead.push_back(op);
    for (OpOperand &operand : op->getOpOperands()) {
      if (!operand.get().getType().isIndex())
        continue;
      const std::optional<SizeExpr> size = getExpr(operand.get());
      if (!size ||
          isa_and_present<arith::ConstantOp>(operand.get().getDefiningOp()))
        continue;
      if (size->getNumber()) {
        operand.set(e.indexConstant(*size->getNumber()));
        continue;
      }
      Value value = getShared(e, "index=" + size->toText(),
                              [&] { return e.toIndex(emit(e, *size)); });
      known[value] = {0, kMost, /*isUniform=*/true};
      operand.set(value);
    }
  });
  for (Operation *op : llvm::reverse(dead))
    op->erase();
}
