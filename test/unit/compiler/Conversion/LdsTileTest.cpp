//===- LdsTileTest.cpp - Counts bank conflicts of LDS layouts -------------===//

#include "compiler/Conversion/Cooperative/LdsTile.h"

#include <gtest/gtest.h>
#include <map>
#include <set>

using namespace tessera;

namespace {
/// Lanes of a 128-bit LDS access that are served in the same clock, which moves
/// 128 bytes.
using Phase = std::vector<int>;
} // namespace

/// Returns phases of eight neighbouring lanes. Writes are served like this, and
/// by one account reads as well.
static std::vector<Phase> getNeighbourPhases(int lanes) {
  std::vector<Phase> phases;
  for (int first = 0; first < lanes; first += 8) {
    Phase phase;
    for (int lane = first; lane < first + 8; ++lane)
      phase.push_back(lane);
    phases.push_back(phase);
  }
  return phases;
}

/// Returns the phases that composable_kernel describes for 128-bit reads of
/// wave64 on CDNA: lanes 0-3 with 20-23, 4-7 with 16-19, and so on, in each
/// half of the wave.
static std::vector<Phase> getPairedPhases() {
  const std::vector<std::pair<int, int>> kPairs = {
      {0, 20}, {4, 16}, {8, 28}, {12, 24}};
  std::vector<Phase> phases;
  for (int half : {0, 32})
    for (auto [a, b] : kPairs) {
      Phase phase;
      for (int i = 0; i < 4; ++i) {
        phase.push_back(half + a + i);
        phase.push_back(half + b + i);
      }
      phases.push_back(phase);
    }
  return phases;
}

/// Returns the largest number of different 4-byte words that one bank must
/// deliver in one phase; 1 means that there is no conflict.
static int countConflicts(const std::vector<int64_t> &byteOffsets,
                          const std::vector<Phase> &phases) {
  int worst = 0;
  for (const Phase &phase : phases) {
    std::map<int64_t, std::set<int64_t>> words;
    for (int lane : phase)
      for (int64_t word = 0; word < 4; ++word) {
        int64_t address = byteOffsets[lane] / 4 + word;
        words[address % 32].insert(address);
      }
    for (const auto &[bank, different] : words)
      worst = std::max(worst, static_cast<int>(different.size()));
  }
  return worst;
}

// A wave64 writes and reads every tile that the compiler chooses with one
// access to each bank per clock, whether neighbouring lanes write chunks of a
// row or rows, and when it reads fragments of 32- and 16-row instructions.
// Reads are counted by both descriptions of the phases.
TEST(LdsTile, HasNoBankConflict) {
  for (int64_t bytes : {2, 4})
    for (int64_t rowBytes : {64, 128}) {
      LdsTile tile{256, rowBytes / bytes, bytes, /*banks=*/32};
      int64_t chunks = tile.getChunks();
      auto offset = [&](int64_t row, int64_t chunk) {
        return tile.getOffset(row, chunk) * bytes;
      };
      std::vector<int64_t> chunkFirst, rowFirst;
      for (int lane = 0; lane < 64; ++lane) {
        chunkFirst.push_back(offset(lane / chunks, lane % chunks));
        rowFirst.push_back(offset(lane, 1));
      }
      EXPECT_EQ(countConflicts(chunkFirst, getNeighbourPhases(64)), 1);
      EXPECT_EQ(countConflicts(rowFirst, getNeighbourPhases(64)), 1);
      for (int rows : {32, 16})
        for (int64_t first = 0; first < chunks; first += 64 / rows) {
          std::vector<int64_t> read;
          for (int lane = 0; lane < 64; ++lane)
            read.push_back(offset(lane % rows, (first + lane / rows) % chunks));
          EXPECT_EQ(countConflicts(read, getNeighbourPhases(64)), 1)
              << rows << " rows, row of " << rowBytes << " bytes";
          EXPECT_EQ(countConflicts(read, getPairedPhases()), 1)
              << rows << " rows, row of " << rowBytes << " bytes";
        }
    }
}

// Pairs of pixels: a lane writes whole chunks of two rows, and neighbouring
// lanes those of the next rows. Eight lanes of 128 bits use every bank once.
TEST(LdsTile, HasNoBankConflictWhenWrittenByPairs) {
  for (int64_t rowBytes : {64, 128}) {
    LdsTile tile{256, rowBytes / 2, 2, /*banks=*/32, /*blockRows=*/2};
    for (int64_t row = 0; row < 2; ++row)
      for (int64_t first = 0; first < 64; first += 8) {
        std::set<int64_t> banks;
        for (int64_t lane = first; lane < first + 8; ++lane)
          banks.insert(tile.getOffset(lane * 2 + row, 1) * 2 % 128);
        EXPECT_EQ(banks.size(), 8u) << rowBytes;
      }
  }
}

// Blocks (BlockCopy.h) are written without conflicts: each lane writes half a
// chunk of one row of a block, eight lanes the blocks along the rows and the
// next eight lanes the other halves. Sixteen lanes of 64 bits use every bank
// once, and so do the reads of fragments.
TEST(LdsTile, HasNoBankConflictWhenWrittenByBlocks) {
  for (int64_t rowBytes : {64, 128})
    for (int64_t blockRows : {2, 4}) {
      LdsTile tile{256, rowBytes / 2, 2, /*banks=*/32, blockRows};
      for (int64_t row = 0; row < blockRows; ++row)
        for (int first = 0; first < 64; first += 16) {
          std::set<int64_t> banks;
          for (int lane = first; lane < first + 16; ++lane) {
            int64_t block = lane % 8 + lane / 16 * 8, half = lane / 8 % 2;
            banks.insert(
                (tile.getOffset(block * blockRows + row, 1) * 2 + half * 8) %
                128);
          }
          EXPECT_EQ(banks.size(), 16u) << rowBytes << " " << blockRows;
        }
      int64_t chunks = tile.getChunks();
      for (int rows : {32, 16})
        for (int64_t first = 0; first < chunks; first += 64 / rows) {
          std::vector<int64_t> read;
          for (int lane = 0; lane < 64; ++lane)
            read.push_back(
                tile.getOffset(lane % rows, (first + lane / rows) % chunks) *
                2);
          EXPECT_EQ(countConflicts(read, getNeighbourPhases(64)), 1);
          EXPECT_EQ(countConflicts(read, getPairedPhases()), 1);
        }
    }
}

// Without the swizzle the same reads do conflict, so that the counts above mean
// something.
TEST(LdsTile, WouldConflictWithoutSwizzle) {
  std::vector<int64_t> read;
  for (int lane = 0; lane < 64; ++lane)
    read.push_back(lane % 32 * 64 + lane / 32 * 16);
  EXPECT_GT(countConflicts(read, getNeighbourPhases(64)), 1);
}

// No two chunks share an offset, and the layout repeats with its period.
TEST(LdsTile, IsAPermutation) {
  for (auto [banks, blockRows] : {std::pair(32, 1), {32, 4}, {64, 1}, {64, 4}})
    for (int64_t step : {8, 16, 32, 64, 128, 256}) {
      LdsTile tile{64, step, 2, banks, blockRows};
      int64_t period = tile.getPeriod();
      std::set<int64_t> offsets;
      for (int64_t row = 0; row < tile.rows; ++row)
        for (int64_t chunk = 0; chunk < tile.getChunks(); ++chunk) {
          offsets.insert(tile.getOffset(row, chunk));
          EXPECT_EQ(tile.getOffset(row + period, chunk),
                    tile.getOffset(row, chunk) + period * step);
        }
      EXPECT_EQ(static_cast<int64_t>(offsets.size()),
                tile.rows * tile.getChunks());
      EXPECT_EQ(*offsets.begin(), 0);
      EXPECT_EQ(*offsets.rbegin(), tile.rows * step - tile.getChunkElements());
    }
}
