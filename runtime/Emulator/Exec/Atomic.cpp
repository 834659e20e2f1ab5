//===- Atomic.cpp - Atomics on memory and LDS -----------------------------===//

#include "runtime/Emulator/Exec/Atomics.h"
#include "runtime/Emulator/Exec/OpcodeTable.h"
#include "runtime/Emulator/Exec/Segments.h"

#include <string>

using namespace tessera::emulator;

namespace {
enum class Space { Global, Flat };
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

/// No other lane sees a lane's private memory, so a load and a store suffice.
template <typename T>
static bool updatePrivate(Wave &wave, const Instruction &in, unsigned lane,
                          uint64_t offset, T data, T compare,
                          AtomicFunction<T> function, T &old) {
  if (!copyPrivate(wave, in, lane, offset, reinterpret_cast<uint8_t *>(&old),
                   sizeof old, AccessKind::Load))
    return false;
  T result = function(old, data, compare);
  return copyPrivate(wave, in, lane, offset,
                     reinterpret_cast<uint8_t *>(&result), sizeof result,
                     AccessKind::Store);
}

/// [vdst,] vaddr, vdata [, saddr]. With glc or sc0 the old value is returned.
template <Space S, typename T, auto Fn>
static void globalAtomic(Wave &wave, const Instruction &in) {
  constexpr AtomicFunction<T> kFunction = Fn;
  constexpr bool kCompares = comparesAndSwaps<T>(kFunction);
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
    // Compare-and-swap has the new value first and the comparand behind it.
    T value = getElement<T>(wave, data, lane);
    T compare =
        kCompares ? getElement<T>(wave, data + sizeof(T) / 4, lane) : T(0);
    if (S == Space::Flat && at >> 32 == kPrivateAperture) {
      T old;
      if (!updatePrivate<T>(wave, in, lane, at & 0xffffffff, value, compare,
                            kFunction, old))
        return;
      if (returnsOld)
        putElement<T>(wave, in.op[0].reg, lane, old);
      continue;
    }
    bool isLds = S == Space::Flat && at >> 32 == kSharedAperture;
    if (!checkAligned<T>(wave, in, lane, at, isLds))
      return;
    uint8_t *memory =
        isLds ? accessLds(wave, in, lane, at & 0xffffffff, sizeof(T),
                          AccessKind::Atomic)
              : wave.access(in, lane, at, sizeof(T), AccessKind::Atomic);
    if (!memory)
      return;
    T old = updateAtomically<T>(memory, value, compare, kFunction);
    if (returnsOld)
      putElement<T>(wave, in.op[0].reg, lane, old);
  }
}

/// [vdst,] vaddr, data0 [, data1]. With `CompareFirst`, data0 is the comparand.
template <typename T, auto Fn, bool Returns, bool CompareFirst>
static void ldsAtomic(Wave &wave, const Instruction &in) {
  constexpr AtomicFunction<T> kFunction = Fn;
  constexpr bool kCompares = comparesAndSwaps<T>(kFunction);
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

void tessera::emulator::addGlobalAtomics(OpcodeTable &table) {
  forEachMemoryAtomic(
      [&]<typename T, auto Fn>(std::initializer_list<const char *> names) {
        for (std::string name : names) {
          table.add("global_atomic_" + name,
                    {globalAtomic<Space::Global, T, Fn>,
                     InstructionClass::VmemStore, 0, getTypes()});
          table.add("flat_atomic_" + name,
                    {globalAtomic<Space::Flat, T, Fn>,
                     InstructionClass::VmemStore, 0, getTypes()});
        }
      });
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
  if constexpr (sizeof(T) == 4) {
    add.template operator()<&Ops::subClamp>("sub_clamp", "u");
    add.template operator()<&Ops::subIfNotLess>("cond_sub", "u");
  }
  // Up to gfx10 the comparand comes first, from gfx11 on the new value.
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
  addLdsNames<uint32_t, &F::min>(table, "min_num_f32", "min_num_rtn_f32");
  addLdsNames<uint32_t, &F::max>(table, "max_num_f32", "max_num_rtn_f32");
  addLdsNames<uint64_t, &G::min>(table, "min_num_f64", "min_num_rtn_f64");
  addLdsNames<uint64_t, &G::max>(table, "max_num_f64", "max_num_rtn_f64");
  addLdsNames<uint64_t, &G::add>(table, "add_f64", "add_rtn_f64");
  addLdsNames<uint64_t, &G::min>(table, "min_f64", "min_rtn_f64");
  addLdsNames<uint64_t, &G::max>(table, "max_f64", "max_rtn_f64");
  addLdsNames<uint32_t, &addPackedF16>(table, "pk_add_f16", "pk_add_rtn_f16");
  addLdsNames<uint32_t, &addPackedBf16>(table, "pk_add_bf16",
                                        "pk_add_rtn_bf16");
}
