//===- DnnAttrs.cpp - Attributes and types of the dialect -----------------===//

#include "dialect/IR/Dnn.h"
#include "dialect/IR/OpenSizes.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

#include <numeric>

using namespace mlir;
using namespace tessera::dnn;

#define GET_ATTRDEF_CLASSES
#include "dialect/IR/DnnAttrs.cpp.inc"

#define GET_TYPEDEF_CLASSES
#include "dialect/IR/DnnTypes.cpp.inc"

//===----------------------------------------------------------------------===//
// #dnn.coords
//===----------------------------------------------------------------------===//

ArrayRef<int64_t> CoordsAttr::getSpace(unsigned index) const {
  return getSizes().slice(getFirstDim(index), getRanks()[index]);
}

unsigned CoordsAttr::getFirstDim(unsigned index) const {
  return std::accumulate(getRanks().begin(), getRanks().begin() + index, 0);
}

int64_t CoordsAttr::getExtent(unsigned index) const {
  ArrayRef<int64_t> space = getSpace(index);
  if (ShapedType::isDynamicShape(space))
    return ShapedType::kDynamic;
  return std::accumulate(space.begin(), space.end(), int64_t(1),
                         std::multiplies<>());
}

/// The syntax is `<[1], [64, 14, 14], [3, 3, 256] : (d0, ...) -> (d1, ...)>`.
Attribute CoordsAttr::parse(AsmParser &parser, Type) {
  SmallVector<int64_t> sizes, ranks;
  auto parseSpace = [&]() -> ParseResult {
    size_t before = sizes.size();
    if (parseSizes(parser, sizes))
      return failure();
    ranks.push_back(sizes.size() - before);
    return success();
  };
  AffineMap map;
  if (parser.parseLess() || parser.parseCommaSeparatedList(parseSpace) ||
      parser.parseColon() || parser.parseAffineMap(map) ||
      parser.parseGreater())
    return {};
  return parser.getChecked<CoordsAttr>(parser.getContext(), sizes, ranks, map);
}

void CoordsAttr::print(AsmPrinter &printer) const {
  printer << "<";
  for (unsigned i = 0, e = getRanks().size(); i < e; ++i) {
    printer << (i ? ", " : "");
    printSizes(printer, getSpace(i));
  }
  printer << " : " << getMap() << ">";
}

/// Whether `expr` has sums and constant multiples only. Then every tensor
/// coordinate, and the element's offset, is linear in the iteration dimensions.
static bool isLinear(AffineExpr expr) {
  WalkResult result = expr.walk([](AffineExpr e) {
    return e.getKind() == AffineExprKind::FloorDiv ||
                   e.getKind() == AffineExprKind::CeilDiv ||
                   e.getKind() == AffineExprKind::Mod
               ? WalkResult::interrupt()
               : WalkResult::advance();
  });
  return !result.wasInterrupted();
}

LogicalResult CoordsAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                                 ArrayRef<int64_t> sizes,
                                 ArrayRef<int64_t> ranks, AffineMap map) {
  if (llvm::any_of(sizes, [](int64_t size) {
        return size < 1 && !ShapedType::isDynamic(size);
      }))
    return emitError() << "needs iteration dimensions of at least 1";
  if (ranks.size() != 3)
    return emitError() << "needs three coordinates (group, row, column), but "
                          "has "
                       << ranks.size();
  if (map.getNumDims() != sizes.size() || map.getNumSymbols() != 0)
    return emitError() << "has " << sizes.size()
                       << " iteration dimensions, but its map takes "
                       << map.getNumDims();
  if (!llvm::all_of(map.getResults(), isLinear))
    return emitError() << "needs a map without division or remainder";
  return success();
}

//===----------------------------------------------------------------------===//
// !dnn.view and !dnn.tile
//===----------------------------------------------------------------------===//

/// The syntax is `<256x32xf16>`.
static ParseResult parseShape(AsmParser &parser, SmallVector<int64_t> &shape,
                              Type &element, bool allowDynamic) {
  return failure(parser.parseLess() ||
                 parser.parseDimensionList(shape, allowDynamic) ||
                 parser.parseType(element) || parser.parseGreater());
}

static void printShape(AsmPrinter &printer, ArrayRef<int64_t> shape,
                       Type element) {
  printer << "<";
  printer.printDimensionList(shape);
  printer << "x" << element << ">";
}

Type ViewType::parse(AsmParser &parser) {
  SmallVector<int64_t> shape;
  Type element;
  if (parseShape(parser, shape, element, /*allowDynamic=*/true))
    return {};
  return ViewType::get(parser.getContext(), shape, element);
}

void ViewType::print(AsmPrinter &printer) const {
  printShape(printer, getShape(), getElementType());
}

Type TileType::parse(AsmParser &parser) {
  SmallVector<int64_t> shape;
  Type element;
  if (parseShape(parser, shape, element, /*allowDynamic=*/false))
    return {};
  return TileType::get(parser.getContext(), shape, element);
}

void TileType::print(AsmPrinter &printer) const {
  printShape(printer, getShape(), getElementType());
}

void DnnDialect::registerAttributes() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "dialect/IR/DnnAttrs.cpp.inc"
      >();
}

void DnnDialect::registerTypes() {
  addTypes<
#define GET_TYPEDEF_LIST
#include "dialect/IR/DnnTypes.cpp.inc"
      >();
}
