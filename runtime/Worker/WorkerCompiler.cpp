//===- WorkerCompiler.cpp - The compiler in other processes ---------------===//

#include "runtime/Worker/WorkerCompiler.h"

#include "runtime/Base/Env.h"
#include "runtime/Base/Log.h"
#include "runtime/Base/OwnFiles.h"
#include "runtime/Worker/Serve.h"

#include <algorithm>
#include <thread>
#include <unistd.h>
#include <utility>

using namespace tessera;

//===----------------------------------------------------------------------===//
// Calls
//===----------------------------------------------------------------------===//

static ErrorOr<WorkerReply> callWorker(WorkerPool::Loan &worker,
                                       const std::string &request) {
  const ErrorOr<std::string> answer = worker->call(request);
  if (!answer)
    return answer.getStatus();
  ErrorOr<WorkerReply> reply = decodeReply(*answer);
  if (!reply)
    return unavailable(reply.getStatus().getMessage());
  worker.keep();
  if (const std::string output = worker->takeOutput(); !output.empty())
    logMessage(LogLevel::Info, "a compile worker said: " + output);
  return reply;
}

/// The reply to a request, from a worker if one can be started; or how the
/// worker died of it. A worker that was killed from outside is replaced once.
ErrorOr<WorkerReply> WorkerCompiler::call(const WorkerRequest &request) const {
  const std::string bytes = encode(request);
  bool isRetry = false;
  while (!isWithoutWorkers) {
    ErrorOr<WorkerPool::Loan> worker = pool.borrow();
    ErrorOr<WorkerReply> reply =
        worker ? callWorker(*worker, bytes) : worker.getStatus();
    if (reply)
      return reply;
    const Status failure = reply.getStatus();
    // The worker had ended for lack of requests just before: another one is
    // started.
    if (worker && failure.getCode() == StatusCode::NotFound)
      continue;
    if (failure.getCode() == StatusCode::ResourceExhausted) {
      if (!std::exchange(isRetry, true))
        continue;
      // A choice is arithmetic of a model, without LLVM, so it is safe here. So
      // is a request that no worker has received, because nothing was killed
      // over it.
      const bool isChoice = request.kind == WorkerRequest::Kind::ChooseTile ||
                            request.kind == WorkerRequest::Kind::RankTiles;
      if ((worker && !isChoice) || !inProcess.load().isOk())
        return failure;
      logMessage(LogLevel::Info, "a request is served in this process: " +
                                     failure.getMessage());
      break;
    }
    if (worker || failure.getCode() != StatusCode::Unavailable)
      return failure;
    // A worker that cannot start has done nothing, and the next will not start
    // either.
    if (Status missing = inProcess.load(); !missing.isOk())
      return missing;
    if (!isWithoutWorkers.exchange(true))
      logMessage(LogLevel::Warning,
                 "kernels are compiled in this process, because " +
                     failure.getMessage());
  }
  return serve(inProcess, request);
}

ErrorOr<TileConfig> WorkerCompiler::chooseTile(const Problem &problem,
                                               const GpuTarget &target) const {
  ErrorOr<WorkerReply> reply =
      call({WorkerRequest::Kind::ChooseTile, problem.toNetworkConfig(),
            std::string(target.name), "", 0});
  if (!reply)
    return reply.getStatus().withContext("choosing a tile");
  if (!reply->status.isOk())
    return reply->status;
  if (reply->tiles.empty())
    return internalError("a compile worker chose no tile");
  return std::move(reply->tiles.front().tile);
}

ErrorOr<std::vector<RankedTile>>
WorkerCompiler::rankTiles(const Problem &problem, const GpuTarget &target,
                          size_t limit) const {
  ErrorOr<WorkerReply> reply =
      call({WorkerRequest::Kind::RankTiles, problem.toNetworkConfig(),
            std::string(target.name), "", limit});
  if (!reply)
    return reply.getStatus().withContext("ranking tiles");
  if (!reply->status.isOk())
    return reply->status;
  return std::move(reply->tiles);
}

ErrorOr<std::vector<TileConfig>>
WorkerCompiler::findNeighbours(const Problem &problem, const TileConfig &tile,
                               const GpuTarget &target) {
  ErrorOr<WorkerReply> reply =
      call({WorkerRequest::Kind::FindNeighbours, problem.toNetworkConfig(),
            std::string(target.name), tile.toText(), 0});
  if (!reply)
    return reply.getStatus().withContext("neighbours of " + tile.toText());
  if (!reply->status.isOk())
    return reply->status;
  std::vector<TileConfig> tiles;
  for (RankedTile &ranked : reply->tiles)
    tiles.push_back(std::move(ranked.tile));
  return tiles;
}

ErrorOr<Kernel> WorkerCompiler::compile(const Problem &problem,
                                        const TileConfig &tile,
                                        const GpuTarget &target) {
  ErrorOr<WorkerReply> reply =
      call({WorkerRequest::Kind::Compile, problem.toNetworkConfig(),
            std::string(target.name), tile.toText(), 0});
  if (!reply)
    return reply.getStatus().withContext("tile " + tile.toText());
  if (!reply->status.isOk())
    return reply->status;
  return std::move(reply->kernel);
}

//===----------------------------------------------------------------------===//
// Settings
//===----------------------------------------------------------------------===//

static constexpr char kProgram[] = "tessera-compile-worker";

/// The program lies beside the library in a build tree, and in libexec of an
/// installation. If it is in neither, this returns its bare name, which cannot
/// be run.
static std::string findProgram() {
  for (const std::string &folder : getOwnLibraryFolders())
    for (const char *subfolder : {"/", "/" TESSERA_WORKER_FOLDER "/"})
      if (std::string file = folder + subfolder + kProgram;
          access(file.c_str(), X_OK) == 0)
        return file;
  return kProgram;
}

/// The program that TESSERA_COMPILE_WORKER names, or ours. The caller has
/// handled a switch that is off.
static std::string chooseProgram() {
  constexpr const char *kVariable = "TESSERA_COMPILE_WORKER";
  const std::string setting = getEnvText(kVariable).value_or("");
  if (setting.empty() || parseEnvBool(setting))
    return findProgram();
  if (access(setting.c_str(), X_OK) == 0)
    return setting;
  reportEnvValue(kVariable, "a switch, or a program that can be run");
  return findProgram();
}

/// More addresses than any host has.
static constexpr int64_t kMostMemoryMib = int64_t(1) << 40;
static constexpr int64_t kLargestNiceness = 19;
static constexpr int64_t kMostJobs = 1024;

static WorkerSettings getSettings(const std::string &revision) {
  WorkerSettings settings;
  settings.program = chooseProgram();
  settings.library = getCompilerLibrary();
  settings.revision = revision;
  if (auto mib = getEnvInt("TESSERA_COMPILE_MEMORY", 1, kMostMemoryMib))
    settings.memoryMib = static_cast<uint64_t>(*mib);
  settings.niceness = static_cast<int>(
      getEnvInt("TESSERA_COMPILE_NICE", 0, kLargestNiceness).value_or(0));
  if (auto seconds = getEnvInt("TESSERA_COMPILE_TIMEOUT", 1, kMostEnvSeconds))
    settings.timeLimit = std::chrono::seconds(*seconds);
  return settings;
}

std::unique_ptr<KernelCompiler>
tessera::createCompiler(const std::string &revision) {
  if (parseEnvBool(getEnvText("TESSERA_COMPILE_WORKER").value_or("")) == false)
    return std::make_unique<LibraryCompiler>(revision);
  constexpr unsigned kMaxWorkers = 8;
  const unsigned cores =
      std::clamp(std::thread::hardware_concurrency(), 1u, kMaxWorkers);
  return std::make_unique<WorkerCompiler>(
      getSettings(revision),
      static_cast<unsigned>(
          getEnvInt("TESSERA_COMPILE_JOBS", 1, kMostJobs).value_or(cores)));
}
