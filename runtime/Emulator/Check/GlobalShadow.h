//===- GlobalShadow.h - Who touched which dword of memory ------*- C++ -*--===//
//
// The shadow is created page by page as a launch touches memory, up to a limit
// that depends on the host's memory. Pages beyond the limit are not checked.
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

/// Shared by all worker threads of a launch.
class GlobalShadow {
public:
  using Record = ShadowRecord<24>;
  using Cell = ShadowCell<Record>;
  static constexpr uint64_t kPageBytes = 4096;

  struct Page {
    std::mutex mutex; ///< Guards `cells`.
    std::array<Cell, kPageBytes / 4> cells;
  };

  GlobalShadow();
  /// Returns the page that contains `address`, or null when the limit is
  /// reached.
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
