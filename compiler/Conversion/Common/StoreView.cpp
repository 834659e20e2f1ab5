//===- StoreView.cpp - A view as the epilogue touches it ------------------===//

#include "compiler/Conversion/Common/StoreView.h"

using namespace mlir;
using namespace tessera;

StoreView::StoreView(Emitter &e, ViewAccess view, GlobalBuffer window,
                     StoreSide sideP, StoreSide sideQ)
    : e(e), access(std::move(view)), buffer(std::move(window)), p(sideP),
      q(sideQ), isAlongP(false), isAlongQ(false) {
  for (unsigned form = 0; form < access.getNumForms(); ++form) {
    isAlongP |= isMoved(p, form);
    isAlongQ |= isMoved(q, form);
  }
}

bool StoreView::isMoved(const StoreSide &side, unsigned form) const {
  return llvm::any_of(access.getSpace(side.index).coefs[form],
                      [](const OpenNumber &factor) { return !(factor == 0); });
}

std::optional<OpenNumber> StoreView::findOpenLine(int64_t width) const {
  const AccessSpace space = access.getSpace(p.index);
  if (width == 1 || space.sizes.empty() ||
      space.sizes.back().getFactor() % width != 0 ||
      space.coefs[0].back() != access.getElementBytes())
    return std::nullopt;
  // One check moves, and everything but the neighbours moves it by multiples
  // of their number.
  unsigned line = 0;
  for (unsigned f = 1; f < access.getNumForms(); ++f)
    if (space.coefs[f].back() != 0) {
      if (line != 0 || space.coefs[f].back() != 1)
        return std::nullopt;
      line = f;
    }
  if (line == 0 || access.getBound(line).isKnown() ||
      access.getConstant(line).getFactor() % width != 0)
    return std::nullopt;
  for (unsigned index = 0; index < 3; ++index) {
    const AccessSpace other = access.getSpace(index);
    ArrayRef<OpenNumber> factors = other.coefs[line];
    if (index == p.index)
      factors = factors.drop_back();
    if (!llvm::all_of(factors, [&](const OpenNumber &factor) {
          return factor.getFactor() % width == 0;
        }))
      return std::nullopt;
  }
  return access.getBound(line);
}

bool StoreView::endsTensor(const StoreSide &side) const {
  const AccessSpace space = access.getSpace(side.index);
  return access.isOpen() && !space.sizes.empty() &&
         space.coefs[0].front() * space.sizes.front() ==
             access.getTensorBytes();
}

StorePlace StoreView::locate(const StoreSide &side, int64_t offset,
                             bool checksExtent) const {
  Value position = e.add(side.first, offset);
  // The rows of a tensor with a descriptor of its own are relative to it.
  Value origin = side.index == 1 ? buffer.row0 : side.origin;
  StorePlace place{
      access.getSpace(side.index).evaluate(e, e.add(origin, position)), {}};
  if (checksExtent && !endsTensor(side) &&
      (!side.extent.isKnown() || side.extent % side.tile != 0))
    place.valid = e.ult(e.add(side.origin, position), side.extent);
  return place;
}

/// Checks that P alone moves belong to P.
StorePlace StoreView::locateP(int64_t offset, bool isAnywhere) const {
  StorePlace place = locate(p, offset, isAlongP || !isAnywhere);
  for (unsigned f = 1; f < access.getNumForms(); ++f)
    if (isMoved(p, f) && !isMoved(q, f))
      place.valid =
          e.both(place.valid, e.ult(e.add(place.forms[f], buffer.base[f]),
                                    access.getBound(f)));
  return place;
}

/// Group and constants are added to Q's place, and checks that do not depend on
/// P belong to it.
StorePlace StoreView::locateQ(int64_t offset, bool isAnywhere) const {
  StorePlace place = locate(q, offset, isAlongQ || !isAnywhere);
  for (auto [form, base] : llvm::zip(place.forms, buffer.base))
    form = e.add(base, form);
  for (unsigned f = 1; f < access.getNumForms(); ++f)
    if (!isMoved(p, f))
      place.valid =
          e.both(place.valid, e.ult(place.forms[f], access.getBound(f)));
  return place;
}

Value StoreView::getOffset(const StorePlace &placeP,
                           const StorePlace &placeQ) const {
  Value valid = e.both(placeP.valid, placeQ.valid);
  for (unsigned f = 1; f < access.getNumForms(); ++f)
    if (isMoved(p, f) && isMoved(q, f))
      valid = e.both(valid, e.ult(e.add(placeQ.forms[f], placeP.forms[f]),
                                  access.getBound(f)));
  return e.select(valid, e.add(placeQ.forms[0], placeP.forms[0]),
                  e.constant(kOutOfRange));
}

Value StoreView::load(const StorePlace &placeP, const StorePlace &placeQ,
                      int64_t width) const {
  int64_t bytes = width * access.getElementBytes();
  Type type = e.b.getIntegerType(std::min<int64_t>(bytes, 4) * 8);
  if (bytes > 4)
    type = VectorType::get(bytes / 4, type);
  return loadBuffer(e, buffer, type, getOffset(placeP, placeQ), e.constant(0));
}

void StoreView::store(Value value, const StorePlace &placeP,
                      const StorePlace &placeQ) const {
  storeBuffer(e, value, buffer, getOffset(placeP, placeQ));
}

void StoreView::atomicAdd(Value value, const StorePlace &placeP,
                          const StorePlace &placeQ) const {
  e.device.atomicAdd(e, value, buffer.descriptor, getOffset(placeP, placeQ));
}
