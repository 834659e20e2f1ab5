//===- RefusalTest.cpp - What the plugin leaves to others -----------------===//

#include "test/unit/capi/hipdnn/PluginHost.h"

#include <gtest/gtest.h>

#include <functional>
#include <random>

using namespace tessera::test;
using tessera::hipdnn::ConstData;
using tessera::hipdnn::PluginStatus;

static void expectRefusal(const TestGraph &graph, const std::string &reason) {
  const std::string text = getRefusal(graph);
  EXPECT_NE(text.find(reason), std::string::npos) << text;
}

/// A convolution with fused bias and activation, and a gradient: the graph that
/// damage is done to.
static TestGraph makeSample() {
  TestGraph g;
  const Lengths lengths = {1, 4, 5, 5};
  const int64_t x = g.tensor(GraphType::F32, lengths);
  const int64_t w = g.tensor(GraphType::F32, {4, 4, 3, 3});
  const int64_t sum = g.internal(GraphType::F32, lengths);
  const int64_t bias = g.tensor(GraphType::F32, {1, 4, 1, 1});
  const int64_t biased = g.internal(GraphType::F32, lengths);
  const int64_t y = g.tensor(GraphType::F32, lengths);
  const int64_t scaled = g.tensor(GraphType::F32, lengths);
  const Window window = {{1, 1}, {1, 1}, {1, 1}, {1, 1}};
  g.node(GraphNode::ConvolutionForward, makeConvolution(x, w, sum, window));
  g.node(GraphNode::Pointwise, makePointwise(2, sum, bias, biased));
  g.node(GraphNode::Pointwise, makePointwise(34, biased, -1, y).number(2, 6.f));
  g.node(GraphNode::Pointwise, makePointwise(30, y, g.number(2), scaled));
  return g;
}

/// The same with lengths that come with executions.
static TestGraph makeRuntimeSample() {
  TestGraph g = makeSample();
  g.allowRuntimeShapes();
  return g;
}

/// One of each of the other kinds of nodes.
static TestGraph makeOtherSample() {
  TestGraph g;
  const Lengths lengths = {2, 3, 4, 4}, channels = {1, 3, 1, 1};
  const auto channel = [&] { return g.tensor(GraphType::F32, channels); };
  const int64_t x = g.tensor(GraphType::F16, lengths), scale = channel();
  const int64_t bias = channel(), epsilon = g.number(1e-5);
  const int64_t y = g.tensor(GraphType::F16, lengths);
  const int64_t mean = channel(), inverse = channel();
  g.node(GraphNode::BatchNorm, makeTable({x, scale, bias, epsilon, -1, -1, -1,
                                          -1, y, mean, inverse}));
  const int64_t dx = g.tensor(GraphType::F16, lengths);
  const int64_t dscale = channel(), dbias = channel();
  g.node(GraphNode::BatchNormBackward,
         makeTable({y, x, mean, inverse, scale, -1, dx, dscale, dbias}));
  const int64_t rowScale = g.tensor(GraphType::F32, {1, 1, 1, 4});
  const int64_t rows = g.tensor(GraphType::F16, lengths);
  g.node(GraphNode::RmsNorm, makeTable({dx, rowScale, epsilon, rows}));
  const int64_t sums = g.tensor(GraphType::F32, {2, 3, 1, 1});
  g.node(GraphNode::Reduction,
         makeTable({-1, rows, sums}).number(0, uint8_t(1)));
  g.node(GraphNode::ResampleForward,
         makeTable({rows, g.tensor(GraphType::F16, {2, 3, 2, 2})})
             .set(3, Lengths{0, 0})
             .set(4, Lengths{0, 0})
             .set(5, Lengths{2, 2})
             .set(6, Lengths{2, 2})
             .number(7, uint8_t(2)));
  return g;
}

// What hipDNN asks before it lists a plugin.
TEST(HipdnnPlugin, SaysWhatItIs) {
  const char *name = nullptr, *version = nullptr, *api = nullptr;
  tessera::hipdnn::PluginType type{};
  EXPECT_EQ(getPlugin().getName(&name), PluginStatus::Success);
  EXPECT_STREQ(name, "tessera_plugin");
  EXPECT_EQ(getPlugin().getVersion(&version), PluginStatus::Success);
  EXPECT_STRNE(version, "");
  EXPECT_EQ(getPlugin().getApiVersion(&api), PluginStatus::Success);
  EXPECT_STREQ(api, "1.2.0");
  EXPECT_EQ(getPlugin().getType(&type), PluginStatus::Success);
  EXPECT_EQ(type, tessera::hipdnn::PluginType::Engine);
}

// The identifier is the hash that hipDNN makes of the name, and is counted
// before it is asked for.
TEST(HipdnnPlugin, NamesItsEngine) {
  uint32_t count = 0;
  EXPECT_EQ(getPlugin().getAllEngines(nullptr, 0, &count),
            PluginStatus::Success);
  ASSERT_EQ(count, 1u);
  int64_t engine = 0;
  EXPECT_EQ(getPlugin().getAllEngines(&engine, 1, &count),
            PluginStatus::Success);
  const char *name = nullptr;
  ASSERT_EQ(getPlugin().getEngineName(engine, &name), PluginStatus::Success);
  uint64_t hash = 14695981039346656037u;
  for (const char *letter = name; *letter; ++letter)
    hash = (hash ^ static_cast<unsigned char>(*letter)) * 1099511628211u;
  EXPECT_EQ(engine, static_cast<int64_t>(hash));
  EXPECT_EQ(getPlugin().getEngineName(engine + 1, &name),
            PluginStatus::NotApplicable);
}

// The engine's details are a FlatBuffer with the engine in its first field and
// notes in its third: it compiles at runtime (0), and its plans can be
// serialised (4).
TEST(HipdnnPlugin, DescribesItsEngine) {
  const std::vector<uint8_t> bytes = makeSample().write();
  const ConstData graph = {bytes.data(), bytes.size()};
  const int64_t engine = askPlugin(bytes).engine;
  tessera::hipdnn::Handle *handle = nullptr;
  ASSERT_EQ(getPlugin().create(&handle), PluginStatus::Success);
  ConstData details{};
  EXPECT_EQ(getPlugin().getDetails(handle, engine + 1, &graph, &details),
            PluginStatus::InvalidValue);
  ASSERT_EQ(getPlugin().getDetails(handle, engine, &graph, &details),
            PluginStatus::Success);
  const auto *first = static_cast<const uint8_t *>(details.data);
  const auto read = [&]<typename T>(size_t at, T value) {
    EXPECT_LE(at + sizeof value, details.size);
    std::memcpy(&value, first + at, sizeof value);
    return value;
  };
  const uint32_t table = read(0, uint32_t());
  const size_t list = table - read(table, int32_t());
  EXPECT_EQ(read(list, uint16_t()), 10); // Three fields.
  const size_t field = table + read(list + 4, uint16_t());
  EXPECT_EQ(field % sizeof engine, 0u);
  EXPECT_EQ(read(field, int64_t()), engine);
  EXPECT_EQ(read(list + 6, uint16_t()), 0); // It has no knobs.
  const size_t notes = table + read(list + 8, uint16_t());
  const size_t first32 = notes + read(notes, uint32_t());
  EXPECT_EQ(read(first32, uint32_t()), 2u);
  EXPECT_EQ(read(first32 + 4, int32_t()), 0);
  EXPECT_EQ(read(first32 + 8, int32_t()), 4);
  EXPECT_EQ(getPlugin().destroyDetails(handle, &details),
            PluginStatus::Success);
  EXPECT_EQ(details.data, nullptr);
  EXPECT_EQ(getPlugin().destroy(handle), PluginStatus::Success);
}

TEST(HipdnnPlugin, RefusesNullPointers) {
  EXPECT_EQ(getPlugin().getName(nullptr), PluginStatus::BadParameter);
  EXPECT_EQ(getPlugin().create(nullptr), PluginStatus::BadParameter);
  EXPECT_EQ(getPlugin().execute(nullptr, nullptr, nullptr, nullptr, 0),
            PluginStatus::BadParameter);
  EXPECT_EQ(getPluginError(), "a pointer is null");
  EXPECT_EQ(getPlugin().executeWithShapes(nullptr, nullptr, nullptr, nullptr, 0,
                                          0, nullptr, nullptr, nullptr,
                                          nullptr),
            PluginStatus::BadParameter);
  EXPECT_EQ(getPlugin().serialise(nullptr, 0, nullptr, nullptr),
            PluginStatus::BadParameter);
  EXPECT_EQ(getPlugin().serialiseAsBefore(nullptr, nullptr, nullptr),
            PluginStatus::BadParameter);
  EXPECT_EQ(getPlugin().destroySerialised(nullptr, nullptr),
            PluginStatus::BadParameter);
  EXPECT_EQ(getPlugin().deserialise(nullptr, nullptr, nullptr),
            PluginStatus::BadParameter);
}

// Everything else is declined, and the log says by what name.
TEST(HipdnnPlugin, DeclinesByName) {
  TestGraph matmul;
  matmul.node(GraphNode::Matmul,
              makeTable({matmul.tensor(GraphType::F16, {1, 8, 8}),
                         matmul.tensor(GraphType::F16, {1, 8, 8}),
                         matmul.tensor(GraphType::F16, {1, 8, 8})}));
  expectRefusal(matmul, "matrix multiplication (node): no kernel of ours");

  TestGraph layer;
  layer.node(GraphNode::LayerNormBackward, makeTable({}));
  expectRefusal(layer, "layer normalisation backward (node): its table is that "
                       "of a release without gradients of the scale");

  TestGraph exp;
  const int64_t x = exp.tensor(GraphType::F16, {8, 8});
  const int64_t y = exp.tensor(GraphType::F16, {8, 8});
  exp.node(GraphNode::Pointwise, makePointwise(16, x, -1, y));
  expectRefusal(exp, "pointwise operation (node): no kernel has its mode 16");
}

/// Changes of the sample graph, and what is said of each.
TEST(HipdnnPlugin, SaysWhatIsWrong) {
  const Window window = {{1, 1}, {1, 1}, {1, 1}, {1, 1}};
  const auto check = [&](const std::string &reason,
                         const std::function<void(TestGraph &)> &change,
                         const std::function<void(FlatFields &)> &edit,
                         uint8_t computeType = 1) {
    TestGraph g;
    const int64_t x = g.tensor(GraphType::F32, {1, 4, 5, 5});
    const int64_t w = g.tensor(GraphType::F32, {4, 4, 3, 3});
    const int64_t y = g.tensor(GraphType::F32, {1, 4, 5, 5});
    FlatFields table = makeConvolution(x, w, y, window);
    if (edit)
      edit(table);
    g.node(GraphNode::ConvolutionForward, table, computeType);
    if (change)
      change(g);
    expectRefusal(g, reason);
  };
  check("its mode is not cross-correlation", {},
        [](FlatFields &table) { table.number(7, uint8_t(1)); });
  check("types that no kernel combines",
        [](TestGraph &g) { g.get(1).type = GraphType::F16; }, {});
  check("data type 9, which no kernel has",
        [](TestGraph &g) { g.get(0).type = GraphType{9}; }, {});
  check("are not those of its output",
        [](TestGraph &g) { g.get(2).lengths = {1, 4, 5, 6}; }, {});
  check("do not divide those of its input",
        [](TestGraph &g) { g.get(1).lengths = {4, 3, 3, 3}; }, {});
  check("has not one number for each spatial dimension", {},
        [](FlatFields &table) { table.set(5, Lengths{1}); });
  check("a list of its window has the number -9223372036854775807", {},
        [](FlatFields &table) { table.set(3, Lengths{-INT64_MAX, 1}); });
  check("the graph has no tensor 77", {},
        [](FlatFields &table) { table.number(1, int64_t(77)); });
  check("its compute type is wider than its tensors", {}, {}, 4);
  check("is a number and has no memory",
        [](TestGraph &g) { g.get(0).value = 1; }, {});
}

// Maxima that zeros could win, and indices that no kernel writes.
TEST(HipdnnPlugin, DeclinesSomeMaxima) {
  const auto make = [](uint8_t padding, int64_t pad, GraphType type,
                       const Lengths &strides) {
    TestGraph g;
    const int64_t x = g.tensor(GraphType::F32, {1, 2, 4, 4});
    const int64_t y = g.tensor(GraphType::F32, {1, 2, 2 + pad, 2});
    const int64_t index = g.tensor(type, {1, 2, 2 + pad, 2}, strides);
    FlatFields table = makeTable({x, y, index})
                           .set(3, Lengths{pad, 0})
                           .set(4, Lengths{pad, 0})
                           .set(5, Lengths{2, 2})
                           .set(6, Lengths{2, 2})
                           .number(7, uint8_t(1))
                           .number(8, padding)
                           .number(9, uint8_t(1));
    g.node(GraphNode::ResampleForward, table);
    return g;
  };
  expectRefusal(make(2, 1, GraphType::I32, {}),
                "zeros take part in its maximum");
  expectRefusal(make(1, 0, GraphType::I8, {}),
                "the indices of maxima are not i32, one for each");
  expectRefusal(make(1, 0, GraphType::I32, {8, 1, 4, 2}),
                "the indices of maxima are not in the order of the maxima");
}

// A virtual tensor that nobody writes has no memory to read.
TEST(HipdnnPlugin, RefusesToReadWhatNobodyWrites) {
  TestGraph g;
  const int64_t x = g.internal(GraphType::F32, {4, 4});
  const int64_t y = g.tensor(GraphType::F32, {4, 4});
  g.node(GraphNode::Pointwise, makePointwise(31, x, -1, y));
  expectRefusal(g, "before another writes it");
}

// A graph that is declined cannot be made a plan of either.
TEST(HipdnnPlugin, MakesNoContextOfADeclinedGraph) {
  TestGraph g;
  g.node(GraphNode::Matmul, makeTable({}));
  const std::vector<uint8_t> bytes = g.write(), config = makeEngineConfig();
  const ConstData graph = {bytes.data(), bytes.size()};
  const ConstData engine = {config.data(), config.size()};
  tessera::hipdnn::Handle *handle = nullptr;
  tessera::hipdnn::GraphContext *context = nullptr;
  ASSERT_EQ(getPlugin().create(&handle), PluginStatus::Success);
  EXPECT_EQ(getPlugin().createContext(handle, &engine, &graph, &context),
            PluginStatus::NotApplicable);
  EXPECT_EQ(context, nullptr);
  const std::vector<uint8_t> other =
      writeFlatBuffer(FlatFields().number(0, int64_t(5)));
  const ConstData otherEngine = {other.data(), other.size()};
  EXPECT_EQ(getPlugin().createContext(handle, &otherEngine, &graph, &context),
            PluginStatus::InvalidValue);
  EXPECT_EQ(getPluginError(), "the plugin has no engine 5");
  EXPECT_EQ(getPlugin().destroy(handle), PluginStatus::Success);
}

// An execution without a workspace or without a tensor's memory launches
// nothing and says what is missing.
TEST(HipdnnPlugin, RefusesExecutionsWithoutMemory) {
  const std::vector<uint8_t> bytes = makeSample().write();
  const std::vector<uint8_t> config = makeEngineConfig();
  const ConstData graph = {bytes.data(), bytes.size()};
  const ConstData engine = {config.data(), config.size()};
  tessera::hipdnn::Handle *handle = nullptr;
  tessera::hipdnn::GraphContext *context = nullptr;
  ASSERT_EQ(getPlugin().create(&handle), PluginStatus::Success);
  ASSERT_EQ(getPlugin().createContext(handle, &engine, &graph, &context),
            PluginStatus::Success)
      << getPluginError();
  size_t size = 0;
  ASSERT_EQ(getPlugin().getContextWorkspaceSize(handle, context, &size),
            PluginStatus::Success);
  ASSERT_GT(size, 0u);
  int memory = 0;
  const tessera::hipdnn::DeviceBuffer buffer = {0, &memory};
  EXPECT_EQ(getPlugin().execute(handle, context, nullptr, &buffer, 1),
            PluginStatus::InvalidValue);
  EXPECT_NE(getPluginError().find("but has none"), std::string::npos);
  EXPECT_EQ(getPlugin().execute(handle, context, &memory, &buffer, 1),
            PluginStatus::InvalidValue);
  EXPECT_EQ(getPluginError(), "tensor 1 has no memory");
  EXPECT_EQ(getPlugin().destroyContext(handle, context), PluginStatus::Success);
  EXPECT_EQ(getPlugin().destroy(handle), PluginStatus::Success);
}

static void expectAnswer(const std::vector<uint8_t> &bytes) {
  const Applicable answer = askPlugin(bytes);
  EXPECT_TRUE(answer.status == PluginStatus::Success ||
              answer.status == PluginStatus::InvalidValue)
      << getPluginError();
}

// Every beginning of a graph gets an answer and never a crash. The bytes lie at
// the end of their memory, so that a sanitizer sees a read behind them.
TEST(HipdnnPlugin, SurvivesTruncation) {
  for (const TestGraph &graph :
       {makeSample(), makeRuntimeSample(), makeOtherSample()}) {
    const std::vector<uint8_t> whole = graph.write();
    ASSERT_EQ(askPlugin(whole).count, 1u) << getRefusal(graph);
    for (size_t size = 0; size < whole.size(); ++size)
      expectAnswer({whole.begin(), whole.begin() + static_cast<long>(size)});
    // Without its last table the graph is damaged, and that is said.
    const std::vector<uint8_t> half(whole.begin(),
                                    whole.begin() + whole.size() / 2);
    EXPECT_EQ(askPlugin(half).status, PluginStatus::InvalidValue);
    EXPECT_NE(getPluginError().find("damaged"), std::string::npos);
  }
}

// The same with bits that have flipped, one and many at once.
TEST(HipdnnPlugin, SurvivesFlippedBits) {
  for (const TestGraph &graph :
       {makeSample(), makeRuntimeSample(), makeOtherSample()}) {
    const std::vector<uint8_t> whole = graph.write();
    for (size_t bit = 0; bit < 8 * whole.size(); ++bit) {
      std::vector<uint8_t> bytes = whole;
      bytes[bit / 8] ^= 1 << bit % 8;
      expectAnswer(bytes);
    }
    std::mt19937 random(2026);
    for (int i = 0; i < 10000; ++i) {
      std::vector<uint8_t> bytes = whole;
      for (unsigned flips = random() % 12 + 1; flips > 0; --flips)
        bytes[random() % bytes.size()] = static_cast<uint8_t>(random());
      expectAnswer(bytes);
    }
  }
}
