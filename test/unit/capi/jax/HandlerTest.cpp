//===- HandlerTest.cpp - What XLA's calls become --------------------------===//
//
// With call frames and a library of our own. test/python/test_jax.py is on
// JAX's.
//
//===----------------------------------------------------------------------===//

#include "capi/jax/Handler.h"

#include <gtest/gtest.h>

#include <cstring>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <vector>

using namespace tessera::jax;

namespace {

/// XLA's side.
std::string failure; ///< The last error that was made.
int stream, otherStream;
void *currentStream = &stream;
int32_t currentDevice = 0;

xla::Error *createError(xla::CreateError *error) {
  failure = error->message;
  return reinterpret_cast<xla::Error *>(&failure);
}
xla::Error *getStream(xla::GetStream *get) {
  get->stream = currentStream;
  return nullptr;
}
xla::Error *getDevice(xla::GetDevice *get) {
  get->device = currentDevice;
  return nullptr;
}

/// The library's side.
struct Run {
  miopenHandle_t handle;
  void *stream;
  std::string problem;
  tesseraProblemArguments arguments;
};
std::vector<Run> runs;
std::map<miopenHandle_t, void *> streams; ///< Of the handles that were made.
miopenStatus_t status = miopenStatusSuccess;
int allocated = 0;
std::optional<int> allowedAllocations;

// Handles are made and given streams by calls in several threads.
std::mutex streamsMutex;

miopenStatus_t create(miopenHandle_t *handle, miopenAcceleratorQueue_t queue) {
  const std::lock_guard lock(streamsMutex);
  *handle = reinterpret_cast<miopenHandle_t>(0x1000 + streams.size());
  streams[*handle] = queue;
  return miopenStatusSuccess;
}
miopenStatus_t setStream(miopenHandle_t handle,
                         miopenAcceleratorQueue_t queue) {
  const std::lock_guard lock(streamsMutex);
  streams[handle] = queue;
  return miopenStatusSuccess;
}
miopenStatus_t runProblem(miopenHandle_t handle, const char *problem,
                          const tesseraProblemArguments *arguments) {
  runs.push_back({handle, streams[handle], problem, *arguments});
  if (auto *y = static_cast<char *>(const_cast<void *>(arguments->y)))
    *y = *static_cast<const char *>(arguments->x) + 1;
  return status;
}
const char *getMessage() { return "the library's sentence"; }
int32_t allocate(void **memory, size_t size) {
  if (allowedAllocations && allocated >= *allowedAllocations)
    return 1;
  ++allocated;
  *memory = std::malloc(size);
  return 0;
}
int32_t freeMemory(void *memory) {
  --allocated;
  std::free(memory);
  return 0;
}
int32_t copy(void *to, const void *from, size_t size, int32_t) {
  std::memcpy(to, from, size);
  return 0;
}

class JaxHandler : public testing::Test {
protected:
  char x[6] = {1, 2, 3, 4, 5, 6}, y[2] = {}, workspace[64] = {};
  int64_t lengths[3][2] = {{2, 3}, {1, 2}, {64, 1}};
  xla::Buffer buffers[3] = {makeBuffer(x, lengths[0], 2),
                            makeBuffer(y, lengths[1], 2),
                            makeBuffer(workspace, lengths[2], 1)};
  std::string problem = testing::UnitTest::GetInstance()
                            ->current_test_info()
                            ->name(); ///< Counts are the process's.
  std::string tensors = "xys";
  const xla::Api api = {.size = sizeof(xla::Api),
                        .version = {sizeof(xla::ApiVersion), nullptr, 0, 7},
                        .createError = createError,
                        .getStream = getStream,
                        .getDevice = getDevice};

  static xla::Buffer makeBuffer(void *data, int64_t *lengths, int64_t rank) {
    return {sizeof(xla::Buffer), nullptr, xla::Type::U8, data, rank, lengths};
  }

  void start(bool isGpu) {
    const Settings settings = {isGpu,      runProblem, create,     setStream,
                               getMessage, allocate,   freeMemory, copy};
    tesseraJaxStart(&settings);
    runs.clear();
    failure.clear();
    status = miopenStatusSuccess;
    allowedAllocations.reset();
    currentStream = &stream;
    currentDevice = 0;
  }

  /// Calls with x as the argument, y and the workspace as results. Returns
  /// whether it has succeeded.
  bool call(size_t apiSize = sizeof(xla::Api)) {
    xla::Api asked = api;
    asked.size = apiSize;
    xla::Buffer *all[] = {&buffers[0], &buffers[1], &buffers[2]};
    xla::String names[] = {{"number", 6}, {"problem", 7}, {"tensors", 7}};
    xla::String texts[] = {{problem.data(), problem.size()},
                           {tensors.data(), tensors.size()}};
    int number = 5;
    xla::String *nameList[] = {&names[0], &names[1], &names[2]};
    void *values[] = {&number, &texts[0], &texts[1]};
    int32_t kinds[] = {3, xla::kString, xla::kString};
    xla::CallFrame frame = {
        .size = sizeof frame,
        .api = &asked,
        .stage = 3,
        .arguments = {sizeof(xla::Buffers), nullptr, 1, kinds, all},
        .results = {sizeof(xla::Buffers), nullptr, 2, kinds, all + 1},
        .attributes = {sizeof(xla::Attributes), nullptr, 3, kinds, nameList,
                       values}};
    return !tesseraJaxRun(&frame);
  }
};

// On a GPU the kernel gets XLA's addresses, and is put on the stream that XLA
// gives; the handle is one of the device's.
TEST_F(JaxHandler, LaunchesOnTheStream) {
  start(true);
  ASSERT_TRUE(call());
  currentStream = &otherStream;
  ASSERT_TRUE(call());
  currentDevice = 1;
  ASSERT_TRUE(call());
  ASSERT_EQ(runs.size(), 3u);
  EXPECT_EQ(runs[0].problem, problem);
  EXPECT_EQ(runs[0].arguments.x, x);
  EXPECT_EQ(runs[0].arguments.y, y);
  EXPECT_EQ(runs[0].arguments.workSpace, workspace);
  EXPECT_EQ(runs[0].arguments.workSpaceSize, 64u);
  EXPECT_EQ(runs[0].arguments.alpha, 1.0);
  EXPECT_EQ(runs[0].stream, &stream);
  EXPECT_EQ(runs[1].stream, &otherStream);
  EXPECT_EQ(runs[1].handle, runs[0].handle);
  EXPECT_NE(runs[2].handle, runs[0].handle);
  EXPECT_EQ(tesseraJaxGetCount(problem.c_str()), 3u);
  EXPECT_EQ(tesseraJaxGetCount("another"), 0u);
  EXPECT_EQ(allocated, 0);
}

// An XLA that cannot name the device has one.
TEST_F(JaxHandler, RunsUnderAnOlderXla) {
  start(true);
  currentDevice = 1;
  ASSERT_TRUE(call(offsetof(xla::Api, getDevice)));
  currentDevice = 0;
  ASSERT_TRUE(call());
  EXPECT_EQ(runs[0].handle, runs[1].handle);
}

// The host's buffers are copied to device memory and back, which is then freed.
TEST_F(JaxHandler, CopiesOfTheHost) {
  start(false);
  ASSERT_TRUE(call());
  EXPECT_NE(runs[0].arguments.x, x);
  EXPECT_EQ(runs[0].stream, nullptr);
  EXPECT_EQ(y[0], 2);
  EXPECT_EQ(allocated, 0);
}

// A failure is XLA's error with a sentence, and is not counted.
TEST_F(JaxHandler, SaysWhyItFails) {
  start(false);
  status = miopenStatusInternalError;
  EXPECT_FALSE(call());
  EXPECT_EQ(failure, "the library's sentence");
  status = miopenStatusSuccess;
  allowedAllocations = 1;
  EXPECT_FALSE(call());
  EXPECT_EQ(failure, "no device memory for a tensor of " + problem);
  tensors = "xy";
  EXPECT_FALSE(call());
  EXPECT_EQ(failure, "the call is not one of tessera.jax");
  EXPECT_EQ(tesseraJaxGetCount(problem.c_str()), 0u);
  EXPECT_EQ(allocated, 0);
}

// XLA asks for the version before the first call; we follow its own.
TEST_F(JaxHandler, TellsItsVersion) {
  xla::Metadata metadata = {
      sizeof metadata, {sizeof(xla::ApiVersion), nullptr, 9, 9}, 9};
  xla::MetadataExtension extension = {
      {sizeof extension, xla::kMetadata, nullptr}, &metadata};
  xla::CallFrame frame = {
      .size = sizeof frame, .extension = &extension.base, .api = &api};
  EXPECT_EQ(tesseraJaxRun(&frame), nullptr);
  EXPECT_EQ(metadata.version.major, xla::kMajorVersion);
  EXPECT_EQ(metadata.version.minor, 7);
  EXPECT_EQ(metadata.traits, 0u);
  frame.api = nullptr;
  EXPECT_EQ(tesseraJaxRun(&frame), nullptr);
  EXPECT_EQ(metadata.version.minor, xla::kEarlyMinorVersion);
}

// Two calls at once have two handles.
TEST_F(JaxHandler, SharesNoHandle) {
  start(true);
  static std::mutex mutex;
  static std::set<miopenHandle_t> users;
  const Settings settings = {
      true,
      [](miopenHandle_t handle, const char *, const tesseraProblemArguments *) {
        // Waits for the other call.
        for (bool areTwo = false; !areTwo; std::this_thread::yield()) {
          const std::lock_guard lock(mutex);
          users.insert(handle);
          areTwo = users.size() == 2;
        }
        return miopenStatusSuccess;
      },
      create,
      setStream,
      getMessage,
      allocate,
      freeMemory,
      copy};
  tesseraJaxStart(&settings);
  std::thread other([this] { EXPECT_TRUE(call()); });
  EXPECT_TRUE(call());
  other.join();
}

} // namespace
