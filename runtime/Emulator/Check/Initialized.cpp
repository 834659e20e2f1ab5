//===- Initialized.cpp - Values that nobody has written -------------------===//

#include "runtime/Emulator/Check/Initialized.h"

#include "runtime/Emulator/Check/RegisterName.h"

#include <algorithm>
#include <bit>

using namespace tessera::emulator;

namespace {
/// The uses of a value that make it an error if the value is undefined.
enum class Sink : uint8_t { None, Memory, Scc, Vccz, Execz, Jump };

struct InstructionPlan {
  bool isKnown = false;
  DefinednessPlan definedness;
  Sink sink = Sink::None;
  bool usesM0 = false;
  bool isLoad = false;
  /// Indices in Instruction::op of the vector address and of the stored data;
  /// -1 if there is none.
  int8_t address = -1, data = -1;
};

class InitializedCheck final : public Observer {
public:
  InitializedCheck(const Program &program, const PresetRegisters &preset)
      : program(program), preset(preset), plans(program.size()) {}

  void onGroupStart(GroupContext &, std::span<Wave *const> group) override {
    waves.clear();
    for (Wave *wave : group)
      waves.push_back(std::make_unique<Definedness>(preset, *wave));
  }
  void beforeInstruction(Wave &wave, const Instruction &in) override;
  void onAccesses(Wave &wave, const Instruction &in,
                  std::span<const MemoryAccess> accesses) override;

private:
  const InstructionPlan &getPlan(const Instruction &in);
  void checkSink(const InstructionPlan &plan, Wave &wave,
                 const Instruction &in);
  void checkMemory(const InstructionPlan &plan, Wave &wave,
                   const Instruction &in);
  void checkMask(Wave &wave, const Instruction &in, unsigned slot);
  void checkScalar(Wave &wave, const Instruction &in, unsigned first,
                   unsigned dwords, const char *what);
  void checkStored(const InstructionPlan &plan, Wave &wave,
                   const Instruction &in, unsigned lane);
  void report(Wave &wave, const Instruction &in, int lane, bool isScalar,
              unsigned reg, const char *what);

  const Program &program;
  PresetRegisters preset;
  std::vector<InstructionPlan> plans; ///< by Instruction::index
  std::vector<std::unique_ptr<Definedness>> waves;
};
} // namespace

/// Descriptions of the use of an undefined value, for messages.
static constexpr const char *kAddress = "is used as an address";
static constexpr const char *kBranch = "decides a branch";
static constexpr const char *kJump = "is jumped to";
static constexpr const char *kStored = "is stored to global memory";

static Sink getSink(std::string_view name) {
  if (name.starts_with("s_cbranch_scc"))
    return Sink::Scc;
  if (name.starts_with("s_cbranch_vcc"))
    return Sink::Vccz;
  if (name.starts_with("s_cbranch_exec"))
    return Sink::Execz;
  if (name.starts_with("s_setpc") || name.starts_with("s_swappc"))
    return Sink::Jump;
  for (const char *prefix : {"s_load_", "s_buffer_load_", "buffer_", "global_",
                             "flat_", "scratch_", "ds_"})
    if (name.starts_with(prefix))
      return Sink::Memory;
  return Sink::None;
}

/// Finds the operands for address and data by the order in which the assembler
/// prints them.
static void findMemoryOperands(InstructionPlan &plan, std::string_view name,
                               const Instruction &in) {
  for (const char *word : {"bpermute", "ds_permute", "ds_swizzle"})
    if (name.find(word) != std::string_view::npos)
      return;
  bool hasResult = std::ranges::any_of(
      *plan.definedness.effects,
      [](const RegisterUse &use) { return use.isWrite && !use.isScalar; });
  bool isStore = name.find("_store") != std::string_view::npos ||
                 name.find("_atomic") != std::string_view::npos;
  plan.isLoad = hasResult;
  if (name.starts_with("buffer_")) {
    plan.address = in.has(kToLds) ? 0 : 1;
    plan.data = isStore ? 0 : -1;
  } else if (name.starts_with("ds_")) {
    plan.address = hasResult ? 1 : 0;
  } else {
    plan.address = hasResult ? 1 : 0;
    plan.data = static_cast<int8_t>(isStore ? plan.address + 1 : -1);
  }
  for (int8_t *operand : {&plan.address, &plan.data})
    if (*operand >= 0 &&
        in.op[static_cast<size_t>(*operand)].kind != OperandKind::Vector)
      *operand = -1;
}

const InstructionPlan &InitializedCheck::getPlan(const Instruction &in) {
  InstructionPlan &plan = plans[in.index];
  if (plan.isKnown)
    return plan;
  plan.isKnown = true;
  plan.definedness = makeDefinednessPlan(program, in);
  std::string_view text = program.getText(in);
  std::string_view name = text.substr(0, text.find(' '));
  plan.sink = getSink(name);
  if (plan.sink == Sink::Memory)
    findMemoryOperands(plan, name, in);
  bool readsM0 = std::ranges::any_of(
      *plan.definedness.effects, [](const RegisterUse &use) {
        return use.isScalar && !use.isWrite && use.first == kM0;
      });
  plan.usesM0 =
      readsM0 && (plan.sink == Sink::Memory || name.starts_with("v_movrel") ||
                  name.starts_with("s_movrel"));
  return plan;
}

void InitializedCheck::report(Wave &wave, const Instruction &in, int lane,
                              bool isScalar, unsigned reg, const char *what) {
  const Definedness &state = *waves[wave.indexInGroup];
  uint32_t origin =
      isScalar ? state.getScalarOrigin(reg) : state.getVectorOrigin(reg);
  std::string message = nameRegister(isScalar, reg) + " " + what +
                        ", but its value was never written";
  if (origin != Definedness::kFromLaunch)
    message +=
        ": it comes from " + program.describe(program.getBegin()[origin]);
  wave.report(FaultKind::Uninitialized, in, lane, 0, message);
}

void InitializedCheck::checkScalar(Wave &wave, const Instruction &in,
                                   unsigned first, unsigned dwords,
                                   const char *what) {
  const Definedness &state = *waves[wave.indexInGroup];
  for (unsigned i = 0; i < dwords; ++i)
    if (!state.isScalarDefined(first + i, 1))
      return report(wave, in, -1, true, first + i, what);
}

void InitializedCheck::checkMemory(const InstructionPlan &plan, Wave &wave,
                                   const Instruction &in) {
  const Definedness &state = *waves[wave.indexInGroup];
  bool isScalarLoad = in.kind == InstructionClass::Smem;
  for (unsigned i = isScalarLoad ? 1 : 0; i < in.operandCount; ++i) {
    const Operand &operand = in.op[i];
    if (operand.kind == OperandKind::Scalar && operand.reg != kNull)
      checkScalar(wave, in, operand.reg, operand.dwords, kAddress);
  }
  if (plan.address < 0)
    return;
  const Operand &address = in.op[static_cast<size_t>(plan.address)];
  for (unsigned i = 0; i < address.dwords; ++i)
    if (uint64_t bad = wave.exec & ~state.getLanes(address.reg + i))
      return report(wave, in, std::countr_zero(bad), false, address.reg + i,
                    kAddress);
}

/// A mask is known to be nonzero when one bit is known to be set.
void InitializedCheck::checkMask(Wave &wave, const Instruction &in,
                                 unsigned slot) {
  const Definedness &state = *waves[wave.indexInGroup];
  unsigned dwords = wave.isWave64() ? 2 : 1;
  for (unsigned i = 0; i < dwords; ++i)
    if (wave.readScalar(slot + i) & state.getBits(slot + i))
      return;
  checkScalar(wave, in, slot, dwords, kBranch);
}

void InitializedCheck::checkSink(const InstructionPlan &plan, Wave &wave,
                                 const Instruction &in) {
  if (plan.usesM0)
    checkScalar(wave, in, kM0, 1, "is used");
  switch (plan.sink) {
  case Sink::None:
    return;
  case Sink::Memory:
    return checkMemory(plan, wave, in);
  case Sink::Scc:
    return checkScalar(wave, in, kScc, 1, kBranch);
  case Sink::Vccz:
    return checkMask(wave, in, kVccLo);
  case Sink::Execz:
    return checkMask(wave, in, kExecLo);
  case Sink::Jump:
    const Operand &target = in.op[in.operandCount - 1];
    if (target.kind == OperandKind::Scalar)
      checkScalar(wave, in, target.reg, 2, kJump);
    return;
  }
}

void InitializedCheck::beforeInstruction(Wave &wave, const Instruction &in) {
  const InstructionPlan &plan = getPlan(in);
  if (plan.sink != Sink::None || plan.usesM0)
    checkSink(plan, wave, in);
  waves[wave.indexInGroup]->apply(plan.definedness, wave, in);
}

/// Correct code may leave some dwords of a wide store undefined: the last
/// elements of a vector of three, and padding that is copied from a variable.
void InitializedCheck::checkStored(const InstructionPlan &plan, Wave &wave,
                                   const Instruction &in, unsigned lane) {
  const Definedness &state = *waves[wave.indexInGroup];
  const Operand &data = in.op[static_cast<size_t>(plan.data)];
  unsigned defined = 0;
  for (unsigned i = 0; i < data.dwords; ++i)
    defined |= unsigned(state.getLanes(data.reg + i) >> lane & 1) << i;
  unsigned used = defined ? std::bit_width(defined) : data.dwords;
  for (unsigned i = 0; i < used; ++i) {
    if (defined >> i & 1)
      continue;
    uint32_t origin = state.getVectorOrigin(data.reg + i);
    bool isCopied = origin != Definedness::kFromLaunch && plans[origin].isLoad;
    if (!defined || !isCopied)
      return report(wave, in, static_cast<int>(lane), false, data.reg + i,
                    kStored);
  }
}

void InitializedCheck::onAccesses(Wave &wave, const Instruction &in,
                                  std::span<const MemoryAccess> accesses) {
  const InstructionPlan &plan = getPlan(in);
  if (plan.sink != Sink::Memory || in.kind == InstructionClass::Smem)
    return;
  Definedness &state = *waves[wave.indexInGroup];
  std::array<uint32_t, kMaxLanes> done{};
  for (const MemoryAccess &access : accesses) {
    unsigned lane = access.lane, byte = done[lane];
    done[lane] += access.bytes;
    bool isStore = access.kind != AccessKind::Load;
    if (access.space == MemorySpace::Scratch && isStore && plan.data >= 0) {
      unsigned row = in.op[static_cast<size_t>(plan.data)].reg + byte / 4;
      state.storePrivate(wave, access, state.getLanes(row) >> lane & 1);
    } else if (access.space == MemorySpace::Scratch && !isStore &&
               plan.isLoad) {
      // A dword may be read in several accesses; it has a value if one of them
      // read a defined byte.
      bool defined = state.isPrivateDefined(wave, access);
      if (defined || byte % 4 == 0)
        state.setLane(in.op[0].reg + byte / 4, lane, defined, in.index);
    }
  }
  if (plan.data < 0)
    return;
  // Bytes out of a buffer descriptor's range are not stored and appear in no
  // access. If some are missing, it is unknown which registers the others came
  // from, so only complete stores are checked.
  uint32_t whole = 4 * in.op[static_cast<size_t>(plan.data)].dwords;
  for (const MemoryAccess &access : accesses)
    if (access.space == MemorySpace::Global &&
        access.kind != AccessKind::Load && done[access.lane] &&
        (whole == 4 || done[access.lane] == whole)) {
      done[access.lane] = 0;
      checkStored(plan, wave, in, access.lane);
    }
}

std::unique_ptr<Observer>
tessera::emulator::makeInitializedCheck(const Program &program,
                                        const PresetRegisters &preset) {
  return std::make_unique<InitializedCheck>(program, preset);
}
