//===- DbPrint.cpp - Rows of a database for people ------------------------===//

#include "tools/dnn-tune/DbPrint.h"

#include "runtime/Db/KernelRow.h"
#include "runtime/Db/TuningRow.h"

#include <cinttypes>
#include <cstdio>
#include <ctime>

using namespace tessera;
using namespace tessera::tune_tool;

/// Prints "2026-11-21 22:10", UTC. Packages that are made ahead of time have no
/// times.
static std::string formatTime(int64_t seconds) {
  if (seconds == 0)
    return "ahead of time";
  const time_t time = seconds;
  struct tm parts;
  char text[32] = "?";
  if (gmtime_r(&time, &parts))
    (void)strftime(text, sizeof text, "%Y-%m-%d %H:%M", &parts);
  return text;
}

static std::string formatValue(double value, Objective objective) {
  char text[64];
  std::snprintf(text, sizeof text, "%.4g %s", value,
                std::string(getName(objective)).c_str());
  return text;
}

//===----------------------------------------------------------------------===//
// Lists
//===----------------------------------------------------------------------===//

static Status listKernels(SqliteDatabase &database, const RowFilter &filter) {
  int64_t kernels = 0;
  Status status = visitKernelRows(database, [&](KernelRow &row) {
    if (!filter.matches(row.key.networkConfig, row.key.target))
      return Visit::Continue;
    if (kernels++ == 0)
      std::printf("%-8s  %-16s  %-28s  %-36s  %s\n", "target", "stored (UTC)",
                  "revision", "tile", "problem");
    std::printf("%-8s  %-16s  %-28s  %-36s  %s%s\n", row.key.target.c_str(),
                formatTime(row.storedAt).c_str(), row.key.revision.c_str(),
                row.kernel.tile.c_str(), row.key.networkConfig.c_str(),
                row.fault.empty() ? "" : ("  DAMAGED: " + row.fault).c_str());
    return Visit::Continue;
  });
  std::printf("%" PRId64 " kernels\n", kernels);
  return status;
}

namespace {
/// A summary of the rows of one key, objective and problem.
struct TuningSummary {
  TuningRow best;
  int tried = 0, failed = 0;

  bool isOf(const TuningRow &row) const {
    return tried != 0 && best.key == row.key &&
           best.tuning.objective == row.tuning.objective;
  }
  /// Adds a row; the best row of a key comes first.
  void add(const TuningRow &row) {
    if (tried++ == 0)
      best = row;
    failed += !row.tuning.failure.empty();
  }
  void print() const;
};
} // namespace

void TuningSummary::print() const {
  const bool hasFailed = failed == tried;
  std::printf(
      "%-8s  %4u CUs  %-14s  %3d tried, %d failed  %-36s  %s\n",
      best.key.target.c_str(), best.key.computeUnits,
      hasFailed ? "-"
                : formatValue(best.tuning.value, best.tuning.objective).c_str(),
      tried, failed, hasFailed ? "-" : best.tuning.tile.c_str(),
      best.key.networkConfig.c_str());
}

static Status listTunings(SqliteDatabase &database, const RowFilter &filter) {
  int64_t keys = 0;
  TuningSummary summary;
  Status status = visitTuningRows(database, [&](const TuningRow &row) {
    if (!row.isSound || !filter.matches(row.key.networkConfig, row.key.target))
      return;
    if (!summary.isOf(row)) {
      if (keys++ != 0)
        summary.print();
      summary = {};
    }
    summary.add(row);
  });
  if (keys != 0)
    summary.print();
  std::printf("%" PRId64 " problems tuned\n", keys);
  return status;
}

Status tune_tool::printList(DatabaseFile &file, const RowFilter &filter) {
  return file.run("list", [&](SqliteDatabase &database) {
    if (filter.hasKernels)
      if (Status status = listKernels(database, filter); !status.isOk())
        return status;
    return filter.hasTunings ? listTunings(database, filter) : Status::ok();
  });
}

//===----------------------------------------------------------------------===//
// One problem
//===----------------------------------------------------------------------===//

static void printLaunch(const LaunchRecipe &launch) {
  std::printf("  launch     %s, %ux%ux%u workgroups of %ux%ux%u, %u bytes "
              "asked for; takes",
              launch.symbol.c_str(), launch.grid[0], launch.grid[1],
              launch.grid[2], launch.block[0], launch.block[1], launch.block[2],
              launch.dynamicLdsBytes);
  for (const LaunchArg &arg : launch.args)
    std::printf(" %s", std::string(getName(arg.kind)).c_str());
  if (!launch.maps.empty())
    std::printf(" and %zu tensor maps", launch.maps.size());
  if (launch.isDependent)
    std::printf("; waits by itself for the one in front");
  std::printf("\n");
}

static void printKernel(const KernelRow &row) {
  const KernelResources &used = row.kernel.resources;
  std::printf("kernel %" PRId64 " for %s: %s\n", row.id, row.key.target.c_str(),
              row.kernel.tile.c_str());
  if (!row.fault.empty())
    std::printf("  DAMAGED    %s; it will not be used\n", row.fault.c_str());
  std::printf("  made by    %s, stored %s, launch format %" PRId64 "\n",
              row.key.revision.c_str(), formatTime(row.storedAt).c_str(),
              row.format);
  std::printf("  code       %zu bytes; %u vector registers (%u of them "
              "accumulate), %u scalar; %u + %u spilt\n",
              row.kernel.codeObject.size(), used.vgprs, used.agprs, used.sgprs,
              used.vgprSpills, used.sgprSpills);
  std::printf("  memory     %u bytes of LDS, %u of scratch a lane, workspace "
              "%" PRIu64 "\n",
              used.ldsBytes, used.scratchBytes, row.kernel.workspaceBytes);
  for (const LaunchRecipe &launch : row.kernel.launches)
    printLaunch(launch);
}

static void printTuning(const TuningRow &row) {
  const Tuning &tuning = row.tuning;
  std::printf("tuning %" PRId64 " for %s, %u CUs: %s\n", row.id,
              row.key.target.c_str(), row.key.computeUnits,
              tuning.tile.c_str());
  if (!row.isSound)
    std::printf("  DAMAGED    its checksum is wrong; it will not be used\n");
  if (tuning.failure.empty())
    std::printf(
        "  value      %s, spread %.2g; the model expected %.4g clocks\n",
        formatValue(tuning.value, tuning.objective).c_str(), tuning.spread,
        tuning.modelCost);
  else
    std::printf("  quarantine %s\n", tuning.failure.c_str());
  std::printf("  by         %s, %s, %s\n", tuning.device.c_str(),
              tuning.revision.c_str(), formatTime(tuning.measuredAt).c_str());
}

Status tune_tool::printProblem(DatabaseFile &file, const Problem &problem,
                               const RowFilter &filter) {
  const std::string wanted = problem.toNetworkConfig();
  bool hasPrinted = false;
  auto isWanted = [&](const std::string &networkConfig,
                      const std::string &target) {
    const bool isIt =
        networkConfig == wanted && filter.matches(networkConfig, target);
    hasPrinted |= isIt;
    return isIt;
  };
  return file.run("show", [&](SqliteDatabase &database) {
    Status status;
    if (filter.hasKernels)
      status = visitKernelRows(database, wanted, [&](KernelRow &row) {
        if (isWanted(row.key.networkConfig, row.key.target))
          printKernel(row);
        return Visit::Continue;
      });
    if (status.isOk() && filter.hasTunings)
      status = visitTuningRows(database, [&](const TuningRow &row) {
        if (isWanted(row.key.networkConfig, row.key.target))
          printTuning(row);
      });
    if (status.isOk() && !hasPrinted)
      return notFound("there is no row of " + wanted);
    return status;
  });
}
