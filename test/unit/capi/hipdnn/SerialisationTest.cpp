//===- SerialisationTest.cpp - Plans that another process runs ------------===//

#include "runtime/Base/Hash.h"
#include "test/unit/capi/hipdnn/PluginHost.h"
#include "test/unit/capi/hipdnn/SampleGraphs.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <random>
#include <string_view>

using namespace tessera::test;
using tessera::hipdnn::ConstData;
using tessera::hipdnn::PluginStatus;

namespace {
using Bytes = std::vector<uint8_t>;
} // namespace

/// The graphs that go to another process: convolutions with and without a tail,
/// a gradient in several launches, lengths and a number of the execution.
static TestGraph makeGraph(int number) {
  const Window same = {{1, 1}, {1, 1}, {1, 1}, {1, 1}};
  const ConvCase conv = {{2, 8, 7, 9}, {16, 8, 3, 3}, same};
  switch (number) {
  case 0: {
    Tail tail;
    tail.hasBias = true;
    tail.activation = Clips{};
    return makeConvolutionWithTail({GraphType::F16, true}, conv, tail);
  }
  case 1:
    return makeConvolutionGraph(GraphNode::ConvolutionWeights, {}, conv);
  case 2: {
    const auto type = GraphType::F32;
    return makeLayerNormBackward({type, type, type, type}, false, {4, 3, 6, 5},
                                 2, false);
  }
  default: {
    TestGraph g;
    const int64_t x = g.tensor(GraphType::F32, {6, 5});
    const int64_t factor = g.runtimeNumber(GraphType::F32, 2.5);
    const int64_t y = g.tensor(GraphType::F32, {6, 5});
    g.node(GraphNode::Pointwise, makePointwise(30, x, factor, y));
    g.allowRuntimeShapes();
    return g;
  }
  }
}
static constexpr int kGraphs = 4;

//===----------------------------------------------------------------------===//
// Another process
//===----------------------------------------------------------------------===//

/// What this process is told to do with the plans of a folder.
static constexpr char kFolder[] = "TESSERA_TEST_PLANS";
static constexpr char kIsForeign[] = "TESSERA_TEST_PLANS_ARE_FOREIGN";

static std::filesystem::path getFile(const std::string &folder, int number) {
  return std::filesystem::path(folder) / std::to_string(number);
}

/// Runs the plans of the folder without compiling anything.
static void runPlans(const std::string &folder) {
  for (int number = 0; number < kGraphs; ++number) {
    std::ifstream file(getFile(folder, number), std::ios::binary);
    const Bytes bytes(std::istreambuf_iterator<char>(file), {});
    TestPlan plan(bytes);
    if (std::getenv(kIsForeign)) {
      EXPECT_EQ(plan.getStatus(), PluginStatus::NotApplicable);
      EXPECT_NE(getPluginError().find("but the device is a"), std::string::npos)
          << getPluginError();
      continue;
    }
    ASSERT_EQ(plan.getStatus(), PluginStatus::Success) << getPluginError();
    EXPECT_EQ(plan.run(makeGraph(number)), PluginStatus::Success)
        << getPluginError();
    EXPECT_EQ(plan.serialise(), bytes);
  }
  EXPECT_EQ(readCounts().compiled, 0u);
  if (!std::getenv(kIsForeign))
    EXPECT_GE(readCounts().fromDatabase, uint64_t(kGraphs));
}

/// This test as a process of its own, without a database.
static int runInProcess(const std::string &folder, const std::string &more) {
  const std::string program = std::filesystem::read_symlink("/proc/self/exe");
  const std::string command =
      "MIOPEN_DISABLE_CACHE=1 " + std::string(kFolder) + "=" + folder + " " +
      more + " " + program +
      " --gtest_filter=HipdnnSerialisation.InAnotherProcess > " + folder +
      "/log 2>&1";
  const int status = std::system(command.c_str());
  if (status != 0) {
    std::ifstream log(folder + "/log");
    ADD_FAILURE() << std::string(std::istreambuf_iterator<char>(log), {});
  }
  return status;
}

// A process that has nothing but the bytes runs the plans and compiles nothing;
// one with another chip refuses them.
TEST(HipdnnSerialisation, InAnotherProcess) {
  if (const char *folder = std::getenv(kFolder))
    return runPlans(folder);
  const std::string folder =
      std::filesystem::path(testing::TempDir()) /
      ("tessera-plans-" + std::to_string(std::random_device()()));
  std::filesystem::create_directory(folder);
  for (int number = 0; number < kGraphs; ++number) {
    const Bytes bytes = TestPlan(makeGraph(number)).serialise();
    std::ofstream(getFile(folder, number), std::ios::binary)
        .write(reinterpret_cast<const char *>(bytes.data()),
               static_cast<long>(bytes.size()));
  }
  EXPECT_EQ(runInProcess(folder, ""), 0);
  const char *device = std::getenv("TESSERA_DEVICE");
  const bool isWave32 = device && std::string_view(device).ends_with("gfx1100");
  EXPECT_EQ(runInProcess(folder, std::string(kIsForeign) +
                                     "=1 TESSERA_DEVICE=emulated:" +
                                     (isWave32 ? "gfx90a" : "gfx1100")),
            0);
  std::filesystem::remove_all(folder);
}

//===----------------------------------------------------------------------===//
// This process
//===----------------------------------------------------------------------===//

// Also here a restored plan gives the same, with other lengths and numbers.
TEST(HipdnnSerialisation, KeepsRuntimeShapes) {
  const TestGraph most = makeGraph(3);
  const Bytes bytes = TestPlan(most).serialise();
  TestPlan plan(bytes);
  ASSERT_EQ(plan.getStatus(), PluginStatus::Success) << getPluginError();
  TestGraph less = makeGraph(3);
  for (int64_t uid : {0, 2}) {
    less.get(uid).lengths = {3, 5};
    less.get(uid).strides = {5, 1};
  }
  less.get(1).value = -4;
  EXPECT_EQ(plan.run(less, most), PluginStatus::Success) << getPluginError();
}

/// What a plan of these bytes is refused with; the test fails if it is not.
static std::string refuse(const Bytes &bytes, PluginStatus wanted) {
  const TestPlan plan(bytes);
  EXPECT_EQ(plan.getStatus(), wanted);
  return getPluginError();
}

// Every beginning and every flipped byte is found.
TEST(HipdnnSerialisation, FindsDamage) {
  const Bytes whole = TestPlan(makeGraph(3)).serialise();
  for (size_t size = 0; size < whole.size(); ++size)
    refuse({whole.begin(), whole.begin() + static_cast<long>(size)},
           PluginStatus::InvalidValue);
  EXPECT_EQ(refuse({}, PluginStatus::InvalidValue),
            "the bytes are no serialised plan of this engine");
  std::mt19937 random(2026);
  for (int i = 0; i < 1000; ++i) {
    Bytes bytes = whole;
    const size_t position = random() % bytes.size();
    bytes[position] ^= static_cast<uint8_t>(1 + random() % 255);
    // The eighth byte is the version.
    refuse(bytes, position == 7 ? PluginStatus::NotApplicable
                                : PluginStatus::InvalidValue);
  }
  Bytes other = whole;
  ++other[7];
  EXPECT_EQ(refuse(other, PluginStatus::NotApplicable),
            "the plan was serialised in form 2, but this release reads 1");
}

/// Corrects the checksum of changed bytes.
static void sign(Bytes &bytes) {
  tessera::Fnv1a hash;
  hash.addField(
      {reinterpret_cast<const char *>(bytes.data()) + 16, bytes.size() - 16});
  const uint64_t checksum = hash.get();
  std::memcpy(&bytes[8], &checksum, sizeof checksum);
}

// What has a right checksum and a wrong content is refused or is a plan; it is
// never read beyond its end.
TEST(HipdnnSerialisation, SurvivesForgedBytes) {
  const Bytes whole = TestPlan(makeGraph(3)).serialise();
  std::mt19937 random(7);
  const size_t front = std::min<size_t>(whole.size() - 16, 1000);
  const uint64_t compiled = readCounts().compiled;
  for (int i = 0; i < 1000; ++i) {
    Bytes bytes = whole;
    for (unsigned changes = 1 + random() % 3; changes > 0; --changes)
      bytes[16 + random() % front] = static_cast<uint8_t>(random());
    if (random() % 4 == 0)
      bytes.resize(16 + random() % (bytes.size() - 16));
    sign(bytes);
    const TestPlan plan(bytes);
    EXPECT_TRUE(plan.getStatus() == PluginStatus::Success ||
                plan.getStatus() == PluginStatus::InvalidValue ||
                plan.getStatus() == PluginStatus::NotApplicable ||
                plan.getStatus() == PluginStatus::AllocationFailed)
        << getPluginError();
  }
  EXPECT_EQ(readCounts().compiled, compiled);
}

// The builds of May 2026 that pass the engine's configuration in front of the
// bytes get a refusal, and neither the bytes nor the result are touched.
TEST(HipdnnSerialisation, RefusesTheFormWithAConfiguration) {
  const Bytes config = makeEngineConfig();
  const ConstData configData = {config.data(), config.size()};
  const ConstData untouched = {nullptr, 12345};
  tessera::hipdnn::GraphContext *context = nullptr;
  tessera::hipdnn::Handle *handle = nullptr;
  ASSERT_EQ(getPlugin().create(&handle), PluginStatus::Success);
  using Early =
      PluginStatus (*)(tessera::hipdnn::Handle *, const ConstData *,
                       const ConstData *, tessera::hipdnn::GraphContext **);
  const auto early = reinterpret_cast<Early>(
      reinterpret_cast<void *>(getPlugin().deserialise));
  EXPECT_EQ(early(handle, &configData, &untouched, &context),
            PluginStatus::InvalidValue);
  EXPECT_EQ(untouched.size, 12345u);
  EXPECT_EQ(context, nullptr);
  EXPECT_EQ(getPlugin().destroy(handle), PluginStatus::Success);
}

// A plan of another engine is not saved.
TEST(HipdnnSerialisation, KnowsItsEngine) {
  tessera::hipdnn::Handle *handle = nullptr;
  ASSERT_EQ(getPlugin().create(&handle), PluginStatus::Success);
  ConstData data{};
  // Any context: it is not looked at.
  auto *context = reinterpret_cast<tessera::hipdnn::GraphContext *>(&data);
  EXPECT_EQ(getPlugin().serialise(handle, 5, context, &data),
            PluginStatus::InvalidValue);
  EXPECT_EQ(getPluginError(), "the plugin has no engine 5");
  EXPECT_EQ(getPlugin().destroy(handle), PluginStatus::Success);
}
