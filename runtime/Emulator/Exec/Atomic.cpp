//===- Atomic.cpp - Atomics on memory and LDS -------------------------===//

#include "runtime/Emulator/Exec/Atomics.h"
#include "runtime/Emulator/Exec/OpcodeTable.h"
#include "runtime/Emulator/Exec/Segments.h"

#include <string>

using namespace tessera::emulator;

namespace {
enum class Space { Global, Flat };

template <typename T>
using Function = T (*)(T, T, T);

/// Element `lane` of registers `row` (and the next, for 64 bits).
template <typename T>
T getElement(const Wave &wave, unsigned row, unsigned lane) {
  if constexpr (sizeof(T) == 8)
    return wave.vector[row][lane] | uint64_t(wave.vector[row + 1][lane]) << 32;
  else
    return wave.vector[row][lane];
}
template <typename T>
void putElement(Wave &wave, unsigned row, unsigned lane, T value) {
  wave.vector[row][lane] = static_cast<uint32_t>(value);
  if constexpr (sizeof(T) == 8)
    wave.vector[row + 1][lane] = static_cast<uint32_t>(value >> 32);
}
} // namespace

template <typename T>
static bool checkAligned(Wave &wave, const Instruction &in, unsigned lane,
                         uint64_t address, bool isLds) {
  if (address % sizeof(T) == 0)
    return true;
  const MemoryMap &memory = *wave.group->memory;
  wave.fail(FaultKind::Misaligned, in, static_cast<int>(lane), address,
            "an atomic of " + std::to_string(sizeof(T)) +
                " bytes must be naturally aligned, but is " +
                (isLds ? "in LDS" : memory.describeLocked(address)));
  return false;
}

/// [vdst,] vaddr, vdata [, saddr]: the old value is given back with glc/sc0.
template <Space S, typename T, auto Fn>
static void globalAtomic(Wave &wave, const Instruction &in) {
  constexpr Function<T> kFunction = Fn;
  constexpr bool kCompares = kFunction == &AtomicOps<T>::compareSwap;
  bool returnsOld = in.has(kReturnsOld);
  unsigned vaddr = returnsOld ? 1 : 0;
  unsigned address = in.op[vaddr].reg, data = in.op[vaddr + 1].reg;
  const Operand &saddr = in.op[vaddr + 2];
  bool hasScalar = S == Space::Global && saddr.kind == OperandKind::Scalar &&
                   saddr.reg != kNull;
  auto base = static_cast<uint64_t>(int64_t(in.offset));
  if (hasScalar)
    base += wave.readScalar64(saddr.reg);
  for (uint64_t left = wave.exec; left; left &= left - 1) {
    auto lane = static_cast<unsigned>(std::countr_zero(left));
    uint64_t at = base + wave.vector[address][lane];
    if (!hasScalar)
      at += uint64_t(wave.vector[address + 1][lane]) << 32;
    bool isLds = S == Space::Flat && at >> 32 == kSharedAperture;
    if (!checkAligned<T>(wave, in, lane, at, isLds))
      return;
    uint8_t *memory =
        isLds ? accessLds(wave, in, lane, at & 0xffffffff, sizeof(T),
                          AccessKind::Atomic)
              : wave.access(in, lane, at, sizeof(T), AccessKind::Atomic);
    if (!memory)
      return;
    // Compare-and-swap: the new value comes first, what to compare behind it.
    T value = getElement<T>(wave, data, lane);
    T compare =
        kCompares ? getElement<T>(wave, data + sizeof(T) / 4, lane) : T(0);
    T old = updateAtomically<T>(memory, value, compare, kFunction);
    if (returnsOld)
      putElement<T>(wave, in.op[0].reg, lane, old);
  }
}

/// [vdst,] vaddr, data0 [, data1]. `CompareFirst`: data0 is what to compare.
template <typename T, auto Fn, bool Returns, bool CompareFirst>
static void ldsAtomic(Wave &wave, const Instruction &in) {
  constexpr Function<T> kFunction = Fn;
  constexpr bool kCompares = kFunction == &AtomicOps<T>::compareSwap;
  constexpr unsigned kAddress = Returns ? 1 : 0;
  unsigned first = in.op[kAddress + 1].reg;
  unsigned second = kCompares ? in.op[kAddress + 2].reg : first;
  for (uint64_t left = wave.exec; left; left &= left - 1) {
    auto lane = static_cast<unsigned>(std::countr_zero(left));
    uint64_t at = uint64_t(wave.vector[in.op[kAddress].reg][lane]) +
                  static_cast<uint32_t>(in.offset);
    if (!checkAligned<T>(wave, in, lane, at, true))
      return;
    uint8_t *lds = accessLds(wave, in, lane, at, sizeof(T), AccessKind::Atomic);
    if (!lds)
      return;
    T a = getElement<T>(wave, first, lane);
    T b = getElement<T>(wave, second, lane);
    T old;
    std::memcpy(&old, lds, sizeof old);
    T result =
        kCompares && CompareFirst ? kFunction(old, b, a) : kFunction(old, a, b);
    std::memcpy(lds, &result, sizeof result);
    if (Returns)
      putElement<T>(wave, in.op[0].reg, lane, old);
  }
}

static const std::vector<ValueType> &getTypes() {
  static const std::vector<ValueType> types(4, ValueType::U32);
  return types;
}

template <typename T, auto Fn>
static void addGlobalNames(OpcodeTable &table,
                           std::initializer_list<const char *> names) {
  for (std::string name : names) {
    table.add("global_atomic_" + name,
              {globalAtomic<Space::Global, T, Fn>, InstructionClass::VmemStore,
               0, getTypes()});
    table.add("flat_atomic_" + name,
              {globalAtomic<Space::Flat, T, Fn>, InstructionClass::VmemStore, 0,
               getTypes()});
  }
}

void tessera::emulator::addGlobalAtomics(OpcodeTable &table) {
  using W = AtomicOps<uint32_t>;
  using D = AtomicOps<uint64_t>;
  using F = FloatAtomicOps<float, uint32_t>;
  using G = FloatAtomicOps<double, uint64_t>;
  addGlobalNames<uint32_t, &W::swap>(table, {"swap", "swap_b32"});
  addGlobalNames<uint32_t, &W::compareSwap>(table, {"cmpswap", "cmpswap_b32"});
  addGlobalNames<uint32_t, &W::add>(table, {"add", "add_u32"});
  addGlobalNames<uint32_t, &W::sub>(table, {"sub", "sub_u32"});
  addGlobalNames<uint32_t, &W::smin>(table, {"smin", "min_i32"});
  addGlobalNames<uint32_t, &W::umin>(table, {"umin", "min_u32"});
  addGlobalNames<uint32_t, &W::smax>(table, {"smax", "max_i32"});
  addGlobalNames<uint32_t, &W::umax>(table, {"umax", "max_u32"});
  addGlobalNames<uint32_t, &W::bitAnd>(table, {"and", "and_b32"});
  addGlobalNames<uint32_t, &W::bitOr>(table, {"or", "or_b32"});
  addGlobalNames<uint32_t, &W::bitXor>(table, {"xor", "xor_b32"});
  addGlobalNames<uint32_t, &W::increment>(table, {"inc", "inc_u32"});
  addGlobalNames<uint32_t, &W::decrement>(table, {"dec", "dec_u32"});
  addGlobalNames<uint64_t, &D::swap>(table, {"swap_x2", "swap_b64"});
  addGlobalNames<uint64_t, &D::compareSwap>(table,
                                            {"cmpswap_x2", "cmpswap_b64"});
  addGlobalNames<uint64_t, &D::add>(table, {"add_x2", "add_u64"});
  addGlobalNames<uint64_t, &D::sub>(table, {"sub_x2", "sub_u64"});
  addGlobalNames<uint64_t, &D::smin>(table, {"smin_x2", "min_i64"});
  addGlobalNames<uint64_t, &D::umin>(table, {"umin_x2", "min_u64"});
  addGlobalNames<uint64_t, &D::smax>(table, {"smax_x2", "max_i64"});
  addGlobalNames<uint64_t, &D::umax>(table, {"umax_x2", "max_u64"});
  addGlobalNames<uint64_t, &D::bitAnd>(table, {"and_x2", "and_b64"});
  addGlobalNames<uint64_t, &D::bitOr>(table, {"or_x2", "or_b64"});
  addGlobalNames<uint64_t, &D::bitXor>(table, {"xor_x2", "xor_b64"});
  addGlobalNames<uint64_t, &D::increment>(table, {"inc_x2", "inc_u64"});
  addGlobalNames<uint64_t, &D::decrement>(table, {"dec_x2", "dec_u64"});
  addGlobalNames<uint32_t, &F::add>(table, {"add_f32"});
  addGlobalNames<uint32_t, &F::min>(table, {"fmin", "min_f32", "min_num_f32"});
  addGlobalNames<uint32_t, &F::max>(table, {"fmax", "max_f32", "max_num_f32"});
  addGlobalNames<uint64_t, &G::add>(table, {"add_f64"});
  addGlobalNames<uint64_t, &G::min>(table, {"min_f64", "fmin_x2"});
  addGlobalNames<uint64_t, &G::max>(table, {"max_f64", "fmax_x2"});
  addGlobalNames<uint32_t, &addPackedF16>(table, {"pk_add_f16"});
  addGlobalNames<uint32_t, &addPackedBf16>(table, {"pk_add_bf16"});
}

template <typename T, auto Fn>
static void addLdsNames(OpcodeTable &table, const char *name,
                        const char *returning) {
  table.add(std::string("ds_") + name,
            {ldsAtomic<T, Fn, false, true>, InstructionClass::LdsWrite, 0,
             getTypes()});
  table.add(std::string("ds_") + returning,
            {ldsAtomic<T, Fn, true, true>, InstructionClass::LdsWrite, 0,
             getTypes()});
}

template <typename T>
static void addLdsIntegers(OpcodeTable &table, const std::string &bits) {
  using Ops = AtomicOps<T>;
  auto add = [&]<auto Fn>(const char *stem, const char *type) {
    addLdsNames<T, Fn>(table, (stem + ("_" + (type + bits))).c_str(),
                       (stem + ("_rtn_" + (type + bits))).c_str());
  };
  add.template operator()<&Ops::add>("add", "u");
  add.template operator()<&Ops::sub>("sub", "u");
  add.template operator()<&Ops::reverseSub>("rsub", "u");
  add.template operator()<&Ops::increment>("inc", "u");
  add.template operator()<&Ops::decrement>("dec", "u");
  add.template operator()<&Ops::smin>("min", "i");
  add.template operator()<&Ops::smax>("max", "i");
  add.template operator()<&Ops::umin>("min", "u");
  add.template operator()<&Ops::umax>("max", "u");
  add.template operator()<&Ops::bitAnd>("and", "b");
  add.template operator()<&Ops::bitOr>("or", "b");
  add.template operator()<&Ops::bitXor>("xor", "b");
  // Up to gfx10 the value to compare comes first, from gfx11 on the new one.
  add.template operator()<&Ops::compareSwap>("cmpst", "b");
  table.add("ds_cmpstore_b" + bits,
            {ldsAtomic<T, &Ops::compareSwap, false, false>,
             InstructionClass::LdsWrite, 0, getTypes()});
  table.add("ds_cmpstore_rtn_b" + bits,
            {ldsAtomic<T, &Ops::compareSwap, true, false>,
             InstructionClass::LdsWrite, 0, getTypes()});
  for (const char *stem : {"ds_wrxchg_rtn_b", "ds_storexchg_rtn_b"})
    table.add(stem + bits, {ldsAtomic<T, &Ops::swap, true, true>,
                            InstructionClass::LdsWrite, 0, getTypes()});
}

void tessera::emulator::addLdsAtomics(OpcodeTable &table) {
  using F = FloatAtomicOps<float, uint32_t>;
  using G = FloatAtomicOps<double, uint64_t>;
  addLdsIntegers<uint32_t>(table, "32");
  addLdsIntegers<uint64_t>(table, "64");
  addLdsNames<uint32_t, &F::add>(table, "add_f32", "add_rtn_f32");
  addLdsNames<uint32_t, &F::min>(table, "min_f32", "min_rtn_f32");
  addLdsNames<uint32_t, &F::max>(table, "max_f32", "max_rtn_f32");
  addLdsNames<uint64_t, &G::add>(table, "add_f64", "add_rtn_f64");
  addLdsNames<uint64_t, &G::min>(table, "min_f64", "min_rtn_f64");
  addLdsNames<uint64_t, &G::max>(table, "max_f64", "max_rtn_f64");
  addLdsNames<uint32_t, &addPackedF16>(table, "pk_add_f16", "pk_add_rtn_f16");
  addLdsNames<uint32_t, &addPackedBf16>(table, "pk_add_bf16",
                                        "pk_add_rtn_bf16");
}
