//===- KernelStore.cpp - All files that kernels may come from -------------===//

#include "runtime/Db/KernelStore.h"

#include "runtime/Base/Hash.h"
#include "runtime/Base/Log.h"

#include <algorithm>
#include <set>

using namespace tessera;

KernelStore::KernelStore(const std::string &userFile,
                         const std::vector<std::string> &packagePaths) {
  if (!userFile.empty()) {
    auto file = std::make_shared<DatabaseFile>(userFile);
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

std::optional<TileConfig> KernelStore::findTile(const TuningKey &key,
                                                Objective objective,
                                                const std::string &device) {
  std::vector<Tuning> tunings;
  auto addRows = [&](Tables &tables) {
    for (Tuning &tuning : tables.tunings.find(key, objective))
      tunings.push_back(std::move(tuning));
  };
  if (user)
    addRows(*user);
  for (const std::unique_ptr<Tables> &package : packages)
    addRows(*package);
  // What failed once is not tried again, whoever found it good.
  std::set<std::string> refused;
  for (const Tuning &tuning : tunings)
    if (!tuning.failure.empty())
      refused.insert(tuning.tile);
  std::erase_if(tunings, [&](const Tuning &tuning) {
    return refused.count(tuning.tile) != 0;
  });
  // Values of two devices cannot be compared, but the own ones are better.
  auto best = std::min_element(tunings.begin(), tunings.end(),
                               [&](const Tuning &a, const Tuning &b) {
                                 return std::pair(a.device != device, a.value) <
                                        std::pair(b.device != device, b.value);
                               });
  if (best == tunings.end())
    return std::nullopt;
  ErrorOr<TileConfig> tile = parseTileConfig(best->tile);
  if (tile)
    return *tile;
  logMessage(LogLevel::Warning,
             "a tuning of " + key.networkConfig +
                 " is not used: " + tile.getStatus().getMessage());
  return std::nullopt;
}

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
  return user && user->kernels.isOpen() ? claimFile : "";
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
