//===- PlaneCopy.h - Brings chunks of planes of pixels to LDS --*- C++ -*--===//
//
// In NCHW the pixels of a channel of an image, a plane, lie together. Backward
// weights of stride 1 reduces over them: it walks planes by chunks of eight
// pixels, whatever the width of the image, and a tap sees the same chunk some
// pixels further on, loaded from any address. Pixels that are padding, or
// behind the end of the plane, become zeros: which those of a chunk are is the
// same for all images and all channels of a tap, so a table in LDS has the byte
// permutes of each chunk of a plane, for the one tap of the tile's rows.
//
// Nothing is loaded outside of the tensor: of a chunk that begins in front of
// it a descriptor gives nothing, and none of the dword at its end if half of
// that is behind it. That concerns one chunk of a row, in the first image or
// the last: each lane loads its pixels beforehand, one by one, and the permutes
// of the table's last entry take them.
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_COMPILER_CONVERSION_COOPERATIVE_PLANECOPY_H
#define TESSERA_COMPILER_CONVERSION_COOPERATIVE_PLANECOPY_H

#include "compiler/Conversion/Cooperative/ChunkCopy.h"

namespace tessera {

class PlaneCopy : public ChunkCopy {
public:
  static constexpr int64_t kElementBytes = 2;

  /// Whether tiles of `rows` rows of a view can be copied so, by steps of
  /// `step` elements. A plane is its reduction dimensions but the first.
  static bool isFor(const ViewAccess &access, int64_t rows, int64_t step);
  /// Bytes of LDS for the table of a view, or 0 if it needs none.
  static int64_t countTableBytes(const ViewAccess &access,
                                 const ReductionWalk &walk);

  /// The buffer of a copy: `whole`, that of the tensor at `pointer`, without a
  /// dword at its end of which half is behind it.
  static GlobalBuffer makeBuffer(Emitter &e, const ViewAccess &access,
                                 mlir::Value pointer, GlobalBuffer whole);
  /// `table` is its LDS, or null if it needs none.
  PlaneCopy(Emitter &e, const ViewAccess &access, LdsTile lds,
            const ReductionWalk &walk, GlobalBuffer buffer,
            const GlobalBuffer &whole, int64_t threads, mlir::Value thread,
            mlir::Value table);

  void setTap(mlir::Value first) override;
  void load(unsigned pass, unsigned part, mlir::Value position,
            mlir::Value buffer,
            llvm::SmallVectorImpl<mlir::Value> &pieces) override;
  void write(unsigned pass, unsigned part, llvm::ArrayRef<mlir::Value> pieces,
             mlir::Value buffer) override;

private:
  /// The chunk that sees the end of the tensor that the tile's tap reaches.
  struct EdgeChunk {
    mlir::Value chunk; ///< Of its plane.
    mlir::Value bytes; ///< From the first image's plane to it.
    /// In the walk; one that the walk does not have if no chunk sees it.
    mlir::Value number;
  };

  EdgeChunk findEdgeChunk(mlir::Value shift);
  void loadEdges(const EdgeChunk &edge, const GlobalBuffer &whole);
  void fillTable(const EdgeChunk &edge, mlir::ValueRange tap, int64_t threads,
                 mlir::Value thread);
  mlir::Value emitSelectors(mlir::Value chunk, mlir::ValueRange tap,
                            mlir::Value isEdge);
  int64_t countChunks() const { return walk.inner / lds.getChunkElements(); }
  unsigned getFirstWord() const;

  mlir::Value table;      ///< Null if no pixel but behind a plane is left out.
  int64_t imageBytes = 0; ///< From an image to the next.
  mlir::Value edgeNumber; ///< EdgeChunk::number.
  llvm::SmallVector<mlir::Value> edges; ///< Of each pass: the words of a chunk.
  /// Of the current step: an index into the table, or, without one, what words
  /// that may be behind the plane are masked with; null if none is.
  mlir::Value entry, mask;
  /// Those of the step, and of each that was loaded from there: loads of two
  /// steps may alternate.
  mlir::Value step;
  llvm::SmallDenseMap<mlir::Value, mlir::Value> selectors;
};

} // namespace tessera

#endif // TESSERA_COMPILER_CONVERSION_COOPERATIVE_PLANECOPY_H
