//===- ApiRnnTest.cpp - Recurrent networks on a device --------------------===//

#include "test/unit/execute/RnnFixture.h"

#include "capi/lib/Common/Library.h"
#include "capi/lib/Handle/CompileOnlyEngine.h"
#include "test/unit/execute/ConvFixture.h"

using namespace tessera::test;

// Inference of each kind of network, with time steps described in five
// dimensions, as PyTorch does it.
TEST_F(ApiRnn, InfersOneLayer) {
  for (miopenRNNMode_t mode :
       {miopenLSTM, miopenGRU, miopenRNNTANH, miopenRNNRELU}) {
    SCOPED_TRACE(mode);
    const RnnShape shape{
        .mode = mode, .input = 7, .hidden = 5, .batches = {3, 3, 3}};
    Network net(handle, shape, 5);
    net.allocate();
    ASSERT_OK(net.infer());
    net.expectForward();
  }
}

// Training of each kind of network, with two layers and sequences of different
// lengths in two directions. Sizes are odd, so that most matrices begin at
// addresses that are not aligned.
TEST_F(ApiRnn, TrainsTwoLayersInTwoDirections) {
  for (miopenRNNMode_t mode :
       {miopenLSTM, miopenGRU, miopenRNNTANH, miopenRNNRELU}) {
    SCOPED_TRACE(mode);
    const RnnShape shape{.mode = mode,
                         .layers = 2,
                         .isBidirectional = true,
                         .input = 3,
                         .hidden = 5,
                         .batches = {4, 4, 2, 1}};
    Network net(handle, shape);
    checkTraining(net);
  }
}

// Networks without biases, without given states, and without weights of the
// input.
TEST_F(ApiRnn, LeavesOutWhatIsOptional) {
  for (miopenRNNMode_t mode : {miopenLSTM, miopenGRU, miopenRNNTANH})
    for (bool skipsInput : {false, true})
      for (bool hasBias : {false, true}) {
        SCOPED_TRACE(testing::Message() << mode << skipsInput << hasBias);
        const RnnShape shape{.mode = mode,
                             .layers = 2,
                             .isBidirectional = skipsInput,
                             .input = 6,
                             .hidden = 6,
                             .batches = {2, 2, 1},
                             .hasBias = hasBias,
                             .skipsInput = skipsInput};
        Network net(handle, shape);
        net.hasInitial = net.hasFinal = hasBias != skipsInput;
        checkTraining(net);
      }
}

// Halves and bfloat16. One step rounds the products, the gates and the states.
TEST_F(ApiRnn, TrainsInShortTypes) {
  for (miopenDataType_t type : {miopenHalf, miopenBFloat16})
    for (miopenRNNMode_t mode : {miopenLSTM, miopenGRU, miopenRNNTANH}) {
      SCOPED_TRACE(testing::Message() << type << " " << mode);
      const RnnShape shape{.mode = mode,
                           .type = type,
                           .layers = 2,
                           .isBidirectional = true,
                           .input = 16,
                           .hidden = 8,
                           .batches = {3, 3, 2}};
      Network net(handle, shape);
      checkTraining(net);
    }
}

// Sizes that matrix instructions and several workgroups share, in which a
// product's reduction may be split.
TEST_F(ApiRnn, TrainsLargerSizes) {
  for (miopenDataType_t type : {miopenFloat, miopenHalf}) {
    SCOPED_TRACE(type);
    const RnnShape shape{.mode = type == miopenHalf ? miopenLSTM : miopenGRU,
                         .type = type,
                         .input = 64,
                         .hidden = 72,
                         .batches = {40, 40, 40, 17}};
    Network net(handle, shape);
    checkTraining(net, /*every=*/509);
  }
}

// So many products that a forward step is one launch, whose rows share the
// weights, and a backward step is not: they agree about what is kept.
TEST_F(ApiRnn, FusesForwardStepsOnly) {
  for (miopenRNNMode_t mode : {miopenLSTM, miopenGRU, miopenRNNTANH}) {
    SCOPED_TRACE(mode);
    const int batch = mode == miopenRNNTANH ? 36 : 12;
    const RnnShape shape{.mode = mode,
                         .input = 24,
                         .hidden = 256,
                         .batches = {batch, batch, batch}};
    Network net(handle, shape);
    checkTraining(net, /*every=*/1021);
  }
}

// Weights that no workgroup holds, of several sequences: each step is a launch
// that uses the matrix unit, forward and backward.
TEST_F(ApiRnn, MakesEachStepByTheMatrixUnit) {
  for (miopenRNNMode_t mode : {miopenLSTM, miopenGRU, miopenRNNTANH}) {
    SCOPED_TRACE(mode);
    const RnnShape shape{.mode = mode,
                         .type = miopenHalf,
                         .input = 4,
                         .hidden = mode == miopenRNNTANH ? 400 : 240,
                         .batches = {5, 5}};
    Network net(handle, shape);
    net.allocate();
    ASSERT_OK(net.infer());
    net.expectForward();
    checkTraining(net, /*every=*/20011);
  }
}

// With MIOPEN_DEBUG_COMPILE_ONLY all kernels of a network are compiled: that
// copies the states, that adds the biases, the product with the input, and that
// of the steps.
TEST_F(ApiRnn, CompilesAllKernelsWithoutLaunching) {
  auto engine =
      tessera::capi::makeCompileOnly(makeEngine(tessera::capi::makeCompiler()));
  const tessera::EngineCounters &counters = engine->getCounters();
  tessera::capi::replaceEngineForTesting(std::move(engine));
  miopenHandle_t compiling = nullptr;
  ASSERT_OK(miopenCreate(&compiling));
  const RnnShape shape{
      .mode = miopenLSTM, .input = 4, .hidden = 4, .batches = {2, 2}};
  {
    Network net(compiling, shape);
    net.allocate();
    EXPECT_EQ(net.infer(), miopenStatusGpuOperationsSkipped);
    EXPECT_EQ(counters.compiled.load(), 4u);
  }
  EXPECT_OK(miopenDestroy(compiling));
  ASSERT_OK(miopenDestroy(handle));
  SetUpTestSuite();
  ASSERT_OK(miopenCreate(&handle));
}

// Sequence tensors with padding, in both orders of memory, and sequences in no
// order of their lengths, one of them empty: its states pass through.
TEST_F(ApiRnn, TakesSequenceTensors) {
  const std::vector<int> unordered = {2, 4, 0, 4, 1};
  for (const Padding &padding :
       {Padding{miopenRNNDataBatchMajorPadded, unordered, 5},
        Padding{miopenRNNDataSeqMajorPadded, unordered, 5},
        Padding{miopenRNNDataSeqMajorPadded, {3, 3}, 4},
        Padding{miopenRNNDataSeqMajorNotPadded, {4, 2, 2}, 5}})
    for (miopenRNNMode_t mode : {miopenLSTM, miopenGRU}) {
      SCOPED_TRACE(testing::Message() << padding.layout << " " << mode << " "
                                      << padding.lengths.size());
      const RnnShape shape{.mode = mode,
                           .layers = 2,
                           .isBidirectional = true,
                           .input = 3,
                           .hidden = 4,
                           .batches = padding.getBatches(),
                           .sequences = padding.getBatch()};
      SeqNetwork net(handle, shape, padding);
      net.allocate(miopenRNNInference);
      ASSERT_OK(net.forward(miopenRNNInference));
      net.expectForward();
      net.allocate(miopenRNNTraining);
      ASSERT_OK(net.forward(miopenRNNTraining));
      net.expectForward();
      ASSERT_OK(net.backwardData());
      ASSERT_OK(net.backwardWeights());
      net.expectGradients();
    }
}

namespace {
/// What the elements of a layer's output are multiplied by, as
/// docs/spec/row-wise.md defines the generator.
Doubles drawScales(uint64_t seed, int64_t counter, int64_t count, float rate) {
  auto mix = [](uint32_t h) {
    h = (h ^ h >> 16) * 0x85ebca6b;
    h = (h ^ h >> 13) * 0xc2b2ae35;
    return h ^ h >> 16;
  };
  Doubles scales;
  for (int64_t i = 0; i < count; ++i) {
    const auto j = static_cast<uint64_t>(counter + i);
    uint32_t h = mix(static_cast<uint32_t>(j) ^ static_cast<uint32_t>(seed));
    h = mix(h + static_cast<uint32_t>(j >> 32) * 0x9e3779b1 +
            static_cast<uint32_t>(seed >> 32));
    scales.push_back((h >> 8) / 0x1p24 >= rate ? 1 / (1 - rate) : 0);
  }
  return scales;
}
} // namespace

// Training drops elements between layers, others in each layer and in the next
// call, although the client did not ask for states that evolve. Inference drops
// nothing. As PyTorch does it, the second call restores the descriptor with
// use_mask.
TEST_F(ApiRnn, DropsBetweenLayers) {
  constexpr float kRate = 0.375f;
  constexpr unsigned long long kSeed = 0x123456789abcdef1;
  const RnnShape shape{.mode = miopenLSTM,
                       .layers = 3,
                       .isBidirectional = true,
                       .input = 3,
                       .hidden = 4,
                       .batches = {3, 2, 2}};
  Network net(handle, shape);
  ApiTensor states(miopenInt64, {2});
  ASSERT_OK(miopenCreateDropoutDescriptor(&net.dropout));
  ASSERT_OK(miopenSetDropoutDescriptor(net.dropout, handle, kRate,
                                       states.getData(), 16, kSeed, false,
                                       false, MIOPEN_RNG_PSEUDO_XORWOW));
  net.setDesc(shape.hasBias);
  net.allocate();
  ASSERT_OK(net.infer());
  net.expectForward();
  const int64_t count = int64_t(shape.getRows()) * net.outputs;
  for (int64_t call = 0; call < 2; ++call) {
    net.scales.clear();
    for (int64_t layer = 0; layer < 2; ++layer)
      net.scales.push_back(
          drawScales(kSeed, (call * 2 + layer) * count, count, kRate));
    checkTraining(net);
    ASSERT_OK(miopenRestoreDropoutDescriptor(net.dropout, handle, kRate,
                                             states.getData(), 16, kSeed, true,
                                             false, MIOPEN_RNG_PSEUDO_XORWOW));
    net.dw.fill(0);
  }
  EXPECT_OK(miopenDestroyDropoutDescriptor(net.dropout));
}

// Time steps whose batches fall, padded to the largest batch.
TEST_F(ApiRnn, TakesPaddedSteps) {
  const RnnShape shape{
      .mode = miopenGRU, .input = 3, .hidden = 4, .batches = {3, 3, 1}};
  const Padding padding{miopenRNNDataSeqMajorPadded, {3, 2, 2}, 3};
  Network net(handle, shape);
  ASSERT_OK(miopenSetRNNPaddingMode(net.desc, miopenRNNIOWithPadding));
  net.allocate();
  size_t bytes = 0;
  ASSERT_OK(miopenGetRNNInputTensorSize(handle, net.desc, 3, net.xDescs.get(),
                                        &bytes));
  EXPECT_EQ(bytes, 9 * 3 * sizeof(float));
  ApiTensor x(miopenFloat, {9, 3}, {}, -1, 1), y(miopenFloat, {9, 4});
  y.poison();
  ASSERT_OK(miopenRNNForwardInference(
      handle, net.desc, 3, net.xDescs.get(), x.getData(), nullptr, nullptr,
      nullptr, nullptr, net.w.getDesc(), net.w.getData(), net.yDescs.get(),
      y.getData(), nullptr, nullptr, nullptr, nullptr, net.workspace->getData(),
      net.getBytes(*net.workspace)));
  net.hasInitial = false;
  RnnData data = net.getData();
  data.x = padding.pack(readHost(x), 3);
  runReference(shape, data);
  expectNear("y", shape, padding.pack(readDevice(y), 4), data.y);
  // The padding keeps what it had.
  const std::vector<char> all = y.read();
  EXPECT_EQ(std::count(all.end() - 2 * 4 * sizeof(float), all.end(), '\xff'),
            2 * 4 * sizeof(float));
}

// Sizes and offsets of every parameter, in elements, are MIOpen's, and the
// gates of one layer and direction are contiguous, as PyTorch asserts.
TEST_F(ApiRnn, OffsetsAreThoseOfMiopen) {
  for (miopenRNNMode_t mode : {miopenLSTM, miopenGRU, miopenRNNTANH})
    for (bool isBidirectional : {false, true})
      for (bool skipsInput : {false, true}) {
        const RnnShape shape{.mode = mode,
                             .layers = 3,
                             .isBidirectional = isBidirectional,
                             .input = skipsInput ? 5 : 7,
                             .hidden = 5,
                             .batches = {2},
                             .skipsInput = skipsInput};
        Network net(handle, shape, 5);
        const miopenTensorDescriptor_t x = net.xDescs.get()[0];
        size_t bytes = 0, offset = 0;
        ASSERT_OK(
            miopenGetRNNParamsSize(handle, net.desc, x, &bytes, miopenFloat));
        EXPECT_EQ(bytes, shape.getWeights() * sizeof(float));
        ApiTensor param(miopenFloat, {1});
        const std::vector<RnnOffsets> offsets = countOffsets(shape);
        for (int layer = 0; layer < static_cast<int>(offsets.size()); ++layer)
          for (int id = 0; id < 2 * shape.getGates(); ++id) {
            SCOPED_TRACE(testing::Message() << mode << layer << " " << id);
            ASSERT_OK(miopenGetRNNLayerBiasOffset(net.desc, layer, x, id,
                                                  param.getDesc(), &offset));
            EXPECT_EQ(static_cast<int>(offset), offsets[layer].biases[id]);
            const int expected = offsets[layer].matrices[id];
            if (expected < 0) {
              EXPECT_EQ(miopenGetRNNLayerParamOffset(net.desc, layer, x, id,
                                                     param.getDesc(), &offset),
                        miopenStatusBadParm);
              continue;
            }
            ASSERT_OK(miopenGetRNNLayerParamOffset(net.desc, layer, x, id,
                                                   param.getDesc(), &offset));
            EXPECT_EQ(static_cast<int>(offset), expected);
            ASSERT_OK(miopenGetTensorNumBytes(param.getDesc(), &offset));
            ASSERT_OK(miopenGetRNNLayerParamSize(handle, net.desc, layer, x, id,
                                                 &bytes));
            EXPECT_EQ(offset, bytes);
          }
      }
}

// Parameters are copied into the weights and out of them.
TEST_F(ApiRnn, CopiesParameters) {
  const RnnShape shape{.mode = miopenGRU,
                       .layers = 2,
                       .isBidirectional = true,
                       .input = 3,
                       .hidden = 5,
                       .batches = {2}};
  Network net(handle, shape);
  const miopenTensorDescriptor_t x = net.xDescs.get()[0];
  const std::vector<RnnOffsets> offsets = countOffsets(shape);
  ApiTensor matrix(miopenFloat, {5, 10}), bias(miopenFloat, {5});
  ASSERT_OK(miopenSetRNNLayerParam(handle, net.desc, 3, x, net.w.getDesc(),
                                   net.w.getData(), 1, matrix.getDesc(),
                                   matrix.getData()));
  ASSERT_OK(miopenSetRNNLayerBias(handle, net.desc, 3, x, net.w.getDesc(),
                                  net.w.getData(), 4, bias.getDesc(),
                                  bias.getData()));
  Doubles expected = readHost(net.w);
  const Doubles put = readHost(matrix), putBias = readHost(bias);
  std::copy(put.begin(), put.end(), expected.begin() + offsets[3].matrices[1]);
  std::copy(putBias.begin(), putBias.end(),
            expected.begin() + offsets[3].biases[4]);
  EXPECT_EQ(readDevice(net.w), expected);
  matrix.poison();
  bias.poison();
  ASSERT_OK(miopenGetRNNLayerParam(handle, net.desc, 3, x, net.w.getDesc(),
                                   net.w.getData(), 1, matrix.getDesc(),
                                   matrix.getData()));
  ASSERT_OK(miopenGetRNNLayerBias(handle, net.desc, 3, x, net.w.getDesc(),
                                  net.w.getData(), 4, bias.getDesc(),
                                  bias.getData()));
  EXPECT_EQ(readDevice(matrix), put);
  EXPECT_EQ(readDevice(bias), putBias);
  ApiTensor all(miopenFloat, {1});
  ASSERT_OK(miopenGetRNNParamsDescriptor(handle, net.desc, x, all.getDesc(),
                                         miopenFloat));
  size_t bytes = 0;
  ASSERT_OK(miopenGetTensorNumBytes(all.getDesc(), &bytes));
  EXPECT_EQ(bytes, net.w.getHost().size());
  size_t hidden = 0;
  ASSERT_OK(miopenGetRNNHiddenTensorSize(handle, net.desc, 1, net.xDescs.get(),
                                         &hidden));
  EXPECT_EQ(hidden, net.hx.getHost().size());
  ASSERT_OK(miopenGetRNNLayerBiasSize(handle, net.desc, 3, 5, &bytes));
  EXPECT_EQ(bytes, 5 * sizeof(float));
}

// What contradicts itself or is too small is refused with a sentence.
TEST_F(ApiRnn, Refusals) {
  const RnnShape shape{
      .mode = miopenLSTM, .input = 3, .hidden = 4, .batches = {2, 2}};
  Network net(handle, shape);
  net.allocate();
  size_t bytes = 0;
  auto expectRefused = [&](miopenStatus_t status, const char *words,
                           miopenStatus_t expected = miopenStatusBadParm) {
    EXPECT_EQ(status, expected);
    EXPECT_NE(std::string(tesseraGetLastErrorMessage()).find(words),
              std::string::npos)
        << tesseraGetLastErrorMessage();
  };
  StepDescs rising(miopenFloat, {2, 3}, 3, 3), half(miopenHalf, {2, 2}, 3, 3);
  auto getSize = [&](StepDescs &steps) {
    return miopenGetRNNWorkspaceSize(handle, net.desc, 2, steps.get(), &bytes);
  };
  expectRefused(getSize(rising), "larger than that of the step before");
  expectRefused(getSize(half), "another data type");
  expectRefused(
      miopenGetRNNWorkspaceSize(handle, net.desc, 0, net.xDescs.get(), &bytes),
      "sequenceLen is below 1");
  expectRefused(miopenRNNForwardInference(
                    handle, net.desc, 2, net.xDescs.get(), net.x.getData(),
                    net.hx.getDesc(), net.hx.getData(), net.cx.getDesc(),
                    net.cx.getData(), net.w.getDesc(), net.w.getData(),
                    net.yDescs.get(), net.y.getData(), nullptr, nullptr,
                    nullptr, nullptr, net.workspace->getData(), 8),
                "the workspace has 8 bytes");
  expectRefused(miopenRNNForwardInference(
                    handle, net.desc, 2, net.xDescs.get(), net.x.getData(),
                    net.y.getDesc(), net.hx.getData(), nullptr, nullptr,
                    net.w.getDesc(), net.w.getData(), net.yDescs.get(),
                    net.y.getData(), nullptr, nullptr, nullptr, nullptr,
                    net.workspace->getData(), net.getBytes(*net.workspace)),
                "hx: ");
  expectRefused(miopenRNNForwardInference(
                    handle, net.desc, 2, net.xDescs.get(), net.x.getData(),
                    nullptr, nullptr, nullptr, nullptr, net.x.getDesc(),
                    net.w.getData(), net.yDescs.get(), net.y.getData(), nullptr,
                    nullptr, nullptr, nullptr, net.workspace->getData(),
                    net.getBytes(*net.workspace)),
                "the weights have");
  expectRefused(miopenRNNForwardInference(
                    handle, net.desc, 2, net.xDescs.get(), net.x.getData(),
                    nullptr, nullptr, nullptr, nullptr, net.w.getDesc(),
                    net.w.getData(), net.xDescs.get(), net.y.getData(), nullptr,
                    nullptr, nullptr, nullptr, net.workspace->getData(),
                    net.getBytes(*net.workspace)),
                "vectors of another size than 4");
  size_t offset = 0;
  expectRefused(miopenGetRNNLayerParamOffset(net.desc, 1, net.xDescs.get()[0],
                                             0, net.y.getDesc(), &offset),
                "there is no layer 1");
  expectRefused(miopenGetRNNLayerParamOffset(net.desc, 0, net.xDescs.get()[0],
                                             8, net.y.getDesc(), &offset),
                "no parameter 8");
  ASSERT_OK(miopenSetRNNDescriptor(
      net.desc, 4, 1, miopenRNNskip, miopenRNNunidirection, miopenLSTM,
      miopenRNNNoBias, miopenRNNdefault, miopenFloat));
  expectRefused(getSize(net.xDescs), "without input weights");
  ASSERT_OK(miopenSetRNNDescriptor(
      net.desc, 4, 1, miopenRNNlinear, miopenRNNunidirection, miopenLSTM,
      miopenRNNNoBias, miopenRNNdefault, miopenDouble));
  StepDescs doubles(miopenDouble, {2, 2}, 3, 3);
  expectRefused(getSize(doubles), "data type", miopenStatusNotImplemented);
}

// Packed sequence tensors need the longest sequence first.
TEST_F(ApiRnn, RefusesPackedSequencesInAnotherOrder) {
  const Padding padding{miopenRNNDataSeqMajorNotPadded, {2, 3}, 3};
  const RnnShape shape{.mode = miopenGRU,
                       .input = 3,
                       .hidden = 4,
                       .batches = padding.getBatches()};
  SeqNetwork net(handle, shape, padding);
  size_t bytes = 0;
  EXPECT_EQ(miopenGetRNNTempSpaceSizes(handle, net.desc, net.xDesc,
                                       miopenRNNTraining, &bytes, &bytes),
            miopenStatusBadParm);
  EXPECT_NE(std::string(tesseraGetLastErrorMessage()).find("longest first"),
            std::string::npos);
}

// Steps of one batch are one launch where registers and shared memory hold the
// weights, of f32 too. These networks have two such pieces, in both directions.
TEST_F(ApiRnn, MakesAllStepsAtOnce) {
  for (miopenRNNMode_t mode : {miopenLSTM, miopenGRU, miopenRNNTANH}) {
    SCOPED_TRACE(mode);
    const bool isGru = mode == miopenGRU;
    const miopenDataType_t type =
        mode == miopenRNNTANH ? miopenFloat : miopenHalf;
    const RnnShape shape{.mode = mode,
                         .type = isGru ? miopenBFloat16 : type,
                         .layers = mode == miopenLSTM ? 2 : 1,
                         .isBidirectional = true,
                         .input = 12,
                         .hidden = isGru ? 32 : 20,
                         .batches = {5, 5, 5, 5, 5, 5, 2, 2},
                         .hasBias = mode != miopenRNNTANH};
    Network net(handle, shape);
    net.hasInitial = net.hasFinal = !isGru;
    net.allocate();
    ASSERT_OK(net.infer());
    net.expectForward();
    checkTraining(net, /*every=*/61);
  }
}
