//===- ResidentTile.cpp - A factor that LDS holds for good ----------------===//

#include "compiler/Conversion/Cooperative/ResidentTile.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace tessera;

/// A wave takes whole rows, so that a row's place is a scalar. Rows past the
/// end are those of the last: what they give is not stored.
ResidentCopy::ResidentCopy(Emitter &e, const ViewAccess &access,
                           const ResidentTile &tile, LdsTile lds,
                           const ReductionWalk &walk, GlobalBuffer buffer,
                           const ThreadPlace &thread)
    : TileCopy(e, access, lds, walk, std::move(buffer)), tile(tile),
      thread(thread) {
  passes = llvm::divideCeil(tile.step, thread.waveSize);
  AccessSpace rows = access.getSpace(1);
  for (int64_t at = 0; at < tile.rows; at += thread.waves) {
    Value row = e.add(e.add(this->buffer.row0, thread.wave), at);
    row = arith::MinUIOp::create(e.b, e.loc, row,
                                 e.constant(rows.getExtent() - 1));
    rowOffsets.push_back(rows.evaluate(e, row)[0]);
  }
}

/// The byte offset of column `column`, out of range where there is none.
Value ResidentCopy::locateColumn(Value column) {
  SmallVector<Value> forms = access.getSpace(2).evaluate(e, column);
  Value valid = e.ult(column, tile.total);
  for (unsigned f = 1; f < access.getNumForms(); ++f)
    valid = e.both(valid,
                   e.ult(e.add(forms[f], buffer.base[f]), access.getBound(f)));
  return e.select(valid, e.add(forms[0], buffer.base[0]),
                  e.constant(kOutOfRange));
}

void ResidentCopy::load(unsigned pass, unsigned, Value, Value,
                        SmallVectorImpl<Value> &pieces) {
  Value offset = locateColumn(e.add(thread.lane, pass * thread.waveSize));
  for (Value rowOffset : rowOffsets)
    pieces.push_back(
        loadBuffer(e, buffer, getIntegerType(1), offset, rowOffset));
}

void ResidentCopy::write(unsigned pass, unsigned, ArrayRef<Value> pieces,
                         Value lds) {
  const int64_t first = pass * thread.waveSize;
  Value column = e.add(thread.lane, first);
  OpBuilder::InsertionGuard guard(e.b);
  if (first + thread.waveSize > tile.step) {
    auto inside = scf::IfOp::create(e.b, e.loc, e.ult(column, tile.step));
    e.b.setInsertionPointToStart(&inside.getThenRegion().front());
  }
  Value place = e.toIndex(e.add(e.mul(thread.wave, tile.getPitch()), column));
  for (auto [row, value] : llvm::enumerate(pieces)) {
    Value at = arith::AddIOp::create(
        e.b, e.loc, place,
        e.indexConstant(row * thread.waves * tile.getPitch()));
    Value element =
        arith::BitcastOp::create(e.b, e.loc, access.getElementType(), value);
    memref::StoreOp::create(e.b, e.loc, element, lds, at);
  }
}

namespace {
class ResidentSource : public FragmentSource {
public:
  ResidentSource(Emitter &e, const ResidentTile &tile,
                 const FragmentPlace &place)
      : e(e), tile(tile), place(place) {
    Value row = e.add(place.firstRow, place.laneRow);
    Value chunk = e.mul(place.laneChunk, place.reads);
    first = e.toIndex(e.add(e.mul(row, tile.getPitch()),
                            e.mul(chunk, tile.getChunkElements())));
  }

  Value read(int64_t index, int64_t part, int64_t q, int64_t t,
             Value buffer) override {
    int64_t constant = place.getRow(index, part) * tile.getPitch() +
                       place.getChunk(q, t) * tile.getChunkElements();
    Value offset =
        arith::AddIOp::create(e.b, e.loc, first, e.indexConstant(constant));
    auto type = VectorType::get(tile.getChunkElements(), place.elementType);
    return vector::LoadOp::create(e.b, e.loc, type, buffer, offset);
  }

private:
  Emitter &e;
  ResidentTile tile;
  FragmentPlace place;
  Value first;
};
} // namespace

std::unique_ptr<FragmentSource>
tessera::readResident(Emitter &e, const ResidentTile &tile,
                      const FragmentPlace &place) {
  return std::make_unique<ResidentSource>(e, tile, place);
}
