//===- HaloTiles.cpp - Tiles whose taps share pixels ----------------------===//

#include "compiler/Conversion/Cooperative/HaloTiles.h"
#include "compiler/Conversion/Cooperative/HaloLoop.h"

#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace tessera;

namespace {
/// The tiles of a workgroup: the loop of each, what reads the pixels, and what
/// becomes of the results.
class HaloTiles {
public:
  HaloTiles(TileFrame &f, const TileFactor &m, const TileFactor &n);

  void emit();

private:
  HaloBlock makeBlock(Value tile, Value block);
  Value getPiece(Value block, int64_t piece);
  void storePiece(Value words, Value tile, Value exists, Value piece);
  void takeResults(ArrayRef<Value> sums);
  void flushResults(Value tile);
  StepBody::Values emitTile(HaloLoop &loop, Value tile, Value before,
                            Value &buffer);

  TileFrame &f;
  Emitter &e;
  TileProgram &program;
  TileFactor filter;
  HaloSource *source = nullptr; ///< Owned by `mma`.
  TileMma mma;
  int64_t blocks; ///< Of channels, of a tile.
  /// Results on their way through LDS, if they go that way.
  ViewAccess resultAccess;
  std::optional<StagedStore> staged;
  int64_t pieces = 0, piecesPerBlock = 0;
};
} // namespace

HaloTiles::HaloTiles(TileFrame &f, const TileFactor &m, const TileFactor &n)
    : f(f), e(f.e), program(f.program), filter(n),
      mma(f.makeMma(
          m.lds, n.lds,
          [&](const FragmentPlace &place) {
            auto made =
                std::make_unique<HaloSource>(e, f.accessM, program.halo, place);
            source = made.get();
            return made;
          },
          makeSource(f, n, /*isP=*/true))),
      blocks(program.walk.inner /
             static_cast<int64_t>(program.pipeline.getStep())),
      resultAccess(getAccess(program.store.getView())) {
  if (!program.staged)
    return;
  staged.emplace(e, *program.staged, resultAccess, f.lds.back(), f.thread);
  pieces = program.staged->countPieces();
  piecesPerBlock = llvm::divideCeil(pieces, blocks);
}

/// Block `block` of channels of tile `tile`.
HaloBlock HaloTiles::makeBlock(Value tile, Value block) {
  f.enterTile(tile);
  HaloCopy pixels(e, f.accessM, program.halo, f.getBuffer(f.accessM, f.row0),
                  program.threads, f.thread, block);
  return {pixels, createCopy(f, filter, f.column0),
          e.mul(block, program.halo.lineBytes)};
}

//===----------------------------------------------------------------------===//
// Results
//===----------------------------------------------------------------------===//

Value HaloTiles::getPiece(Value block, int64_t piece) {
  return e.add(e.mul(block, piecesPerBlock), piece);
}

/// Stores a piece of tile `tile`, if that `exists`.
void HaloTiles::storePiece(Value words, Value tile, Value exists, Value piece) {
  f.enterTile(tile);
  staged->store(words,
                {f.getBuffer(resultAccess, f.row0), f.row0, f.column0, exists},
                piece);
}

/// Puts the sums of the frame's tile into LDS, or stores them.
void HaloTiles::takeResults(ArrayRef<Value> sums) {
  if (!staged)
    return f.emitDealtStore(mma, sums);
  f.emitStore(mma, sums, [&](Value words, int64_t p, int64_t q) {
    staged->put(mma, words, p, q);
  });
}

/// Stores all of tile `tile`.
void HaloTiles::flushResults(Value tile) {
  if (!staged)
    return;
  e.device.emitLdsBarrier(e);
  for (int64_t piece = 0; piece < pieces; ++piece) {
    Value at = e.constant(piece);
    storePiece(staged->read(at), tile, Value(), at);
  }
}

//===----------------------------------------------------------------------===//
// Tiles
//===----------------------------------------------------------------------===//

/// The sums of `tile`. During its products, the results of tile `before` are
/// stored, which is `tile` itself if there is none.
StepBody::Values HaloTiles::emitTile(HaloLoop &loop, Value tile, Value before,
                                     Value &buffer) {
  Value hasBefore =
      arith::CmpIOp::create(e.b, e.loc, arith::CmpIPredicate::ne, before, tile);
  auto read = [&](Value block, int64_t piece) {
    return staged->read(getPiece(block, piece));
  };
  auto store = [&](Value words, Value block, int64_t piece) {
    storePiece(words, before, hasBefore, getPiece(block, piece));
  };
  f.enterTile(tile);
  source->enterTile(f.getBuffer(f.accessM, f.row0));
  return loop.emitTile(tile, f.emitNextTile(tile), buffer,
                       {piecesPerBlock, read, store});
}

void HaloTiles::emit() {
  auto makeBlock = [&](Value tile, Value block) {
    return this->makeBlock(tile, block);
  };
  dnn::PipelineOp pipeline = program.pipeline;
  ArrayRef<Value> buffers = ArrayRef(f.lds).slice(1, pipeline.getBuffers());
  HaloLoop halo(e, program.halo, *source, mma, blocks, f.lds.front(),
                StepBody::Values(buffers),
                pipeline.getSchedule() == dnn::ScheduleKind::Pinned, makeBlock);
  halo.emitFirst(f.block, f.thread);
  // Of LDS, where the tile's first pixels are; and the tile before.
  auto loop = scf::ForOp::create(
      e.b, e.loc, f.block, e.constant(program.countTiles()),
      e.constant(program.getWorkgroups()), {e.constant(0), f.block});
  {
    OpBuilder::InsertionGuard guard(e.b);
    e.b.setInsertionPointToStart(loop.getBody());
    Value tile = loop.getInductionVar(), buffer = loop.getRegionIterArg(0);
    StepBody::Values sums =
        emitTile(halo, tile, loop.getRegionIterArg(1), buffer);
    f.enterTile(tile);
    takeResults(sums);
    scf::YieldOp::create(e.b, e.loc, {buffer, tile});
  }
  flushResults(loop.getResult(1));
  e.device.waitForDirectGroups(e, 0, 0);
}

void tessera::emitHaloTiles(TileFrame &f, const TileFactor &m,
                            const TileFactor &n) {
  HaloTiles(f, m, n).emit();
}
