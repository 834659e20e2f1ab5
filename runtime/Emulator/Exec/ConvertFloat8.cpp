//===- ConvertFloat8.cpp - Conversions from and to 8-bit floats -----------===//
//
// The same mnemonics mean the FNUZ formats on gfx942 and the OCP formats
// elsewhere. SDWA on gfx9, and op_sel or byte_sel on gfx12, say which byte or
// half is read or written.
//
//===----------------------------------------------------------------------===//

#include "runtime/Emulator/Exec/Float8.h"
#include "runtime/Emulator/Exec/OpcodeTable.h"
#include "runtime/Emulator/Wave.h"

using namespace tessera::emulator;

namespace {
enum class Kind { Fp8, Bf8 };
} // namespace

template <Kind K>
static const float *getTable(const Wave &wave) {
  bool isFnuz = wave.group->chip->hasFnuzFloat8();
  if constexpr (K == Kind::Fp8)
    return isFnuz ? getFloat8Table<kFp8Fnuz>() : getFloat8Table<kFp8Ocp>();
  else
    return isFnuz ? getFloat8Table<kBf8Fnuz>() : getFloat8Table<kBf8Ocp>();
}

template <Kind K>
static const Float8Format &getFormat(const Wave &wave) {
  bool isFnuz = wave.group->chip->hasFnuzFloat8();
  if constexpr (K == Kind::Fp8)
    return isFnuz ? kFp8Fnuz : kFp8Ocp;
  else
    return isFnuz ? kBf8Fnuz : kBf8Ocp;
}

/// Converts one byte to f32: byte opSel[3:2] (byte_sel), or the lowest byte, to
/// which SDWA has already shifted the selected one.
template <Kind K>
static void decodeOne(Wave &wave, const Instruction &in) {
  const float *table = getTable<K>(wave);
  const uint32_t *source = wave.source(in, 1, 0).lo;
  unsigned shift = 8 * (in.opSel >> 2 & 3);
  for (unsigned lane = 0; lane < wave.lanes; ++lane)
    wave.result[0][lane] =
        std::bit_cast<uint32_t>(table[source[lane] >> shift & 0xff]);
  wave.finishWrite(in, ValueType::F32);
}

/// Converts the two bytes of a half to two f32.
template <Kind K>
static void decodePair(Wave &wave, const Instruction &in) {
  const float *table = getTable<K>(wave);
  const uint32_t *source = wave.source(in, 1, 0).lo;
  unsigned shift = 16 * (in.opSel & 1);
  for (unsigned lane = 0; lane < wave.lanes; ++lane) {
    uint32_t half = source[lane] >> shift;
    wave.result[0][lane] = std::bit_cast<uint32_t>(table[half & 0xff]);
    wave.result[1][lane] = std::bit_cast<uint32_t>(table[half >> 8 & 0xff]);
  }
  wave.finishWrite(in, ValueType::PairF32);
}

/// Converts two f32 to one half of the destination; the other half stays.
template <Kind K>
static void encodePair(Wave &wave, const Instruction &in) {
  const Float8Format &format = getFormat<K>(wave);
  const uint32_t *a = wave.source(in, 1, 0).lo, *b = wave.source(in, 2, 1).lo;
  const uint32_t *old = wave.vector[in.op[0].reg];
  unsigned shift = 16 * (in.opSel >> 2 & 1);
  bool saturates = wave.saturatesNarrowFloats();
  for (unsigned lane = 0; lane < wave.lanes; ++lane) {
    uint32_t pair =
        encodeFloat8(std::bit_cast<float>(a[lane]), format, saturates) |
        encodeFloat8(std::bit_cast<float>(b[lane]), format, saturates) << 8;
    wave.result[0][lane] = (old[lane] & ~(0xffffu << shift)) | pair << shift;
  }
  wave.finishWrite(in, ValueType::U32);
}

/// Converts one f32 to byte opSel[3:2] of the destination; the other bytes
/// stay.
template <Kind K>
static void encodeStochastic(Wave &wave, const Instruction &in) {
  const Float8Format &format = getFormat<K>(wave);
  const uint32_t *value = wave.source(in, 1, 0).lo;
  const uint32_t *noise = wave.source(in, 2, 1).lo;
  const uint32_t *old = wave.vector[in.op[0].reg];
  unsigned shift = 8 * (in.opSel >> 2 & 3);
  bool saturates = wave.saturatesNarrowFloats();
  for (unsigned lane = 0; lane < wave.lanes; ++lane) {
    uint32_t byte = encodeFloat8Stochastic(std::bit_cast<float>(value[lane]),
                                           noise[lane], format, saturates);
    wave.result[0][lane] = (old[lane] & ~(0xffu << shift)) | byte << shift;
  }
  wave.finishWrite(in, ValueType::U32);
}

template <Kind K>
static void addKind(OpcodeTable &table, const std::string &name) {
  auto add = [&](const std::string &mnemonic, Handler handler,
                 std::vector<ValueType> types) {
    table.add(mnemonic, {handler, InstructionClass::Valu, kRawModifiers,
                         std::move(types)});
  };
  using enum ValueType;
  add("v_cvt_f32_" + name, decodeOne<K>, {F32, U32});
  add("v_cvt_pk_f32_" + name, decodePair<K>, {PairF32, U32});
  add("v_cvt_pk_" + name + "_f32", encodePair<K>, {U32, F32, F32});
  add("v_cvt_sr_" + name + "_f32", encodeStochastic<K>, {U32, F32, U32});
}

void tessera::emulator::addFloat8Conversions(OpcodeTable &table) {
  addKind<Kind::Fp8>(table, "fp8");
  addKind<Kind::Bf8>(table, "bf8");
}
