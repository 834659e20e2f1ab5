//===- KernelStore.cpp - All files that kernels may come from -------------===//

#include "runtime/Db/KernelStore.h"

#include "runtime/Base/Hash.h"
#include "runtime/Base/Log.h"
#include "runtime/Base/Problem.h"
#include "runtime/Db/CacheFolder.h"

#include <cmath>
#include <map>
#include <set>

using namespace tessera;

KernelStore::KernelStore(const std::string &userFile,
                         const std::vector<std::string> &packagePaths) {
  if (!userFile.empty()) {
    const Status trust = checkNobodyElseWrites(userFile);
    auto file = trust.isOk() ? std::make_shared<DatabaseFile>(userFile)
                             : std::make_shared<DatabaseFile>(userFile, trust);
    if (file->isOpen() && file->isWritable())
      claimFile = getLockFile(userFile);
    user = std::make_unique<Tables>(file);
  }
  for (const std::string &path : packagePaths)
    packages.push_back(std::make_unique<Tables>(
        std::make_shared<DatabaseFile>(path, DatabaseFile::Use::Package)));
}

std::optional<FoundKernel> KernelStore::find(const KernelKey &key) {
  if (user)
    if (std::optional<Kernel> kernel = user->kernels.find(key))
      return FoundKernel{std::move(*kernel), false};
  const KernelKey ofAnyRevision = {key.networkConfig, key.target, ""};
  for (const KernelKey &wanted : {key, ofAnyRevision})
    for (const std::unique_ptr<Tables> &package : packages)
      if (std::optional<Kernel> kernel = package->kernels.find(wanted))
        return FoundKernel{std::move(*kernel), true};
  return std::nullopt;
}

void KernelStore::store(const KernelKey &key, const Kernel &kernel) {
  if (user)
    user->kernels.store(key, kernel);
}

void KernelStore::forget(const KernelKey &kernels, const TuningKey &tunings) {
  if (!user)
    return;
  user->tunings.remove(tunings);
  user->kernels.remove(kernels);
}

//===----------------------------------------------------------------------===//
// Tiles
//===----------------------------------------------------------------------===//

std::vector<Tuning> KernelStore::getTunings(const TuningKey &key,
                                            Objective objective) {
  std::vector<Tuning> tunings;
  if (user)
    tunings = user->tunings.find(key, objective);
  for (const std::unique_ptr<Tables> &package : packages)
    for (Tuning &tuning : package->tunings.find(key, objective))
      tunings.push_back(std::move(tuning));
  return tunings;
}

/// The distance between the batches and the compute units of two keys, in
/// powers of two.
static double getDistance(const TuningKey &a, const TuningKey &b) {
  auto getBatch = [](const TuningKey &key) -> double {
    ErrorOr<Problem> problem = parseNetworkConfig(key.networkConfig);
    if (!problem)
      return 0;
    if (const ConvProblem *conv = problem->getConv())
      return static_cast<double>(conv->batch);
    const PoolProblem *pool = problem->getPool();
    return pool ? static_cast<double>(pool->batch) : 1;
  };
  return std::abs(std::log2(getBatch(a) / getBatch(b))) +
         std::abs(std::log2(double(a.computeUnits) / double(b.computeUnits)));
}

/// The keys whose tiles may be useful for `key`, nearest first.
std::vector<TuningKey> KernelStore::getNeighbours(const TuningKey &key) {
  constexpr double farthest = 1;
  std::multimap<double, TuningKey> near;
  auto addNear = [&](Tables &tables) {
    for (TuningKey &other : tables.tunings.getNeighbours(key))
      if (double distance = getDistance(key, other); distance <= farthest)
        near.emplace(distance, std::move(other));
  };
  if (user)
    addNear(*user);
  for (const std::unique_ptr<Tables> &package : packages)
    addNear(*package);
  std::vector<TuningKey> keys;
  for (auto &[distance, other] : near)
    keys.push_back(std::move(other));
  return keys;
}

/// Adds the tiles that failed: they are not tried again, even where another
/// file calls them good.
static void addFailed(const std::vector<Tuning> &tunings,
                      std::set<std::string> &failed) {
  for (const Tuning &tuning : tunings)
    if (!tuning.failure.empty() && tuning.failure != kUnfinishedTrial)
      failed.insert(tuning.tile);
}

/// The best tile that has not failed, if its text can be read.
static std::optional<TileConfig> chooseBest(const std::vector<Tuning> &tunings,
                                            const std::set<std::string> &failed,
                                            const std::string &device) {
  const Tuning *best = nullptr;
  // Values of different devices cannot be compared, but those of this device
  // are better evidence.
  auto getRank = [&](const Tuning &tuning) {
    return std::pair(tuning.device != device, tuning.value);
  };
  for (const Tuning &tuning : tunings)
    if (tuning.failure.empty() && !failed.count(tuning.tile) &&
        (!best || getRank(tuning) < getRank(*best)))
      best = &tuning;
  if (!best)
    return std::nullopt;
  ErrorOr<TileConfig> tile = parseTileConfig(best->tile);
  if (tile)
    return *tile;
  logMessage(LogLevel::Warning,
             "a tuning is not used: " + tile.getStatus().getMessage());
  return std::nullopt;
}

std::optional<TunedTile> KernelStore::findTile(const TuningKey &key,
                                               Objective objective,
                                               const std::string &device) {
  std::set<std::string> failed;
  std::vector<Tuning> tunings = getTunings(key, objective);
  addFailed(tunings, failed);
  if (auto tile = chooseBest(tunings, failed, device))
    return TunedTile{*tile, key};
  for (const TuningKey &neighbour : getNeighbours(key)) {
    tunings = getTunings(neighbour, objective);
    addFailed(tunings, failed);
    if (auto tile = chooseBest(tunings, failed, device))
      return TunedTile{*tile, neighbour};
  }
  return std::nullopt;
}

//===----------------------------------------------------------------------===//
// Explanations and claims
//===----------------------------------------------------------------------===//

std::vector<std::string> KernelStore::explain(const KernelKey &key) {
  std::vector<std::string> lines;
  if (user)
    lines.push_back("user's file " + user->kernels.getPath() + ": " +
                    user->kernels.explain(key));
  else
    lines.push_back("user's file: there is none (MIOPEN_DISABLE_CACHE, or no "
                    "home)");
  for (const std::unique_ptr<Tables> &package : packages)
    lines.push_back(
        "package " + package->kernels.getPath() + ": " +
        package->kernels.explain({key.networkConfig, key.target, ""}));
  return lines;
}

std::string KernelStore::getClaimFile() {
  return user && user->kernels.isShared() ? claimFile : "";
}

static uint64_t getHash(const KernelKey &key) {
  Fnv1a hash;
  hash.addField(key.networkConfig);
  hash.addField(key.target);
  hash.addField(key.revision);
  return hash.get();
}

CompileClaim::CompileClaim(KernelStore &store, const KernelKey &key,
                           std::chrono::milliseconds limit) {
  if (std::string file = store.getClaimFile(); !file.empty())
    lock.emplace(file, getHash(key), limit);
}
