//===- FragmentSource.h - Where fragments lie in LDS -----------*- C++ -*--===//
//
// A matrix instruction takes chunks of 16 bytes of rows; how those rows lie in
// LDS is the business of whoever brought them there.
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_COMPILER_CONVERSION_COOPERATIVE_FRAGMENTSOURCE_H
#define TESSERA_COMPILER_CONVERSION_COOPERATIVE_FRAGMENTSOURCE_H

#include "compiler/Conversion/Common/Emitter.h"

namespace tessera {

/// What a lane reads of one side of a product.
struct FragmentPlace {
  int64_t rows;         ///< Of one instruction tile.
  int64_t count;        ///< Instruction tiles of the wave along this side.
  mlir::Value firstRow; ///< Of the wave, within the workgroup's tile.
  mlir::Value laneRow;  ///< Of the lane, within an instruction tile.
  /// What is read of an instruction tile, at rows `partStep` apart.
  int64_t splits;
  int64_t partStep;
  /// Which of the chunks that the lanes of a row share: see getChunk().
  mlir::Value laneChunk;
  int64_t laneChunks;
  int64_t reads;
  mlir::Type elementType;

  /// The row of part `part` of tile `index`, from the lane's first.
  int64_t getRow(int64_t index, int64_t part) const {
    return index * rows + part * partStep;
  }
  /// The chunk of read `t` of fragment `q`, of the lanes with chunk `lane`.
  int64_t getChunk(int64_t q, int64_t t, int64_t lane = 0) const {
    return (q * laneChunks + lane) * reads + t;
  }
};

class FragmentSource {
public:
  virtual ~FragmentSource() = default;

  /// Read `t` of fragment `q` of part `part` of instruction tile `index`: 16
  /// bytes.
  virtual mlir::Value read(int64_t index, int64_t part, int64_t q, int64_t t,
                           mlir::Value buffer) = 0;
};

} // namespace tessera

#endif // TESSERA_COMPILER_CONVERSION_COOPERATIVE_FRAGMENTSOURCE_H
