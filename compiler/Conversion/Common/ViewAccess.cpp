//===- ViewAccess.cpp - A coordinate map as linear forms ------------------===//

#include "compiler/Conversion/Common/ViewAccess.h"
#include "compiler/Conversion/Common/SizeArguments.h"
#include "dialect/IR/OpenMemory.h"

#include <limits>
#include <numeric>

using namespace mlir;
using namespace tessera;

void tessera::addLinear(AffineExpr expr, int64_t scale,
                        SmallVectorImpl<int64_t> &factors, int64_t &constant) {
  if (auto dim = dyn_cast<AffineDimExpr>(expr)) {
    factors[dim.getPosition()] += scale;
    return;
  }
  if (auto value = dyn_cast<AffineConstantExpr>(expr)) {
    constant += scale * value.getValue();
    return;
  }
  auto binary = cast<AffineBinaryOpExpr>(expr);
  if (binary.getKind() == AffineExprKind::Add) {
    addLinear(binary.getLHS(), scale, factors, constant);
    addLinear(binary.getRHS(), scale, factors, constant);
    return;
  }
  // A product of an affine map has its constant on the right.
  auto factor = cast<AffineConstantExpr>(binary.getRHS());
  addLinear(binary.getLHS(), scale * factor.getValue(), factors, constant);
}

LinearExpr tessera::getLinearExpr(AffineExpr expr, unsigned numDims) {
  LinearExpr linear;
  linear.factors.assign(numDims, 0);
  addLinear(expr, 1, linear.factors, linear.constant);
  return linear;
}

OpenNumber AccessSpace::getExtent() const {
  OpenNumber extent = 1;
  for (const OpenNumber &size : sizes)
    extent *= size;
  return extent;
}

bool AccessSpace::isLinear() const {
  return sizes.empty() ||
         (sizes.size() == 1 &&
          llvm::all_of(llvm::drop_begin(coefs),
                       [](const auto &form) { return form[0] == 0; }));
}

/// Of unknown sizes, the offset alone where it needs no remainders: position
/// and quotients times factors, of which those of dimensions that lie one
/// behind the other in memory are 0. Null if others are cheaper.
static Value evaluateOffset(Emitter &e, const AccessSpace &space,
                            Value position) {
  ArrayRef<OpenNumber> sizes = space.sizes, bytes = space.coefs[0];
  const bool isOpen = llvm::any_of(
      sizes, [](const OpenNumber &size) { return !size.isKnown(); });
  const bool isAlone =
      llvm::all_of(llvm::drop_begin(space.coefs), [](const auto &form) {
        return llvm::all_of(form, [](const OpenNumber &f) { return f == 0; });
      });
  SmallVector<OpenNumber> factors;
  for (size_t d = 1; d < sizes.size(); ++d)
    factors.push_back(bytes[d - 1] - bytes[d] * sizes[d]);
  const bool isPacked = llvm::all_of(
      factors, [](const OpenNumber &factor) { return factor == 0; });
  if (!isOpen || !(isAlone || isPacked))
    return {};
  Value offset = e.mul(position, bytes.back());
  for (size_t d = sizes.size() - 1; d > 0 && !isPacked; --d) {
    position = e.divu(position, sizes[d]);
    offset = e.add(offset, e.mul(position, factors[d - 1]));
  }
  return offset;
}

SmallVector<Value> AccessSpace::evaluate(Emitter &e, Value position) const {
  SmallVector<Value> forms(coefs.size(), e.constant(0));
  const Value offset = evaluateOffset(e, *this, position);
  for (int64_t d = sizes.size() - 1; d >= 0; --d) {
    bool isOutermost = d == 0;
    Value digit = isOutermost ? position : e.remu(position, sizes[d]);
    for (auto [form, factors] : llvm::zip(forms, coefs))
      form = e.add(form, e.mul(digit, factors[d]));
    if (!isOutermost)
      position = e.divu(position, sizes[d]);
  }
  if (offset)
    forms[0] = offset;
  return forms;
}

int64_t AccessSpace::getForm(unsigned form, int64_t position) const {
  int64_t value = 0;
  for (int64_t d = std::ssize(sizes) - 1; d >= 0; --d) {
    bool isOutermost = d == 0;
    value += coefs[form][d] * (isOutermost ? position : position % sizes[d]);
    position /= sizes[d];
  }
  return value;
}

AccessSpace AccessSpace::getOffsets() const {
  AccessSpace merged{sizes, {coefs[0]}};
  SmallVector<OpenNumber> &bytes = merged.coefs[0];
  for (int64_t d = std::ssize(sizes) - 2; d >= 0; --d) {
    if (bytes[d] != bytes[d + 1] * merged.sizes[d + 1])
      continue;
    merged.sizes[d] *= merged.sizes[d + 1];
    bytes[d] = bytes[d + 1];
    merged.sizes.erase(merged.sizes.begin() + d + 1);
    bytes.erase(bytes.begin() + d + 1);
  }
  return merged;
}

/// The size of every iteration dimension of a view.
static SmallVector<OpenNumber> getViewSizes(dnn::ViewOp view,
                                            const SizeArguments &arguments) {
  SmallVector<OpenNumber> sizes;
  auto open = view.getOpenSizes().begin();
  for (int64_t size : view.getCoords().getSizes())
    sizes.push_back(ShapedType::isDynamic(size)
                        ? OpenNumber(*arguments.getExpr(*open++))
                        : OpenNumber(size));
  return sizes;
}

/// The strides of a packed tensor.
static SmallVector<OpenNumber> multiplySizes(ArrayRef<OpenNumber> shape) {
  SmallVector<OpenNumber> strides(shape.size());
  OpenNumber packed = 1;
  for (size_t dim = shape.size(); dim-- > 0; packed *= shape[dim])
    strides[dim] = packed;
  return strides;
}

static SmallVector<OpenNumber> toNumbers(ArrayRef<SizeExpr> sizes) {
  return llvm::map_to_vector(
      sizes, [](const SizeExpr &expr) { return OpenNumber(expr); });
}

/// The sizes of the packed tensor that `tensor` has its unknown strides of;
/// none if these are of its own sizes.
static SmallVector<OpenNumber> getMemory(Value tensor) {
  SmallVector<OpenNumber> sizes;
  if (ArrayAttr memory = dnn::getOpenMemory(tensor))
    for (auto text : memory.getAsValueRange<StringAttr>()) {
      const ErrorOr<SizeExpr> size = parseSizeExpr(text);
      sizes.push_back(size ? OpenNumber(*size) : OpenNumber());
    }
  return sizes;
}

ViewSizes::ViewSizes(dnn::ViewOp view) {
  dnn::CoordsAttr coords = view.getCoords();
  auto type = cast<MemRefType>(view.getSource().getType());
  SmallVector<int64_t> known;
  (void)type.getStridesAndOffset(known, offset);
  strides.assign(known.begin(), known.end());
  shape.assign(type.getShape().begin(), type.getShape().end());
  isOpen = !type.hasStaticShape() || !view.getOpenSizes().empty();
  if (!isOpen) {
    iteration.assign(coords.getSizes().begin(), coords.getSizes().end());
    return;
  }
  const auto source = cast<BlockArgument>(view.getSource());
  SizeArguments arguments(view->getParentOfType<func::FuncOp>());
  iteration = getViewSizes(view, arguments);
  shape = toNumbers(arguments.getSizes(source));
  const SmallVector<OpenNumber> memory = getMemory(source);
  if (memory.empty()) {
    if (!type.hasStaticShape())
      strides = multiplySizes(shape);
    return;
  }
  for (auto [stride, ofMemory, number] :
       llvm::zip(strides, multiplySizes(memory), known))
    if (ShapedType::isDynamic(number))
      stride = ofMemory;
}

ViewAccess::ViewAccess(dnn::ViewOp view)
    : source(view.getSource()), elementType(view.getType().getElementType()),
      coords(view.getCoords()) {
  elementBytes = elementType.getIntOrFloatBitWidth() / 8;
  ViewSizes of(view);
  sizes = std::move(of.iteration);
  hasOpenSizes = of.isOpen;
  firstBytes = of.offset * elementBytes;
  tensorBytes = firstBytes + elementBytes;
  constants.assign(1, firstBytes);
  factors.emplace_back(sizes.size(), OpenNumber());
  for (auto [expr, size, stride] :
       llvm::zip(coords.getMap().getResults(), of.shape, of.strides)) {
    tensorBytes += (size - 1) * stride * elementBytes;
    addForm(expr, size, stride);
  }
  // Windows that overlap end where what they overlap in does, which is a
  // product, not a difference of products.
  const SmallVector<OpenNumber> memory = getMemory(source);
  if (memory.empty())
    return;
  tensorBytes = elementBytes;
  for (const OpenNumber &size : memory)
    tensorBytes *= size;
  tensorBytes += firstBytes;
}

/// Adds a coordinate of the tensor to the offset, and to the forms if it may
/// leave the tensor.
void ViewAccess::addForm(AffineExpr expr, const OpenNumber &size,
                         const OpenNumber &stride) {
  const LinearExpr linear = getLinearExpr(expr, sizes.size());
  const OpenNumber bytes = stride * elementBytes;
  constants[0] += linear.constant * bytes;
  OpenNumber low = linear.constant, high = linear.constant;
  for (auto [offset, factor, extent] :
       llvm::zip(factors[0], linear.factors, sizes)) {
    if (factor == 0)
      continue;
    offset += factor * bytes;
    (factor < 0 ? low : high) += factor * (extent - 1);
  }
  const OpenNumber beyond = size - high;
  if (low.isKnown() && low >= 0 && beyond.isKnown() && beyond > 0)
    return;
  if (low.isKnown() && high.isKnown())
    isSmall &= low >= std::numeric_limits<int32_t>::min() &&
               high <= std::numeric_limits<int32_t>::max();
  factors.emplace_back(linear.factors.begin(), linear.factors.end());
  constants.push_back(linear.constant);
  bounds.push_back(size);
}

AccessSpace ViewAccess::getSpace(unsigned index) const {
  return getSpace(index, 0, coords.getRanks()[index]);
}

AccessSpace ViewAccess::getSpace(unsigned index, unsigned first,
                                 unsigned count) const {
  AccessSpace space;
  space.coefs.resize(factors.size());
  unsigned begin = coords.getFirstDim(index) + first;
  bool mergeNext = false;
  for (unsigned d = begin, e = begin + count; d < e; ++d) {
    const OpenNumber &size = sizes[d];
    if (size == 1)
      continue;
    unsigned next = d + 1;
    while (next < e && sizes[next] == 1)
      ++next;
    if (mergeNext)
      space.sizes.back() *= size;
    else
      space.sizes.push_back(size);
    for (auto [merged, form] : llvm::zip(space.coefs, factors)) {
      if (mergeNext)
        merged.pop_back();
      merged.push_back(form[d]);
    }
    mergeNext = next < e && llvm::all_of(
                                factors,
                                [&](const auto &form) {
                                  return form[d] == form[next] * sizes[next];
                                });
  }
  return space;
}

int64_t tessera::getPowerOfTwoIn(int64_t value, int64_t limit) {
  int64_t power = 1;
  while (power < limit && value % (power * 2) == 0)
    power *= 2;
  return power;
}

bool ViewAccess::hasRowPairs(unsigned &form) const {
  AccessSpace rows = getSpace(1);
  if (isOpen() || rows.sizes.empty() || rows.sizes.back() % 2 != 0 ||
      rows.coefs[0].back() != elementBytes)
    return false;
  form = 0;
  for (unsigned f = 1; f < rows.coefs.size(); ++f) {
    int64_t factor = rows.coefs[f].back();
    if (factor != 0 && (factor != 1 || form != 0 || getBound(f) < 2))
      return false;
    if (factor != 0)
      form = f;
  }
  return true;
}

int64_t ViewAccess::getVectorWidth(unsigned index, int64_t limit) const {
  AccessSpace space = getSpace(index);
  // Neighbours in memory, and told apart by no check.
  if (space.sizes.empty() || space.coefs[0].back() != elementBytes ||
      !llvm::all_of(llvm::drop_begin(space.coefs),
                    [](const auto &form) { return form.back() == 0; }))
    return 1;
  // Aligned wherever the walk can start, and inside the innermost dimension.
  auto getPower = [&](const OpenNumber &bytes) {
    return getPowerOfTwoIn(bytes.getFactor() / elementBytes, limit);
  };
  int64_t width = getPowerOfTwoIn(space.sizes.back().getFactor(), limit);
  width = std::min(width, getPower(constants[0]));
  for (unsigned other = 0; other < 3; ++other) {
    AccessSpace steps = getSpace(other);
    ArrayRef<OpenNumber> factors = steps.coefs[0];
    if (other == index)
      factors = factors.drop_back();
    for (const OpenNumber &factor : factors)
      width = std::min(width, getPower(factor));
  }
  return width;
}
