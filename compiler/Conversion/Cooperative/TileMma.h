//===- TileMma.h - One wave's share of a tile product ----------*- C++ -*--===//
//
// A wave computes a grid of matrix-instruction tiles. The operand whose rows a
// lane keeps side by side in its accumulators is P: the output channels where
// the output is NHWC, the pixels where it is NCHW, so that a lane stores
// neighbours. Fragments are whole 16-byte chunks: one read feeds several
// instructions, because P and Q permute the reduction alike. Where a lane holds
// more than 16 bytes for one instruction, or several rows of its tile, a
// fragment is several chunks. Or they are parts of matrices that the lanes read
// together, where the chip can and the tile lies for it.
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_COMPILER_CONVERSION_COOPERATIVE_TILEMMA_H
#define TESSERA_COMPILER_CONVERSION_COOPERATIVE_TILEMMA_H

#include "compiler/Conversion/Cooperative/FragmentSource.h"
#include "compiler/Conversion/Cooperative/LdsTile.h"
#include "compiler/Target/MatrixInstruction.h"

#include <functional>
#include <memory>

namespace tessera {

/// One side of the product: which rows of which LDS tile a lane reads.
struct FragmentSide : FragmentPlace {
  LdsTile lds;
  std::unique_ptr<FragmentSource> source;
};

/// Makes the source of one side; tiles of LdsTile.h need none of their own.
using SourceFactory =
    std::function<std::unique_ptr<FragmentSource>(const FragmentPlace &)>;

class TileMma {
public:
  /// `waveRow` and `waveColumn` say which part of the tile the wave computes;
  /// P is the side of the `lanes` dimension. Of `m` and `n` that have a source
  /// of their own only the size counts.
  TileMma(Emitter &e, const MatrixInstruction &instruction, LdsTile m,
          LdsTile n, int64_t wavesM, int64_t wavesN, bool lanesAlongN,
          mlir::Value lane, mlir::Value waveM, mlir::Value waveN,
          mlir::Type elementType, const SourceFactory &makeSourceM = nullptr,
          const SourceFactory &makeSourceN = nullptr);

  const FragmentSide &getM() const { return m; }
  const FragmentSide &getN() const { return n; }
  bool hasLanesAlongN() const { return lanesAlongN; }
  const MatrixInstruction &getInstruction() const { return instruction; }

  /// Fragments that a lane reads one after the other for a whole step of tiles
  /// that lie so.
  static int64_t countChunkReads(const MatrixInstruction &instruction,
                                 const LdsTile &lds);
  int64_t getChunkReads() const { return chunkReads; }
  /// LDS reads of one fragment, of chips whose LDS operations are waited for by
  /// their number: a lane has one row.
  int64_t getReadsPerFragment() const { return readsPerFragment; }
  /// Instructions that one fragment feeds for each pair of fragments.
  int64_t getInstructionsPerChunk() const;
  mlir::Type getAccumulatorType() const;
  int64_t getAccumulators() const { return m.count * n.count; }
  /// Where register `reg` of fragment `index` along P lies, from the place of
  /// the lane's first.
  int64_t getPosition(int64_t index, int64_t reg) const {
    return index * instruction.rows +
           reg / instruction.accVector * instruction.accStride +
           reg % instruction.accVector;
  }
  mlir::Value makeZeroAccumulator();

  /// The sides of the lane's neighbouring sums, and the other one.
  const FragmentSide &getP() const { return lanesAlongN ? n : m; }
  const FragmentSide &getQ() const { return lanesAlongN ? m : n; }
  /// Where the lane's first sum lies, within the workgroup's tile.
  mlir::Value emitFirstOfP() const;
  mlir::Value emitFirstOfQ() const;
  /// Places along Q of which a lane has sums, and how far from its first.
  int64_t getPlacesOfQ() const { return getQ().count * instruction.qRows; }
  int64_t getPlaceOfQ(int64_t i) const {
    return i / instruction.qRows * instruction.columns +
           i % instruction.qRows * instruction.qStep;
  }
  /// The sums of instruction tile `j` along P at place `i` along Q.
  mlir::Type getSumsType() const;
  mlir::Value takeSums(llvm::ArrayRef<mlir::Value> accumulators, int64_t j,
                       int64_t i) const;

  /// Reads part `chunk` of the step of fragment `index` of side m (or n) from
  /// the LDS buffer.
  mlir::Value readFragment(bool isM, int64_t index, int64_t chunk,
                           mlir::Value buffer);

  /// The `part`-th instruction that the chunk feeds:
  /// accumulator + fragment of m times fragment of n.
  mlir::Value multiply(mlir::Value fragmentM, mlir::Value fragmentN,
                       mlir::Value accumulator, int64_t part);

private:
  mlir::Value multiplyFma(mlir::Value p, mlir::Value q, mlir::Value acc);
  mlir::Value multiplyBytes(mlir::Value p, mlir::Value q, mlir::Value acc);
  void placeChunks(FragmentPlace &place, bool isP);
  void placeMatrices(FragmentPlace &place, bool isP);
  mlir::Value takePart(mlir::Value fragment, bool isP, int64_t part);

  Emitter &e;
  MatrixInstruction instruction;
  mlir::Value lane;
  bool hasByteDot;
  bool lanesAlongN;
  mlir::Type elementType;
  int64_t laneChunks;
  int64_t readsPerFragment;
  int64_t chunkReads;
  FragmentSide m;
  FragmentSide n;
  /// What takePart() has made.
  llvm::DenseMap<std::pair<mlir::Value, int64_t>, mlir::Value> splits;
};

} // namespace tessera

#endif // TESSERA_COMPILER_CONVERSION_COOPERATIVE_TILEMMA_H
