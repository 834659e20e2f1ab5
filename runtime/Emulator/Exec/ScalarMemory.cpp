//===- ScalarMemory.cpp - s_load and s_buffer_load ------------------------===//

#include "runtime/Emulator/Exec/OpcodeTable.h"
#include "runtime/Emulator/Wave.h"

#include <string>

using namespace tessera::emulator;

/// The byte offset from the third operand and the "offset:" modifier.
static int64_t getOffset(const Wave &wave, const Instruction &in) {
  int64_t offset = in.offset;
  const Operand &operand = in.op[2];
  if (operand.kind == OperandKind::Scalar)
    offset += operand.reg == kNull ? 0 : wave.readScalar(operand.reg);
  else
    offset += static_cast<int32_t>(operand.value[0]);
  return offset;
}

template <unsigned Dwords>
static void load(Wave &wave, const Instruction &in) {
  uint64_t address = wave.readScalar64(in.op[1].reg) +
                     static_cast<uint64_t>(getOffset(wave, in));
  // The hardware drops the low bits; compilers never do this on purpose.
  if (address % 4) [[unlikely]] {
    wave.fail(FaultKind::Misaligned, in, -1, address,
              "a scalar load must be aligned to 4 bytes, but is " +
                  wave.group->memory->describeLocked(address));
    return;
  }
  const uint8_t *memory =
      wave.access(in, 0, address, 4 * Dwords, AccessKind::Load);
  if (!memory)
    return;
  uint32_t values[Dwords];
  std::memcpy(values, memory, sizeof values);
  for (unsigned i = 0; i < Dwords; ++i)
    wave.writeScalar(in.op[0].reg + i, values[i]);
}

/// The size in bytes of the buffer whose descriptor is in slots `v` to `v` + 3.
static uint64_t getLimit(const Wave &wave, unsigned v) {
  uint64_t stride = wave.readScalar(v + 1) >> 16 & 0x3fff;
  return wave.readScalar(v + 2) * (stride ? stride : 1);
}

/// Loads from a buffer. Out of range gives 0, dword by dword.
template <unsigned Dwords>
static void bufferLoad(Wave &wave, const Instruction &in) {
  unsigned v = in.op[1].reg;
  uint64_t base = wave.readScalar64(v) & 0xffffffffffff;
  uint64_t limit = getLimit(wave, v);
  auto offset = static_cast<uint64_t>(getOffset(wave, in)) & ~uint64_t(3);
  for (unsigned i = 0; i < Dwords; ++i, offset += 4) {
    uint32_t value = 0;
    if (offset < limit) {
      const uint8_t *memory =
          wave.access(in, 0, base + offset, 4, AccessKind::Load);
      if (!memory)
        return;
      std::memcpy(&value, memory, 4);
    }
    wave.writeScalar(in.op[0].reg + i, value);
  }
}

/// Loads a byte or a short and extends it; out of a buffer's range gives 0.
/// AMD's RDNA4 guide, section 9: the lowest address bit of a short is ignored.
template <typename T>
static T loadPart(Wave &wave, const Instruction &in, uint64_t address) {
  T value = 0;
  const uint8_t *memory = wave.access(in, 0, address & ~uint64_t(sizeof(T) - 1),
                                      sizeof(T), AccessKind::Load);
  if (memory)
    std::memcpy(&value, memory, sizeof value);
  return value;
}

template <typename T>
static void loadShort(Wave &wave, const Instruction &in) {
  T value = loadPart<T>(wave, in,
                        wave.readScalar64(in.op[1].reg) +
                            static_cast<uint64_t>(getOffset(wave, in)));
  wave.writeScalar(in.op[0].reg, static_cast<uint32_t>(int32_t(value)));
}

template <typename T>
static void bufferLoadShort(Wave &wave, const Instruction &in) {
  unsigned v = in.op[1].reg;
  auto offset = static_cast<uint64_t>(getOffset(wave, in));
  T value = 0;
  if (offset < getLimit(wave, v))
    value =
        loadPart<T>(wave, in, (wave.readScalar64(v) & 0xffffffffffff) + offset);
  wave.writeScalar(in.op[0].reg, static_cast<uint32_t>(int32_t(value)));
}

template <unsigned Dwords>
static void addWidth(OpcodeTable &table, const std::string &oldName,
                     const std::string &newName) {
  const std::vector<ValueType> types(3, ValueType::U32);
  for (const std::string &name : {oldName, newName}) {
    table.add("s_load_" + name,
              {load<Dwords>, InstructionClass::Smem, 0, types});
    table.add("s_buffer_load_" + name,
              {bufferLoad<Dwords>, InstructionClass::Smem, 0, types});
  }
}

template <typename T>
static void addShort(OpcodeTable &table, const std::string &name) {
  const std::vector<ValueType> types(3, ValueType::U32);
  table.add("s_load_" + name, {loadShort<T>, InstructionClass::Smem, 0, types});
  table.add("s_buffer_load_" + name,
            {bufferLoadShort<T>, InstructionClass::Smem, 0, types});
}

void tessera::emulator::addScalarMemory(OpcodeTable &table) {
  addWidth<1>(table, "dword", "b32");
  addWidth<2>(table, "dwordx2", "b64");
  addWidth<3>(table, "dwordx3", "b96");
  addWidth<4>(table, "dwordx4", "b128");
  addWidth<8>(table, "dwordx8", "b256");
  addWidth<16>(table, "dwordx16", "b512");
  addShort<uint8_t>(table, "u8");
  addShort<int8_t>(table, "i8");
  addShort<uint16_t>(table, "u16");
  addShort<int16_t>(table, "i16");
  // Caches are not emulated, so a prefetch does nothing.
  for (const char *name :
       {"s_prefetch_inst", "s_prefetch_inst_pc_rel", "s_prefetch_data",
        "s_prefetch_data_pc_rel", "s_buffer_prefetch_data"})
    table.add(
        name,
        {[](Wave &, const Instruction &) {}, InstructionClass::Other, 0, {}});
}
