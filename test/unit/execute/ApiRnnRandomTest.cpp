//===- ApiRnnRandomTest.cpp - Random recurrent networks on a device -------===//

#include "test/unit/execute/RnnFixture.h"

#include "runtime/Base/Env.h"
#include "test/unit/execute/Draw.h"

using namespace tessera::test;

namespace {
/// A network and how the client describes its sequences.
struct RnnCase {
  RnnShape shape;
  /// NotPadded is drawn as sequence tensors; Unknown is a descriptor for each
  /// time step.
  Padding padding;
  bool hasInitial = true, hasFinal = true;

  std::string toText() const {
    std::string text = "mode " + std::to_string(shape.mode) + ", type " +
                       std::to_string(shape.type) + ", layers " +
                       std::to_string(shape.layers) + ", directions " +
                       std::to_string(shape.getDirections()) + ", input " +
                       std::to_string(shape.input) + ", hidden " +
                       std::to_string(shape.hidden) + ", bias " +
                       std::to_string(shape.hasBias) + ", skip " +
                       std::to_string(shape.skipsInput) + ", states " +
                       std::to_string(hasInitial) + std::to_string(hasFinal) +
                       ", layout " + std::to_string(padding.layout) +
                       ", lengths";
    for (int length : padding.lengths)
      text += " " + std::to_string(length);
    return text;
  }
};
} // namespace

/// Equal lengths often, because they have kernels of their own.
static Padding drawPadding(tessera::Draw &draw) {
  Padding padding{
      static_cast<miopenRNNBaseLayout_t>(draw.between(0, 3)), {}, 0};
  const auto count = static_cast<int>(draw.between(1, 6));
  const auto longest = static_cast<int>(draw.between(1, 6));
  const bool isEqual = draw.chance(50);
  const bool isOrdered = padding.layout == miopenRNNDataUnknownLayout ||
                         padding.layout == miopenRNNDataSeqMajorNotPadded;
  padding.lengths.push_back(longest);
  while (padding.getBatch() < count)
    padding.lengths.push_back(
        isEqual ? longest
                : static_cast<int>(draw.between(isOrdered ? 1 : 0, longest)));
  if (isOrdered)
    std::ranges::sort(padding.lengths, std::greater());
  else
    std::swap(padding.lengths.front(),
              padding.lengths[draw.between(0, count - 1)]);
  padding.maxLength = longest + static_cast<int>(draw.between(0, 1));
  return padding;
}

static RnnCase drawCase(tessera::Draw &draw) {
  RnnCase drawn;
  RnnShape &shape = drawn.shape;
  shape.mode = static_cast<miopenRNNMode_t>(draw.between(0, 3));
  shape.type = static_cast<miopenDataType_t>(
      draw.oneOf({miopenFloat, miopenFloat, miopenHalf, miopenBFloat16}));
  shape.layers = static_cast<int>(draw.oneOf({1, 1, 2, 3}));
  shape.isBidirectional = draw.chance(50);
  shape.hidden = static_cast<int>(draw.chance(50) ? draw.between(1, 17)
                                                  : draw.oneOf({8, 16, 24}));
  shape.skipsInput = draw.chance(20);
  shape.input =
      shape.skipsInput ? shape.hidden : static_cast<int>(draw.between(1, 20));
  shape.hasBias = draw.chance(60);
  drawn.padding = drawPadding(draw);
  shape.batches = drawn.padding.getBatches();
  shape.sequences = drawn.padding.getBatch();
  if (drawn.padding.layout == miopenRNNDataUnknownLayout) {
    drawn.hasInitial = draw.chance(70);
    drawn.hasFinal = draw.chance(70);
  }
  return drawn;
}

namespace {
class ApiRnnRandom : public ApiRnn {
protected:
  /// A rounding changes the sign of a sum near zero, and so the gradient of a
  /// ReLU.
  static bool hasSmoothGradients(const RnnShape &shape) {
    return shape.mode != miopenRNNRELU || shape.type == miopenFloat;
  }
  /// So that about 60 weights are differentiated.
  static size_t getStride(const RnnShape &shape) {
    return 1 + shape.getWeights() / 60;
  }
  void checkSteps(const RnnCase &drawn) {
    Network net(handle, drawn.shape);
    net.hasInitial = drawn.hasInitial;
    net.hasFinal = drawn.hasFinal;
    net.allocate();
    ASSERT_OK(net.infer());
    net.expectForward();
    net.allocate();
    ASSERT_OK(net.train());
    net.expectForward();
    ASSERT_OK(net.backwardData());
    ASSERT_OK(net.backwardWeights());
    if (hasSmoothGradients(net.shape))
      net.expectGradients(getStride(net.shape));
  }
  void checkSequences(const RnnCase &drawn) {
    SeqNetwork net(handle, drawn.shape, drawn.padding);
    net.allocate(miopenRNNInference);
    ASSERT_OK(net.forward(miopenRNNInference));
    net.expectForward();
    net.allocate(miopenRNNTraining);
    ASSERT_OK(net.forward(miopenRNNTraining));
    net.expectForward();
    ASSERT_OK(net.backwardData());
    ASSERT_OK(net.backwardWeights());
    if (hasSmoothGradients(net.shape))
      net.expectGradients(getStride(net.shape));
  }
};
} // namespace

// Inference, training and all gradients of random networks: of each mode and
// type, with layers, directions, biases, skipped input weights, given and
// missing states, and sequences of all layouts. TESSERA_RNN_NETWORKS sets how
// many; network i of a seed is always the same.
TEST_F(ApiRnnRandom, NetworksAreRight) {
  const int64_t count = tessera::getEnvInt("TESSERA_RNN_NETWORKS").value_or(8);
  const int64_t seed = tessera::getEnvInt("TESSERA_TEST_SEED").value_or(1);
  for (int64_t i = 0; i < count; ++i) {
    tessera::Draw draw(seed * 1'000'003 + i);
    const RnnCase drawn = drawCase(draw);
    SCOPED_TRACE("network " + std::to_string(i) + " of seed " +
                 std::to_string(seed) + ": " + drawn.toText());
    if (drawn.padding.layout == miopenRNNDataUnknownLayout)
      checkSteps(drawn);
    else
      checkSequences(drawn);
  }
}
