//===- PlaneHaloLoop.cpp - A main loop over blocks of channels ------------===//

#include "compiler/Conversion/Cooperative/PlaneHaloLoop.h"

#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace tessera;

static constexpr int64_t kBuffers = HaloLds::kBuffers;

namespace {
class PlaneHaloLoop {
public:
  PlaneHaloLoop(TileFrame &f, const TileFactor &m, const TileFactor &n);

  void emit();

private:
  using Values = StepBody::Values;
  /// What goes from one iteration to the next.
  struct State {
    Values accumulators, staged, fragments;
  };
  /// Of the blocks of an iteration and the one behind it, the first channel's
  /// bytes in an image, and the position in the walk of the filter.
  struct Iteration {
    Value pixels[kBuffers + 1], filter[kBuffers + 1];
    /// The pixels that have been loaded and not yet written, pass by pass.
    SmallVector<Values> loaded;
  };

  int64_t countTaps() const { return std::ssize(halo.taps); }
  int64_t countSteps() const { return kBuffers * countTaps(); }
  ArrayRef<Value> getPixelBuffers() const {
    return ArrayRef(f.lds).take_front(kBuffers);
  }
  Value getFilterBuffer(int64_t step) const {
    return f.lds[kBuffers + step % kBuffers];
  }

  Iteration makeIteration(Value block, Value behind);
  Values loadFilter(const Iteration &iteration, int64_t step);
  void writeFilter(ArrayRef<Value> staged, int64_t step);
  Value readFragment(int64_t index, int64_t chunk, int64_t step);
  void addFilterCopies(StepBody::Actions &actions, int64_t step,
                       const Values &staged, Values &loaded,
                       Iteration &iteration);
  void addPixelCopies(StepBody::Actions &actions, int64_t step,
                      Iteration &iteration);
  void emitStep(State &state, int64_t step, Iteration &iteration);
  State emitPrologue();
  State emitLoop(State state);

  TileFrame &f;
  Emitter &e;
  const PlaneHalo &halo;
  PlaneHaloSource *source = nullptr; ///< Owned by `mma`.
  GlobalBuffer tile;
  TileMma mma;
  StepBody body;
  PlaneHaloCopy pixels;
  std::unique_ptr<TileCopy> filter;
  /// Of each tap of the filter, from the one that comes first in memory.
  SmallVector<int64_t> filterBytes;
};
} // namespace

PlaneHaloLoop::PlaneHaloLoop(TileFrame &f, const TileFactor &m,
                             const TileFactor &n)
    : f(f), e(f.e), halo(f.program.planeHalo),
      tile(f.getBuffer(f.accessM, f.row0)),
      mma(f.makeMma(m.lds, n.lds,
                    [&](const FragmentPlace &place) {
                      auto made = std::make_unique<PlaneHaloSource>(
                          e, f.accessM, halo, place, tile);
                      source = made.get();
                      return made;
                    })),
      body(e, mma,
           f.program.pipeline.getSchedule() == dnn::ScheduleKind::Pinned),
      pixels(e, f.accessM, halo, tile, f.program.threads, f.thread),
      filter(createCopy(f, n, f.column0)) {
  AccessSpace taps = f.accessN.getSpace(2, 0, f.accessN.getNumColumnDims() - 1);
  for (int64_t tap = 0; tap < countTaps(); ++tap)
    filterBytes.push_back(taps.getForm(0, tap));
  auto first = llvm::min_element(filterBytes);
  filter->setTap(e.constant(first - filterBytes.begin()));
  for (int64_t &bytes : filterBytes)
    bytes -= *first;
}

//===----------------------------------------------------------------------===//
// The parts of a step
//===----------------------------------------------------------------------===//

/// The iteration of block `block` and the next one; `behind` is the one behind
/// it.
PlaneHaloLoop::Iteration PlaneHaloLoop::makeIteration(Value block,
                                                      Value behind) {
  const int64_t channels = f.program.pipeline.getStep();
  Iteration iteration;
  for (int64_t i = 0; i <= kBuffers; ++i) {
    Value at = i == kBuffers ? behind : e.add(block, i);
    iteration.pixels[i] = e.mul(at, channels * halo.planeBytes);
    iteration.filter[i] = e.mul(at, channels * kPlaneElementBytes);
  }
  iteration.loaded.resize(pixels.getPasses());
  return iteration;
}

PlaneHaloLoop::Values PlaneHaloLoop::loadFilter(const Iteration &iteration,
                                                int64_t step) {
  Values loaded;
  filter->moveTap(filterBytes[step % countTaps()]);
  for (unsigned pass = 0; pass < filter->getPasses(); ++pass)
    for (unsigned part = 0; part < filter->getLoadParts(); ++part)
      filter->load(pass, part, iteration.filter[step / countTaps()], Value(),
                   loaded);
  return loaded;
}

/// A pass has the same number of staged values as any other.
void PlaneHaloLoop::writeFilter(ArrayRef<Value> staged, int64_t step) {
  const size_t perPass = staged.size() / filter->getPasses();
  for (unsigned pass = 0; pass < filter->getPasses(); ++pass)
    for (unsigned part = 0; part < filter->getWriteParts(); ++part)
      filter->write(pass, part, staged.slice(pass * perPass, perPass),
                    getFilterBuffer(step));
}

/// Fragments are numbered those of m first, then those of n.
Value PlaneHaloLoop::readFragment(int64_t index, int64_t chunk, int64_t step) {
  const int64_t ofM = mma.getM().count;
  if (index >= ofM)
    return mma.readFragment(/*isM=*/false, index - ofM, chunk,
                            getFilterBuffer(step));
  source->enterTap(step % countTaps());
  return mma.readFragment(/*isM=*/true, index, chunk,
                          getPixelBuffers()[step / countTaps() % kBuffers]);
}

/// What was loaded a step ago goes to LDS, and the step after the next comes.
void PlaneHaloLoop::addFilterCopies(StepBody::Actions &actions, int64_t step,
                                    const Values &staged, Values &loaded,
                                    Iteration &iteration) {
  const size_t perPass = staged.size() / filter->getPasses();
  for (unsigned pass = 0; pass < filter->getPasses(); ++pass) {
    for (unsigned part = 0; part < filter->getWriteParts(); ++part)
      actions.push_back({StepBody::Kind::LdsWrite, [=, this, &staged] {
                           filter->write(
                               pass, part,
                               ArrayRef(staged).slice(pass * perPass, perPass),
                               getFilterBuffer(step + 1));
                         }});
    for (unsigned part = 0; part < filter->getLoadParts(); ++part)
      actions.push_back(
          {StepBody::Kind::GlobalLoad, [=, this, &loaded, &iteration] {
             const int64_t ahead = step + 2;
             filter->moveTap(filterBytes[ahead % countTaps()]);
             filter->load(pass, part, iteration.filter[ahead / countTaps()],
                          Value(), loaded);
           }});
  }
}

/// A step's share of the pixels of the next block: those are loaded evenly over
/// all steps of a block but the last, and each pass is written in the step
/// behind its last load.
void PlaneHaloLoop::addPixelCopies(StepBody::Actions &actions, int64_t step,
                                   Iteration &iteration) {
  const int64_t block = step / countTaps(), tap = step % countTaps();
  const int64_t loads = pixels.getPasses() * PlaneHaloCopy::kLoads;
  auto getFirst = [&](int64_t ofTap) {
    return std::min(loads, loads * ofTap / (countTaps() - 1));
  };
  for (int64_t i = getFirst(tap); i < getFirst(tap + 1); ++i)
    actions.push_back({StepBody::Kind::GlobalLoad, [=, this, &iteration] {
                         const int64_t pass = i / PlaneHaloCopy::kLoads;
                         iteration.loaded[pass].push_back(
                             pixels.load(pass, i % PlaneHaloCopy::kLoads,
                                         iteration.pixels[block + 1]));
                       }});
  for (unsigned pass = 0; pass < pixels.getPasses(); ++pass) {
    const int64_t end = (pass + 1) * PlaneHaloCopy::kLoads;
    if (end > getFirst(tap) || (tap > 0 && end <= getFirst(tap - 1)))
      continue;
    for (int64_t part = 0; part < PlaneHaloCopy::kWrites; ++part)
      actions.push_back({StepBody::Kind::LdsWrite, [=, this, &iteration] {
                           pixels.write(
                               pass, part, iteration.loaded[pass],
                               getPixelBuffers()[(block + 1) % kBuffers]);
                           if (part + 1 == PlaneHaloCopy::kWrites)
                             iteration.loaded[pass].clear();
                         }});
  }
}

void PlaneHaloLoop::emitStep(State &state, int64_t step, Iteration &iteration) {
  Values loaded;
  StepBody::Parts parts;
  parts.read = [&](int64_t index, int64_t chunk) {
    return readFragment(index, chunk, step);
  };
  parts.readNext = [&](int64_t index) {
    return readFragment(index, 0, step + 1);
  };
  parts.emitBarrier = [&] { e.device.emitLdsBarrier(e); };
  addFilterCopies(parts.copies, step, state.staged, loaded, iteration);
  addPixelCopies(parts.copies, step, iteration);
  state.fragments = body.emit(state.accumulators, std::move(state.fragments),
                              std::move(parts));
  state.staged = std::move(loaded);
}

//===----------------------------------------------------------------------===//
// The loop
//===----------------------------------------------------------------------===//

/// Step 0 in LDS, step 1 staged, the first fragments of step 0 read.
PlaneHaloLoop::State PlaneHaloLoop::emitPrologue() {
  Iteration iteration = makeIteration(e.constant(0), e.constant(0));
  State state;
  state.accumulators.assign(mma.getAccumulators(), mma.makeZeroAccumulator());
  for (unsigned pass = 0; pass < pixels.getPasses(); ++pass)
    for (int64_t i = 0; i < PlaneHaloCopy::kLoads; ++i)
      iteration.loaded[pass].push_back(
          pixels.load(pass, i, iteration.pixels[0]));
  Values first = loadFilter(iteration, 0);
  state.staged = loadFilter(iteration, 1);
  for (unsigned pass = 0; pass < pixels.getPasses(); ++pass)
    for (int64_t part = 0; part < PlaneHaloCopy::kWrites; ++part)
      pixels.write(pass, part, iteration.loaded[pass],
                   getPixelBuffers().front());
  writeFilter(first, 0);
  e.device.emitLdsBarrier(e);
  e.device.emitOrderPin(e);
  for (int64_t index = 0; index < body.getFragments(); ++index)
    state.fragments.push_back(readFragment(index, 0, 0));
  return state;
}

/// Behind the last block the first one is brought again. Two blocks are one
/// iteration, of which LLVM would make a straight line, and the tools judge
/// loops: no workgroup has a number so high that a further iteration would
/// follow, but LLVM does not know.
PlaneHaloLoop::State PlaneHaloLoop::emitLoop(State state) {
  const int64_t blocks =
      f.program.walk.inner / static_cast<int64_t>(f.program.pipeline.getStep());
  Values carried(state.accumulators);
  llvm::append_range(carried, state.staged);
  llvm::append_range(carried, state.fragments);
  constexpr int64_t kSignBit = 31;
  Value end = e.add(e.shru(f.block, kSignBit), blocks);
  auto loop = scf::ForOp::create(e.b, e.loc, e.constant(0), end,
                                 e.constant(kBuffers), carried);
  auto take = [&](ValueRange values) {
    for (Values *into :
         {&state.accumulators, &state.staged, &state.fragments}) {
      llvm::copy(values.take_front(into->size()), into->begin());
      values = values.drop_front(into->size());
    }
  };
  OpBuilder::InsertionGuard guard(e.b);
  e.b.setInsertionPointToStart(loop.getBody());
  take(loop.getRegionIterArgs());
  Value block = loop.getInductionVar(), behind = e.add(block, kBuffers);
  behind = e.select(e.ult(behind, blocks), behind, e.constant(0));
  Iteration iteration = makeIteration(block, behind);
  for (int64_t step = 0; step < countSteps(); ++step)
    emitStep(state, step, iteration);
  carried.assign(state.accumulators);
  llvm::append_range(carried, state.staged);
  llvm::append_range(carried, state.fragments);
  scf::YieldOp::create(e.b, e.loc, carried);
  take(loop.getResults());
  return state;
}

void PlaneHaloLoop::emit() {
  State state = emitLoop(emitPrologue());
  f.emitDealtStore(mma, state.accumulators);
}

void tessera::emitPlaneHaloTile(TileFrame &f, const TileFactor &m,
                                const TileFactor &n) {
  PlaneHaloLoop(f, m, n).emit();
}
