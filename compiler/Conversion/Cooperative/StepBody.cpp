//===- StepBody.cpp - One step of a main loop -----------------------------===//

#include "compiler/Conversion/Cooperative/StepBody.h"

#include <map>

using namespace mlir;
using namespace tessera;

//===----------------------------------------------------------------------===//
// The parts
//===----------------------------------------------------------------------===//

StepBody::Actions StepBody::makeMultiplies(Values &accumulators,
                                           SmallVector<Values> &fragments) {
  Actions actions;
  int64_t countM = mma.getM().count, countN = mma.getN().count;
  for (int64_t chunk = 0; chunk < mma.getChunkReads(); ++chunk)
    for (int64_t part = 0; part < mma.getInstructionsPerChunk(); ++part)
      for (int64_t j = 0; j < countN; ++j)
        for (int64_t i = 0; i < countM; ++i)
          actions.push_back(
              {Kind::Multiply, [=, this, &accumulators, &fragments] {
                 Value &acc = accumulators[j * countM + i];
                 acc = mma.multiply(fragments[chunk][i],
                                    fragments[chunk][countM + j], acc, part);
               }});
  return actions;
}

/// Reads of every chunk but the first, which the step before has read.
StepBody::Actions StepBody::makeReads(SmallVector<Values> &fragments,
                                      const Parts &splits) {
  Actions actions;
  int64_t countM = mma.getM().count, total = getFragments();
  for (int64_t chunk = 1; chunk < mma.getChunkReads(); ++chunk)
    for (int64_t n = 0; n < total; ++n) {
      // Those of n first: an instruction row of P goes through all of m.
      int64_t index = (n + countM) % total;
      actions.push_back({Kind::LdsRead, [=, &fragments, &splits] {
                           fragments[chunk][index] = splits.read(index, chunk);
                         }});
    }
  return actions;
}

/// The barrier, and the first fragments of the next step behind it.
StepBody::Actions StepBody::makeTail(Values &fragments, const Parts &splits) {
  Actions actions = {{Kind::Other, splits.emitBarrier}};
  int64_t countM = mma.getM().count, total = getFragments();
  for (int64_t n = 0; n < total; ++n) {
    int64_t index = (n + countM) % total;
    actions.push_back({Kind::LdsRead, [=, &fragments, &splits] {
                         fragments[index] = splits.readNext(index);
                       }});
  }
  return actions;
}

//===----------------------------------------------------------------------===//
// Their order
//===----------------------------------------------------------------------===//

/// Spreads the memory operations over the multiplications: reads come at least
/// two instructions before their chunk is needed, copies evenly, and the tail
/// before the last quarter, which covers its latency. Refills follow the tail
/// evenly, for which two chunks leave the second one's half.
StepBody::Actions StepBody::interleave(Actions multiplies, Actions reads,
                                       Actions copies, Actions tail,
                                       Actions refills) {
  int64_t total = multiplies.size();
  int64_t part = !refills.empty() && mma.getChunkReads() == 2 ? 2 : 4;
  int64_t covered = std::max<int64_t>(2, total / part);
  int64_t body = std::max<int64_t>(0, total - covered);
  int64_t perChunk = total / mma.getChunkReads();
  int64_t perRead = getFragments();
  int64_t numReads = reads.size();
  int64_t numOps = numReads + copies.size();

  Actions sequence;
  int64_t used = 0;
  auto multiplyUntil = [&](int64_t end) {
    for (; used < std::min(end, total); ++used)
      sequence.push_back(std::move(multiplies[used]));
  };
  for (int64_t n = 0; n < numOps; ++n) {
    int64_t at = (n + 1) * body / (numOps + 1);
    if (n < numReads) {
      int64_t ahead = 2 + (perRead - 1 - n % perRead) / 2;
      int64_t latest = (1 + n / perRead) * perChunk - ahead;
      at = std::min(at, std::max(used, latest));
    }
    multiplyUntil(at);
    sequence.push_back(
        std::move(n < numReads ? reads[n] : copies[n - numReads]));
  }
  multiplyUntil(body);
  sequence.push_back(std::move(tail.front()));
  for (size_t n = 1; n < tail.size(); ++n) {
    sequence.push_back(std::move(tail[n]));
    if (n % 2 == 0)
      multiplyUntil(used + 1);
  }
  for (size_t n = 0; n < refills.size(); ++n) {
    int64_t rest = refills.size() - n;
    sequence.push_back(std::move(refills[n]));
    multiplyUntil(total - (total - used) * (rest - 1) / rest);
  }
  multiplyUntil(total);
  return sequence;
}

StepBody::Action StepBody::makeWait(std::optional<int64_t> loads,
                                    std::optional<int64_t> lds) {
  return {Kind::Other, [=, this] { e.device.emitWait(e, loads, lds); }};
}

/// One wait for each chunk's fragments and one for the staged loads, instead
/// of LLVM's one for each first use: LDS operations finish in order, so the
/// wait before chunk q may leave those outstanding that were issued after the
/// last read of chunk q.
void StepBody::insertWaits(Actions &actions, int64_t multipliesPerChunk) {
  // The last place first, so that an insertion moves no later one.
  std::multimap<size_t, Action, std::greater<>> waits;
  waits.emplace(0, makeWait(std::nullopt, 0));
  int64_t perRead = getFragments(), readOps = mma.getReadsPerFragment();
  for (int64_t chunk = 1; chunk < mma.getChunkReads(); ++chunk) {
    int64_t multiplies = 0, reads = 0, younger = 0;
    size_t at = 0;
    for (; at < actions.size(); ++at) {
      Kind kind = actions[at].kind;
      if (kind == Kind::Multiply && multiplies++ == chunk * multipliesPerChunk)
        break;
      if (kind == Kind::LdsRead)
        ++reads;
      if (kind == Kind::LdsRead && reads <= chunk * perRead)
        younger = 0;
      else if (kind == Kind::LdsRead)
        younger += readOps;
      else if (kind == Kind::LdsWrite)
        ++younger;
    }
    waits.emplace(at, makeWait(std::nullopt, younger));
  }
  auto firstWrite = llvm::find_if(
      actions, [](const Action &a) { return a.kind == Kind::LdsWrite; });
  if (firstWrite != actions.end())
    waits.emplace(firstWrite - actions.begin(), makeWait(0, std::nullopt));
  for (auto &[before, wait] : waits)
    actions.insert(actions.begin() + before, std::move(wait));
}

StepBody::Values StepBody::emit(Values &accumulators, Values first,
                                Parts splits) {
  SmallVector<Values> fragments(mma.getChunkReads(), Values(getFragments()));
  fragments[0] = std::move(first);
  Values next(getFragments());
  Actions multiplies = makeMultiplies(accumulators, fragments);
  int64_t perChunk = multiplies.size() / mma.getChunkReads();
  Actions sequence =
      interleave(std::move(multiplies), makeReads(fragments, splits),
                 std::move(splits.copies), makeTail(next, splits),
                 std::move(splits.refills));
  if (pinned)
    insertWaits(sequence, perChunk);
  for (const Action &action : sequence) {
    action.emit();
    // Pins the order; the arithmetic between two pins is LLVM's to arrange.
    if (pinned && action.kind != Kind::Multiply)
      e.device.emitOrderPin(e);
  }
  return next;
}
