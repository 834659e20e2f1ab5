//===- HostMemoryTest.cpp - What the host can still give ------------------===//

#include "runtime/Base/HostMemory.h"
#include "runtime/Base/ErrorOr.h"

#include "test/unit/Support/TemporaryDirectory.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <sys/resource.h>
#include <vector>

using namespace tessera;

static constexpr uint64_t kMib = uint64_t(1) << 20;

// A machine that runs tests has some memory, but less than 64 bits can count.
TEST(HostMemory, TheSystemHasSome) {
  EXPECT_GT(getAvailableMemory(), kMib);
  EXPECT_LT(getAvailableMemory(), UINT64_MAX);
}

// The limit of "ulimit -v" counts, less what is already mapped.
TEST(HostMemory, TheAddressSpaceHasALimit) {
  auto limited = [] {
    const rlimit limit = {512 * kMib, 512 * kMib};
    setrlimit(RLIMIT_AS, &limit);
    const uint64_t available = getAvailableMemory();
    // A sanitizer has mapped more than the limit.
    std::exit(available < 512 * kMib ? 0 : 1);
  };
  EXPECT_EXIT(limited(), testing::ExitedWithCode(0), "");
}

// The tightest control group counts, of either version; files that are only
// cached do not count.
TEST(HostMemory, ControlGroupsHaveLimits) {
  test::TemporaryDirectory mount;
  std::filesystem::create_directories(mount.get("a/b"));
  EXPECT_EQ(getControlGroupMemory(mount.getPath(), "/a/b"), UINT64_MAX);
  mount.write("a/b/memory.max", "max\n");
  mount.write("a/memory.max", "1000\n");
  mount.write("a/memory.current", "700\n");
  mount.write("a/memory.stat", "anon 300\ninactive_file 400\n");
  EXPECT_EQ(getControlGroupMemory(mount.getPath(), "/a/b"), 700u);
  mount.write("a/b/memory.max", "100\n");
  mount.write("a/b/memory.current", "150\n");
  EXPECT_EQ(getControlGroupMemory(mount.getPath(), "/a/b"), 0u);
  mount.write("memory.limit_in_bytes", "50\n");
  mount.write("memory.usage_in_bytes", "20\n");
  EXPECT_EQ(getControlGroupMemory(mount.getPath(), "/"), 30u);
}

// Work that needs more memory than there is fails with both numbers before it
// begins.
TEST(HostMemory, WorkIsNotBegunWithoutMemory) {
  bool isBegun = false;
  const Status status = withMemory(UINT64_MAX - 1, [&] {
    isBegun = true;
    return Status::ok();
  });
  EXPECT_FALSE(isBegun);
  EXPECT_EQ(status.getCode(), StatusCode::ResourceExhausted);
  EXPECT_EQ(status.getMessage().find("the host has not enough memory: at least "
                                     "18446744073709551614 bytes are needed, "
                                     "and "),
            0u)
      << status.getMessage();
}

// Running out of memory during the work is a status, too; exceptions that are
// not about memory pass through.
TEST(HostMemory, RunningOutIsAStatus) {
  auto allocate = [](size_t bytes) {
    return withMemory(1, [&]() -> ErrorOr<size_t> {
      return std::vector<char>(bytes).size();
    });
  };
  EXPECT_EQ(*allocate(3), 3u);
  EXPECT_EQ(allocate(SIZE_MAX).getStatus().getCode(),
            StatusCode::ResourceExhausted);
  EXPECT_EQ(allocate(SIZE_MAX / 2).getStatus().getCode(),
            StatusCode::ResourceExhausted);
  EXPECT_THROW((void)withMemory(1, []() -> Status { throw 1; }), int);
}
