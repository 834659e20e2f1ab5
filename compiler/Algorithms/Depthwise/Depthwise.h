//===- Depthwise.h - Convolutions of few channels a group ------*- C++ -*--===//

#ifndef TESSERA_COMPILER_ALGORITHMS_DEPTHWISE_DEPTHWISE_H
#define TESSERA_COMPILER_ALGORITHMS_DEPTHWISE_DEPTHWISE_H

#include "compiler/Algorithms/Algorithm.h"
#include "compiler/Algorithms/Common/ConvProgram.h"
#include "compiler/Algorithms/Common/WindowBlock.h"
#include "runtime/Base/ErrorOr.h"
#include "runtime/Base/TileConfig.h"

namespace tessera {

/// A tile, whose text is "depthwise-g8p2q4t256s1" or
/// "depthwise-g2p1q4t128s448n28r4". Plain data.
struct DepthwiseTile {
  int64_t groups = 1; ///< The neighbouring groups of a thread.
  /// The size of a block of results (backward weights: of gradients).
  int64_t rows = 1, columns = 1;
  int64_t threads = 256;
  /// Backward weights: the splits of the reduction.
  int64_t splits = 1;
  /// Backward weights: how many splits a workgroup adds before it stores.
  int64_t summed = 1;
  int64_t tapSplits = 1;  ///< Threads among which a filter's rows are divided.
  int64_t iterations = 1; ///< Blocks, one below the other, that a thread walks.
  /// Workgroups of a compute unit among which its registers are divided. With 0
  /// the assembler decides, which saves registers and therefore loads late.
  int64_t resident = 0;
  /// Backward weights: the stages of boxes of rows that TMA copies to LDS. A
  /// workgroup's `summed` splits share each box. With 0, threads load by
  /// themselves.
  int64_t stages = 0;
  /// Backward weights: whether a block loads what the next one needs.
  bool loadsAhead = false;
  /// Backward weights: whether loads are evicted first from caches.
  bool isStreamed = false;
  /// Forward and backward data: whether the threads of a workgroup load their
  /// filters together, through LDS.
  bool sharesFilters = false;

  /// The most filter elements that a thread keeps in registers beside its
  /// accumulators and data.
  static constexpr int64_t kMaxFilter = 128;
  /// The most products of a thread for one source channel, which are unrolled.
  static constexpr int64_t kMaxProducts = 2401;
  /// The bytes of LDS through which a workgroup adds its splits.
  static constexpr int64_t kReductionBytes = 32768;
  /// The most blocks that a thread walks.
  static constexpr int64_t kMaxIterations = 1024;

  /// The partial results that the second launch adds.
  int64_t getSplitBlocks() const { return (splits + summed - 1) / summed; }

  /// Whether LDS has space for `summed` accumulators of each thread of a
  /// workgroup, the fewest of one pass of the reduction.
  bool canSum() const {
    constexpr int64_t kBytes = 4;
    return summed == 1 || summed * threads * groups * kBytes <= kReductionBytes;
  }

  /// Whether LDS has space for `bytes` of each thread of a workgroup, and these
  /// are whole dwords.
  bool canShare(int64_t bytes) const {
    constexpr int64_t kBytes = 32768;
    return bytes % 4 == 0 && bytes * threads <= kBytes;
  }

  TileConfig toConfig() const;
};

/// Reads what DepthwiseTile::toConfig() writes.
ErrorOr<DepthwiseTile> parseDepthwiseTile(const TileConfig &config);

/// The elements of the filters of a thread's groups, which are contiguous.
class GroupFilter {
public:
  /// Loads the filters of the groups from `groupBlock` * tile.groups on. If
  /// `thread` is not null, all threads of the workgroup get here and load their
  /// filters together: `thread` is the number of the thread in its workgroup,
  /// and neighbouring threads have neighbouring blocks of groups, where the
  /// first block follows the last. If it is null, each thread loads its own.
  GroupFilter(PointBuilder &p, const ConvProgram &program,
              const DepthwiseTile &tile, mlir::Value flatFilter,
              mlir::Value groupBlock, mlir::Value thread);

  /// The element of output channel `output`, counted from the first channel of
  /// the first group, and of input channel `input` of that channel's group.
  mlir::Value get(int64_t output, int64_t input, int64_t row,
                  int64_t column) const;

private:
  PointBuilder::Values elements;
  bool channelsFirst;
  int64_t inputs, rows, columns;
};

/// Sets the attribute that requests the tile's registers. The builder stands in
/// the body of a point program.
void setResident(PointBuilder &p, const DepthwiseTile &tile);

/// The rows that a block of backward weights reads: the rows of x are the
/// results of a backward window, whose sources are rows of gradients. A block
/// is as many rows of x as have tile.rows rows of gradients that no earlier
/// block reads.
WindowBlock getWeightsRows(const ConvProgram &program,
                           const DepthwiseTile &tile);
/// The columns that a block of backward weights reads: the columns of y are the
/// results of a forward window, whose sources are columns of x.
WindowBlock getWeightsColumns(const ConvProgram &program,
                              const DepthwiseTile &tile);

/// How backward weights divides the images. A strip is as wide as the block of
/// columns of a thread, or with boxes of a workgroup, and as long as the blocks
/// that a thread walks. Plain data; what is unknown is computed where `p`
/// stands.
struct DepthwiseStrips {
  DepthwiseStrips(PointBuilder &p, const ConvProgram &program,
                  const DepthwiseTile &tile);

  Size columnBlocks;
  Size segments; ///< Strips of an image, one below the other.
  Size perStrip; ///< Blocks of rows of a strip.
  Size perSplit; ///< Strips of a split, or with boxes of a workgroup.
};

/// Replace the convolution by its program. PointBuilder describes
/// `isElementwise`.
void buildDepthwiseData(const ConvProgram &program, const DepthwiseTile &tile,
                        bool isElementwise);
void buildDepthwiseWeights(const ConvProgram &program,
                           const DepthwiseTile &tile, bool isElementwise);

/// The constants of the cost model; DepthwiseRates.def describes them.
struct DepthwiseRates {
  double memoryBytes, products, dataProducts;
};

DepthwiseRates getDepthwiseRates(const GpuTarget &target);

/// The tile for misaligned tensors. It has no boxes, and no more partial
/// results than the tile that it replaces, since it gets that tile's workspace.
DepthwiseTile chooseUnalignedTile(const ConvProblem &conv,
                                  const GpuTarget &target);
/// The tile for forward and backward data of unknown sizes, where elements of
/// channels first are loaded one by one: `tile` with a block that is no wider
/// than twice its height, as squares share more.
DepthwiseTile chooseOpenDataTile(const ConvProblem &sample, DepthwiseTile tile);

/// The tile for backward weights of unknown sizes: without boxes, and with more
/// splits than `sample` needs, as fewer images are walked in shorter strips.
DepthwiseTile chooseOpenWeightsTile(const ConvProblem &sample,
                                    const GpuTarget &target);

/// The candidates for a problem that "depthwise" supports.
std::vector<Candidate> getDepthwiseCandidates(const ConvProblem &problem,
                                              const GpuTarget &target,
                                              const DepthwiseRates &rates);

} // namespace tessera

#endif // TESSERA_COMPILER_ALGORITHMS_DEPTHWISE_DEPTHWISE_H
