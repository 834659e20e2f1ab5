//===- Extension.cpp - Operators of PyTorch, answered without Python ------===//
//
// What Python has decided for the arguments of a call, a thread keeps here and
// carries out when such arguments come again. All else goes to the operator of
// the same name in the namespace "tessera", which is Python's
// (docs/design/0032-pytorch-extension.md).
//
//===----------------------------------------------------------------------===//

#include "capi/torch/Extension.h"

#include <deque>
#include <stdexcept>
#include <unordered_map>
#include <utility>

using namespace tessera::torch;

namespace {
struct Operator {
  std::string name;  ///< "convolution"
  std::string kinds; ///< A Kind for each argument.
  bool asksForTf32;  ///< Its plans depend on Settings::allowsTf32.
};

struct Thread {
  std::unordered_multimap<uint64_t, Call *> calls; ///< By the keys' hashes.
  /// While Python answers: what was not found.
  const Key *missed = nullptr;
  /// What Python's answer failed with: exceptions do not pass PyTorch's C ABI.
  std::optional<std::string> error;

  Call *find(const Key &key) {
    auto [begin, end] = calls.equal_range(key.getHash());
    for (auto known = begin; known != end; ++known)
      if (std::ranges::equal(known->second->key, key.get()))
        return known->second;
    return nullptr;
  }
};
} // namespace

static Settings settings;
static std::deque<Operator> operators; ///< Changed by one thread, Python's.
static thread_local Thread thread;

/// Whether the arguments are such that PyTorch's setting of tf32 matters, and
/// is on.
static bool usesTf32(const Operator &op, const Arguments &arguments) {
  if (!op.asksForTf32 || !settings.isGpu)
    return false;
  const TorchApi &api = *TorchApi::get();
  int32_t type = 0;
  api.aoti_torch_get_dtype(arguments.getTensor(0), &type);
  return type == api.aoti_torch_dtype_float32() && settings.allowsTf32();
}

/// Has Python answer, and remember the answer.
static void askPython(const Operator &op, const Key &key, StableValue *stack,
                      uint64_t results) {
  const TorchApi &api = *TorchApi::get();
  const Key *outer = std::exchange(thread.missed, &key);
  const int32_t error = api.torch_call_dispatcher(
      ("tessera::" + op.name).c_str(), "", stack, kAbiVersion);
  thread.missed = outer;
  if (error)
    throw std::runtime_error("PyTorch does not call tessera::" + op.name);
  if (std::optional<std::string> text = std::exchange(thread.error, {})) {
    for (uint64_t i = 0; i < results; ++i)
      OwnedTensor(reinterpret_cast<TensorHandle>(stack[i]));
    throw std::runtime_error(*text);
  }
}

static void answer(const Operator &op, StableValue *stack, uint64_t results) {
  Key key;
  key.add(reinterpret_cast<intptr_t>(&op));
  Arguments arguments(op.kinds, stack, key);
  key.add(usesTf32(op, arguments));
  Call *call = key.isWhole() ? thread.find(key) : nullptr;
  std::array<StableValue, Call::kMaxNew> values;
  if (!call || !call->run(settings, arguments, values.data()))
    return askPython(op, key, stack, results);
  arguments.release();
  std::copy_n(values.begin(), results, stack);
}

/// PyTorch calls a function without further data, so that each operator has
/// one.
template <size_t number>
static void answerOne(StableValue *stack, uint64_t, uint64_t results) {
  answer(operators[number], stack, results);
}

template <size_t... numbers>
static constexpr auto listFunctions(std::index_sequence<numbers...>) {
  return std::array<BoxedFunction *, sizeof...(numbers)>{answerOne<numbers>...};
}
static constexpr size_t kMaxOperators = 32;
static constexpr std::array kFunctions =
    listFunctions(std::make_index_sequence<kMaxOperators>());

//===----------------------------------------------------------------------===//
// For Python
//===----------------------------------------------------------------------===//

int tesseraTorchStart(const Settings *given) {
  settings = *given;
  const TorchApi *api = TorchApi::get();
  return api && (!settings.isGpu || api->getCurrentStream);
}

LibraryHandle tesseraTorchNewReplacements(const char *space,
                                          const char *dispatchKey) {
  LibraryHandle library = nullptr;
  TorchApi::get()->aoti_torch_library_init_impl(space, dispatchKey, __FILE__,
                                                __LINE__, &library);
  return library;
}

void tesseraTorchEndReplacements(LibraryHandle library) {
  TorchApi::get()->aoti_torch_delete_library_object(library);
}

int tesseraTorchReplace(LibraryHandle library, const char *name,
                        const char *kinds, int asksForTf32) {
  auto known = std::ranges::find(operators, name, &Operator::name);
  if (known == operators.end()) {
    if (operators.size() == kMaxOperators)
      return false;
    known = operators.insert(known, {name, kinds, asksForTf32 != 0});
  }
  return !TorchApi::get()->torch_library_impl(
      library, name, kFunctions[known - operators.begin()], kAbiVersion);
}

void tesseraTorchFail(const char *error) { thread.error = error; }

Call *tesseraTorchNewCall(miopenHandle_t handle, int32_t device) {
  if (!thread.missed || !thread.missed->isWhole() ||
      thread.find(*thread.missed))
    return nullptr;
  auto *call = new Call;
  call->handle = handle;
  call->device = device;
  call->key.assign(thread.missed->get().begin(), thread.missed->get().end());
  return call;
}

void tesseraTorchAddNew(Call *call, int dims, const int64_t *sizes,
                        const int64_t *strides, int32_t type) {
  call->made.push_back(
      {{sizes, sizes + dims}, {strides, strides + dims}, type, std::nullopt});
}

void tesseraTorchAddSum(Call *call, int dims, const int64_t *summed,
                        int argument) {
  call->made.push_back({{summed, summed + dims}, {}, 0, argument});
}

void tesseraTorchAddLaunch(Call *call, const char *problem,
                           const tesseraProblemArguments *arguments, int count,
                           const uint32_t *offsets, const int *numbers) {
  Call::Launch launch = {problem, *arguments, {}};
  for (int i = 0; i < count; ++i)
    launch.tensors.emplace_back(offsets[i], numbers[i]);
  call->launches.push_back(std::move(launch));
}

void tesseraTorchSetScalar(Call *call, int argument, int scalar) {
  call->scalar = {argument, scalar};
}

void tesseraTorchAddResult(Call *call, int number) {
  call->results.push_back(number);
}

void tesseraTorchKeepCall(Call *call) {
  thread.calls.emplace(thread.missed->getHash(), call);
}

uint64_t tesseraTorchGetCount(const Call *call) { return call->count; }
