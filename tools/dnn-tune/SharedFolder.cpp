//===- SharedFolder.cpp - Several processes, one list of problems ---------===//

#include "tools/dnn-tune/SharedFolder.h"

#include "runtime/Base/Env.h"
#include "runtime/Base/Hash.h"
#include "runtime/Db/ByteLock.h"
#include "runtime/Db/CacheFolder.h"
#include "runtime/Db/Merge.h"
#include "tools/support/Files.h"

#include <chrono>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <optional>
#include <thread>

using namespace tessera;
using namespace tessera::tune_tool;
using namespace std::chrono_literals;
namespace fs = std::filesystem;

/// The byte of the claim file for merging; problems use other bytes.
static constexpr uint64_t kMergeByte = 0;
static constexpr uint64_t kMostBytes = uint64_t(1) << 62;
/// How long a rank with nothing to do waits before it looks again.
static constexpr auto kPatience = 100ms;
/// How long another rank may merge.
static constexpr auto kMergeLimit = 10min;

static std::optional<int64_t>
readFirst(std::initializer_list<const char *> names) {
  for (const char *name : names)
    if (std::optional<int64_t> number = getEnvInt(name))
      return number;
  return std::nullopt;
}

Rank tessera::tune_tool::readRank() {
  Rank rank;
  if (auto number = readFirst(
          {"OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK", "SLURM_PROCID"})) {
    rank.number = static_cast<int>(*number);
    rank.name = "rank-" + std::to_string(*number);
  }
  if (auto local = readFirst(
          {"OMPI_COMM_WORLD_LOCAL_RANK", "MPI_LOCALRANKID", "SLURM_LOCALID"}))
    rank.local = static_cast<int>(*local);
  return rank;
}

ErrorOr<SharedFolder> SharedFolder::open(const std::string &path,
                                         const Rank &rank) {
  SharedFolder folder(path, rank);
  std::error_code error;
  // Only these are created: if their parent is missing, the path is misspelt.
  for (const std::string &made : {path, path + "/done"})
    if (!error)
      fs::create_directory(made, error);
  if (error)
    return unavailable("cannot make the folder " + path + ": " +
                       error.message());
  if (Status status = makeFolderOf(folder.getOwnFolder() + "/kernels.db");
      !status.isOk())
    return status;
  return folder;
}

static uint64_t getHash(const Problem &problem) {
  Fnv1a hash;
  hash.add(problem.toNetworkConfig());
  return hash.get();
}

std::string SharedFolder::getDoneFile(const Problem &problem) const {
  char name[24];
  std::snprintf(name, sizeof name, "/done/%016llx",
                static_cast<unsigned long long>(getHash(problem)));
  return path + name;
}

ErrorOr<SharedFolder::Step>
SharedFolder::takeOne(const Problem &problem,
                      const std::function<Status(const Problem &)> &work) {
  const std::string done = getDoneFile(problem);
  if (fs::exists(done))
    return Step::Done;
  const ByteLock claim(getClaimFile(), 1 + getHash(problem) % kMostBytes, 0ms);
  if (claim.getState() == ByteLock::State::Unavailable)
    return unavailable("nothing can be locked in " + path);
  if (claim.getState() == ByteLock::State::TimedOut)
    return Step::Busy;
  // Another rank may have finished it since the last look.
  if (fs::exists(done))
    return Step::Done;
  if (Status status = work(problem); !status.isOk())
    return status;
  if (Status status =
          writeOutput(done, rank.name + " " + problem.toNetworkConfig() + "\n");
      !status.isOk())
    return status;
  return Step::Worked;
}

Status
SharedFolder::takeProblems(const std::vector<Problem> &problems,
                           const std::function<Status(const Problem &)> &work) {
  // Each rank begins at another problem, so that they rarely meet.
  const size_t count = problems.size();
  const size_t first = static_cast<size_t>(rank.number) * 7919 % count;
  for (bool isBusy = true; isBusy;) {
    isBusy = false;
    bool hasWorked = false;
    for (size_t i = 0; i < count; ++i) {
      const ErrorOr<Step> step = takeOne(problems[(first + i) % count], work);
      if (!step)
        return step.getStatus();
      isBusy |= *step == Step::Busy;
      hasWorked |= *step == Step::Worked;
    }
    if (isBusy && !hasWorked)
      std::this_thread::sleep_for(kPatience);
  }
  return Status::ok();
}

ErrorOr<bool> SharedFolder::merge() {
  const std::string merged = path + "/merged";
  const ByteLock claim(getClaimFile(), kMergeByte, kMergeLimit);
  if (claim.getState() != ByteLock::State::Held)
    return unavailable("another process is still merging in " + path);
  // After a longer list was tuned in the same folder, databases are merged
  // again.
  const auto done = std::distance(fs::directory_iterator(path + "/done"),
                                  fs::directory_iterator());
  long known = -1;
  if (std::ifstream(merged) >> known && known == done)
    return false;
  DatabaseFile into(path + "/kernels.db");
  for (const fs::directory_entry &entry : fs::directory_iterator(path)) {
    const std::string file = entry.path().string() + "/kernels.db";
    if (!entry.is_directory() || !fs::exists(file))
      continue;
    DatabaseFile from(file, DatabaseFile::Use::Named);
    const ErrorOr<MergeResult> result = mergeFile(into, from);
    if (!result)
      return result.getStatus().withContext(file);
  }
  if (Status status = writeOutput(merged, std::to_string(done) + "\n");
      !status.isOk())
    return status;
  return true;
}
