//===- PerfDatabase.h - What tuning has found ------------------*- C++ -*--===//
//
// The table has one row for each tile that was tried: its time, or why it was
// refused. Rows outlive revisions of the compiler: the best tile of one
// revision is the first guess of the next, though its kernel is compiled anew.
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_RUNTIME_DB_PERFDATABASE_H
#define TESSERA_RUNTIME_DB_PERFDATABASE_H

#include "runtime/Base/Status.h"

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tessera {

/// What a tuning's value counts. Values of different objectives are never
/// compared.
enum class Objective {
  MeasuredTime, ///< Microseconds, by events on a device.
  IssueCycles,  ///< Clocks estimated by the emulated device's model.
};

/// The name in the database: "us", "cycles".
std::string_view getName(Objective objective);
std::optional<Objective> parseObjective(std::string_view name);

/// The key of the rows of one tuning.
struct TuningKey {
  std::string networkConfig;
  std::string target;        ///< GpuTarget::name.
  uint32_t computeUnits = 0; ///< Of the device; a chip has several variants.

  friend bool operator==(const TuningKey &, const TuningKey &) = default;
};

/// One tile that was tried.
struct Tuning {
  std::string tile;
  std::string revision; ///< Of the compiler.
  std::string device;   ///< It measured: "NVIDIA H100 80GB HBM3".
  Objective objective = Objective::MeasuredTime;
  double value = 0;       ///< Median; less is better.
  double spread = 0;      ///< Interquartile range of the samples.
  double modelCost = 0;   ///< Clocks that the model expected.
  int64_t measuredAt = 0; ///< Seconds since 1970.
  /// Why it is in quarantine: did not compile, wrong result. Empty if it was
  /// verified.
  std::string failure;
};

/// The failure of a tile while it is tried, and after a trial that its process
/// did not survive. A single one is no quarantine: users kill processes, too.
inline constexpr char kUnfinishedTrial[] =
    "the process ended while it was being tried";

class DatabaseFile;

/// The tunings of one file. An optimisation, like the kernels beside them: in a
/// file that cannot be used nothing is found. Several threads may use it.
class PerfDatabase {
public:
  explicit PerfDatabase(std::shared_ptr<DatabaseFile> file);

  /// Adds the row, or replaces the one of the same key, tile, objective and
  /// device.
  void store(const TuningKey &key, const Tuning &tuning);

  /// Why rows are not kept: the file cannot be used or written, or the last
  /// store() failed. Ok if they are kept.
  Status checkKept();

  /// All rows of `key` with `objective`, the verified ones by value, then the
  /// ones in quarantine. A row whose checksum is wrong is deleted.
  std::vector<Tuning> find(const TuningKey &key, Objective objective);

  /// Deletes all rows of `key`.
  void remove(const TuningKey &key);

  /// The keys of the rows of the file, each once.
  std::vector<TuningKey> getKeys();

  /// The other keys of the same chip whose problems differ from that of `key`
  /// in the batch at most; each once.
  std::vector<TuningKey> getNeighbours(const TuningKey &key);

private:
  const std::shared_ptr<DatabaseFile> file;
  std::mutex mutex; ///< Guards what follows.
  Status lastStore;
};

} // namespace tessera

#endif // TESSERA_RUNTIME_DB_PERFDATABASE_H
