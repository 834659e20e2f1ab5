//===- WaveSteps.cpp - Steps of a program of waves ------------------------===//
//
// Ops whose instructions StepBody.h spreads over those of the step's products.
//
//===----------------------------------------------------------------------===//

#include "compiler/Conversion/Workgroup/WaveLowering.h"

using namespace mlir;
using namespace tessera;

using Kind = StepBody::Kind;

//===----------------------------------------------------------------------===//
// Finding the parts
//===----------------------------------------------------------------------===//

/// Puts a copy of M, or of N, beside that in the other direction.
template <typename OpT>
static bool addCopy(WaveStep &parts, OpT WaveCopy::*member, OpT op,
                    Value buffer) {
  auto *found = llvm::find_if(
      parts.copies, [&](WaveCopy &copy) { return copy.buffer == buffer; });
  if (found == parts.copies.end()) {
    parts.copies.push_back({buffer, {}, {}, {}});
    found = &parts.copies.back();
  }
  if constexpr (std::is_same_v<OpT, wg::FetchOp>)
    if (found->fetch)
      member = &WaveCopy::later;
  return !parts.barrier && !std::exchange(found->*member, op);
}

/// Puts what `op` is to the step's products into `parts`.
static bool addPart(Operation &op, Value bufferM, WaveStep &parts) {
  const bool isBehind = parts.barrier != wg::BarrierOp();
  if (auto load = dyn_cast<wg::LoadOp>(op)) {
    const bool isM = load.getBuffer() == bufferM;
    if (isBehind)
      return !std::exchange(isM ? parts.nextM : parts.nextN, load);
    (isM ? parts.loadsM : parts.loadsN).push_back(load);
    return true;
  }
  if (auto product = dyn_cast<wg::MmaOp>(op)) {
    parts.products.push_back(product);
    return !isBehind;
  }
  if (auto put = dyn_cast<wg::PutOp>(op))
    return addCopy(parts, &WaveCopy::put, put, put.getBuffer());
  if (auto fetch = dyn_cast<wg::FetchOp>(op))
    return addCopy(parts, &WaveCopy::fetch, fetch,
                   wg::findTile(fetch.getBox()).getBuffer());
  if (auto fill = dyn_cast<wg::FillOp>(op)) {
    parts.fills.push_back(fill);
    return isBehind && !parts.commits;
  }
  if (auto flush = dyn_cast<wg::FlushOp>(op))
    return isBehind && flush.getShare() && !std::exchange(parts.flush, flush);
  if (isa<wg::TapOp>(op))
    return true;
  if (auto barrier = dyn_cast<wg::BarrierOp>(op))
    return !std::exchange(parts.barrier, barrier);
  parts.commits = true;
  return isBehind;
}

/// What StepBody.h spreads: the products of all parts of a step, in their
/// order, with loads of all parts but the first in front of the barrier, and
/// the next step's first ones behind it.
LogicalResult WaveLowering::findStep(wg::StepOp step, WaveStep &parts) {
  for (Operation &op : step.getBody().front().without_terminator())
    if (!addPart(op, plan.bufferM, parts))
      return op.emitOpError(
          "is a second one of its kind in its step (of wg.fetch, a third), or "
          "on the wrong side of "
          "the barrier: copies to registers and from them, loads of the step "
          "and products stand in front of it; the next step's loads, direct "
          "copies and their wg.commit, and results, behind it");
  const auto count = static_cast<size_t>(mma->getChunkReads());
  if (!parts.barrier || !parts.nextM || !parts.nextN ||
      parts.products.size() != count || parts.loadsM.size() + 1 != count ||
      parts.loadsN.size() + 1 != count)
    return step.emitOpError()
           << "needs a barrier, " << count << " products, loads of all their "
           << "fragments but the first, and behind the barrier the first ones "
              "of the next step";
  for (size_t part = 1; part < count; ++part) {
    wg::MmaOp product = parts.products[part];
    if (product.getA() != parts.loadsM[part - 1].getResult() ||
        product.getB() != parts.loadsN[part - 1].getResult() ||
        product.getAcc() != parts.products[part - 1].getResult())
      return product.emitOpError("needs the fragments that were loaded for it, "
                                 "and the sums of the product before");
  }
  if (!parts.fills.empty() && !parts.commits)
    return parts.fills.back().emitOpError("needs a wg.commit in its step");
  return success();
}

//===----------------------------------------------------------------------===//
// What is spread
//===----------------------------------------------------------------------===//

/// Each staged piece goes to LDS, and the piece of a step ahead takes its
/// registers; parts of rows that taps share are loaded first.
StepBody::Actions WaveLowering::makeCopies(WaveStep &step) {
  StepBody::Actions all;
  for (WaveCopy &operand : step.copies) {
    StepBody::Actions writes, loads;
    if (operand.put)
      forEachWrite(operand.put, [&](std::function<void()> emit) {
        writes.push_back({Kind::LdsWrite, std::move(emit)});
      });
    if (operand.fetch)
      forEachLoad(operand.fetch, [&](std::function<void()> emit) {
        loads.push_back({Kind::GlobalLoad, std::move(emit)});
      });
    const bool isM = isOfM(operand.buffer);
    const TileCopy &copy = isM ? *copyM : *copyN;
    // Of a pass.
    size_t perWrite = copy.getWriteParts(), perLoad = copy.getLoadParts();
    if (operand.later) {
      // Both steps of a row one after the other: they may share a line.
      StepBody::Actions first = std::exchange(loads, {});
      forEachLoad(operand.later, [&](std::function<void()> emit) {
        loads.push_back(std::move(first[loads.size() / 2]));
        loads.push_back({Kind::GlobalLoad, std::move(emit)});
      });
      perLoad *= 2;
    }
    if (isM && plan.isShared()) {
      std::swap(writes, loads);
      perWrite = writes.size();
      perLoad = loads.size();
    }
    auto take = [&](StepBody::Actions &from, size_t begin, size_t count) {
      for (size_t at = begin; at < std::min(from.size(), begin + count); ++at)
        all.push_back(std::move(from[at]));
    };
    for (unsigned pass = 0; pass < copy.getPasses(); ++pass) {
      take(writes, pass * perWrite, perWrite);
      take(loads, pass * perLoad, perLoad);
    }
  }
  return all;
}

/// Where taps share rows, a group of direct copies ends in an action of its
/// own.
StepBody::Actions WaveLowering::makeRefills(WaveStep &step) {
  StepBody::Actions actions;
  for (wg::FillOp fill : step.fills)
    forEachFill(fill, [&](std::function<void()> emit) {
      actions.push_back({Kind::GlobalLoad, std::move(emit)});
    });
  if (!step.commits)
    return actions;
  auto commit = [this] { e.device.endDirectGroup(e); };
  if (plan.isShared() || actions.empty()) {
    actions.push_back({Kind::GlobalLoad, commit});
    return actions;
  }
  actions.back().emit = [commit, last = std::move(actions.back().emit)] {
    last();
    commit();
  };
  return actions;
}

/// A share of results around the refills: read before and stored behind them.
StepBody::Actions WaveLowering::addResults(wg::FlushOp flush,
                                           StepBody::Actions refills) {
  ArrayRef<int64_t> share = *flush.getShare();
  const int64_t perBlock =
      llvm::divideCeil(plan.parts.staged->countPieces(), share[2]);
  auto getFirst = [&](int64_t i) {
    return std::min<int64_t>(perBlock,
                             llvm::divideCeil(perBlock * i, share[1]));
  };
  auto getPiece = [=, this](int64_t piece) mutable {
    return e.add(e.mul(get(flush.getBlock()), perBlock), piece);
  };
  StepBody::Actions all, stores;
  auto words = std::make_shared<Values>();
  for (int64_t piece = getFirst(share[0]); piece < getFirst(share[0] + 1);
       ++piece) {
    size_t at = all.size();
    all.push_back({Kind::LdsRead, [=, this]() mutable {
                     words->push_back(staged->read(getPiece(piece)));
                   }});
    stores.push_back({Kind::Other, [=, this]() mutable {
                        storePiece(flush, (*words)[at], getPiece(piece));
                      }});
  }
  llvm::append_range(all, refills);
  llvm::append_range(all, stores);
  return all;
}

LogicalResult WaveLowering::yield(wg::StepOp step) {
  for (auto [result, yielded] :
       llvm::zip_equal(step.getResults(),
                       step.getBody().front().getTerminator()->getOperands())) {
    Lists lists = getLists(yielded);
    if (lists.empty())
      return step.emitOpError("yields fragments or sums that its own products "
                              "have used up");
    values[result] = std::move(lists);
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Steps without a barrier
//===----------------------------------------------------------------------===//

/// The fragments of a product are read while the one before is multiplied.
/// Where B's are held, one row of instructions comes after the other.
void WaveLowering::multiplyRows(ArrayRef<wg::MmaOp> products, bool isPinned,
                                bool isHeld) {
  const int64_t countM = mma->getM().count, countN = mma->getN().count;
  const int64_t rows = isHeld ? 1 : countM;
  const int64_t turns = countM / rows * std::ssize(products);
  auto read = [&](int64_t turn) {
    wg::MmaOp product = products[turn % products.size()];
    const int64_t first = turn / std::ssize(products) * rows;
    Values fragments;
    auto load = product.getA().getDefiningOp<wg::LoadOp>();
    for (int64_t i = first; i < first + rows; ++i)
      fragments.push_back(readFragment(load, i));
    if (isHeld)
      llvm::append_range(fragments, getLists(product.getB()).front());
    for (int64_t j = 0; !isHeld && j < countN; ++j)
      fragments.push_back(
          readFragment(product.getB().getDefiningOp<wg::LoadOp>(), j));
    return fragments;
  };
  Values sums = getLists(wg::MmaOp(products.front()).getAcc()).front();
  Values next = read(0);
  for (int64_t turn = 0; turn < turns; ++turn) {
    const Values fragments = std::move(next);
    next.clear();
    if (turn + 1 < turns)
      next = read(turn + 1);
    // Left to itself, LLVM reads all fragments first, and has no registers.
    if (isPinned)
      e.device.emitOrderPin(e);
    const int64_t first = turn / std::ssize(products) * rows;
    for (int64_t part = 0; part < mma->getInstructionsPerChunk(); ++part)
      for (int64_t j = 0; j < countN; ++j)
        for (int64_t i = 0; i < rows; ++i) {
          Value &sum = sums[j * countM + first + i];
          sum = mma->multiply(fragments[i], fragments[rows + j], sum, part);
        }
    if (isPinned)
      e.device.emitOrderPin(e);
  }
  values[wg::MmaOp(products.back())] = {sums};
}

LogicalResult WaveLowering::multiplyAtOnce(wg::StepOp step) {
  Block &body = step.getBody().front();
  auto products = llvm::to_vector(body.getOps<wg::MmaOp>());
  auto isHere = [&](Value value) { return value.getParentBlock() == &body; };
  for (Operation &op : body.without_terminator())
    if (!isa<wg::LoadOp, wg::MmaOp>(op))
      return op.emitOpError("is in a step without a barrier, which has loads "
                            "and products only");
  for (auto [at, product] : llvm::enumerate(products))
    if (!isHere(product.getA()) ||
        isHere(product.getB()) != isHere(products.front().getB()) ||
        (at > 0 ? product.getAcc() != products[at - 1].getResult()
                : isHere(product.getAcc())))
      return product.emitOpError(
          "needs fragments that its step loads, of A or of both operands, as "
          "all of its products do, and the sums of the product before");
  if (products.empty())
    return step.emitOpError("needs products, or a barrier");
  multiplyRows(products, step.getPinned(), !isHere(products.front().getB()));
  return yield(step);
}

//===----------------------------------------------------------------------===//
// Whole steps
//===----------------------------------------------------------------------===//

LogicalResult WaveLowering::lowerStep(wg::StepOp step) {
  findProducts();
  if (step.getBody().getOps<wg::BarrierOp>().empty())
    return multiplyAtOnce(step);
  WaveStep parts;
  if (failed(findStep(step, parts)))
    return failure();
  for (Operation &op : step.getBody().front())
    if (isa<wg::FetchOp, wg::FillOp>(op) &&
        failed(checkTap(&op, op.getOperand(0))))
      return failure();
  const int64_t countM = mma->getM().count;
  StepBody::Parts splits;
  splits.read = [&](int64_t index, int64_t chunk) {
    return index < countM
               ? readFragment(parts.loadsM[chunk - 1], index)
               : readFragment(parts.loadsN[chunk - 1], index - countM);
  };
  splits.readNext = [&](int64_t index) {
    return index < countM ? readFragment(parts.nextM, index)
                          : readFragment(parts.nextN, index - countM);
  };
  splits.emitBarrier = [&] {
    emitBarrier(parts.barrier);
    enterTap(parts.nextM);
  };
  splits.copies = makeCopies(parts);
  splits.refills = makeRefills(parts);
  if (parts.flush)
    splits.refills = addResults(parts.flush, std::move(splits.refills));
  if (!parts.loadsM.empty())
    enterTap(parts.loadsM.front());
  wg::MmaOp product = parts.products.front();
  Values sums = getLists(product.getAcc()).front();
  Values fragments = getLists(product.getA()).front();
  llvm::append_range(fragments, getLists(product.getB()).front());
  Values next = StepBody(e, *mma, step.getPinned())
                    .emit(sums, std::move(fragments), std::move(splits));
  values[parts.products.back()] = {sums};
  values[parts.nextM] = {Values(ArrayRef(next).take_front(countM))};
  values[parts.nextN] = {Values(ArrayRef(next).drop_front(countM))};
  return yield(step);
}
