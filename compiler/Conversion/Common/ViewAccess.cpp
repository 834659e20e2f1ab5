//===- ViewAccess.cpp - A coordinate map as linear forms ------------------===//

#include "compiler/Conversion/Common/ViewAccess.h"

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

int64_t AccessSpace::getExtent() const {
  return std::accumulate(sizes.begin(), sizes.end(), int64_t(1),
                         std::multiplies<>());
}

bool AccessSpace::isLinear() const {
  return sizes.empty() ||
         (sizes.size() == 1 &&
          llvm::all_of(llvm::drop_begin(coefs),
                       [](const auto &form) { return form[0] == 0; }));
}

SmallVector<Value> AccessSpace::evaluate(Emitter &e, Value position) const {
  SmallVector<Value> forms(coefs.size(), e.constant(0));
  for (int64_t d = sizes.size() - 1; d >= 0; --d) {
    bool isOutermost = d == 0;
    Value digit = isOutermost ? position : e.remu(position, sizes[d]);
    for (auto [form, factors] : llvm::zip(forms, coefs))
      form = e.add(form, e.mul(digit, factors[d]));
    if (!isOutermost)
      position = e.divu(position, sizes[d]);
  }
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
  SmallVector<int64_t> &bytes = merged.coefs[0];
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

ViewAccess::ViewAccess(dnn::ViewOp view)
    : source(view.getSource()), elementType(view.getType().getElementType()),
      coords(view.getCoords()) {
  auto type = cast<MemRefType>(source.getType());
  elementBytes = elementType.getIntOrFloatBitWidth() / 8;
  int64_t offset = 0;
  SmallVector<int64_t> strides;
  (void)type.getStridesAndOffset(strides, offset);
  firstBytes = offset * elementBytes;
  tensorBytes = firstBytes + elementBytes;
  unsigned numDims = coords.getSizes().size();
  constants.assign(1, firstBytes);
  factors.emplace_back(numDims, 0);

  for (auto [expr, size, stride] :
       llvm::zip(coords.getMap().getResults(), type.getShape(), strides)) {
    tensorBytes += (size - 1) * stride * elementBytes;
    addLinear(expr, stride * elementBytes, factors[0], constants[0]);

    SmallVector<int64_t> form(numDims, 0);
    int64_t low = 0;
    addLinear(expr, 1, form, low);
    int64_t constant = low, high = low;
    for (auto [factor, extent] : llvm::zip(form, coords.getSizes()))
      (factor < 0 ? low : high) += factor * (extent - 1);
    if (low >= 0 && high < size)
      continue;
    isSmall &= low >= std::numeric_limits<int32_t>::min() &&
               high <= std::numeric_limits<int32_t>::max();
    factors.push_back(form);
    constants.push_back(constant);
    bounds.push_back(size);
  }
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
    int64_t size = coords.getSizes()[d];
    if (size == 1)
      continue;
    unsigned next = d + 1;
    while (next < e && coords.getSizes()[next] == 1)
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
    mergeNext = next < e && llvm::all_of(factors, [&](const auto &form) {
                  return form[d] == form[next] * coords.getSizes()[next];
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
  if (rows.sizes.empty() || rows.sizes.back() % 2 != 0 ||
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
  int64_t width = getPowerOfTwoIn(space.sizes.back(), limit);
  width = std::min(width, getPowerOfTwoIn(constants[0] / elementBytes, limit));
  for (unsigned other = 0; other < 3; ++other) {
    AccessSpace steps = getSpace(other);
    ArrayRef<int64_t> factors = steps.coefs[0];
    if (other == index)
      factors = factors.drop_back();
    for (int64_t factor : factors)
      width = std::min(width, getPowerOfTwoIn(factor / elementBytes, limit));
  }
  return width;
}
