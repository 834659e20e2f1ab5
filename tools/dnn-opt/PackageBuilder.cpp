//===- PackageBuilder.cpp - Kernels made ahead of time --------------------===//

#include "tools/dnn-opt/PackageBuilder.h"

#include "runtime/Db/KernelDatabase.h"
#include "runtime/Db/KernelRow.h"
#include "runtime/Db/PackageWriter.h"
#include "runtime/Db/PerfDatabase.h"
#include "tools/support/Files.h"

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <map>
#include <mutex>
#include <set>
#include <thread>

using namespace tessera;
namespace fs = std::filesystem;

//===----------------------------------------------------------------------===//
// Tiles of a tuning
//===----------------------------------------------------------------------===//

namespace {
/// The best tile of each problem and chip in a database of tunings.
class TunedTiles {
public:
  static ErrorOr<TunedTiles> read(const std::string &path) {
    TunedTiles tiles;
    if (path.empty())
      return tiles;
    auto file = std::make_shared<DatabaseFile>(fs::absolute(path).string(),
                                               DatabaseFile::Use::Named);
    if (Status status = file->getFailure(); !status.isOk())
      return status.withContext("cannot read tiles");
    PerfDatabase database(file);
    // Of several sizes of a chip the largest is used: its tiles are the common
    // ones.
    std::vector<TuningKey> keys = database.getKeys();
    std::ranges::sort(keys, {}, &TuningKey::computeUnits);
    for (const TuningKey &key : keys)
      tiles.add(key, database);
    return tiles;
  }

  /// The tunings of a problem on a chip.
  struct Known {
    std::string best;             ///< Empty if no tile is known to be good.
    std::set<std::string> failed; ///< In quarantine on any device.
  };
  const Known &find(const KernelKey &key) const {
    static const Known kNothing;
    auto found = known.find({key.networkConfig, key.target});
    return found == known.end() ? kNothing : found->second;
  }

private:
  void add(const TuningKey &key, PerfDatabase &database) {
    Known &entry = known[{key.networkConfig, key.target}];
    // A time is preferred to an estimate.
    for (Objective objective :
         {Objective::IssueCycles, Objective::MeasuredTime}) {
      const std::vector<Tuning> tunings = database.find(key, objective);
      if (!tunings.empty() && tunings.front().failure.empty())
        entry.best = tunings.front().tile;
      for (const Tuning &tuning : tunings)
        if (!tuning.failure.empty() && tuning.failure != kUnfinishedTrial)
          entry.failed.insert(tuning.tile);
    }
  }

  std::map<std::pair<std::string, std::string>, Known> known;
};
} // namespace

//===----------------------------------------------------------------------===//
// Files
//===----------------------------------------------------------------------===//

/// The row of a kernel in `file`, if it is sound.
static std::optional<KernelRow> findRow(DatabaseFile &file,
                                        const KernelKey &key) {
  std::optional<KernelRow> found;
  if (!file.isOpen())
    return found;
  (void)file.run("read a kernel", [&](SqliteDatabase &database) {
    found.reset();
    return visitKernelRows(database, key.networkConfig, [&](KernelRow &row) {
      if (!isAnswer(row, key) || !row.fault.empty())
        return Visit::Continue;
      found = std::move(row);
      return Visit::Stop;
    });
  });
  return found;
}

namespace {
/// The existing package and the one that is being built.
class PackageFiles {
public:
  explicit PackageFiles(const std::string &output)
      : output(fs::absolute(output).string()), part(this->output + ".part") {}

  Status open() {
    if (Status status = checkOutput(output); !status.isOk())
      return status;
    std::error_code error;
    if (fs::exists(output, error)) {
      old = std::make_shared<DatabaseFile>(output, DatabaseFile::Use::Package);
      if (Status status = old->getFailure(); !status.isOk())
        return invalidArgument(
            "'" + output +
            "' is no package, so it is not replaced: " + status.getMessage());
    }
    made = std::make_shared<DatabaseFile>(part);
    kernels.emplace(made);
    return made->getFailure().withContext("cannot write '" + part + "'");
  }

  /// The kernel of a stopped build or of the existing package.
  std::optional<KernelRow> find(const KernelKey &key) {
    if (std::optional<KernelRow> row = findRow(*made, key))
      return row;
    return old ? findRow(*old, key) : std::nullopt;
  }

  void store(const KernelKey &key, const Kernel &kernel) {
    kernels->store(key, kernel);
  }

  Status write(const std::vector<KernelKey> &keys) {
    ErrorOr<std::unique_ptr<PackageWriter>> writer =
        PackageWriter::create(output);
    if (!writer)
      return writer.getStatus();
    for (const KernelKey &key : keys) {
      std::optional<KernelRow> row = find(key);
      if (!row)
        return unavailable("'" + part + "' has lost the kernel of " +
                           key.networkConfig + " for " + key.target);
      row->storedAt = 0;
      if (Status status = (*writer)->add(*row); !status.isOk())
        return status;
    }
    if (Status status = (*writer)->finish(); !status.isOk())
      return status;
    removePart();
    return Status::ok();
  }

private:
  void removePart() {
    kernels.reset();
    made.reset();
    std::error_code error;
    for (const std::string &file :
         {part, part + "-wal", part + "-shm", getLockFile(part)})
      fs::remove(file, error);
  }

  const std::string output;
  const std::string part;
  std::shared_ptr<DatabaseFile> old; ///< Null if there is none.
  std::shared_ptr<DatabaseFile> made;
  std::optional<KernelDatabase> kernels; ///< Those of `made`.
};
} // namespace

//===----------------------------------------------------------------------===//
// Building
//===----------------------------------------------------------------------===//

namespace {
struct Job {
  const Problem *problem;
  const GpuTarget *target;
  KernelKey key;
};

/// The state of one build, which its threads share.
class Builder {
public:
  Builder(const PackageRequest &request, KernelCompiler &compiler,
          const TunedTiles &tiles, PackageFiles &files,
          const std::function<void(const PackageReport &)> &progress)
      : request(request), compiler(compiler), tiles(tiles), files(files),
        progress(progress) {
    for (const GpuTarget *target : request.targets)
      for (const Problem &problem : request.problems)
        jobs.push_back({&problem,
                        target,
                        {problem.toNetworkConfig(), std::string(target->name),
                         compiler.getRevision()}});
    report.wanted = static_cast<int64_t>(jobs.size());
    isDone.resize(jobs.size());
  }

  PackageReport run() {
    std::vector<std::jthread> threads;
    const size_t count = std::clamp<size_t>(request.jobs, 1, jobs.size() + 1);
    for (size_t i = 0; i < count; ++i)
      threads.emplace_back([this] { work(); });
    threads.clear(); // Destroying the threads joins them.
    // Threads finish in any order, so the lists are sorted.
    for (auto *list : {&report.failures, &report.replaced})
      std::ranges::sort(*list, {}, [](const PackageFailure &failure) {
        return std::tie(failure.target, failure.networkConfig);
      });
    return report;
  }

  /// The keys of all existing kernels, in the order of the request.
  std::vector<KernelKey> getKeys() const {
    std::vector<KernelKey> keys;
    for (size_t i = 0; i < jobs.size(); ++i)
      if (isDone[i])
        keys.push_back(jobs[i].key);
    return keys;
  }

private:
  void work() {
    for (size_t i = next++; i < jobs.size(); i = next++) {
      const Job &job = jobs[i];
      const bool isThere = isThereAsWanted(job.key);
      const bool isMade = !isThere && make(job);
      std::lock_guard lock(mutex);
      isDone[i] = isThere || isMade;
      report.takenOver += isThere;
      report.made += isMade;
      ++report.done;
      progress(report);
    }
  }

  /// Whether there is a kernel already, and no tuning has a better tile.
  bool isThereAsWanted(const KernelKey &key) {
    std::optional<KernelRow> row = files.find(key);
    if (!row)
      return false;
    const TunedTiles::Known &known = tiles.find(key);
    const std::string &tile = row->kernel.tile;
    const bool knowsBetter = !known.best.empty() && known.best != tile &&
                             !known.failed.contains(known.best);
    return !knowsBetter && !known.failed.contains(tile);
  }

  /// The tiles to try, beginning with the preferred one, without those in
  /// quarantine.
  ErrorOr<std::vector<TileConfig>> chooseTiles(const Job &job, bool &isTuned) {
    constexpr size_t kTried = 4;
    const TunedTiles::Known &known = tiles.find(job.key);
    std::vector<TileConfig> chosen;
    ErrorOr<TileConfig> best = parseTileConfig(known.best);
    isTuned = best && !known.failed.contains(known.best);
    if (isTuned)
      chosen.push_back(*best);
    ErrorOr<std::vector<RankedTile>> ranked = compiler.rankTiles(
        *job.problem, *job.target, kTried + known.failed.size());
    if (!ranked)
      return ranked.getStatus();
    for (const RankedTile &tile : *ranked)
      if (!known.failed.contains(tile.tile.toText()))
        chosen.push_back(tile.tile);
    if (chosen.empty())
      return notSupported("every tile is in quarantine");
    return chosen;
  }

  /// Compiles one kernel; false if that failed, which is then in the report.
  bool make(const Job &job) {
    bool isTuned = false;
    ErrorOr<std::vector<TileConfig>> chosen = chooseTiles(job, isTuned);
    Status reason = chosen.getStatus();
    for (size_t i = 0; chosen && i < chosen->size(); ++i) {
      ErrorOr<Kernel> kernel =
          compiler.compile(*job.problem, (*chosen)[i], *job.target);
      if (kernel) {
        files.store(job.key, *kernel);
        std::lock_guard lock(mutex);
        report.tuned += isTuned && i == 0;
        if (i > 0)
          add(report.replaced, job, reason);
        return true;
      }
      // The failure of the first tile is reported; other tiles only replace it.
      if (i == 0)
        reason = kernel.getStatus();
    }
    std::lock_guard lock(mutex);
    add(report.failures, job, reason);
    return false;
  }

  static void add(std::vector<PackageFailure> &list, const Job &job,
                  const Status &reason) {
    list.push_back(
        {job.key.networkConfig, job.key.target, reason.getMessage()});
  }

  const PackageRequest &request;
  KernelCompiler &compiler;
  const TunedTiles &tiles;
  PackageFiles &files;
  const std::function<void(const PackageReport &)> &progress;
  std::vector<Job> jobs;
  std::atomic<size_t> next = 0;
  std::mutex mutex; ///< Guards what follows.
  PackageReport report;
  std::vector<char> isDone;
};
} // namespace

ErrorOr<PackageReport> tessera::buildPackage(
    const PackageRequest &request, KernelCompiler &compiler,
    const std::function<void(const PackageReport &)> &progress) {
  ErrorOr<TunedTiles> tiles = TunedTiles::read(request.tiles);
  if (!tiles)
    return tiles.getStatus();
  PackageFiles files(request.output);
  if (Status status = files.open(); !status.isOk())
    return status;
  Builder builder(request, compiler, *tiles, files, progress);
  PackageReport report = builder.run();
  if (Status status = files.write(builder.getKeys()); !status.isOk())
    return status;
  return report;
}
