//===- StagedStore.h - Results that are stored while the next come *- C++ -*-=//
//
// A workgroup that takes tiles in turn multiplies nothing while it stores, and
// all of them store at once. So a tile's results, rounded, go to LDS, and from
// there to memory, 16 bytes a lane, during the products of the next tile.
//
// Chunk c of row r lies in place c ^ mix(r): of what lanes put at once, be it
// four chunks of each of two rows or one of each of eight, no two are in one
// bank. On AMD's chips, whose lanes put half a chunk of each of 32 rows, the
// halves of every other eight rows change places, too; of 32-bit results they
// put whole chunks.
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_COMPILER_CONVERSION_COOPERATIVE_STAGEDSTORE_H
#define TESSERA_COMPILER_CONVERSION_COOPERATIVE_STAGEDSTORE_H

#include "compiler/Conversion/Common/StoreView.h"
#include "compiler/Conversion/Cooperative/LdsTile.h"
#include "compiler/Conversion/Cooperative/TileMma.h"

namespace tessera {

/// A tile of results in LDS. Plain data. Its columns are the side of the
/// lanes' neighbours (TileMma's P): the view's columns, or its rows where these
/// are pixels of a plane.
struct StagedTile {
  int64_t rows, columns, elementBytes, threads;
  bool hasRowsOfView = true;

  /// Whether tiles of `view` can go that way: by chunks, or, of planes, by
  /// pairs and more; where their size is unknown, that decides.
  bool isFor(dnn::ViewOp view) const;
  /// Neighbours that one store may take.
  int64_t getWidth(const ViewAccess &access) const;

  /// The same of 32-bit results, which lanes put by chunks.
  bool isForWords(dnn::ViewOp view) const;
  int64_t getBytes() const { return rows * columns * elementBytes; }
  int64_t getChunkElements() const { return kChunkBytes / elementBytes; }
  int64_t getRowChunks() const { return columns / getChunkElements(); }
  int64_t getPieceRows() const { return threads / getRowChunks(); }
  /// Chunks of a thread.
  int64_t countPieces() const { return rows / getPieceRows(); }

private:
  bool isDivided() const;
};

/// The tile of a workgroup whose lanes have neighbours along N, or along M.
StagedTile makeStagedTile(int64_t rowsM, int64_t rowsN, dnn::ViewOp view,
                          int64_t threads, bool lanesAlongN);

/// What is at hand where a tile's pieces are stored.
struct StagedPlace {
  GlobalBuffer buffer;       ///< Of the tile's rows.
  mlir::Value row0, column0; ///< Of the tile, in the view.
  mlir::Value exists;        ///< Whether there is such a tile.
};

class StagedStore {
public:
  /// `lds` holds the tile, and nothing else.
  StagedStore(Emitter &e, const StagedTile &tile, const ViewAccess &access,
              mlir::Value lds, mlir::Value thread)
      : e(e), tile(tile), access(access), lds(lds), thread(thread) {}

  /// Puts the words of neighbours along P at getPosition() `p`, at place `q`
  /// along Q of `mma`, whose P is the columns.
  void put(const TileMma &mma, mlir::Value words, int64_t p, int64_t q);
  /// Piece `piece` of this thread, behind a barrier; past the last, anything.
  mlir::Value read(mlir::Value piece);
  /// Stores it; past the last, nothing.
  void store(mlir::Value words, const StagedPlace &place, mlir::Value piece);

private:
  /// Where this thread's first chunk is, in the tile.
  mlir::Value getRow();
  mlir::Value getColumn();
  mlir::Value getOffset(mlir::Value row, mlir::Value column);
  bool hasOwnBits(const TileMma &mma, int64_t p) const;

  Emitter &e;
  StagedTile tile;
  const ViewAccess &access;
  mlir::Value lds;
  mlir::Value thread;
};

} // namespace tessera

#endif // TESSERA_COMPILER_CONVERSION_COOPERATIVE_STAGEDSTORE_H
