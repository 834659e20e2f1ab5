//===- MatrixInstructionTest.cpp - Lanes and rows of the table ------------===//
//
// No NVIDIA GPU takes part in the tests, so mma.sync is written out here from
// the fragment tables of the PTX ISA, and fed by the table's lane maps.
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

/// Registers of all lanes, of `perRegister` elements each.
struct Registers {
  Registers(int count, int perRegister)
      : perRegister(perRegister),
        values(kLanes, std::vector<int>(count * perRegister)) {}

  int perRegister;
  std::vector<std::vector<int>> values;
};
} // namespace

/// d = a * b + d: "Matrix fragments for mma.m16n8k16 with floating point type"
/// and "for mma.m16n8k32 with .s8". Both give a lane whole registers: of A
/// row g of the first half of k, row g + 8 of it, and the same of the second;
/// of B column g of both halves; of D columns 2t and 2t + 1 of both rows.
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

/// Adds the sums of all instructions of a row of the table that take factor
/// registers `b` (two for each part of P) and `a`.
static void multiplyRow(const MatrixInstruction &row, const Registers &a,
                        const Registers &b, Matrix &sums) {
  int width = a.perRegister;
  // Columns of B are dealt to the rows of P, or one part lies behind the other.
  bool isDealt = row.pStep == 1;
  for (int part = 0; part < row.pParts; ++part) {
    int first = isDealt ? part : part * row.accVector;
    int apart = isDealt ? row.pParts : 1;
    Registers own(2, width);
    Matrix d(kLanes, std::vector<int>(4));
    for (int lane = 0; lane < kLanes; ++lane)
      for (int i = 0; i < 2 * width; ++i)
        own.values[lane][i] = b.values[lane][2 * part * width + i];
    executeMma(a, own, row.k, d);
    for (int lane = 0; lane < kLanes; ++lane)
      for (int i = 0; i < 4; ++i)
        sums[lane][i / 2 * row.getColumnRegs() + first + i % 2 * apart] +=
            d[lane][i];
  }
}

/// The sums where a lane reads the 16-byte chunk of each of its rows, and each
/// `kPerLane` of the `elements` in it are for one instruction.
static Matrix multiplyChunks(const MatrixInstruction &row, int elements,
                             const Matrix &p, const Matrix &q) {
  int width = row.kPerLane / 2;
  Matrix sums(kLanes, std::vector<int>(row.accRegs));
  for (int first = 0; first < elements; first += row.kPerLane) {
    Registers a(2 * row.qParts, width), b(2 * row.pParts, width);
    for (int lane = 0; lane < kLanes; ++lane) {
      int at = row.getChunkOfLane().at(lane) * elements + first;
      for (int i = 0; i < row.kPerLane; ++i) {
        for (int part = 0; part < row.pParts; ++part)
          b.values[lane][part * row.kPerLane + i] =
              p[row.getRowOfP().at(lane) + part * row.pStep][at + i];
        for (int part = 0; part < row.qParts; ++part)
          a.values[lane][(i / width * row.qParts + part) * width + i % width] =
              q[row.getRowOfQ().at(lane) + part * row.qStep][at + i];
      }
    }
    multiplyRow(row, a, b, sums);
  }
  return sums;
}

/// ldmatrix of four matrices (PTX ISA): lane L points to row L % 8 of matrix
/// L / 8, and gets four bytes, L % 4, of row L / 4 of each.
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

/// The sums where the lanes read matrices: two chunks for each instruction.
static Matrix multiplyMatrices(const MatrixInstruction &row, int elements,
                               const Matrix &p, const Matrix &q) {
  int width = elements / 4, chunks = static_cast<int>(p[0].size()) / elements;
  Matrix sums(kLanes, std::vector<int>(row.accRegs));
  for (int chunk = 0; chunk < chunks; chunk += row.kMatrixChunks) {
    Registers a(4, width), b(2 * row.pParts, width);
    for (int read = 0; read < row.getMatrixReadsOfP(); ++read)
      readMatrices(p, row.getMatrixRowOfP(), read * 2 * row.pStep,
                   row.getMatrixChunkOfP(), chunk, width, b, 4 * read);
    readMatrices(q, row.getMatrixRowOfQ(), 0, row.getMatrixChunkOfQ(), chunk,
                 width, a, 0);
    multiplyRow(row, a, b, sums);
  }
  return sums;
}

/// Whether every sum is that of the place that the table says, and every place
/// of D is somewhere.
static void expectProduct(const MatrixInstruction &row, const Matrix &sums,
                          const Matrix &p, const Matrix &q) {
  Matrix seen(row.rows, std::vector<int>(row.columns));
  for (int lane = 0; lane < kLanes; ++lane)
    for (int reg = 0; reg < row.accRegs; ++reg) {
      int r = reg % row.getColumnRegs();
      int i = row.getFirstResult().at(lane) +
              r / row.accVector * row.accStride + r % row.accVector;
      int j = row.getRowOfQ().at(lane) + reg / row.getColumnRegs() * row.qStep;
      int expected = 0;
      for (size_t k = 0; k < p[i].size(); ++k)
        expected += p[i][k] * q[j][k];
      EXPECT_EQ(sums[lane][reg], expected) << "lane " << lane;
      ++seen[i][j];
    }
  for (const std::vector<int> &line : seen)
    for (int times : line)
      EXPECT_EQ(times, 1);
}

// Through the PTX ISA's fragments every lane gets the sums that the table says
// it has: the neighbours along P of the columns that are its rows of Q. So it
// is whether it reads chunks or matrices, and in both orders of the rows of P.
TEST(MatrixInstruction, MmaMultipliesAsThePtxIsaSays) {
  std::mt19937 random(1);
  for (auto [name, type, elements] : {std::tuple("mma16", FactorType::F16, 8),
                                      {"mma16", FactorType::BF16, 8},
                                      {"mma16", FactorType::I8, 16},
                                       {"mma16_tf32", FactorType::F32, 4},
                                      {"mma16t", FactorType::F16, 8},
                                      {"mma16t", FactorType::BF16, 8}}) {
    auto row = findMatrixInstruction(*findTarget("sm_80"), name, type);
    ASSERT_TRUE(row);
    auto fill = [&](int rows) {
      Matrix matrix(rows, std::vector<int>(4 * elements));
      for (std::vector<int> &line : matrix)
        for (int &value : line)
          value = static_cast<int>(random() % 17) - 8;
      return matrix;
    };
    Matrix p = fill(row->rows), q = fill(row->columns);
    expectProduct(*row, multiplyChunks(*row, elements, p, q), p, q);
    expectProduct(*row, multiplyMatrices(*row, elements, p, q), p, q);
  }
}

// Every lane of a matrix unit of AMD has a row of its own and one place of D
// for each register, by the calculator's formulas.
TEST(MatrixInstruction, MapsTheLanesOfMfma) {
  auto row =
      findMatrixInstruction(*findTarget("gfx942"), "mfma32", FactorType::F16);
  ASSERT_TRUE(row);
  for (int lane = 0; lane < 64; ++lane) {
    EXPECT_EQ(row->getRowOfP().at(lane), lane % 32);
    EXPECT_EQ(row->getRowOfQ().at(lane), lane % 32);
    EXPECT_EQ(row->getChunkOfLane().at(lane), lane / 32);
    EXPECT_EQ(row->getFirstResult().at(lane), lane / 32 * 4);
  }
}

// Tensor cores multiply halves and bytes from sm_80 on; f32 and sm_75 keep the
// row that every chip has.
TEST(MatrixInstruction, MmaIsForHalvesAndBytesOfSm80AndLater) {
  for (const char *name : {"sm_80", "sm_86", "sm_89", "sm_90", "sm_120"}) {
    const GpuTarget &target = *findTarget(name);
    for (FactorType type : {FactorType::F16, FactorType::BF16, FactorType::I8})
      EXPECT_TRUE(findMatrixInstruction(target, "mma16", type)) << name;
    EXPECT_FALSE(findMatrixInstruction(target, "mma16", FactorType::F32));
    EXPECT_TRUE(findMatrixInstruction(target, "fma", FactorType::F32));
  }
  EXPECT_FALSE(
      findMatrixInstruction(*findTarget("sm_75"), "mma16", FactorType::F16));
}
