//===- WaveChoices.cpp - What is chosen for a program of waves ------------===//

#include "compiler/Conversion/Workgroup/WaveChoices.h"
#include "compiler/Conversion/Cooperative/PlaneCopy.h"
#include "compiler/Conversion/Cooperative/StagedStore.h"
#include "compiler/Conversion/Workgroup/WaveProgram.h"
#include "compiler/Target/CacheLine.h"
#include "compiler/Target/LaunchLds.h"

using namespace mlir;
using namespace tessera;

namespace {
/// The values of the knobs, in the order of their words.
enum : int64_t { kColumnsFirst, kRowsFirst };
enum : int64_t { kLanes, kStaged };
enum : int64_t { kSteps, kLines };

/// One program, and what its choices depend on.
struct Chooser {
  Chooser(TileProgram &program, const GpuTarget &target)
      : program(program), target(target) {}

  bool hasOneLoop();
  bool canStage();
  bool isStagedAtNoCost();
  bool sharesLines(dnn::ViewOp view, int64_t rows);

  TileProgram &program;
  const GpuTarget &target;
};
} // namespace

/// Whether a workgroup has one tile and a loop over its reduction, of which
/// taps share nothing.
bool Chooser::hasOneLoop() {
  return !program.hasWindows() && !program.findHalo() &&
         !program.tiles.getPersistent();
}

/// Lanes have neighbours of a row of few bytes each, in as many rows as they
/// are: each line of L2 would be written in eight pieces, and the AMD clock
/// says that a third of a launch is gone with it. So results are staged where
/// the operands were. Only where the order of instructions is pinned and copies
/// go through registers, LLVM need not see that slots are different memory.
bool Chooser::canStage() {
  const StagedTile tile =
      makeStagedTile(program.rowsM, program.rowsN, program.viewD,
                     program.threads, program.lanesAlongN);
  const bool isOfOperands = program.viewD.getType().getElementType() ==
                            program.viewM.getType().getElementType();
  const bool isDealt =
      std::string_view(program.instructionName) != program.instruction.name;
  return hasOneLoop() && !program.isDirect &&
         program.pipeline.getSchedule() == dnn::ScheduleKind::Pinned &&
         getL1LineBytes(target) != 0 && !isDealt && !program.isAtomic &&
         (tile.isFor(program.viewD) ||
          (isOfOperands && tile.isForWords(program.viewD))) &&
         tile.getBytes() <= getMaxLdsBytes(target);
}

/// Whether as many workgroups fit a compute unit then.
bool Chooser::isStagedAtNoCost() {
  ViewAccess a(program.viewM), b(program.viewN);
  int64_t bytes = program.buffers * (program.rowsM + program.rowsN) *
                  program.step * a.getElementBytes();
  if (program.walk.plane > 0)
    for (const ViewAccess *access : {&a, &b})
      bytes += PlaneCopy::countTableBytes(*access, program.walk);
  const int64_t staged = program.rowsM * program.rowsN *
                         ViewAccess(program.viewD).getElementBytes();
  const int64_t most = getMaxLdsBytes(target);
  return most / std::max(bytes, staged) >= most / bytes;
}

/// Whether the two steps of an iteration are one line of L1 in each row of an
/// operand. They are fetched together then: a step later the line would have
/// left L1, and L2 would give it twice.
bool Chooser::sharesLines(dnn::ViewOp view, int64_t rows) {
  ViewAccess access(view);
  return !program.hasWindows() && !program.findHalo() && !program.isDirect &&
         (program.walk.kind == ReductionWalk::Kind::Nested ||
          program.walk.plane > 0) &&
         program.buffers * program.step * access.getElementBytes() ==
             getL1LineBytes(target) &&
         getLayout(chooseFactor(program, target, access, rows)).first ==
             wg::Layout::Chunks;
}

dnn::PlanKnobs WaveChoices::toKnobs(TileProgram &program,
                                    const GpuTarget &target) const {
  Chooser chooser(program, target);
  dnn::PlanKnobs knobs;
  knobs.set(dnn::Knob::Order, hasRowsFirst ? kRowsFirst : kColumnsFirst);
  if (resident)
    knobs.set(dnn::Knob::Resident, *resident);
  if (chooser.canStage())
    knobs.set(dnn::Knob::Store, isStaged ? kStaged : kLanes);
  if (chooser.sharesLines(program.viewM, program.rowsM) ||
      chooser.sharesLines(program.viewN, program.rowsN))
    knobs.set(dnn::Knob::Fetch, linesM || linesN ? kLines : kSteps);
  return knobs;
}

/// Those that take windows one after another are all there at once.
static std::optional<int64_t> getOwnResident(TileProgram &program,
                                             const GpuTarget &target) {
  const auto persistent = program.tiles.getPersistent();
  if (!persistent || !program.hasWindows())
    return std::nullopt;
  return llvm::divideCeil(*persistent, target.computeUnits);
}

FailureOr<WaveChoices> tessera::chooseWaves(TileProgram &program,
                                            const GpuTarget &target) {
  const dnn::PlanKnobs knobs(program.pipeline.getKnobs());
  Chooser chooser(program, target);
  WaveChoices choices;
  const bool canStage = chooser.canStage();
  choices.isStaged = canStage && chooser.isStagedAtNoCost();
  choices.linesM = chooser.sharesLines(program.viewM, program.rowsM);
  choices.linesN = chooser.sharesLines(program.viewN, program.rowsN);
  choices.resident = getOwnResident(program, target);
  if (auto store = knobs.get(dnn::Knob::Store)) {
    if (*store == kStaged && !canStage)
      return program.pipeline.emitOpError(
          "has store staged, which is for one tile of a workgroup that copies "
          "through registers, pinned, on AMD's chips, and for results of 16 "
          "bits, or of 32 like the operands, in whole chunks");
    choices.isStaged = *store == kStaged;
  }
  if (auto fetch = knobs.get(dnn::Knob::Fetch)) {
    if (*fetch == kLines && !choices.linesM && !choices.linesN)
      return program.pipeline.emitOpError(
          "has fetch lines, but no operand of which an iteration has a line of "
          "L1 in each row");
    choices.linesM &= *fetch == kLines;
    choices.linesN &= *fetch == kLines;
  }
  if (auto order = knobs.get(dnn::Knob::Order)) {
    choices.hasRowsFirst = *order == kRowsFirst;
    if (choices.hasRowsFirst &&
        (program.hasUnknownSizes() || program.hasWindows()))
      return program.pipeline.emitOpError(
          "has order m, which is for tiles of known sizes whose filter does "
          "not stay in shared memory");
  }
  if (auto resident = knobs.get(dnn::Knob::Resident)) {
    constexpr int64_t kMostThreads = 2048;
    if (target.vendor != Vendor::Nvidia)
      return program.pipeline.emitOpError()
             << "has resident " << *resident
             << ", which is for NVIDIA's chips, not " << target.name;
    if (*resident * program.threads > kMostThreads)
      return program.pipeline.emitOpError()
             << "has resident " << *resident << " for workgroups of "
             << program.threads << " threads, of which a multiprocessor has "
             << kMostThreads;
    choices.resident = resident;
  }
  return choices;
}
