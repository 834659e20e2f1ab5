//===- HostMemory.cpp - What the host can still give ----------------------===//

#include "runtime/Base/HostMemory.h"

#include <algorithm>
#include <fstream>
#include <optional>
#include <string_view>
#include <sys/resource.h>
#include <unistd.h>

using namespace tessera;

static constexpr uint64_t kUnlimited = UINT64_MAX;

/// The bytes that `limit` leaves after `used`.
static uint64_t getRest(uint64_t limit, uint64_t used) {
  return limit - std::min(limit, used);
}

/// The first word of a file as a number; nothing for "max" and for no file.
static std::optional<uint64_t> readNumber(const std::string &path) {
  std::ifstream file(path);
  uint64_t number = 0;
  return file >> number ? std::optional(number) : std::nullopt;
}

/// The number behind the word `name`.
static std::optional<uint64_t> readField(const std::string &path,
                                         std::string_view name) {
  std::ifstream file(path);
  for (std::string word; file >> word;)
    if (uint64_t number = 0; word == name && file >> number)
      return number;
  return std::nullopt;
}

/// Memory and swap that the system has free or can free at once.
static uint64_t getSystemMemory() {
  const std::string file = "/proc/meminfo";
  constexpr uint64_t kKib = 1024;
  const std::optional<uint64_t> memory = readField(file, "MemAvailable:");
  return memory ? (*memory + readField(file, "SwapFree:").value_or(0)) * kKib
                : kUnlimited;
}

/// The bytes that RLIMIT_AS leaves of the address space.
static uint64_t getAddressSpace() {
  rlimit limit;
  if (getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY)
    return kUnlimited;
  const uint64_t pages = readNumber("/proc/self/statm").value_or(0);
  return getRest(limit.rlim_cur,
                 pages * static_cast<uint64_t>(sysconf(_SC_PAGESIZE)));
}

/// The bytes that the limit of one control group leaves, without its parents.
static uint64_t getGroupMemory(const std::string &folder) {
  struct {
    const char *limit, *used, *cache;
  } static constexpr kVersions[] = {
      {"/memory.max", "/memory.current", "inactive_file"},
      {"/memory.limit_in_bytes", "/memory.usage_in_bytes",
       "total_inactive_file"}};
  for (const auto &version : kVersions)
    if (auto limit = readNumber(folder + version.limit)) {
      const uint64_t used = readNumber(folder + version.used).value_or(0);
      const uint64_t cache =
          readField(folder + "/memory.stat", version.cache).value_or(0);
      return getRest(*limit, getRest(used, cache));
    }
  return kUnlimited;
}

uint64_t tessera::getControlGroupMemory(const std::string &mount,
                                        const std::string &group) {
  uint64_t least = getGroupMemory(mount);
  for (std::string path = group; path.size() > 1;
       path.resize(path.find_last_of('/')))
    least = std::min(least, getGroupMemory(mount + path));
  return least;
}

/// The bytes that the control groups of this process leave.
static uint64_t getOwnGroupsMemory() {
  uint64_t least = kUnlimited;
  std::ifstream file("/proc/self/cgroup");
  // The line reads "0::/group" in version 2 and "7:memory:/group" in version 1.
  for (std::string line; std::getline(file, line);) {
    const size_t first = line.find(':'), second = line.find(':', first + 1);
    if (second == line.npos || line.compare(second + 1, 1, "/") != 0)
      continue;
    const std::string kind = line.substr(first + 1, second - first - 1);
    if (kind.empty() || kind == "memory")
      least = std::min(
          least, getControlGroupMemory("/sys/fs/cgroup" +
                                           (kind.empty() ? kind : "/" + kind),
                                       line.substr(second + 1)));
  }
  return least;
}

uint64_t tessera::getAvailableMemory() {
  return std::min({getSystemMemory(), getAddressSpace(), getOwnGroupsMemory()});
}

Status tessera::describeShortage(uint64_t bytes) {
  return {StatusCode::ResourceExhausted,
          "the host has not enough memory: at least " + std::to_string(bytes) +
              " bytes are needed, and " + std::to_string(getAvailableMemory()) +
              " are available; make the problem smaller, or give the process "
              "more"};
}

Status tessera::checkMemory(uint64_t bytes) {
  return bytes > getAvailableMemory() ? describeShortage(bytes) : Status::ok();
}
