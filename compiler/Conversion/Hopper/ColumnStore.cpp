//===- ColumnStore.cpp - A column-major result that leaves by TMA ---------===//

#include "compiler/Conversion/Hopper/ColumnStore.h"
#include "compiler/Conversion/Common/ViewAccess.h"

#include "mlir/Dialect/LLVMIR/NVVMDialect.h"

using namespace mlir;
using namespace tessera;

//===----------------------------------------------------------------------===//
// The tensor map
//===----------------------------------------------------------------------===//

/// The elements of the result along each dimension of the rows, which are fewer
/// than its positions where these are padding. None if a check is not of one
/// such dimension alone.
static std::optional<SmallVector<int64_t>> countKept(const ViewAccess &access) {
  const AccessSpace rows = access.getSpace(1);
  SmallVector<int64_t> kept(rows.sizes);
  for (unsigned form = 1; form < access.getNumForms(); ++form) {
    auto isFixed = [&](unsigned index) {
      return llvm::all_of(access.getSpace(index).coefs[form],
                          [](int64_t factor) { return factor == 0; });
    };
    ArrayRef<int64_t> factors = rows.coefs[form];
    const auto *moved = llvm::find(factors, 1);
    if (!isFixed(0) || !isFixed(2) || access.getConstant(form) != 0 ||
        moved == factors.end() ||
        llvm::count(factors, 0) + 1 != static_cast<int64_t>(factors.size()))
      return std::nullopt;
    int64_t &size = kept[moved - factors.begin()];
    size = std::min(size, access.getBound(form));
  }
  return kept;
}

/// Runs that a staged row of `elements` can have a part of, wherever it begins.
static int64_t countTouched(const ResultMap::Runs &runs, int64_t elements) {
  return runs.outer.empty() ? 1
                            : (runs.length + elements - 2) / runs.length + 1;
}

std::optional<ResultMap> tessera::makeColumnMajorMap(dnn::TileStoreOp store,
                                                     KernelArg tensor,
                                                     int64_t storeRowBytes) {
  auto view = store.getView().getDefiningOp<dnn::ViewOp>();
  const ViewAccess access(view);
  const AccessSpace groups = access.getSpace(0), rows = access.getSpace(1),
                    columns = access.getSpace(2);
  ArrayRef<int64_t> extents = view.getType().getShape();
  const int64_t bytes = access.getElementBytes();
  std::optional<SmallVector<int64_t>> kept = countKept(access);
  if (!kept || rows.getInnermostStep() != bytes || columns.sizes.size() != 1 ||
      groups.sizes.size() > 1)
    return std::nullopt;
  const ResultMap::Runs runs{rows.sizes.back(),
                             SmallVector<int64_t>(llvm::drop_end(rows.sizes))};
  constexpr int64_t kMostCopies = 4;
  if (countTouched(runs, storeRowBytes / bytes) > kMostCopies)
    return std::nullopt;
  std::optional<TensorMap> map =
      beginResultMap(access, tensor, kept->back(), storeRowBytes);
  if (!map ||
      !addDimension(*map, columns.getInnermostStep(), extents[2], kStoreRows) ||
      (extents[0] > 1 &&
       !addDimension(*map, groups.getInnermostStep(), extents[0], 1)))
    return std::nullopt;
  for (size_t d = runs.outer.size(); d-- > 0;)
    if (!addDimension(*map, rows.coefs[0][d], (*kept)[d], 1))
      return std::nullopt;
  return ResultMap{*map, {}, runs};
}

//===----------------------------------------------------------------------===//
// The store
//===----------------------------------------------------------------------===//

ColumnStore::ColumnStore(Emitter &e, Value mapPointer, bool hasGroups,
                         ResultMap::Runs runs, int64_t elements, Value warp,
                         Value lane)
    : TmaStore(e, mapPointer, hasGroups, /*columns=*/{}, warp, lane),
      runs(std::move(runs)), elements(elements) {}

/// The coordinates of a run, innermost first. Runs behind the last one are
/// outside of the outermost dimension.
void ColumnStore::appendRun(Value run, SmallVector<Value> &coordinates) const {
  for (size_t d = runs.outer.size(); d-- > 1; run = e.divu(run, runs.outer[d]))
    coordinates.push_back(e.remu(run, runs.outer[d]));
  if (!runs.outer.empty())
    coordinates.push_back(run);
}

void ColumnStore::emitCopies(Value buffer, int64_t row, int64_t column) {
  Value first = e.add(place.row, row);
  Value channel = e.add(e.add(place.column, column), e.mul(warp, kStoreRows));
  Value run = runs.outer.empty() ? e.constant(0) : e.divu(first, runs.length);
  Value begin = runs.outer.empty() ? first : e.remu(first, runs.length);
  for (int64_t i = 0; i < countTouched(runs, elements); ++i) {
    SmallVector<Value> coordinates = {e.add(begin, -i * runs.length), channel};
    if (hasGroups)
      coordinates.push_back(place.group);
    appendRun(e.add(run, i), coordinates);
    if (i == 0) {
      copyBox(buffer, coordinates);
      continue;
    }
    Value reaches = arith::CmpIOp::create(e.b, e.loc, arith::CmpIPredicate::ugt,
                                          e.add(begin, elements),
                                          e.constant(i * runs.length));
    emitIf(e, reaches, [&] { copyBox(buffer, coordinates); });
  }
}
