//===- Stats.cpp - What a launch did, in numbers --------------------------===//

#include "runtime/Emulator/Measure/Stats.h"

#include <algorithm>
#include <cstdio>
#include <mutex>

using namespace tessera::emulator;

static constexpr const char *kClassNames[kInstructionClasses] = {
    "mfma",     "valu",      "salu", "smem",    "vmem_load", "vmem_store",
    "lds_read", "lds_write", "wait", "barrier", "branch",    "other"};

void LaunchStats::merge(const LaunchStats &other) {
  for (unsigned i = 0; i < kInstructionClasses; ++i)
    instructions[i] += other.instructions[i];
  bytesLoaded += other.bytesLoaded;
  bytesStored += other.bytesStored;
  ldsBytesRead += other.ldsBytesRead;
  ldsBytesWritten += other.ldsBytesWritten;
  ldsReadConflictCycles += other.ldsReadConflictCycles;
  ldsWriteConflictCycles += other.ldsWriteConflictCycles;
}

static std::string quote(std::string_view text) {
  std::string result = "\"";
  for (char c : text) {
    if (c == '"' || c == '\\')
      result += '\\';
    if (static_cast<unsigned char>(c) >= 0x20)
      result += c;
  }
  return result + "\"";
}

static std::string formatTriple(const std::array<uint32_t, 3> &values) {
  return "[" + std::to_string(values[0]) + "," + std::to_string(values[1]) +
         "," + std::to_string(values[2]) + "]";
}

std::string tessera::emulator::formatStats(const LaunchSummary &summary,
                                           const LaunchStats &stats) {
  std::string line = "{\"kernel\":" + quote(summary.kernel) +
                     ",\"chip\":" + quote(summary.chip) +
                     ",\"grid\":" + formatTriple(summary.groups) +
                     ",\"block\":" + formatTriple(summary.groupSize) +
                     ",\"lds_bytes\":" + std::to_string(summary.ldsBytes);
  char time[48];
  std::snprintf(time, sizeof time, ",\"host_ms\":%.3f", summary.timeMs);
  line += time;
  line += ",\"instructions\":{";
  for (unsigned i = 0; i < kInstructionClasses; ++i)
    line += std::string(i ? "," : "") + "\"" + kClassNames[i] +
            "\":" + std::to_string(stats.instructions[i]);
  line += "}";
  auto add = [&](const char *name, uint64_t value) {
    line += std::string(",\"") + name + "\":" + std::to_string(value);
  };
  add("bytes_loaded", stats.bytesLoaded);
  add("bytes_stored", stats.bytesStored);
  add("lds_bytes_read", stats.ldsBytesRead);
  add("lds_bytes_written", stats.ldsBytesWritten);
  add("lds_read_conflict_cycles", stats.ldsReadConflictCycles);
  add("lds_write_conflict_cycles", stats.ldsWriteConflictCycles);
  return line + "}";
}

void tessera::emulator::appendStats(const std::string &path,
                                    const std::string &line) {
  static std::mutex mutex;
  std::lock_guard lock(mutex);
  std::FILE *file = std::fopen(path.c_str(), "a");
  if (!file) {
    static bool reported = false;
    if (!reported)
      std::fprintf(stderr, "tessera emulator: cannot write statistics to %s\n",
                   path.c_str());
    reported = true;
    return;
  }
  std::fprintf(file, "%s\n", line.c_str());
  std::fclose(file);
}
