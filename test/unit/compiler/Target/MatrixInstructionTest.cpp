//===- MatrixInstructionTest.cpp - Tests the table of instructions --------===//
//
// The tests need no NVIDIA GPU: mma.sync is emulated by the fragment tables of
// the PTX ISA, with operands that the lane maps of the table select.
//
//===----------------------------------------------------------------------===//

#include "compiler/Target/MatrixInstruction.h"

#include <gtest/gtest.h>
#include <random>
#include <vector>

using namespace tessera;

namespace {
constexpr int kLanes = 32;
constexpr int kRowsA = 16, kColumnsB = 8;

/// The registers of all lanes, with `perRegister` elements each.
struct Registers {
  Registers(int count, int perRegister)
      : perRegister(perRegister),
        values(kLanes, std::vector<int>(count * perRegister)) {}

  int perRegister;
  std::vector<std::vector<int>> values;
};
} // namespace

/// Computes d = a * b + d by the tables "Matrix fragments for mma.m16n8k16 with
/// floating point type" and "for mma.m16n8k32 with .s8". In both, a lane has
/// whole registers: of A the rows g and g + 8 of the first half of k and then
/// of the second half, of B column g of both halves, and of D the columns 2t
/// and 2t + 1 of both rows.
static void executeMma(const Registers &a, const Registers &b, int k,
                       std::vector<std::vector<int>> &d) {
  int width = a.perRegister;
  std::vector<std::vector<int>> matrixA(kRowsA, std::vector<int>(k));
  std::vector<std::vector<int>> matrixB(k, std::vector<int>(kColumnsB));
  for (int lane = 0; lane < kLanes; ++lane) {
    int g = lane / 4, t = lane % 4;
    for (int i = 0; i < 4 * width; ++i) {
      int row = i / width % 2 == 0 ? g : g + 8;
      matrixA[row][t * width + i % width + (i < 2 * width ? 0 : k / 2)] =
          a.values[lane][i];
    }
    for (int i = 0; i < 2 * width; ++i)
      matrixB[t * width + i % width + (i < width ? 0 : k / 2)][g] =
          b.values[lane][i];
  }
  for (int lane = 0; lane < kLanes; ++lane)
    for (int i = 0; i < 4; ++i) {
      int row = i < 2 ? lane / 4 : lane / 4 + 8, column = lane % 4 * 2 + i % 2;
      for (int j = 0; j < k; ++j)
        d[lane][i] += matrixA[row][j] * matrixB[j][column];
    }
}

using Matrix = std::vector<std::vector<int>>;

/// Adds the products of all mma.sync instructions that an entry of the table
/// stands for. Their operands are the registers `b`, two for each of a lane's
/// rows of P, and `a`.
static void multiplyEntry(const MatrixInstruction &entry, const Registers &a,
                          const Registers &b, Matrix &accumulators) {
  int width = a.perRegister;
  // The columns of one mma.sync are every pRows-th row of P if a lane's rows
  // are neighbours, else consecutive rows.
  bool isInterleaved = entry.pStep == 1;
  for (int part = 0; part < entry.pRows; ++part) {
    int first = isInterleaved ? part : part * entry.accVector;
    int distance = isInterleaved ? entry.pRows : 1;
    Registers own(2, width);
    Matrix d(kLanes, std::vector<int>(4));
    for (int lane = 0; lane < kLanes; ++lane)
      for (int i = 0; i < 2 * width; ++i)
        own.values[lane][i] = b.values[lane][2 * part * width + i];
    executeMma(a, own, entry.k, d);
    for (int lane = 0; lane < kLanes; ++lane)
      for (int i = 0; i < 4; ++i)
        accumulators[lane][i / 2 * entry.getColumnRegs() + first +
                           i % 2 * distance] += d[lane][i];
  }
}

/// Multiplies with operands that each lane reads as 16-byte chunks, one of each
/// of its rows. Every `kPerLane` of the `elements` of a chunk are for one
/// instruction.
static Matrix multiplyChunks(const MatrixInstruction &entry, int elements,
                             const Matrix &p, const Matrix &q) {
  int width = entry.kPerLane / 2;
  Matrix accumulators(kLanes, std::vector<int>(entry.accRegs));
  for (int first = 0; first < elements; first += entry.kPerLane) {
    Registers a(2 * entry.qRows, width), b(2 * entry.pRows, width);
    for (int lane = 0; lane < kLanes; ++lane) {
      int at = entry.getChunkOfLane().at(lane) * elements + first;
      for (int i = 0; i < entry.kPerLane; ++i) {
        for (int part = 0; part < entry.pRows; ++part)
          b.values[lane][part * entry.kPerLane + i] =
              p[entry.getRowOfP().at(lane) + part * entry.pStep][at + i];
        for (int part = 0; part < entry.qRows; ++part)
          a.values[lane][(i / width * entry.qRows + part) * width + i % width] =
              q[entry.getRowOfQ().at(lane) + part * entry.qStep][at + i];
      }
    }
    multiplyEntry(entry, a, b, accumulators);
  }
  return accumulators;
}

/// Executes an ldmatrix of four matrices (PTX ISA): lane L has the address of
/// row L % 8 of matrix L / 8, and gets bytes 4 * (L % 4) and the next three of
/// row L / 4 of each matrix.
static void readMatrices(const Matrix &from, LaneMap rows, int firstRow,
                         LaneMap chunks, int firstChunk, int width,
                         Registers &into, int firstRegister) {
  int elements = 4 * width;
  for (int lane = 0; lane < kLanes; ++lane)
    for (int matrix = 0; matrix < 4; ++matrix) {
      int pointer = matrix * 8 + lane / 4;
      int row = firstRow + rows.at(pointer);
      int at = (firstChunk + chunks.at(pointer)) * elements + lane % 4 * width;
      for (int i = 0; i < width; ++i)
        into.values[lane][(firstRegister + matrix) * width + i] =
            from[row][at + i];
    }
}

/// Multiplies with operands that the lanes read as matrices, two chunks for
/// each instruction.
static Matrix multiplyMatrices(const MatrixInstruction &entry, int elements,
                               const Matrix &p, const Matrix &q) {
  int width = elements / 4, chunks = static_cast<int>(p[0].size()) / elements;
  Matrix accumulators(kLanes, std::vector<int>(entry.accRegs));
  for (int chunk = 0; chunk < chunks; chunk += entry.kMatrixChunks) {
    Registers a(4, width), b(2 * entry.pRows, width);
    for (int read = 0; read < entry.getMatrixReadsOfP(); ++read)
      readMatrices(p, entry.getMatrixRowOfP(), read * 2 * entry.pStep,
                   entry.getMatrixChunkOfP(), chunk, width, b, 4 * read);
    readMatrices(q, entry.getMatrixRowOfQ(), 0, entry.getMatrixChunkOfQ(),
                 chunk, width, a, 0);
    multiplyEntry(entry, a, b, accumulators);
  }
  return accumulators;
}

/// Expects that every accumulator is the element of D that the table says, and
/// that every element of D is in exactly one accumulator.
static void expectProduct(const MatrixInstruction &entry,
                          const Matrix &accumulators, const Matrix &p,
                          const Matrix &q) {
  Matrix seen(entry.rows, std::vector<int>(entry.columns));
  for (int lane = 0; lane < kLanes; ++lane)
    for (int reg = 0; reg < entry.accRegs; ++reg) {
      int r = reg % entry.getColumnRegs();
      int i = entry.getFirstResult().at(lane) +
              r / entry.accVector * entry.accStride + r % entry.accVector;
      int j = entry.getRowOfQ().at(lane) +
              reg / entry.getColumnRegs() * entry.qStep;
      int expected = 0;
      for (size_t k = 0; k < p[i].size(); ++k)
        expected += p[i][k] * q[j][k];
      EXPECT_EQ(accumulators[lane][reg], expected) << "lane " << lane;
      ++seen[i][j];
    }
  for (const std::vector<int> &line : seen)
    for (int times : line)
      EXPECT_EQ(times, 1);
}

// By the fragment tables of the PTX ISA, every lane gets the accumulators that
// our table says: of the columns that are its rows of Q, neighbours along P. It
// must not matter whether lanes read chunks or matrices, and both orders of the
// rows of P are tested.
TEST(MatrixInstruction, MmaMultipliesAsThePtxIsaSays) {
  std::mt19937 random(1);
  for (auto [name, type, elements] : {std::tuple("mma16", DataType::F16, 8),
                                      {"mma16", DataType::BF16, 8},
                                      {"mma16", DataType::I8, 16},
                                      {"mma16_tf32", DataType::F32, 4},
                                      {"mma16t", DataType::F16, 8},
                                      {"mma16t", DataType::BF16, 8}}) {
    auto entry = findMatrixInstruction(*findTarget("sm_80"), name, type);
    ASSERT_TRUE(entry);
    auto fill = [&](int rows) {
      Matrix matrix(rows, std::vector<int>(4 * elements));
      for (std::vector<int> &line : matrix)
        for (int &value : line)
          value = static_cast<int>(random() % 17) - 8;
      return matrix;
    };
    Matrix p = fill(entry->rows), q = fill(entry->columns);
    expectProduct(*entry, multiplyChunks(*entry, elements, p, q), p, q);
    expectProduct(*entry, multiplyMatrices(*entry, elements, p, q), p, q);
  }
}

/// One mma.sync of f64 for lanes that have so many rows of A, which are eight
/// apart, and so many elements of the reduction, which are four apart; by the
/// tables "Matrix fragments for mma.m8n8k4 with .f64" and "for mma.m16n8k8".
static void executeDoubleMma(const Matrix &a, const Matrix &b, int rows,
                             int elements, Matrix &d) {
  for (int lane = 0; lane < kLanes; ++lane)
    for (int row = 0; row < rows; ++row)
      for (int i = 0; i < 2; ++i)
        for (int k = 0; k < 4 * elements; ++k) {
          int ofA = lane / 4 * 4 + k % 4, ofB = (lane % 4 * 2 + i) * 4 + k % 4;
          d[lane][2 * row + i] += a[ofA][k / 4 * rows + row] * b[ofB][k / 4];
        }
}

/// The sums of an entry for f64, of which each lane reads 16 bytes of its rows.
static Matrix multiplyDoubles(const MatrixInstruction &entry, const Matrix &p,
                              const Matrix &q) {
  const int width = entry.kPerLane, atOnce = width == 1 ? 1 : entry.qRows;
  Matrix accumulators(kLanes, std::vector<int>(entry.accRegs));
  for (int first = 0; first < 2; first += width)
    for (int part = 0; part < entry.pRows; ++part)
      for (int row = 0; row < entry.qRows; row += atOnce) {
        Matrix a(kLanes), b(kLanes), d(kLanes, std::vector<int>(4));
        for (int lane = 0; lane < kLanes; ++lane)
          for (int i = 0; i < width; ++i) {
            int at = entry.getChunkOfLane().at(lane) * 2 + first + i;
            b[lane].push_back(
                p[entry.getRowOfP().at(lane) + part * entry.pStep][at]);
            for (int r = row; r < row + atOnce; ++r)
              a[lane].push_back(
                  q[entry.getRowOfQ().at(lane) + r * entry.qStep][at]);
          }
        executeDoubleMma(a, b, atOnce, width, d);
        for (int lane = 0; lane < kLanes; ++lane)
          for (int i = 0; i < 2 * atOnce; ++i)
            accumulators[lane][(row + i / 2) * entry.getColumnRegs() +
                               part * entry.accVector + i % 2] += d[lane][i];
      }
  return accumulators;
}

// The same of f64, which lanes read as chunks: m8n8k4, and m16n8k8 of sm_90.
TEST(MatrixInstruction, MmaMultipliesDoublesAsThePtxIsaSays) {
  std::mt19937 random(1);
  for (auto [chip, k] : {std::pair("sm_80", 4), {"sm_120", 4}, {"sm_90", 8}}) {
    auto entry =
        findMatrixInstruction(*findTarget(chip), "mma16", DataType::F64);
    ASSERT_TRUE(entry) << chip;
    EXPECT_EQ(entry->k, k);
    EXPECT_FALSE(entry->readsMatrices());
    Matrix p(entry->rows, std::vector<int>(8));
    Matrix q(entry->columns, std::vector<int>(8));
    for (Matrix *matrix : {&p, &q})
      for (std::vector<int> &line : *matrix)
        for (int &value : line)
          value = static_cast<int>(random() % 17) - 8;
    expectProduct(*entry, multiplyDoubles(*entry, p, q), p, q);
  }
  EXPECT_FALSE(
      findMatrixInstruction(*findTarget("sm_75"), "mma16", DataType::F64));
}

// In each half of the wave, every lane of an MFMA has a row of its own. The
// numbers are those of AMD's matrix instruction calculator.
TEST(MatrixInstruction, MapsTheLanesOfMfma) {
  auto entry =
      findMatrixInstruction(*findTarget("gfx942"), "mfma32", DataType::F16);
  ASSERT_TRUE(entry);
  for (int lane = 0; lane < 64; ++lane) {
    EXPECT_EQ(entry->getRowOfP().at(lane), lane % 32);
    EXPECT_EQ(entry->getRowOfQ().at(lane), lane % 32);
    EXPECT_EQ(entry->getChunkOfLane().at(lane), lane / 32);
    EXPECT_EQ(entry->getFirstResult().at(lane), lane / 32 * 4);
  }
}

// Tensor cores multiply f16, bf16 and i8 from sm_80 on. For f32, and on sm_75,
// there is only the entry that every chip has.
TEST(MatrixInstruction, MmaIsForHalvesAndBytesOfSm80AndLater) {
  for (const char *name : {"sm_80", "sm_86", "sm_89", "sm_90", "sm_120"}) {
    const GpuTarget &target = *findTarget(name);
    for (DataType type : {DataType::F16, DataType::BF16, DataType::I8})
      EXPECT_TRUE(findMatrixInstruction(target, "mma16", type)) << name;
    EXPECT_FALSE(findMatrixInstruction(target, "mma16", DataType::F32));
    EXPECT_TRUE(findMatrixInstruction(target, "fma", DataType::F32));
  }
  EXPECT_FALSE(
      findMatrixInstruction(*findTarget("sm_75"), "mma16", DataType::F16));
}

// A chip multiplies the 8-bit floats of one family, or none: FNUZ on gfx942,
// OCP's on gfx950, gfx12 and sm_90.
TEST(MatrixInstruction, ChipsMultiplyOneFamilyOfFloats8) {
  auto has = [](const char *chip, const char *name, DataType type) {
    return findMatrixInstruction(*findTarget(chip), name, type).has_value();
  };
  for (auto [fnuz, ocp] : {std::pair(DataType::E4M3FNUZ, DataType::E4M3FN),
                           {DataType::E5M2FNUZ, DataType::E5M2}}) {
    EXPECT_TRUE(has("gfx942", "mfma32", fnuz));
    EXPECT_FALSE(has("gfx942", "mfma32", ocp));
    for (auto [chip, name] : {std::pair("gfx950", "mfma32"),
                              {"gfx1200", "wmma16"},
                              {"gfx1201", "wmma16"},
                              {"sm_90", "mma16"}}) {
      EXPECT_TRUE(has(chip, name, ocp)) << chip;
      EXPECT_FALSE(has(chip, name, fnuz)) << chip;
    }
    for (auto [chip, name] : {std::pair("gfx90a", "mfma32"),
                              {"gfx1100", "wmma16"},
                              {"sm_80", "mma16"}})
      EXPECT_FALSE(has(chip, name, ocp) || has(chip, name, fnuz)) << chip;
  }
}
