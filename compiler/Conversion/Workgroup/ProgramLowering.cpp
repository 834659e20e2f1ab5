//===- ProgramLowering.cpp - What all programs are lowered alike ----------===//

#include "compiler/Conversion/Workgroup/ProgramLowering.h"
#include "compiler/Conversion/Common/OpenNumber.h"

using namespace mlir;
using namespace tessera;

LogicalResult tessera::checkSizes(wg::ProgramOp program) {
  auto check = [](Operation *op, std::optional<StringRef> text) -> WalkResult {
    if (!text || parseSizeExpr(*text))
      return WalkResult::advance();
    return op->emitOpError("needs an expression of sizes, which looks like "
                           "'xd1.xd2.*.64.^'");
  };
  return failure(check(program, program.getTiles()).wasInterrupted() ||
                 program
                     .walk([&](wg::SizeOp size) {
                       return check(size, size.getExpression());
                     })
                     .wasInterrupted());
}

/// The number that a wg.size is; nothing if `value` is none.
static std::optional<OpenNumber> findSize(Value value) {
  auto size = value.getDefiningOp<wg::SizeOp>();
  if (!size)
    return std::nullopt;
  return OpenNumber(*parseSizeExpr(size.getExpression()));
}

Value ProgramLowering::get(Value source) {
  if (auto found = values.find(source); found != values.end())
    return found->second.front().front();
  return getEmitter().constant(*findSize(source));
}

ProgramLowering::Values ProgramLowering::getAll(ValueRange sources) {
  Values all;
  for (Value source : sources)
    for (const Values &list : values.lookup(source))
      llvm::append_range(all, list);
  return all;
}

void ProgramLowering::clone(Operation *op) {
  Emitter &e = getEmitter();
  if (auto constant = dyn_cast<arith::ConstantOp>(op))
    return map(constant, e.constant(constant.getValue()));
  if (isa<arith::DivUIOp, arith::RemUIOp>(op))
    if (std::optional<OpenNumber> by = findSize(op->getOperand(1)))
      return map(op->getResult(0), isa<arith::DivUIOp>(op)
                                       ? e.divu(get(op->getOperand(0)), *by)
                                       : e.remu(get(op->getOperand(0)), *by));
  IRMapping mapping;
  for (Value operand : op->getOperands())
    mapping.map(operand, get(operand));
  map(op->getResult(0), e.b.clone(*op, mapping)->getResult(0));
}

LogicalResult ProgramLowering::lower(Block &block) {
  for (Operation &op : block.getOperations()) {
    if (op.hasTrait<OpTrait::IsTerminator>())
      break;
    if (failed(lower(&op)))
      return failure();
  }
  return success();
}

LogicalResult ProgramLowering::lowerLoop(scf::ForOp loop,
                                         ArrayRef<Value *> further) {
  Emitter &e = getEmitter();
  auto gather = [&](ValueRange sources) {
    Values all = llvm::map_to_vector(further, [](Value *v) { return *v; });
    llvm::append_range(all, getAll(sources));
    return all;
  };
  const auto shapes = llvm::map_to_vector(
      loop.getInitArgs(), [&](Value init) { return values.lookup(init); });
  auto take = [&](ValueRange sources, ValueRange all) {
    forget(loop);
    for (auto [value, from] : llvm::zip(further, all))
      *value = from;
    all = all.drop_front(further.size());
    for (auto [source, lists] : llvm::zip_equal(sources, shapes)) {
      Lists &into = values[source];
      into = lists;
      for (Values &list : into) {
        llvm::copy(all.take_front(list.size()), list.begin());
        all = all.drop_front(list.size());
      }
    }
  };
  Values begin = gather(loop.getInitArgs());
  auto to =
      scf::ForOp::create(e.b, e.loc, get(loop.getLowerBound()),
                         get(loop.getUpperBound()), get(loop.getStep()), begin);
  {
    OpBuilder::InsertionGuard guard(e.b);
    if (begin.empty())
      to.getBody()->getTerminator()->erase();
    e.b.setInsertionPointToStart(to.getBody());
    map(loop.getInductionVar(), to.getInductionVar());
    take(loop.getRegionIterArgs(), to.getRegionIterArgs());
    if (failed(lower(*loop.getBody())))
      return failure();
    scf::YieldOp::create(
        e.b, e.loc, gather(loop.getBody()->getTerminator()->getOperands()));
  }
  take(loop.getResults(), to.getResults());
  return success();
}
