//===- ClusterSum.cpp - Accumulators of a cluster, added ------------------===//

#include "compiler/Conversion/Hopper/ClusterSum.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"

using namespace mlir;
using namespace tessera;

/// Accumulators that a thread moves at once: neighbours of its fragment. Those
/// of the next thread follow, so that a warp's accesses have no bank conflicts.
static constexpr int64_t kPiece = 4, kPieceBytes = 4 * kPiece;

ClusterSum::ClusterSum(Emitter &e, const HopperShape &shape, Value shared,
                       const Thread &thread)
    : e(e), shape(shape), rank(thread.rank), part(e.constant(0)),
      buffer(addBytes(e, shared,
                      e.add(e.mul(thread.thread, kPieceBytes),
                            shape.getOffsetExchange()))) {
  constexpr int64_t kWarps = kWarpgroup / 32;
  const int64_t parts = shape.countWarpParts();
  if (parts > 1)
    part = e.divu(thread.warp, kWarps / parts);
}

Value ClusterSum::hasShare() {
  const int64_t shares = shape.countShares();
  if (shares == shape.cluster)
    return Value();
  return arith::CmpIOp::create(e.b, e.loc, arith::CmpIPredicate::eq,
                               e.divu(rank, shares), part);
}

Value ClusterSum::getColumn() {
  return e.mul(e.remu(rank, shape.countShares()), shape.getShareColumns());
}

static int64_t countPieces(const HopperShape &shape) {
  return shape.getShareColumns() / 2 / kPiece;
}

/// Of what the workgroup of `rank` sends.
Value ClusterSum::getSlot(Value pointer, Value rank, int64_t block,
                          int64_t piece) {
  const int64_t pieceBytes = shape.consumers * kWarpgroup * kPieceBytes;
  const int64_t pieces = countPieces(shape);
  Value bytes = e.mul(rank, shape.blocks * pieces * pieceBytes);
  return addBytes(e, pointer,
                  e.add(bytes, (block * pieces + piece) * pieceBytes));
}

/// A workgroup's shared memory is there once its threads run.
void ClusterSum::begin(Emitter &e) {
  NVVM::ClusterArriveRelaxedOp::create(e.b, e.loc, e.b.getUnitAttr());
}

void ClusterSum::attend(Emitter &e) {
  NVVM::ClusterWaitOp::create(e.b, e.loc, UnitAttr());
  NVVM::ClusterArriveOp::create(e.b, e.loc, UnitAttr());
  NVVM::ClusterWaitOp::create(e.b, e.loc, UnitAttr());
}

void ClusterSum::send(ArrayRef<Value> sums) {
  auto remote = LLVM::LLVMPointerType::get(e.b.getContext(), 7);
  auto vector = VectorType::get(kPiece, e.b.getF32Type());
  const int64_t pieces = countPieces(shape);
  NVVM::ClusterWaitOp::create(e.b, e.loc, e.b.getUnitAttr());
  for (int64_t share = 0; share < shape.countShares(); ++share) {
    Value owner = e.add(e.mul(part, shape.countShares()), e.constant(share));
    Value target = NVVM::MapaOp::create(e.b, e.loc, remote, buffer, owner);
    for (int64_t block = 0; block < shape.blocks; ++block)
      for (int64_t piece = 0; piece < pieces; ++piece) {
        Value values = LLVM::UndefOp::create(e.b, e.loc, vector);
        for (int64_t i = 0; i < kPiece; ++i) {
          Value sum = LLVM::ExtractValueOp::create(
              e.b, e.loc, sums[block], (share * pieces + piece) * kPiece + i);
          values = LLVM::InsertElementOp::create(e.b, e.loc, values, sum,
                                                 e.constant(i));
        }
        LLVM::StoreOp::create(e.b, e.loc, values,
                              getSlot(target, rank, block, piece), kPieceBytes);
      }
  }
  NVVM::ClusterArriveOp::create(e.b, e.loc, e.b.getUnitAttr());
  NVVM::ClusterWaitOp::create(e.b, e.loc, e.b.getUnitAttr());
}

Value ClusterSum::receiveBlock(int64_t block) {
  auto vector = VectorType::get(kPiece, e.b.getF32Type());
  const int64_t pieces = countPieces(shape);
  SmallVector<Type> types(pieces * kPiece, e.b.getF32Type());
  Value sums = LLVM::UndefOp::create(
      e.b, e.loc, LLVM::LLVMStructType::getLiteral(e.b.getContext(), types));
  for (int64_t piece = 0; piece < pieces; ++piece) {
    Value added;
    for (int64_t from = 0; from < shape.cluster; ++from) {
      Value values = LLVM::LoadOp::create(
          e.b, e.loc, vector, getSlot(buffer, e.constant(from), block, piece),
          kPieceBytes);
      added = added ? arith::AddFOp::create(e.b, e.loc, added, values) : values;
    }
    for (int64_t i = 0; i < kPiece; ++i) {
      Value sum =
          LLVM::ExtractElementOp::create(e.b, e.loc, added, e.constant(i));
      sums = LLVM::InsertValueOp::create(e.b, e.loc, sums, sum,
                                         piece * kPiece + i);
    }
  }
  return sums;
}

SmallVector<Value> ClusterSum::receive() {
  SmallVector<Value> sums;
  for (int64_t block = 0; block < shape.blocks; ++block)
    sums.push_back(receiveBlock(block));
  return sums;
}
