//===- ColumnStore.cpp - A column-major result that leaves by TMA ---------===//

#include "compiler/Conversion/Hopper/ColumnStore.h"
#include "compiler/Conversion/Common/ViewAccess.h"

#include "mlir/Dialect/LLVMIR/NVVMDialect.h"

using namespace mlir;
using namespace tessera;

//===----------------------------------------------------------------------===//
// The tensor map
//===----------------------------------------------------------------------===//

/// A box cannot begin in front of a dimension, so no staged row may reach from
/// one run into the next; and each begins at whole 16 bytes. (On an H100 both
/// are illegal instructions.)
static bool fitRuns(const ResultMap::Runs &runs, int64_t elements,
                    int64_t rowStep, int64_t elementBytes) {
  constexpr int64_t kAlignment = 16;
  return rowStep * elementBytes % kAlignment == 0 &&
         (runs.outer.empty() ||
          (runs.length % elements == 0 && rowStep % elements == 0));
}

std::optional<ResultMap> tessera::makeColumnMajorMap(dnn::ViewOp view,
                                                     KernelArg tensor,
                                                     int64_t storeRowBytes,
                                                     int64_t rowStep) {
  const ViewAccess access(view);
  const AccessSpace groups = access.getSpace(0), rows = access.getSpace(1),
                    columns = access.getSpace(2);
  ArrayRef<int64_t> extents = view.getType().getShape();
  const int64_t bytes = access.getElementBytes();
  // Padding between rows is in more than one form.
  if (access.getNumForms() > 1 || rows.getInnermostStep() != bytes ||
      columns.sizes.size() != 1 || groups.sizes.size() > 1)
    return std::nullopt;
  const std::vector<int64_t> sizes = toKnown(rows.sizes);
  const ResultMap::Runs runs{sizes.back(),
                             SmallVector<int64_t>(llvm::drop_end(sizes))};
  if (!fitRuns(runs, storeRowBytes / bytes, rowStep, bytes))
    return std::nullopt;
  std::optional<TensorMap> map =
      beginResultMap(access, tensor, runs.length, storeRowBytes);
  if (!map ||
      !addDimension(*map, columns.getInnermostStep(), extents[2], kStoreRows) ||
      (extents[0] > 1 &&
       !addDimension(*map, groups.getInnermostStep(), extents[0], 1)))
    return std::nullopt;
  for (size_t d = runs.outer.size(); d-- > 0;)
    if (!addDimension(*map, rows.coefs[0][d], runs.outer[d], 1))
      return std::nullopt;
  return ResultMap{*map, {}, runs};
}

//===----------------------------------------------------------------------===//
// The store
//===----------------------------------------------------------------------===//

ColumnStore::ColumnStore(Emitter &e, Value mapPointer, bool hasGroups,
                         ResultMap::Runs runs, Value warp, Value lane)
    : TmaStore(e, mapPointer, hasGroups, /*columns=*/{}, warp, lane),
      runs(std::move(runs)) {}

/// The coordinates of a run, innermost first. Runs behind the last one are
/// outside of the outermost dimension.
void ColumnStore::appendRun(Value run, SmallVector<Value> &coordinates) const {
  for (size_t d = runs.outer.size(); d-- > 1; run = e.divu(run, runs.outer[d]))
    coordinates.push_back(e.remu(run, runs.outer[d]));
  coordinates.push_back(run);
}

void ColumnStore::emitCopy(Value buffer, int64_t row, int64_t column) {
  Value first = e.add(place.row, row);
  Value channel = e.add(e.add(place.column, column), e.mul(warp, kStoreRows));
  const bool isOneRun = runs.outer.empty();
  SmallVector<Value> coordinates = {
      isOneRun ? first : e.remu(first, runs.length), channel};
  if (hasGroups)
    coordinates.push_back(place.group);
  if (!isOneRun)
    appendRun(e.divu(first, runs.length), coordinates);
  copyBox(buffer, coordinates);
}
