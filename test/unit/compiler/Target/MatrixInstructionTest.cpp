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

/// A lane's `kPerLane` elements of the row `row`, of chunk `chunk`.
static void readPart(const std::vector<std::vector<int>> &matrix, int row,
                     int first, int count, std::vector<int> &into, int at) {
  for (int i = 0; i < count; ++i)
    into[at + i] = matrix[row][first + i];
}

/// D by the instructions and lanes of `row`, for factors of `elements` in 16
/// bytes: what NvidiaDeviceOps::multiply does with what TileMma reads.
static std::vector<std::vector<int>>
multiply(const MatrixInstruction &row, int elements,
         const std::vector<std::vector<int>> &p,
         const std::vector<std::vector<int>> &q) {
  int half = row.kPerLane / 2;
  std::vector<std::vector<int>> sums(kLanes, std::vector<int>(row.accRegs));
  for (int part = 0; part < elements / row.kPerLane; ++part)
    for (int s = 0; s < row.pParts; ++s) {
      Registers a(4, half), b(2, half);
      std::vector<std::vector<int>> d(kLanes, std::vector<int>(4));
      for (int lane = 0; lane < kLanes; ++lane) {
        int first =
            row.getChunkOfLane().at(lane) * elements + part * row.kPerLane;
        readPart(p, row.getRowOfP().at(lane) + s * row.pStep, first,
                 row.kPerLane, b.values[lane], 0);
        for (int h = 0; h < row.qParts; ++h)
          for (int register2 : {0, 1})
            readPart(q, row.getRowOfQ().at(lane) + h * row.qStep,
                     first + register2 * half, half, a.values[lane],
                     (h + 2 * register2) * half);
      }
      executeMma(a, b, row.k, d);
      for (int lane = 0; lane < kLanes; ++lane)
        for (int h = 0; h < row.qParts; ++h)
          for (int i : {0, 1})
            sums[lane][h * row.getColumnRegs() + 2 * s + i] +=
                d[lane][2 * h + i];
    }
  return sums;
}

// Through the PTX ISA's fragments every lane gets the sums that the table says
// it has: the neighbours along P of the columns that are its rows of Q.
TEST(MatrixInstruction, MmaMultipliesAsThePtxIsaSays) {
  std::mt19937 random(1);
  for (auto [type, elements] : {std::pair(FactorType::F16, 8),
                                {FactorType::BF16, 8},
                                {FactorType::I8, 16}}) {
    auto row = findMatrixInstruction(*findTarget("sm_80"), "mma16", type);
    ASSERT_TRUE(row);
    int k = 4 * elements;
    auto fill = [&](int rows) {
      std::vector<std::vector<int>> matrix(rows, std::vector<int>(k));
      for (std::vector<int> &line : matrix)
        for (int &value : line)
          value = static_cast<int>(random() % 17) - 8;
      return matrix;
    };
    std::vector<std::vector<int>> p = fill(row->rows), q = fill(row->columns);
    std::vector<std::vector<int>> sums = multiply(*row, elements, p, q);
    std::vector<std::vector<int>> seen(row->rows,
                                       std::vector<int>(row->columns));
    for (int lane = 0; lane < kLanes; ++lane)
      for (int reg = 0; reg < row->accRegs; ++reg) {
        int r = reg % row->getColumnRegs();
        int i = row->getFirstResult().at(lane) +
                r / row->accVector * row->accStride + r % row->accVector;
        int j =
            row->getRowOfQ().at(lane) + reg / row->getColumnRegs() * row->qStep;
        int expected = 0;
        for (int at = 0; at < k; ++at)
          expected += p[i][at] * q[j][at];
        EXPECT_EQ(sums[lane][reg], expected) << "lane " << lane;
        ++seen[i][j];
      }
    for (const std::vector<int> &line : seen)
      for (int times : line)
        EXPECT_EQ(times, 1);
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
