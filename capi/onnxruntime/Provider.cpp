//===- Provider.cpp - What ONNX Runtime calls -----------------------------===//
//
// ONNX Runtime opens this library, asks its factory for devices, and for each
// session that wants one for a provider. The provider says which nodes it can
// compute, gets graphs of them to compile, and computations that run.
//
//===----------------------------------------------------------------------===//

#include "capi/onnxruntime/Partition.h"
#include "capi/onnxruntime/Subgraph.h"

#include <algorithm>
#include <exception>

using namespace tessera;
using namespace tessera::onnx;

static constexpr char kName[] = "TesseraExecutionProvider";

namespace {
struct TesseraFactory : ort::Factory {
  explicit TesseraFactory(const ort::ApiBase &base)
      : api(base.getApi(ort::kApiVersion)),
        providerApi(
            reinterpret_cast<const ort::ProviderApi *>(api.getProviderApi())) {}

  const ort::Api api;
  const ort::ProviderApi *providerApi;
};

struct TesseraProvider : ort::Provider {
  explicit TesseraProvider(const TesseraFactory &factory,
                           const ort::Logger *logger)
      : factory(factory), logger(logger) {}

  const TesseraFactory &factory;
  const ort::Logger *logger; ///< Of the session, which outlives its provider.
  Device device;
};

struct TesseraComputation : ort::Computation {
  TesseraComputation(const ort::Api &api, std::unique_ptr<Subgraph> subgraph)
      : api(api), subgraph(std::move(subgraph)) {}

  const ort::Api &api;
  std::unique_ptr<Subgraph> subgraph;
};
} // namespace

static ort::Error *toError(const ort::Api &api, const Status &status) {
  const auto makeError = [&](int32_t code) {
    return api.createStatus(code, status.getMessage().c_str());
  };
  switch (status.getCode()) {
  case StatusCode::Ok:
    return nullptr;
  case StatusCode::InvalidArgument:
    return makeError(ort::kInvalidArgument);
  case StatusCode::NotSupported:
    return makeError(ort::kNotImplemented);
  default:
    return makeError(ort::kProviderFailed);
  }
}

/// Runs what an entry point does. Exceptions (there is no memory) end here.
template <typename Function>
static ort::Error *guard(const ort::Api &api, Function function) {
  try {
    return toError(api, function());
  } catch (const std::exception &error) {
    return api.createStatus(ort::kProviderFailed, error.what());
  }
}

static TesseraProvider &get(ort::Provider *provider) {
  return *static_cast<TesseraProvider *>(provider);
}

//===----------------------------------------------------------------------===//
// Which nodes
//===----------------------------------------------------------------------===//

/// What stands for lengths that the model leaves open while it is asked whether
/// we can compute a node: long enough for usual windows.
static constexpr int64_t kTrialBatch = 2;
static constexpr int64_t kTrialLength = 64;

static std::vector<Shape> makeTrialLengths(const Model &model) {
  std::vector<Shape> all;
  for (const Value &value : model.values) {
    Shape &lengths = all.emplace_back(value.lengths);
    for (size_t dim = 0; dim < lengths.size(); ++dim)
      if (lengths[dim] < 0)
        lengths[dim] = dim == 0 ? kTrialBatch : kTrialLength;
  }
  return all;
}

static void log(const TesseraProvider &provider, int32_t severity,
                const std::string &text) {
  const ort::Api &api = provider.factory.api;
  if (!provider.logger)
    return;
  if (ort::Error *error =
          api.logMessage(provider.logger, severity, text.c_str(), __FILE__,
                         __LINE__, "TesseraExecutionProvider"))
    api.releaseStatus(error);
}

/// Which nodes have kernels, each by itself. The reasons of the others go to
/// the log.
static std::vector<bool> findSupported(const TesseraProvider &provider,
                                       const Model &model) {
  std::vector<bool> isSupported;
  std::vector<Shape> lengths = makeTrialLengths(model);
  for (size_t number = 0; number < model.nodes.size(); ++number) {
    const int nodes[] = {static_cast<int>(number)};
    const ErrorOr<Translation> answer = translate(model, nodes, lengths);
    isSupported.push_back(static_cast<bool>(answer));
    if (!answer)
      log(provider, ort::kVerbose,
          "left to others: " + answer.getStatus().getMessage());
  }
  return isSupported;
}

static Status claim(const TesseraProvider &provider, const ort::Graph *graph,
                    ort::SupportInfo *support) {
  const ort::Api &api = provider.factory.api;
  const ErrorOr<Model> model = readModel(api, graph);
  if (!model)
    return model.getStatus();
  for (const std::vector<int> &group :
       partition(*model, findSupported(provider, *model))) {
    const bool isWorthIt = std::ranges::any_of(
        group, [&](int number) { return isWorthCopies(model->nodes[number]); });
    if (!isWorthIt)
      continue;
    std::vector<const ort::Node *> nodes;
    for (int number : group)
      nodes.push_back(model->handles[number]);
    const ort::FusionOptions options = {.dropsConstants = true};
    if (Status status =
            toStatus(api, provider.factory.providerApi->fuse(
                              support, nodes.data(), nodes.size(), &options));
        !status.isOk())
      return status;
  }
  return Status::ok();
}

//===----------------------------------------------------------------------===//
// Computations
//===----------------------------------------------------------------------===//

static ort::Error *createState(ort::Computation *, void *, void **state) {
  *state = nullptr;
  return nullptr;
}
static void releaseState(ort::Computation *, void *) {}

static ort::Error *compute(ort::Computation *computation, void *,
                           ort::KernelContext *context) {
  auto &own = *static_cast<TesseraComputation *>(computation);
  return guard(own.api, [&] { return own.subgraph->run(context); });
}

static Status compile(TesseraProvider &provider, const ort::Graph **graphs,
                      const ort::Node **fusedNodes, size_t count,
                      ort::Computation **computations) {
  std::vector<std::unique_ptr<TesseraComputation>> made;
  for (size_t i = 0; i < count; ++i) {
    ErrorOr<std::unique_ptr<Subgraph>> subgraph = Subgraph::make(
        provider.factory.api, provider.device, graphs[i], fusedNodes[i]);
    if (!subgraph)
      return subgraph.getStatus();
    made.push_back(std::make_unique<TesseraComputation>(provider.factory.api,
                                                        std::move(*subgraph)));
    made.back()->createState = createState;
    made.back()->compute = compute;
    made.back()->releaseState = releaseState;
  }
  for (size_t i = 0; i < count; ++i)
    computations[i] = made[i].release();
  return Status::ok();
}

//===----------------------------------------------------------------------===//
// Providers
//===----------------------------------------------------------------------===//

static void setFunctions(TesseraProvider &provider) {
  provider.getName = [](const ort::Provider *) { return kName; };
  provider.getCapability = [](ort::Provider *self, const ort::Graph *graph,
                              ort::SupportInfo *support) {
    return guard(get(self).factory.api,
                 [&] { return claim(get(self), graph, support); });
  };
  provider.compile = [](ort::Provider *self, const ort::Graph **graphs,
                        const ort::Node **fusedNodes, size_t count,
                        ort::Computation **computations, ort::Node **) {
    return guard(get(self).factory.api, [&] {
      return compile(get(self), graphs, fusedNodes, count, computations);
    });
  };
  provider.releaseComputations =
      [](ort::Provider *, ort::Computation **computations, size_t count) {
        for (size_t i = 0; i < count; ++i)
          delete static_cast<TesseraComputation *>(computations[i]);
      };
}

/// Fails where there is no device, so that a session without one does not
/// begin.
static Status createProvider(const TesseraFactory &factory,
                             const ort::Logger *logger,
                             ort::Provider **provider) {
  auto made = std::make_unique<TesseraProvider>(factory, logger);
  const ErrorOr<const GpuApi *> gpu = GpuApi::get();
  if (!gpu)
    return gpu.getStatus();
  made->device.gpu = *gpu;
  if (const ErrorOr<miopenHandle_t> handle = made->device.handle.get(); !handle)
    return handle.getStatus();
  setFunctions(*made);
  *provider = made.release();
  return Status::ok();
}

//===----------------------------------------------------------------------===//
// The factory
//===----------------------------------------------------------------------===//

/// We take tensors of the host, and so are on its device. Which GPU computes,
/// says TESSERA_DEVICE.
static Status addDevice(TesseraFactory &factory,
                        const ort::HardwareDevice *const *hardware,
                        size_t hardwareCount, ort::Device **devices,
                        size_t capacity, size_t *count) {
  *count = 0;
  for (size_t i = 0; i < hardwareCount && capacity > 0; ++i)
    if (factory.api.getHardwareType(hardware[i]) == ort::kCpu) {
      Status status = toStatus(factory.api, factory.providerApi->createDevice(
                                                &factory, hardware[i], nullptr,
                                                nullptr, &devices[0]));
      *count = status.isOk();
      return status;
    }
  return Status::ok();
}

/// Functions for memory and streams of a device, which we keep to ourselves.
static void setDefaults(TesseraFactory &factory) {
  factory.validateCompiled = [](ort::Factory *,
                                const ort::HardwareDevice *const *, size_t,
                                const char *, int32_t *answer) -> ort::Error * {
    *answer = 0; // We compile no models.
    return nullptr;
  };
  factory.createAllocator = [](ort::Factory *, const void *,
                               const ort::KeyValues *,
                               void **allocator) -> ort::Error * {
    *allocator = nullptr;
    return nullptr;
  };
  factory.releaseAllocator = [](ort::Factory *, void *) {};
  factory.createDataTransfer = [](ort::Factory *,
                                  void **transfer) -> ort::Error * {
    *transfer = nullptr;
    return nullptr;
  };
  factory.isStreamAware = [](const ort::Factory *) { return false; };
  factory.createStream = [](ort::Factory *, const void *,
                            const ort::KeyValues *,
                            void **stream) -> ort::Error * {
    *stream = nullptr;
    return nullptr;
  };
}

static void setFunctions(TesseraFactory &factory) {
  factory.getName = [](const ort::Factory *) { return kName; };
  factory.getVendor = [](const ort::Factory *) { return "Tessera"; };
  factory.getVendorId = [](const ort::Factory *) -> uint32_t { return 0; };
  factory.getVersion = [](const ort::Factory *) {
    return TESSERA_PROVIDER_VERSION;
  };
  factory.getDevices = [](ort::Factory *self,
                          const ort::HardwareDevice *const *hardware,
                          size_t hardwareCount, ort::Device **devices,
                          size_t capacity, size_t *count) {
    auto &own = *static_cast<TesseraFactory *>(self);
    return guard(own.api, [&] {
      return addDevice(own, hardware, hardwareCount, devices, capacity, count);
    });
  };
  factory.create = [](ort::Factory *self, const ort::HardwareDevice *const *,
                      const ort::KeyValues *const *, size_t,
                      const ort::SessionOptions *, const ort::Logger *logger,
                      ort::Provider **provider) {
    const auto &own = *static_cast<TesseraFactory *>(self);
    return guard(own.api,
                 [&] { return createProvider(own, logger, provider); });
  };
  factory.release = [](ort::Factory *, ort::Provider *provider) {
    delete static_cast<TesseraProvider *>(provider);
  };
}

ort::Error *CreateEpFactories(const char *, const ort::ApiBase *base,
                              const ort::Logger *, ort::Factory **factories,
                              size_t capacity, size_t *count) {
  *count = 0;
  // What makes an error is the first function in every release.
  const auto createStatus = reinterpret_cast<decltype(ort::Api::createStatus)>(
      const_cast<void *>(*base->getApi(1)));
  if (!base->getApi(ort::kApiVersion))
    return createStatus(ort::kNotImplemented,
                        "Tessera's provider needs ONNX Runtime 1.23 or later");
  std::unique_ptr<TesseraFactory> factory(new (std::nothrow)
                                              TesseraFactory(*base));
  if (capacity == 0 || !factory || !factory->providerApi)
    return createStatus(ort::kProviderFailed,
                        "Tessera's provider cannot be made: this build of ONNX "
                        "Runtime has no providers in libraries, or no memory");
  setFunctions(*factory);
  setDefaults(*factory);
  factories[0] = factory.release();
  *count = 1;
  return nullptr;
}

ort::Error *ReleaseEpFactory(ort::Factory *factory) {
  delete static_cast<TesseraFactory *>(factory);
  return nullptr;
}
