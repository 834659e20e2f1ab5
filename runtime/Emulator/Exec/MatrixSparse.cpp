//===- MatrixSparse.cpp - SMFMAC: a 4:2 sparse A --------------------------===//
//
// D += A * B, where A keeps two of each four consecutive k, and a register has
// two bits for each kept element that say which. Layouts: CDNA4 ISA guide 7.5.
// One f32 fma for each kept element, in the order of the lanes and elements.
//
//===----------------------------------------------------------------------===//

#include "runtime/Emulator/Exec/MatrixLayout.h"
#include "runtime/Emulator/Exec/OpcodeTable.h"

using namespace tessera::emulator;

/// Returns the k of element `e` of B in lanes [M * group, M * group + M). A
/// lane holds runs of 16 bytes; the two runs of gfx950's larger shapes are K /
/// 2 apart.
template <Shape S>
static unsigned getK(unsigned group, unsigned e) {
  constexpr unsigned kRun = 4 * getElementsPerDword(S.b);
  constexpr unsigned kRuns = S.perLane() / kRun;
  return kRun * group + e % kRun + S.k / kRuns * (e / kRun);
}

/// Reads B as [k][column], widened to the type of the accumulators.
template <Shape S, typename Accumulator>
static void readDense(const Wave &wave, const Operand &operand,
                      Accumulator (&to)[S.k][S.m]) {
  constexpr unsigned kPerDword = getElementsPerDword(S.b);
  for (unsigned lane = 0; lane < 64; ++lane)
    for (unsigned e = 0; e < S.perLane(); ++e) {
      uint32_t word = wave.vector[operand.reg + e / kPerDword][lane];
      Accumulator &element = to[getK<S>(lane / S.m, e)][lane % S.m];
      if constexpr (S.b == Element::I8)
        element = static_cast<uint32_t>(
            static_cast<int8_t>(word >> (8 * (e % kPerDword))));
      else
        element = widen<S.b>(word, e % kPerDword);
    }
}

/// Selects the set of indices: if cbsz is 0, abid chooses. A register that
/// holds only one set leaves no choice.
template <unsigned SetBits>
static uint32_t getIndices(const Instruction &in, uint32_t word) {
  if constexpr (SetBits == 32)
    return word;
  unsigned set = in.cbsz & 3 ? 0 : in.abid % (32 / SetBits);
  return word >> (SetBits * set % 32);
}

template <Shape S>
static void multiplySparse(Wave &wave, const Instruction &in) {
  constexpr bool kIsInteger = S.a == Element::I8;
  using Accumulator = std::conditional_t<kIsInteger, uint32_t, float>;
  constexpr unsigned kPerDword = getElementsPerDword(S.a);
  constexpr unsigned kKept = S.perLane() / 2;
  alignas(64) Accumulator b[S.k][S.m];
  readDense<S>(wave, in.op[2], b);
  Accumulator accumulators[S.m][S.m];
  for (unsigned i = 0; i < S.m; ++i)
    std::memcpy(accumulators[i],
                wave.vector[in.op[0].reg + getRegisterOfRow<S>(0, i)] +
                    getLaneOfRow<S>(0, i),
                sizeof accumulators[i]);
  for (unsigned lane = 0; lane < 64; ++lane) {
    uint32_t indices =
        getIndices<2 * kKept>(in, wave.vector[in.op[3].reg][lane]);
    Accumulator *row = accumulators[lane % S.m];
    for (unsigned e = 0; e < kKept; ++e) {
      uint32_t word = wave.vector[in.op[1].reg + e / kPerDword][lane];
      unsigned position = e / 2 * 4 + (indices >> (2 * e) & 3);
      const Accumulator *column = b[getK<S>(lane / S.m, position)];
      if constexpr (kIsInteger) {
        auto a = static_cast<uint32_t>(
            static_cast<int8_t>(word >> (8 * (e % kPerDword))));
        for (unsigned j = 0; j < S.m; ++j)
          row[j] += a * column[j];
      } else {
        float a = widen<S.a>(word, e % kPerDword);
        for (unsigned j = 0; j < S.m; ++j)
          row[j] = __builtin_fmaf(a, column[j], row[j]);
      }
    }
  }
  for (unsigned i = 0; i < S.m; ++i)
    std::memcpy(wave.vector[in.op[0].reg + getRegisterOfRow<S>(0, i)] +
                    getLaneOfRow<S>(0, i),
                accumulators[i], sizeof accumulators[i]);
}

template <Shape S>
static void execute(Wave &wave, const Instruction &in) {
  if (wave.group->chip->hasFnuzFloat8())
    multiplySparse<S>(wave, in);
  else
    multiplySparse<withOcpFloats(S)>(wave, in);
}

/// Adds both shapes of a type: M = 16 with K, and M = 32 with K / 2.
template <unsigned K, Element A, Element B>
static void add(OpcodeTable &table, const std::string &result,
                const std::string &types) {
  auto addShape = [&](const std::string &shape, Handler handler) {
    ValueType accumulator = A == Element::I8 ? ValueType::I32 : ValueType::F32;
    table.add("v_smfmac_" + result + "_" + shape + "_" + types,
              {handler,
               InstructionClass::Mfma,
               kRawModifiers,
               {accumulator, ValueType::U32, ValueType::U32, ValueType::U32}});
  };
  addShape("16x16x" + std::to_string(K), execute<Shape{16, K, 1, A, B}>);
  addShape("32x32x" + std::to_string(K / 2),
           execute<Shape{32, K / 2, 1, A, B}>);
}

void tessera::emulator::addMatrixSparse(OpcodeTable &table) {
  using enum Element;
  add<32, F16, F16>(table, "f32", "f16");
  add<64, F16, F16>(table, "f32", "f16");
  add<32, Bf16, Bf16>(table, "f32", "bf16");
  add<64, Bf16, Bf16>(table, "f32", "bf16");
  add<64, I8, I8>(table, "i32", "i8");
  add<128, I8, I8>(table, "i32", "i8");
  add<64, Fp8, Fp8>(table, "f32", "fp8_fp8");
  add<64, Fp8, Bf8>(table, "f32", "fp8_bf8");
  add<64, Bf8, Fp8>(table, "f32", "bf8_fp8");
  add<64, Bf8, Bf8>(table, "f32", "bf8_bf8");
  add<128, Fp8, Fp8>(table, "f32", "fp8_fp8");
  add<128, Fp8, Bf8>(table, "f32", "fp8_bf8");
  add<128, Bf8, Fp8>(table, "f32", "bf8_fp8");
  add<128, Bf8, Bf8>(table, "f32", "bf8_bf8");
}
