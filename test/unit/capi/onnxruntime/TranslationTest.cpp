//===- TranslationTest.cpp - The launches of ONNX nodes -------------------===//

#include "capi/onnxruntime/Translation.h"

#include <gtest/gtest.h>

#include <numeric>

using namespace tessera;
using namespace tessera::onnx;

namespace {
/// Models of f32 nodes whose results are read by the next ones only, but the
/// last one's.
struct TestModel : Model {
  int value(Shape lengths) {
    values.emplace_back();
    values.back().name = "v" + std::to_string(values.size() - 1);
    values.back().type = kF32;
    values.back().lengths = std::move(lengths);
    return static_cast<int>(values.size()) - 1;
  }
  int add(std::string op, std::vector<int> inputs) {
    Node &node = nodes.emplace_back();
    node.op = node.name = std::move(op);
    node.version = 17;
    node.inputs = std::move(inputs);
    const int result = value({});
    nodes.back().outputs = {result};
    return result;
  }
  ErrorOr<Translation> plan() {
    values[nodes.back().outputs[0]].isOutput = true;
    std::vector<int> all(nodes.size());
    std::iota(all.begin(), all.end(), 0);
    std::vector<Shape> lengths;
    for (const Value &value : values)
      lengths.push_back(value.lengths);
    return translate(*this, all, lengths);
  }
  std::vector<std::string> getProblems() {
    std::vector<std::string> problems;
    const ErrorOr<Translation> translation = plan();
    if (!translation)
      return {translation.getStatus().getMessage()};
    for (const hipdnn::Step &step : translation->plan.steps)
      problems.push_back(step.problem);
    return problems;
  }
};
using Problems = std::vector<std::string>;
} // namespace

// A bottleneck's end: the shortcut's convolution, whose node comes last but
// one, takes the other branch's result, the sum and the rectifier along.
TEST(OnnxTranslation, FusesABlock) {
  TestModel model;
  const int x = model.value({2, 8, 6, 5});
  const int w = model.value({16, 8, 1, 1}), b = model.value({16});
  const int shortcut = model.add("Conv", {x, w, b});
  const int y = model.add("Conv", {x, w, b});
  model.add("Relu", {model.add("Add", {y, shortcut})});
  const std::string conv = "conv-fwd-f32-nchw,nchw,nchw-n2c8h6w5-k16y1x1-p0x0-"
                           "s1x1-d1x1-g1-e";
  EXPECT_EQ(model.getProblems(),
            (Problems{conv + "bias", conv + "bias+residual+relu"}));
}

// A node between a convolution and the only reader of its result does not keep
// them apart.
TEST(OnnxTranslation, BringsReadersTogether) {
  TestModel model;
  const int x = model.value({1, 4, 6, 6}), w = model.value({4, 4, 3, 3});
  const int y = model.add("Conv", {x, w});
  const int z = model.add("MaxPool", {x});
  model.nodes.back().lists["kernel_shape"] = {3, 3};
  model.add("Add", {model.add("Relu", {y}), z});
  const Problems problems = model.getProblems();
  ASSERT_EQ(problems.size(), 3u);
  EXPECT_TRUE(problems[0].ends_with("-erelu")) << problems[0];
}

// Padding by rule, with an odd element at either end; where the stride passes
// over it, the problem is the one with equal padding.
TEST(OnnxTranslation, PadsByRule) {
  for (const auto &[rule, pads] :
       {std::pair{"SAME_UPPER", "-p0:1x1-"}, {"SAME_LOWER", "-p1x1-"}}) {
    TestModel model;
    const int x = model.value({1, 4, 6, 5}), w = model.value({4, 4, 3, 3});
    model.add("Conv", {x, w});
    model.nodes.back().texts["auto_pad"] = rule;
    model.nodes.back().lists["strides"] = {2, 2};
    const Problems problems = model.getProblems();
    ASSERT_EQ(problems.size(), 1u);
    EXPECT_NE(problems[0].find(pads), std::string::npos) << problems[0];
  }
}

/// The sentence about one node on images of 1x4x6x6 with a filter.
static std::string
refuse(const std::string &op,
       const std::function<void(Node &, TestModel &)> &change) {
  TestModel model;
  const int x = model.value({1, 4, 6, 6}), w = model.value({4, 4, 3, 3});
  model.add(op, {x, w});
  change(model.nodes[0], model);
  const ErrorOr<Translation> translation = model.plan();
  return translation ? "served" : translation.getStatus().getMessage();
}

// Each refusal says which node, and why.
TEST(OnnxTranslation, Refuses) {
  const auto keep = [](Node &, TestModel &) {};
  EXPECT_EQ(refuse("Conv", keep), "served");
  EXPECT_EQ(refuse("MatMul", keep),
            "MatMul 'MatMul': no kernel of ours computes it");
  EXPECT_EQ(refuse("Conv", [](Node &node, auto &) { node.domain = "other"; }),
            "Conv 'Conv': no kernel of ours computes it");
  EXPECT_EQ(refuse("Conv", [](Node &node, auto &) { node.inputs.pop_back(); }),
            "Conv 'Conv': it lacks an input or its output");
  EXPECT_EQ(refuse("Conv", [](Node &node, auto &) { node.inputs[1] = -1; }),
            "Conv 'Conv': its input 1 is missing or of a type that no kernel "
            "has");
  EXPECT_EQ(refuse("Conv",
                   [](auto &, TestModel &model) { model.values[0].type = 7; }),
            "Conv 'Conv': its input 0 is missing or of a type that no kernel "
            "has");
  EXPECT_EQ(
      refuse("Conv", [](Node &node, auto &) { node.integers["group"] = 0; }),
      "Conv 'Conv': its filter does not fit its input");
  EXPECT_EQ(
      refuse("Conv", [](Node &node, auto &) { node.lists["pads"] = {1}; }),
      "Conv 'Conv': its attribute pads has 1 numbers, but needs 4");
  EXPECT_EQ(refuse("Conv",
                   [](Node &node, auto &) {
                     node.lists["pads"] = {0, -1, 0, 0};
                   }),
            "Conv 'Conv': a number of its attribute pads is -1");
  EXPECT_EQ(refuse("Conv",
                   [](Node &node, auto &) {
                     node.lists["strides"] = {0, 1};
                   }),
            "Conv 'Conv': its window has the number 0");
  EXPECT_EQ(refuse("Conv",
                   [](Node &node, auto &) {
                     node.lists["dilations"] = {3, 3};
                   }),
            "Conv 'Conv': its window is larger than its padded input");
  EXPECT_EQ(refuse("MaxPool", keep), "MaxPool 'MaxPool': its window has the "
                                     "number 0");
  EXPECT_EQ(
      refuse("Softmax", [](Node &node, auto &) { node.integers["axis"] = 4; }),
      "Softmax 'Softmax': its input has no such axis");
  EXPECT_EQ(refuse("Add", keep), "Add 'Add': the lengths of its inputs do not "
                                 "fit");
  EXPECT_EQ(refuse("Clip", keep), "Clip 'Clip': a bound of it is no constant");
  EXPECT_EQ(refuse("Max",
                   [](Node &node, auto &) {
                     node.inputs = {0, 0, 0};
                   }),
            "Max 'Max': it has not two inputs");
  EXPECT_EQ(refuse("MaxPool",
                   [](Node &node, TestModel &model) {
                     node.lists["kernel_shape"] = {2, 2};
                     node.outputs.push_back(model.value({}));
                   }),
            "MaxPool 'MaxPool': more than its first output is read");
}
