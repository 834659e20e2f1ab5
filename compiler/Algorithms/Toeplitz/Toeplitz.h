//===- Toeplitz.h - Depthwise convolutions by matrix products --*- C++ -*--===//
//
// What the files of this algorithm share: the tile, the layout of the pixels of
// a channel in LDS, and the coordinates of a thread
// (docs/design/0014-depthwise-mma.md).
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_COMPILER_ALGORITHMS_TOEPLITZ_TOEPLITZ_H
#define TESSERA_COMPILER_ALGORITHMS_TOEPLITZ_TOEPLITZ_H

#include "compiler/Algorithms/Algorithm.h"
#include "compiler/Algorithms/Common/ConvProgram.h"
#include "runtime/Base/ErrorOr.h"
#include "runtime/Base/TileConfig.h"

#include <array>

namespace tessera {

/// The columns of a block. Forward and backward data: the columns of results of
/// one matrix instruction. Backward weights: columns of gradients, which are
/// half of the instruction's reduction.
inline constexpr int64_t kBlockColumns = 8;
/// The source columns that a block reads, and the blocks of an instruction.
/// These are the instruction's reduction and its rows.
inline constexpr int64_t kWindowColumns = 16, kWindows = 16;
/// The channels in 16 bytes of a pixel.
inline constexpr int64_t kOctet = 8;
/// The elements of a word, which is a register of an instruction.
inline constexpr int64_t kPair = 2;

/// The most rows of a band, each of which has four accumulators in registers.
inline constexpr int64_t kMaxRows = 14;
inline constexpr int64_t kMaxThreads = 512, kMaxIterations = 1024;

/// A tile, whose text is "toeplitz-c16b4r7q4t256" or
/// "toeplitz-c32b2r7q7t512n12s1", or "toeplitz-c32b4r4q4t512s2w22" where sizes
/// are unknown. For backward weights with boxes a tile is a
/// strip, the rows of x that a workgroup processes at a time as it walks down
/// an image. Plain data.
struct ToeplitzTile {
  int64_t channels = 16; ///< The channels of a workgroup, a multiple of 8.
  int64_t bands = 1;     ///< Bands of rows, one below the other.
  int64_t rows = 1;      ///< The rows of a band (backward weights: of x).
  int64_t blocks = 1;    ///< Blocks of columns, side by side.
  int64_t threads = 128;
  int64_t iterations = 1; ///< Tiles of a workgroup, one after another.
  int64_t stages = 0; ///< Stages that TMA copies fill; 0: per-thread copies.
  /// Workgroups of the same channels, which share the tiles evenly, however
  /// many there are; 0: as many as `iterations` leaves.
  int64_t workgroups = 0;

  int64_t countRows() const { return bands * rows; }
  int64_t countColumns() const { return blocks * kBlockColumns; }
  int64_t countOctets() const { return channels / kOctet; }

  TileConfig toConfig() const;
};

/// Reads what ToeplitzTile::toConfig() writes.
ErrorOr<ToeplitzTile> parseToeplitzTile(const TileConfig &config);

/// The layout in LDS of the pixels of a channel, as rows of words. Plain data.
struct ToeplitzPlane {
  int64_t rows, rowWords;
  int64_t columns;   ///< The words of a row that are loaded.
  int64_t words = 0; ///< The distance from one channel's plane to the next.
  /// After the `bandRows` rows of a band is a gap of `bandGap` words, so that
  /// lanes which read windows of several bands access different banks.
  int64_t bandRows = 1, bandGap = 0;

  void setBand(const ToeplitzTile &tile);
  int64_t getBandWords() const { return bandRows * rowWords + bandGap; }
  /// The first word of row `row`.
  int64_t getRowWord(int64_t row) const {
    return row * rowWords + row / bandRows * bandGap;
  }
  /// Sets `words` to at least `least`, such that lanes which store the octets
  /// of a pixel and of its neighbours access different banks.
  void setWords(int64_t least, const ToeplitzTile &tile);
};

/// The planes of forward and backward data, whose words are two neighbouring
/// pixels. Results overwrite the source. The results of windows that do not
/// exist are stored after the others.
struct ToeplitzDataPlanes {
  ToeplitzDataPlanes(const ToeplitzTile &tile, int64_t filterRows);

  /// The bytes of all channels, with the boxes of all stages and of the result.
  int64_t countBytes(const ToeplitzTile &tile) const;

  ToeplitzPlane source, result;
};

/// The planes of backward weights, whose words are a pixel of two images. Plain
/// data.
struct ToeplitzWeightsPlanes {
  ToeplitzWeightsPlanes(const ToeplitzTile &tile, int64_t filterRows);

  ToeplitzPlane x, y;
  int64_t depth; ///< The rows of gradients that two rows of x meet.
};

/// The planes of a strip of backward weights with boxes, whose words are a
/// pixel of two images. The rows of gradients that a strip shares with the one
/// before it stay in LDS, in a circular buffer of rows.
struct ToeplitzStripPlanes {
  ToeplitzStripPlanes(const ToeplitzTile &tile, int64_t filterRows);

  /// The bytes of all channels: of the boxes, and of boxes and planes.
  int64_t countBoxBytes(const ToeplitzTile &tile) const;
  int64_t countBytes(const ToeplitzTile &tile) const;
  /// The period of the swizzle: so many consecutive pixels of a box have their
  /// first channels in different banks.
  static constexpr int64_t kPeriod = 8;
  /// The layout of an image in a box of two images, as rows of a plane. The
  /// second image begins after `words`. As many columns are copied as make
  /// `words` half a period more than a multiple of it, so that four pixels of
  /// either image are in different banks. This needs rows that are no multiple
  /// of the period.
  static ToeplitzPlane getBox(const ToeplitzPlane &plane);

  /// Rows and columns are those of a strip, words those of the circular buffer.
  ToeplitzPlane x, y;
  int64_t depth;      ///< The rows of gradients that two rows of x meet.
  int64_t bufferRows; ///< The rows of the buffer, a multiple of a strip's rows.
};

/// The strips of backward weights with boxes. The rows of gradients of a strip
/// are those that the filter's first row reaches and the strips above have not
/// copied.
struct ToeplitzStrips {
  ToeplitzStrips(const ToeplitzTile &tile, int64_t filterRows, int64_t padRows);

  /// The strips before an image's first row of x that copy only gradients.
  int64_t above;
  /// The strips before a workgroup's first strip that copy only gradients.
  int64_t lead;
};

/// The coordinates of a thread and of the tile that it works on.
class ToeplitzFrame {
public:
  ToeplitzFrame(PointBuilder &p, const ToeplitzTile &tile) : p(p), tile(tile) {}

  /// Makes the point program whose tiles cover these images, rows, columns and
  /// channels.
  void makePoint(const Size &images, const Size &rows, const Size &columns,
                 int64_t channels);
  /// Sets the coordinates to the tile of an iteration. Past the last tile the
  /// image is out of bounds.
  void setTile(mlir::Value iteration);
  /// What a thread moves at a time: eight channels of a word.
  struct Task {
    mlir::Value octet, row, column; ///< The column is in words.
    mlir::Value word;               ///< The offset in the plane.
  };
  int64_t countTasks(const ToeplitzPlane &plane) const;
  /// The thread's task of an iteration. Past the last task it is the last one
  /// again.
  Task makeTask(int64_t iteration, const ToeplitzPlane &plane) const;
  /// The first of a task's eight channels in the tensor, and the plane of
  /// channel i of the eight. Neighbouring planes belong to different octets.
  mlir::Value getFirstChannel(const Task &task) const;
  mlir::Value getPlane(const Task &task, int64_t i) const;
  /// The channel of the tensor that `plane` has.
  mlir::Value getChannel(mlir::Value plane) const;

  /// Loads the two elements of a task's words, each of eight channels.
  using Load = llvm::function_ref<std::array<mlir::Value, kPair>(const Task &)>;
  /// Loads pixel (h, w) of a tensor in two images.
  std::array<mlir::Value, kPair> loadPair(const ConvTensor &tensor,
                                          const Task &task, mlir::Value h,
                                          mlir::Value w) const;
  /// Load what all of the thread's tasks load to registers of 16 bytes, and
  /// store it to planes.
  PointBuilder::Values load(const ToeplitzPlane &plane, Load load) const;
  void store(mlir::ValueRange loaded, mlir::Type element, mlir::Value planes,
             const ToeplitzPlane &plane) const;
  /// What to do with each tile. `store` gets what `load` has loaded when no
  /// thread reads LDS. Then all threads run `body`, which maps the carried
  /// values to the next ones, while the loads of the next tile are in flight.
  struct Steps {
    llvm::function_ref<PointBuilder::Values()> load;
    llvm::function_ref<void(mlir::ValueRange loaded)> store;
    llvm::function_ref<PointBuilder::Values(mlir::ValueRange carried)> body;
  };
  PointBuilder::Values forEachTile(mlir::ValueRange init, const Steps &steps);

  int64_t countWarps() const;
  /// Workgroups of the same channels, and the tiles of each.
  Size countSplits() const { return splits; }
  Size countIterations() const { return iterations; }

  /// The number of the workgroup among those that have the same channels.
  mlir::Value split;
  mlir::Value firstChannel;
  mlir::Value thread, warp, lane;
  mlir::Value quad, inQuad; ///< The four lanes of a quad hold a fragment's row.
  mlir::Value image, firstRow, firstColumn; ///< Where the tile begins.

private:
  PointBuilder &p;
  const ToeplitzTile &tile;
  Size splits = 0, iterations = 0;
  Size rowTiles = 0, columnTiles = 0; ///< Of an image.
};

/// The products of forward and backward data, which replace the pixels in a
/// channel's plane by results.
class ToeplitzProducts {
public:
  ToeplitzProducts(PointBuilder &p, const ConvProgram &program,
                   const ToeplitzTile &tile, const ToeplitzFrame &frame);

  /// Makes `planes`, and loads the filters of the warp's channels.
  void begin();
  /// Replaces the pixels of the warp's channels by the results.
  void multiply();
  int64_t getPad(int64_t dim) const {
    return isForward ? program.pads[dim]
                     : program.filter[dim] - 1 - program.pads[dim];
  }

  const bool isForward;
  const ConvTensor &source;
  const ConvTensor &result;
  const ToeplitzDataPlanes shape;
  mlir::Value planes; ///< The planes in LDS.

private:
  PointBuilder::Values loadFilter(mlir::Value plane);
  void locateWindows();
  void multiplyPlane(mlir::Value plane, mlir::ArrayRef<mlir::Value> filter);

  PointBuilder &p;
  const ConvProgram &program;
  const ToeplitzTile &tile;
  const ToeplitzFrame &frame;
  mlir::Value firstPlane; ///< The first plane of the warp's channels.
  llvm::SmallVector<PointBuilder::Values> filters;
  mlir::Value window; ///< The word of a plane at which the lane's row begins.
  mlir::Value results[2]; ///< The words of the results of its two windows.
};

/// The gradients of all taps of the warp's channels, as accumulators in
/// registers.
class ToeplitzTaps {
public:
  /// `depth` is the number of rows of gradients that two rows of x meet.
  ToeplitzTaps(PointBuilder &p, const ConvProgram &program,
               const ToeplitzTile &tile, const ToeplitzFrame &frame,
               int64_t depth)
      : p(p), program(program), tile(tile), frame(frame), depth(depth) {}

  /// To be called once the frame's makePoint() was.
  void begin();
  /// Makes accumulators that are zero: two rows of each channel's product.
  PointBuilder::Values makeRows() const;
  /// Adds to the accumulators of each of the warp's channels.
  using Add = llvm::function_ref<mlir::Value(mlir::Value plane,
                                             mlir::Value accumulator)>;
  PointBuilder::Values addToRows(mlir::ValueRange rows, Add add) const;
  /// Adds the products of two rows of x and the gradients that meet them. `y`
  /// and `x` give fragment `i` of a row, which has four columns.
  using Columns = llvm::function_ref<mlir::Value(int64_t i)>;
  mlir::Value addPair(Columns y, Columns x, mlir::Value accumulator) const;
  /// How far above the last row of gradients that of row `number` of a product
  /// is.
  mlir::Value getRowsAbove(mlir::Value number) const;
  /// The word of a plane at which the lane's fragments of two rows of x begin.
  mlir::Value getWordOfX(const ToeplitzPlane &plane) const;
  /// Stores the warp's split of the gradients to `partials`.
  void store(mlir::Value partials, mlir::ValueRange rows) const;

private:
  PointBuilder &p;
  const ConvProgram &program;
  const ToeplitzTile &tile;
  const ToeplitzFrame &frame;
  const int64_t depth;
  mlir::Value firstPlane; ///< The first plane of the warp's channels.
  /// The row (of two) and the tap of column `quad` of the operand that is x.
  mlir::Value below, column;
};

/// Replace the convolution by its program.
void buildToeplitzData(const ConvProgram &program, const ToeplitzTile &tile);
void buildToeplitzBoxes(const ConvProgram &program, const ToeplitzTile &tile);
void buildToeplitzWeights(const ConvProgram &program, const ToeplitzTile &tile);
/// Emits backward weights with boxes before the convolution. `partials` is its
/// workspace.
void emitToeplitzWeightBoxes(PointBuilder &p, const ConvProgram &program,
                             const ToeplitzTile &tile, mlir::Value partials);

/// The constants of the cost model; ToeplitzRates.def describes them.
struct ToeplitzRates {
#define TOEPLITZ_RATE(NAME, VALUE, MEANING) double NAME = VALUE;
#include "compiler/Algorithms/Toeplitz/ToeplitzRates.def"
};
inline constexpr ToeplitzRates kToeplitzRates;

/// The candidates for a problem that "toeplitz" supports, in an order that does
/// not depend on the rates.
std::vector<Candidate>
getToeplitzCandidates(const ConvProblem &problem, const GpuTarget &target,
                      const ToeplitzRates &rates = kToeplitzRates);

} // namespace tessera

#endif // TESSERA_COMPILER_ALGORITHMS_TOEPLITZ_TOEPLITZ_H
