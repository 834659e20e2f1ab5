//===- MatrixLayout.h - How matrices lie in the registers ------*- C++ -*--===//
//
// What dense and sparse matrix instructions share: element types, shapes, and
// which registers and lanes hold the rows of C and D. Layouts: AMD's matrix
// instruction calculator; CDNA4 ISA guide 7.1.
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_RUNTIME_EMULATOR_EXEC_MATRIXLAYOUT_H
#define TESSERA_RUNTIME_EMULATOR_EXEC_MATRIXLAYOUT_H

#include "runtime/Emulator/Exec/Float8.h"
#include "runtime/Emulator/Exec/HalfFloat.h"
#include "runtime/Emulator/Wave.h"

#include <cstring>

namespace tessera::emulator {

/// The element types of A and B. Fp8 and Bf8 are the formats of gfx942, Fp8Ocp
/// and Bf8Ocp those of gfx950.
enum class Element { F16, Bf16, F32, Xf32, I8, Fp8, Bf8, Fp8Ocp, Bf8Ocp };

constexpr unsigned getElementsPerDword(Element type) {
  switch (type) {
  case Element::F32:
  case Element::Xf32:
    return 1;
  case Element::F16:
  case Element::Bf16:
    return 2;
  default:
    return 4;
  }
}

/// `blocks` products of shape M x M x K.
struct Shape {
  unsigned m, k, blocks;
  Element a, b;
  constexpr unsigned groups() const { return 64 / m; }
  /// The number of elements of A (or B) that one lane holds.
  constexpr unsigned perLane() const { return k * m * blocks / 64; }
};

/// Returns the same shape with the 8-bit floats of chips other than gfx942.
constexpr Shape withOcpFloats(Shape shape) {
  auto convert = [](Element type) {
    return type == Element::Fp8   ? Element::Fp8Ocp
           : type == Element::Bf8 ? Element::Bf8Ocp
                                  : type;
  };
  return {shape.m, shape.k, shape.blocks, convert(shape.a), convert(shape.b)};
}

template <Element Type>
inline float widen(uint32_t word, unsigned part) {
  if constexpr (Type == Element::F16)
    return halfToFloat(word >> (16 * part));
  if constexpr (Type == Element::Bf16)
    return bf16ToFloat(word >> (16 * part));
  if constexpr (Type == Element::Fp8)
    return getFloat8Table<kFp8Fnuz>()[word >> (8 * part) & 0xff];
  if constexpr (Type == Element::Bf8)
    return getFloat8Table<kBf8Fnuz>()[word >> (8 * part) & 0xff];
  if constexpr (Type == Element::Fp8Ocp)
    return getFloat8Table<kFp8Ocp>()[word >> (8 * part) & 0xff];
  if constexpr (Type == Element::Bf8Ocp)
    return getFloat8Table<kBf8Ocp>()[word >> (8 * part) & 0xff];
  // The multiplier uses 10 bits of the mantissa (microsoft/MMA-Sim).
  if constexpr (Type == Element::Xf32)
    return std::bit_cast<float>(word & ~0x1fffu);
  return std::bit_cast<float>(word);
}

/// The register and the first lane of row i of D in block b. With 4x4, row i is
/// in register i, and the blocks are side by side, four lanes each.
template <Shape S>
constexpr unsigned getRegisterOfRow(unsigned block, unsigned i) {
  if constexpr (S.m == 32)
    return 16 * block + i / 8 * 4 + i % 4;
  else if constexpr (S.m == 16)
    return 4 * block + i % 4;
  else
    return i;
}
template <Shape S>
constexpr unsigned getLaneOfRow(unsigned block, unsigned i) {
  if constexpr (S.m == 32)
    return 32 * (i / 4 % 2);
  else if constexpr (S.m == 16)
    return 16 * (i / 4);
  else
    return 4 * block;
}

/// Sets pointers to the registers of C (or to the rows of a constant) and of D.
/// A D of 128 bits may overlap C in any way, as the hardware has read all of C
/// before it writes: then C is copied. Larger ones are C or have none of it.
template <unsigned Registers>
inline void getAccumulators(Wave &wave, const Instruction &in,
                            const uint32_t *(&c)[Registers],
                            uint32_t *(&d)[Registers]) {
  const Operand &source = in.op[3];
  const unsigned first = in.op[0].reg;
  const bool isVector = source.kind == OperandKind::Vector;
  const bool isCopied = isVector && Registers <= 4 && source.reg != first &&
                        source.reg < first + Registers &&
                        first < source.reg + Registers;
  for (unsigned r = 0; r < Registers; ++r) {
    c[r] = isVector ? wave.vector[source.reg + r] : source.rows[0];
    d[r] = wave.vector[first + r];
    if (isCopied) {
      std::memcpy(wave.operandScratch[r], c[r], sizeof(LaneRow));
      c[r] = wave.operandScratch[r];
    }
  }
}

} // namespace tessera::emulator

#endif // TESSERA_RUNTIME_EMULATOR_EXEC_MATRIXLAYOUT_H
