//===- GlobalShadow.h - Who touched which dword of memory ------*- C++ -*-===//
//
// Made page by page as a launch touches memory, and no more of it than the host
// can bear: what lies beyond is not checked.
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_RUNTIME_EMULATOR_CHECK_GLOBALSHADOW_H
#define TESSERA_RUNTIME_EMULATOR_CHECK_GLOBALSHADOW_H

#include "runtime/Emulator/Check/ShadowCell.h"

#include <array>
#include <atomic>
#include <memory>
#include <mutex>
#include <unordered_map>

namespace tessera::emulator {

/// Shared by all workers of a launch.
class GlobalShadow {
public:
  using Record = ShadowRecord<24>;
  using Cell = ShadowCell<Record>;
  static constexpr uint64_t kPageBytes = 4096;

  struct Page {
    std::mutex mutex; ///< For its cells.
    std::array<Cell, kPageBytes / 4> cells;
  };

  GlobalShadow();
  /// The page with `address`; null when there are too many.
  Page *getPage(uint64_t address);

private:
  struct Shard {
    std::mutex mutex;
    std::unordered_map<uint64_t, std::unique_ptr<Page>> pages;
  };
  std::array<Shard, 64> shards;
  std::atomic<size_t> pagesLeft;
};

} // namespace tessera::emulator

#endif // TESSERA_RUNTIME_EMULATOR_CHECK_GLOBALSHADOW_H
