//===- RowWiseWorkspace.cpp - The workspace of split rows -----------------===//

#include "compiler/Algorithms/RowWise/RowWiseWorkspace.h"

#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace tessera;

RowWiseWorkspace::RowWiseWorkspace(dnn::RowWiseOp op, int64_t splits)
    : splits(splits), rows(RowWiseGeometry(op).getRows()) {
  OpBuilder b(op);
  PointBuilder p(b, op.getLoc());
  RowWiseProgram program(p, op, op->getBlock()->getArguments(), 1);
  bits = b.getI32Type();
  auto widenBits = [&](Type type) {
    if (type.getIntOrFloatBitWidth() > 32)
      bits = b.getI64Type();
  };
  for (size_t i = 0; i < op.getReduces().size(); ++i)
    for (auto [kind, fold] : llvm::enumerate(program.getFolds(i)))
      for (Type type : fold.getTypes()) {
        words.push_back({i, kind, type, slots});
        slots += splits + 1;
        widenBits(type);
      }
  for (Type type : op.getRowValueTypes()) {
    values.push_back({op.getReduces().size(), 0, type, slots++});
    widenBits(type);
  }
}

void RowWiseWorkspace::addTo(func::FuncOp function) {
  Builder b(function.getContext());
  const int64_t bytes = slots * rows * bits.getIntOrFloatBitWidth() / 8;
  DictionaryAttr attributes = b.getDictionaryAttr(
      {b.getNamedAttr(dnn::kArgAttrName, b.getStringAttr("workspace")),
       b.getNamedAttr(dnn::kBytesAttrName, b.getI64IntegerAttr(bytes))});
  (void)function.insertArgument(function.getNumArguments(),
                                MemRefType::get({slots, rows}, bits),
                                attributes, function.getLoc());
}

//===----------------------------------------------------------------------===//
// Words
//===----------------------------------------------------------------------===//

Value RowWiseWorkspace::toBits(PointBuilder &p, Value block) {
  Type element = getElementTypeOrSelf(block);
  const int64_t count = PointBuilder::getBlockSize(block);
  Type own = p.b.getIntegerType(element.getIntOrFloatBitWidth());
  if (element != own)
    block = arith::BitcastOp::create(
        p.b, p.loc, PointBuilder::getBlockType(own, count), block);
  if (own != bits)
    block = arith::ExtUIOp::create(
        p.b, p.loc, PointBuilder::getBlockType(bits, count), block);
  return block;
}

Value RowWiseWorkspace::fromBits(PointBuilder &p, Value block, Type type) {
  const int64_t count = PointBuilder::getBlockSize(block);
  Type own = p.b.getIntegerType(type.getIntOrFloatBitWidth());
  if (own != bits)
    block = arith::TruncIOp::create(
        p.b, p.loc, PointBuilder::getBlockType(own, count), block);
  if (type != own)
    block = arith::BitcastOp::create(
        p.b, p.loc, PointBuilder::getBlockType(type, count), block);
  return block;
}

/// Neighbouring rows of a thread are contiguous in the workspace.
Lanes RowWiseWorkspace::load(RowWiseProgram &program, func::FuncOp kernel,
                             Value slot, Value row, Type type) {
  PointBuilder &p = program.p;
  const int64_t lanes = program.getRowLanes();
  Value memory = kernel.getArguments().back();
  Value block = p.loadBlock(memory, 1, lanes, {slot, p.mul(row, lanes)});
  block = fromBits(p, block, type);
  Lanes result;
  for (int64_t lane = 0; lane < lanes; ++lane)
    result.push_back(p.getElement(block, lane));
  return result;
}

/// If `valid` is false, the row is moved out of bounds, where stores do
/// nothing.
void RowWiseWorkspace::store(RowWiseProgram &program, func::FuncOp kernel,
                             const Lanes &lanes, Value slot, Value row,
                             Value valid) {
  PointBuilder &p = program.p;
  Value index = p.mul(row, program.getRowLanes());
  if (valid)
    index = arith::SelectOp::create(p.b, p.loc, valid, index, p.index(rows));
  p.storeBlock(toBits(p, p.makeBlock(lanes)), kernel.getArguments().back(), 1,
               {slot, index});
}

void RowWiseWorkspace::loadResults(RowWiseProgram &program, func::FuncOp kernel,
                                   Value row, size_t reduction) {
  PointBuilder &p = program.p;
  for (const Word &word : words)
    if (word.reduction < reduction)
      program.results.push_back(
          load(program, kernel, p.index(word.slot + splits), row, word.type));
  if (reduction == program.op.getReduces().size())
    for (const Word &value : values)
      program.results.push_back(
          load(program, kernel, p.index(value.slot), row, value.type));
}

void RowWiseWorkspace::storeResults(RowWiseProgram &program,
                                    func::FuncOp kernel, Value row,
                                    size_t reduction, size_t count) {
  PointBuilder &p = program.p;
  for (auto [i, word] : llvm::enumerate(words))
    if (word.reduction == reduction)
      store(program, kernel, program.results[i], p.index(word.slot + splits),
            row, nullptr);
  for (size_t i = count; i < program.results.size(); ++i)
    store(program, kernel, program.results[i], p.index(values[i - count].slot),
          row, nullptr);
}

void RowWiseWorkspace::storeSplits(RowWiseProgram &program, func::FuncOp kernel,
                                   Value row, Value valid, size_t reduction,
                                   Value split,
                                   ArrayRef<RowGroup::LaneWords> folded) {
  PointBuilder &p = program.p;
  size_t number = 0; // The number of the word in its fold.
  for (auto [i, word] : llvm::enumerate(words)) {
    if (word.reduction != reduction)
      continue;
    const bool isFirst = i == 0 || words[i - 1].reduction != reduction ||
                         words[i - 1].kind != word.kind;
    number = isFirst ? 0 : number + 1;
    Lanes lanes;
    for (const RowWiseFold::Words &lane : folded[word.kind])
      lanes.push_back(lane[number]);
    store(program, kernel, lanes, p.add(split, word.slot), row, valid);
  }
}

RowWiseFold::Words RowWiseWorkspace::loadSplit(RowWiseProgram &program,
                                               func::FuncOp kernel, Value row,
                                               size_t reduction, size_t kind,
                                               Value split) {
  RowWiseFold::Words result;
  for (const Word &word : words)
    if (word.reduction == reduction && word.kind == kind)
      result.push_back(
          load(program, kernel, program.p.add(split, word.slot), row, word.type)
              .front());
  return result;
}
