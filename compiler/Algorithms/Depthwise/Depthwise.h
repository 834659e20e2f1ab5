//===- Depthwise.h - Convolutions of few channels a group ------*- C++ -*-===//

#ifndef TESSERA_COMPILER_ALGORITHMS_DEPTHWISE_H
#define TESSERA_COMPILER_ALGORITHMS_DEPTHWISE_H

#include "compiler/Algorithms/Algorithm.h"
#include "compiler/Algorithms/Common/ConvProgram.h"
#include "compiler/Algorithms/Common/WindowBlock.h"
#include "runtime/Base/ErrorOr.h"
#include "runtime/Base/TileConfig.h"

namespace tessera {

/// "depthwise-g8p2q4t256s1", or "depthwise-g2p1q4t128s448n28r4". Plain data.
struct DepthwiseTile {
  int64_t groups = 1;  ///< Neighbouring groups of a thread.
  int64_t rows = 1;    ///< Rows of a block of results (backward weights: of
  int64_t columns = 1; ///< gradients), and columns.
  int64_t threads = 256;
  int64_t parts = 1;    ///< Backward weights: parts of the sums,
  int64_t summed = 1;   ///< of which a workgroup sums so many.
  int64_t tapParts = 1; ///< Threads that share out a filter's rows.
  int64_t turns = 1;    ///< Blocks, one below the other, that a thread walks.
  /// Workgroups of a compute unit that may have its registers (0: as the
  /// assembler likes, which saves them and loads late).
  int64_t resident = 0;
  /// Backward weights: boxes of rows that are on their way to LDS, of which a
  /// workgroup's `summed` threads share each (0: threads load by themselves),
  int64_t stages = 0;
  /// whether a block loads what the next one needs,
  bool loadsAhead = false;
  /// and whether caches need not keep what is loaded.
  bool isStreamed = false;
  /// The others: whether a workgroup loads its filters together, to LDS.
  bool sharesFilters = false;

  /// Filter elements that a thread can keep beside its sums and data.
  static constexpr int64_t kMaxFilter = 128;
  /// Products of a thread for one source channel: what is written out.
  static constexpr int64_t kMaxProducts = 2401;
  /// Bytes of LDS that a workgroup's sums have at a time.
  static constexpr int64_t kSumBytes = 32768;
  /// Blocks that a thread walks.
  static constexpr int64_t kMaxTurns = 1024;

  /// Parts that a second launch sums.
  int64_t getPartBlocks() const { return (parts + summed - 1) / summed; }

  /// Whether LDS has room for as many sums of each of a workgroup's threads as
  /// it sums parts.
  bool canSum() const {
    constexpr int64_t kBytes = 4;
    return summed == 1 || summed * threads * groups * kBytes <= kSumBytes;
  }

  /// Whether LDS has room for what a workgroup's threads want, so many bytes
  /// each, and each finds whole dwords.
  bool canShare(int64_t bytes) const {
    constexpr int64_t kBytes = 32768;
    return bytes % 4 == 0 && bytes * threads <= kBytes;
  }

  TileConfig toConfig() const;
};

/// Reads what DepthwiseTile::toConfig() writes.
ErrorOr<DepthwiseTile> parseDepthwiseTile(const TileConfig &config);

/// The filter's elements for a thread's groups: they lie together.
class GroupFilter {
public:
  /// Loads those of the groups from `groupBlock` * tile.groups on. `thread`, in
  /// a workgroup that comes here as a whole and whose threads have neighbouring
  /// blocks of groups, the first behind the last: they load their filters
  /// together. Null where each loads its own.
  GroupFilter(PointBuilder &p, const ConvProgram &program,
              const DepthwiseTile &tile, mlir::Value flatFilter,
              mlir::Value groupBlock, mlir::Value thread);

  /// Which of them belongs to output channel `output`, counted from the first
  /// group's first; input channel `input` of its group; row, column.
  mlir::Value get(int64_t output, int64_t input, int64_t row,
                  int64_t column) const;

private:
  PointBuilder::Values elements;
  bool channelsFirst;
  int64_t inputs, rows, columns;
};

/// Asks for the tile's registers; the builder is in the points of a program.
void setResident(PointBuilder &p, const DepthwiseTile &tile);

/// What a thread of backward weights sees of the rows: each block's are rows of
/// x as results, of which tile.rows rows of gradients are the newest source.
WindowBlock getWeightsRows(const ConvProgram &program,
                           const DepthwiseTile &tile);
/// And of the columns: the block's are columns of y as results.
WindowBlock getWeightsColumns(const ConvProgram &program,
                              const DepthwiseTile &tile);

/// How backward weights shares the images out: strips as wide as a block of
/// columns, or all of a workgroup's, and as long as a thread's turns. Plain
/// data.
struct DepthwiseStrips {
  DepthwiseStrips(const ConvProgram &program, const DepthwiseTile &tile);

  int64_t columnBlocks;
  int64_t perStrip; ///< Blocks of rows.
  int64_t segments; ///< Strips, one below the other, of an image.
  int64_t perPart;  ///< Strips.

  /// The number of a block behind all rows of an image.
  int64_t getOutside() const { return segments * perStrip; }
};

/// Replace the convolution by its program. `isByLane`: see PointBuilder.
void buildDepthwiseData(const ConvProgram &program, const DepthwiseTile &tile,
                        bool isByLane);
void buildDepthwiseWeights(const ConvProgram &program,
                           const DepthwiseTile &tile, bool isByLane);

/// DepthwiseRates.def says what each is.
struct DepthwiseRates {
  double memoryBytes, products, dataProducts;
};

DepthwiseRates getDepthwiseRates(const GpuTarget &target);

/// The tile for tensors that begin at any element: without boxes, and with no
/// more parts than the tile in whose place, and workspace, it runs.
DepthwiseTile chooseUnalignedTile(const ConvProblem &conv,
                                  const GpuTarget &target);

/// The candidates of a problem that "depthwise" takes.
std::vector<Candidate> getDepthwiseCandidates(const ConvProblem &problem,
                                              const GpuTarget &target,
                                              const DepthwiseRates &rates);

} // namespace tessera

#endif // TESSERA_COMPILER_ALGORITHMS_DEPTHWISE_H
