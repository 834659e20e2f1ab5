//===- Toeplitz.h - Depthwise convolutions by matrix products --*- C++ -*-===//
//
// What the files of this algorithm share: the tile, how channels' pixels lie in
// LDS, and who a thread is (docs/design/0014-depthwise-mma.md).
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_COMPILER_ALGORITHMS_TOEPLITZ_H
#define TESSERA_COMPILER_ALGORITHMS_TOEPLITZ_H

#include "compiler/Algorithms/Algorithm.h"
#include "compiler/Algorithms/Common/ConvProgram.h"
#include "runtime/Base/ErrorOr.h"
#include "runtime/Base/TileConfig.h"

#include <array>

namespace tessera {

/// Columns of a block: of results those of one matrix instruction; backward
/// weights, of gradients, half its reduction.
inline constexpr int64_t kBlockColumns = 8;
/// Source columns that a block sees, and blocks of an instruction: the
/// instruction's reduction and rows.
inline constexpr int64_t kWindowColumns = 16, kWindows = 16;
/// Channels that are 16 bytes of a pixel.
inline constexpr int64_t kOctet = 8;
/// Elements of a word: of a register of an instruction.
inline constexpr int64_t kPair = 2;

/// "toeplitz-c16b4r7q4t256", or "toeplitz-c32b2r7q7t512n12s1". Backward weights
/// with boxes: a tile is a strip, the rows of x that a workgroup takes at a
/// time as it walks down an image. Plain data.
struct ToeplitzTile {
  int64_t channels = 16; ///< Of a workgroup: a multiple of 8.
  int64_t bands = 1;     ///< Of rows, one below the other; and of these
  int64_t rows = 1;      ///< (backward weights: of x) each has so many.
  int64_t blocks = 1;    ///< Of columns, side by side.
  int64_t threads = 128;
  int64_t turns = 1;  ///< Tiles of a workgroup, one after the other.
  int64_t stages = 0; ///< Tiles that come as boxes ahead of time; 0: none.

  int64_t countRows() const { return bands * rows; }
  int64_t countColumns() const { return blocks * kBlockColumns; }
  int64_t countOctets() const { return channels / kOctet; }

  TileConfig toConfig() const;
};

/// Reads what ToeplitzTile::toConfig() writes.
ErrorOr<ToeplitzTile> parseToeplitzTile(const TileConfig &config);

/// A channel's pixels in LDS: rows of words. Plain data.
struct ToeplitzPlane {
  int64_t rows, rowWords;
  int64_t columns;   ///< Words of a row that are loaded.
  int64_t words = 0; ///< From one channel's to the next one's.
  /// So many rows, of a band, have so many words behind them, that lanes which
  /// read windows of several bands find them in different banks.
  int64_t bandRows = 1, bandGap = 0;

  void setBand(const ToeplitzTile &tile);
  int64_t getBandWords() const { return bandRows * rowWords + bandGap; }
  /// The first word of row `row`.
  int64_t getRowWord(int64_t row) const {
    return row * rowWords + row / bandRows * bandGap;
  }
  /// Makes room for `least` words, so that lanes which have the octets of a
  /// pixel, and of its neighbours, store to different banks.
  void setWords(int64_t least, const ToeplitzTile &tile);
};

/// The planes of forward and backward data: a word is two neighbours. Results
/// take the place of the source; results that are none are left behind them.
struct ToeplitzDataPlanes {
  ToeplitzDataPlanes(const ToeplitzTile &tile, int64_t filterRows);

  /// Of all channels; with the boxes of tiles that come and of one that leaves.
  int64_t countBytes(const ToeplitzTile &tile) const;

  ToeplitzPlane source, result;
};

/// Those of backward weights: a word is a pixel of two images. Plain data.
struct ToeplitzWeightsPlanes {
  ToeplitzWeightsPlanes(const ToeplitzTile &tile, int64_t filterRows);

  ToeplitzPlane x, y;
  int64_t depth; ///< Rows of gradients that two rows of x meet.
};

/// Those of backward weights with boxes, of a strip: a word is a pixel of two
/// images. The rows of gradients that a strip shares with the last one stay in
/// LDS, which has them as a ring.
struct ToeplitzStripPlanes {
  ToeplitzStripPlanes(const ToeplitzTile &tile, int64_t filterRows);

  /// Of all channels: of boxes of strips that come; with planes.
  int64_t countBoxBytes(const ToeplitzTile &tile) const;
  int64_t countBytes(const ToeplitzTile &tile) const;
  /// Pixels of a box whose first channels lie in as many different banks.
  static constexpr int64_t kPeriod = 8;
  /// The pixels of an image in a box of two, as rows of a plane; the second
  /// image begins behind `words`. So many columns are copied that this is half
  /// a period more than whole ones, and four pixels of either image are in
  /// different banks. The rows are no multiple of the period.
  static ToeplitzPlane getBox(const ToeplitzPlane &plane);

  ToeplitzPlane x, y; ///< Rows and columns of a strip, words of the ring.
  int64_t depth;      ///< Rows of gradients that two rows of x meet.
  int64_t ringRows;   ///< A multiple of a strip's.
};

/// The strips of backward weights with boxes. Their rows of gradients are those
/// that the filter's first row adds to what the strips above have brought.
struct ToeplitzStrips {
  ToeplitzStrips(const ToeplitzTile &tile, int64_t filterRows, int64_t padRows);

  int64_t above; ///< Strips in front of an image's first row of x,
  int64_t lead;  ///< and of a workgroup's first one, that bring gradients.
};

/// Who the thread is, and on which tile it works.
class ToeplitzFrame {
public:
  ToeplitzFrame(PointBuilder &p, const ToeplitzTile &tile) : p(p), tile(tile) {}

  /// Makes the point program for so many tiles of `images`, rows and columns,
  /// and of channels.
  void makePoint(int64_t images, int64_t rows, int64_t columns,
                 int64_t channels);
  /// Finds the tile of turn `turn`. Behind the last, the image is outside.
  void setTile(mlir::Value turn);
  /// What a thread moves at a time: eight channels of a word.
  struct Task {
    mlir::Value octet, row, column; ///< Column in words.
    mlir::Value word;               ///< In the plane.
  };
  int64_t countTasks(const ToeplitzPlane &plane) const;
  /// The thread's task of `turn`. Behind the last one that is done once more.
  Task makeTask(int64_t turn, const ToeplitzPlane &plane) const;
  /// The first of the eight, of the tensor; its plane, and that of channel i of
  /// the eight. Neighbouring planes are those of other octets.
  mlir::Value getFirstChannel(const Task &task) const;
  mlir::Value getPlane(const Task &task, int64_t i) const;
  /// The channel, of the tensor, whose plane is at `place`.
  mlir::Value getChannel(mlir::Value place) const;

  /// The two elements of a task's words, each of eight channels.
  using Load = llvm::function_ref<std::array<mlir::Value, kPair>(const Task &)>;
  /// Of a tensor's pixel (h, w), those of two images.
  std::array<mlir::Value, kPair> loadPair(const ConvTensor &tensor,
                                          const Task &task, mlir::Value h,
                                          mlir::Value w) const;
  /// All that the thread's tasks load, in registers of 16 bytes; and what
  /// stores it to planes.
  PointBuilder::Values load(const ToeplitzPlane &plane, Load load) const;
  void store(mlir::ValueRange loaded, mlir::Type element, mlir::Value planes,
             const ToeplitzPlane &plane) const;
  /// What to do with each tile. What `load` has loaded is handed to `put` when
  /// no thread reads LDS, then all threads run `body`, which maps carried
  /// values to the next ones, while the next tile is under way.
  struct Steps {
    llvm::function_ref<PointBuilder::Values()> load;
    llvm::function_ref<void(mlir::ValueRange loaded)> put;
    llvm::function_ref<PointBuilder::Values(mlir::ValueRange carried)> body;
  };
  PointBuilder::Values forEachTile(mlir::ValueRange init, const Steps &steps);

  int64_t countWarps() const;
  int64_t countParts() const;

  mlir::Value part; ///< Of the workgroups that have the same channels.
  mlir::Value firstChannel;
  mlir::Value thread, warp, lane;
  mlir::Value quad, inQuad; ///< Four lanes hold a row of a fragment.
  mlir::Value image, firstRow, firstColumn; ///< Of the tile.

private:
  PointBuilder &p;
  const ToeplitzTile &tile;
  int64_t images = 0, rowTiles = 0, columnTiles = 0;
};

/// The products of forward and backward data: from a channel's plane, into it.
class ToeplitzProducts {
public:
  ToeplitzProducts(PointBuilder &p, const ConvProgram &program,
                   const ToeplitzTile &tile, const ToeplitzFrame &frame);

  /// Makes `planes`, and loads the filters of the warp's channels.
  void begin();
  /// Replaces the source of the warp's channels by the results.
  void multiply();
  int64_t getPad(int64_t dim) const {
    return isForward ? program.pads[dim]
                     : program.filter[dim] - 1 - program.pads[dim];
  }

  const bool isForward;
  const ConvTensor &source;
  const ConvTensor &result;
  const ToeplitzDataPlanes shape;
  mlir::Value planes; ///< In LDS.

private:
  PointBuilder::Values loadFilter(mlir::Value place);
  void locateWindows();
  void multiplyPlane(mlir::Value place, mlir::ArrayRef<mlir::Value> filter);

  PointBuilder &p;
  const ConvProgram &program;
  const ToeplitzTile &tile;
  const ToeplitzFrame &frame;
  mlir::Value firstPlace; ///< Of the warp's channels.
  llvm::SmallVector<PointBuilder::Values> filters;
  mlir::Value window;     ///< The word of a plane where the lane's row begins,
  mlir::Value results[2]; ///< and those of its two windows' results.
};

/// The gradients of all taps of the warp's channels, as sums in registers.
class ToeplitzTaps {
public:
  /// `depth`: rows of gradients that two rows of x meet.
  ToeplitzTaps(PointBuilder &p, const ConvProgram &program,
               const ToeplitzTile &tile, const ToeplitzFrame &frame,
               int64_t depth)
      : p(p), program(program), tile(tile), frame(frame), depth(depth) {}

  /// The frame has its threads.
  void begin();
  /// None yet: two rows of each channel's product.
  PointBuilder::Values makeRows() const;
  /// Adds to the sums of each channel, whose planes are at `place`.
  using Add =
      llvm::function_ref<mlir::Value(mlir::Value place, mlir::Value sum)>;
  PointBuilder::Values addToRows(mlir::ValueRange rows, Add add) const;
  /// Adds two rows of x times the gradients that meet them: `y` and `x` give
  /// the fragments of four columns, the `i`th of a row.
  using Columns = llvm::function_ref<mlir::Value(int64_t i)>;
  mlir::Value addPair(Columns y, Columns x, mlir::Value sum) const;
  /// Of the row `number` of a product, how many rows of gradients above the
  /// last it has.
  mlir::Value getRowsAbove(mlir::Value number) const;
  /// Where the lane's fragments of two rows of x begin in a plane.
  mlir::Value getWordOfX(const ToeplitzPlane &plane) const;
  void store(mlir::Value parts, mlir::ValueRange rows) const;

private:
  PointBuilder &p;
  const ConvProgram &program;
  const ToeplitzTile &tile;
  const ToeplitzFrame &frame;
  const int64_t depth;
  mlir::Value firstPlace;    ///< Of the warp's channels.
  mlir::Value below, column; ///< Of column `quad` of x: row of two, and tap.
};

/// Replace the convolution by its program.
void buildToeplitzData(const ConvProgram &program, const ToeplitzTile &tile);
void buildToeplitzBoxes(const ConvProgram &program, const ToeplitzTile &tile);
void buildToeplitzWeights(const ConvProgram &program, const ToeplitzTile &tile);
/// In front of the convolution, whose workspace has `parts`.
void emitToeplitzWeightBoxes(PointBuilder &p, const ConvProgram &program,
                             const ToeplitzTile &tile, mlir::Value parts);

/// ToeplitzRates.def says what each is.
struct ToeplitzRates {
#define TOEPLITZ_RATE(NAME, VALUE, MEANING) double NAME = VALUE;
#include "compiler/Algorithms/Toeplitz/ToeplitzRates.def"
};
inline constexpr ToeplitzRates kToeplitzRates;

/// The candidates of a problem that "toeplitz" takes, in an order that does not
/// depend on the rates.
std::vector<Candidate>
getToeplitzCandidates(const ConvProblem &problem, const GpuTarget &target,
                      const ToeplitzRates &rates = kToeplitzRates);

} // namespace tessera

#endif // TESSERA_COMPILER_ALGORITHMS_TOEPLITZ_H
