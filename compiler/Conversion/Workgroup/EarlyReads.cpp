//===- EarlyReads.cpp - Filters on their way before a launch may begin ----===//
//
// Workgroups that come while the kernel in front still runs may read nothing
// before it has ended (docs/design/0017-dependent-launches.md), but for asking
// that memory be brought to L2: all writes meet there, so that what it has is
// never old. The layer in front does not write the next one's filter, and in a
// network of small batch every filter comes from memory.
//
//===----------------------------------------------------------------------===//

#include "compiler/Conversion/Hopper/StoreExtra.h"
#include "compiler/Conversion/Workgroup/WorkgroupLowering.h"

#include "mlir/Dialect/LLVMIR/NVVMDialect.h"

using namespace mlir;
using namespace tessera;

/// Whether `view` is of the filter as the call has it.
static bool isOfFilter(dnn::ViewOp view, func::FuncOp function) {
  auto tensor = dyn_cast<BlockArgument>(view.getSource());
  auto name = tensor ? function.getArgAttrOfType<StringAttr>(
                           tensor.getArgNumber(), dnn::kArgAttrName)
                     : StringAttr();
  return name && name == "w";
}

/// Whether no two workgroups read the same of the filter, as the result has one
/// row of tiles. Where several ask L2 for the same lines at once, all of them
/// wait, and where nothing is in front, copies wait behind the requests: on an
/// H100 up to 0.9 us.
bool WorkgroupLowering::readsFilterOnce() const {
  auto result = plan.result;
  const OpenNumber rows =
      ViewAccess(result.getView().getDefiningOp<dnn::ViewOp>())
          .getSpace(1)
          .getExtent();
  return plan.b->getWalk() == TmaWalk::Channels && rows.isKnown() &&
         rows <= shape.tileM;
}

/// In place of a copy of the filter: a request for the same box. None for
/// others.
void WorkgroupLowering::askForCopy(wg::CopyOp copy) {
  auto box = copy.getBox().getDefiningOp<wg::BoxOp>();
  if (box == plan.boxB)
    plan.b->prefetch(e, kernel.getArgument(1), getAll(copy.getBox()),
                     get(copy.getStep()));
}

/// A request for the first line of what an epilogue reads of the tile's
/// channels, as of a bias.
void WorkgroupLowering::askForChannels(dnn::ViewOp extra) {
  ViewAccess access(extra);
  Value offset = e.constant(access.getConstant(0));
  constexpr unsigned kGroups = 0, kColumns = 2;
  const std::pair<unsigned, Value> places[] = {
      {kGroups, get(plan.boxB.getGroup())},
      {kColumns, get(plan.boxB.getRow())}};
  for (auto [space, place] : places)
    offset = e.add(offset, access.getSpace(space).evaluate(e, place).front());
  auto level = NVVM::PrefetchCacheLevelAttr::get(e.b.getContext(),
                                                 NVVM::PrefetchCacheLevel::L2);
  NVVM::PrefetchOp::create(
      e.b, e.loc, level, /*evictPriority=*/nullptr,
      addBytes(e, arguments.lookup(extra.getSource()), offset), Value());
}

/// A thread that has nothing to prepare asks for what its workgroup will copy
/// of the filter, in front of the first access of memory, where every kernel
/// waits for the one in front of it (ChainLaunches.cpp).
LogicalResult WorkgroupLowering::emitEarlyReads() {
  constexpr int64_t kAsking = 32;
  if (!isOfFilter(plan.boxB.getView().getDefiningOp<dnn::ViewOp>(),
                  plan.function) ||
      !readsFilterOnce())
    return success();
  LogicalResult result = success();
  Value isMe = arith::CmpIOp::create(e.b, e.loc, arith::CmpIPredicate::eq,
                                     thread, e.constant(kAsking));
  emitIf(e, isMe, [&] {
    onlyAsks = true;
    result = emitRole(plan.roles.front(), e.constant(0));
    onlyAsks = false;
    for (Value extra : plan.result.getExtras()) {
      auto view = extra.getDefiningOp<dnn::ViewOp>();
      if (!isOfElements(view))
        askForChannels(view);
    }
  });
  return result;
}
