//===- Fuzzer.cpp - Calls with arguments drawn by their types -------------===//

#include "test/unit/capi/Fuzzer.h"

using namespace tessera::test;

static bool isOneOf(std::string_view name,
                    std::initializer_list<std::string_view> names) {
  return std::ranges::find(names, name) != names.end();
}

static bool beginsWith(std::string_view name,
                       std::initializer_list<std::string_view> beginnings) {
  return std::ranges::any_of(beginnings, [&](std::string_view beginning) {
    return name.starts_with(beginning);
  });
}

FunctionTraits::FunctionTraits(std::string_view name)
    : isMaker(name.starts_with("miopenCreate") ||
              isOneOf(name, {"miopenLoadSolution", "miopenFindSolutions"})),
      isOpMaker(name.starts_with("miopenCreateOp") &&
                name != "miopenCreateOperatorArgs"),
      isDestroyer(name.find("Destroy") != name.npos),
      changesObject(
          isOpMaker ||
          (beginsWith(name, {"miopenSet", "miopenInit", "miopenHiddenSet",
                             "miopenDerive", "miopenRestore", "miopenFuse"}) &&
           name != "miopenSetTensor")),
      hasArrays(isOneOf(name, {"miopenSetNdTensorDescriptorWithLayout",
                               "miopenSetTensorDescriptor",
                               "miopenSetTensorDescriptorV2",
                               "miopenSetRNNDataSeqTensorDescriptor",
                               "miopenCatForward", "miopenRunSolution",
                               "miopenLoadSolution", "tesseraLoadKernel"})),
      readsSolution(isOneOf(name, {"miopenLoadSolution", "tesseraLoadKernel"})),
      isNetwork(name.find("RNN") != name.npos),
      hasSteps(isOneOf(name, {"miopenGetRNNInputTensorSize",
                              "miopenGetRNNHiddenTensorSize"})),
      describes(isOneOf(
          name, {"miopenGetRNNParamsDescriptor", "miopenGetRNNLayerParam",
                 "miopenGetRNNLayerBias", "miopenGetRNNLayerParamOffset",
                 "miopenGetRNNLayerBiasOffset"})) {}

void Fuzzer::begin(std::string_view name) {
  traits = FunctionTraits(name);
  isKind = bad != Bad::None || drawBelow(2);
  arrayLength = kArrayLength;
  blocks.clear();
  objectCount = 0;
  target = tensor = object = nullptr;
  made = typeid(void);
}

static void erase(std::vector<void *> &pool, void *object) {
  pool.erase(std::ranges::find(pool, object));
}

/// Keeps the object that the call has made, and drops the one that it has
/// destroyed.
void Fuzzer::finish() {
  if (traits.isMaker && object)
    objects[made].push_back(object);
  if (traits.isOpMaker && object)
    planOps[target].push_back(object);
  if (!traits.isDestroyer)
    return;
  for (void *op : planOps[target])
    erase(objects[typeid(miopenFusionOpDescriptor_t)], op);
  planOps.erase(target);
}

/// Chooses an object that is not of `type`, or that was destroyed.
void *Fuzzer::chooseBad(std::type_index type) {
  if (bad == Bad::Destroyed)
    return destroyed.at(type).front();
  const std::type_index other = type == typeid(miopenTensorDescriptor_t)
                                    ? typeid(miopenConvolutionDescriptor_t)
                                    : typeid(miopenTensorDescriptor_t);
  return usual.get(other).front();
}

size_t Fuzzer::countObjects() const {
  size_t count = 0;
  for (const auto &[type, pool] : objects)
    count += pool.size();
  return count;
}

/// Chooses an object from either pool; an object that the call destroys is
/// removed.
void *Fuzzer::chooseFrom(Pool &own, const Pool &usualOnes, bool mustOwn) {
  const bool isOwn =
      mustOwn || usualOnes.empty() || (!isKind && !own.empty() && drawBelow(2));
  const Pool &pool = isOwn ? own : usualOnes;
  if (pool.empty())
    return nullptr;
  void *chosen = pool[drawBelow(static_cast<uint32_t>(pool.size()))];
  if (traits.isDestroyer)
    erase(own, chosen);
  return chosen;
}

/// Allocates memory that a call may write, of exactly this size, so that a
/// sanitizer reports accesses behind it.
void *Fuzzer::takeBlock(size_t bytes) {
  blocks.push_back(std::make_unique<std::byte[]>(bytes));
  return blocks.back().get();
}

/// Memory of a tensor or of a scale factor. Two arguments may get the same
/// memory.
const void *Fuzzer::drawData() {
  if (isNull())
    return nullptr;
  if (!blocks.empty() && drawBelow(16) == 0)
    return blocks.front().get();
  auto *data = static_cast<double *>(takeBlock(64));
  if (drawBelow(8) == 0)
    *data = 1;
  else if (isKind || drawBelow(2))
    *reinterpret_cast<float *>(data) = static_cast<float>(drawBelow(2));
  else
    *data = drawNumber<double>();
  return data;
}

void Fuzzer::fillArguments(tesseraProblemArguments &arguments) {
  for (const void **pointer : {&arguments.x, &arguments.w, &arguments.y,
                               &arguments.bias, &arguments.residual})
    *pointer = drawData();
  for (void **pointer :
       {&arguments.indices, &arguments.mean, &arguments.variance})
    *pointer = const_cast<void *>(drawData());
  arguments.workSpace = const_cast<void *>(drawData());
  arguments.workSpaceSize = drawNumber<size_t>();
  for (const void *&data : arguments.tensors)
    data = drawData();
  for (double &scalar : arguments.scalars)
    scalar = drawNumber<double>();
}

//===----------------------------------------------------------------------===//
// Texts
//===----------------------------------------------------------------------===//

static constexpr const char *kProblems[] = {
    "conv-fwd-f16-nhwc,nhwc,nhwc-n2c8h6w6-k4y3x3-p1x1-s1x1-d1x1-g1",
    "conv-fwd-bf16-nhwc,nhwc,nhwc-n2c8h6w6-k4y3x3-p1x1-s1x1-d1x1-g1-estats",
    "conv-bwd-bf16-nhwc,nhwc,nhwc-n2c8h6w6-k4y3x3-p1x1-s1x1-d1x1-g1-eresidual+"
    "normgradmask",
    "conv-wrw-f32-nchw,nchw,nchw-n1c4h5w5-k4y1x1-p0x0-s1x1-d1x1-g2",
    "conv-bwd-f32-ncdhw,ncdhw,ncdhw-n1c8d4h9w9-k8z3y3x3-p1x1x1-s1x1x1-d1x1x1-"
    "g1",
    "conv-fwd-i8,f32-nhwc,nhwc,nhwc-n1c8h9w9-k8y1x1-p0x0-s1x1-d1x1-g1-"
    "ebias+relu",
    "conv-fwd-f16-s400:1:80:10,nhwc,nhwc-n2c8h5w5-k4y1x1-p0x0-s2x2-d1x1-g1",
    "pool-fwd-max-f16-nhwc,nhwc-n2c4h8w8-y3x3-p1x1-s2x2-iu8mask",
    "rowwise-activ_fwd-m3-512-r-i:f16:1-o:f16:1",
    "rowwise-softmax_fwd-m2-4x10x9-r1-i:f32:90:9:1-o:f32:90:9:1",
};

static constexpr std::string_view kDamages[] = {"-",
                                                "x",
                                                ":",
                                                ",",
                                                "0",
                                                "1",
                                                "9",
                                                "2147483647",
                                                "9223372036854775807",
                                                "18446744073709551616",
                                                "r",
                                                "i",
                                                "o",
                                                "f64",
                                                "nchw",
                                                "s",
                                                "",
                                                "\xff"};

/// The text of a problem, or the bytes of a solution; wild calls get them
/// damaged.
const char *Fuzzer::drawText() {
  if (isNull())
    return nullptr;
  std::string text =
      traits.readsSolution ? usual.getSavedSolution() : pick(kProblems);
  const int damages = isKind ? 0 : 1 + drawBelow(3);
  for (int i = 0; i < damages; ++i)
    text.replace(drawBelow(static_cast<uint32_t>(text.size())), drawBelow(3),
                 pick(kDamages));
  arrayLength = text.size();
  auto *copy = static_cast<char *>(takeBlock(text.size() + 1));
  std::ranges::copy(text, copy);
  return copy;
}
