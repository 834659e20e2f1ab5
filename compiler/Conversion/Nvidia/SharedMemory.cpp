//===- SharedMemory.cpp - Addresses in shared memory ----------------------===//

#include "compiler/Conversion/Nvidia/SharedMemory.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace tessera;

static constexpr llvm::StringLiteral kSharedName = "dynamic_shared";

SharedBase tessera::emitSharedBase(Emitter &e, gpu::GPUModuleOp module) {
  auto pointer = LLVM::LLVMPointerType::get(e.b.getContext(), 3);
  if (!module.lookupSymbol(kSharedName)) {
    OpBuilder b = OpBuilder::atBlockBegin(module.getBody());
    LLVM::GlobalOp::create(b, e.loc, LLVM::LLVMArrayType::get(b.getI8Type(), 0),
                           /*isConstant=*/false, LLVM::Linkage::External,
                           kSharedName, Attribute(), kSharedAlignment,
                           pointer.getAddressSpace());
  }
  Value begin = LLVM::AddressOfOp::create(e.b, e.loc, pointer, kSharedName);
  Value address = LLVM::PtrToIntOp::create(e.b, e.loc, e.b.getI32Type(), begin);
  address = e.andi(e.add(address, kSharedAlignment - 1), -kSharedAlignment);
  return {address, LLVM::IntToPtrOp::create(e.b, e.loc, pointer, address)};
}

Value tessera::addBytes(Emitter &e, Value pointer, Value bytes) {
  return LLVM::GEPOp::create(e.b, e.loc, pointer.getType(), e.b.getI8Type(),
                             pointer, bytes);
}

Value tessera::castToCluster(Emitter &e, Value pointer) {
  auto type = LLVM::LLVMPointerType::get(e.b.getContext(), 7);
  if (pointer.getType() == type)
    return pointer;
  return LLVM::AddrSpaceCastOp::create(e.b, e.loc, type, pointer);
}

void tessera::emitWarpSync(Emitter &e) {
  NVVM::SyncWarpOp::create(e.b, e.loc, e.constant(-1));
}

Value tessera::getStagedOffset(Emitter &e, Value row, Value column,
                               int64_t elementBytes, int64_t rowBytes) {
  constexpr int64_t kChunkBytes = 16;
  const int64_t perChunk = kChunkBytes / elementBytes;
  Value line = e.divu(row, kRowBytes / rowBytes);
  Value chunk = e.xori(e.divu(column, perChunk),
                       e.andi(line, rowBytes / kChunkBytes - 1));
  Value rest = e.mul(e.remu(column, perChunk), elementBytes);
  Value begin = e.mul(row, rowBytes);
  return e.add(e.add(begin, e.mul(chunk, kChunkBytes)), rest);
}

SmallVector<Value> tessera::getPairOffsets(Emitter &e, Value lane,
                                           int64_t rowBytes,
                                           int64_t elementBytes) {
  constexpr int64_t kPieceColumns = 8;
  Value row = e.shru(lane, 2), column = e.mul(e.andi(lane, 3), 2);
  SmallVector<Value> offsets;
  for (int64_t piece = 0; piece < rowBytes / elementBytes;
       piece += kPieceColumns)
    offsets.push_back(
        getStagedOffset(e, row, e.add(column, piece), elementBytes, rowBytes));
  return offsets;
}

SmallVector<Value> tessera::getFragmentOffsets(Emitter &e, Value lane,
                                               int64_t rowBytes) {
  constexpr int64_t kPieceColumns = 16, kHalf = 8, kBytes = 2;
  Value column = e.mul(e.divu(lane, kStoreRows), kHalf);
  SmallVector<Value> offsets;
  for (int64_t piece = 0; piece < rowBytes / kBytes; piece += kPieceColumns)
    offsets.push_back(getStagedOffset(e, e.remu(lane, kStoreRows),
                                      e.add(column, piece), kBytes, rowBytes));
  return offsets;
}

void tessera::emitIf(Emitter &e, Value condition,
                     llvm::function_ref<void()> body) {
  auto branch = scf::IfOp::create(e.b, e.loc, condition);
  OpBuilder::InsertionGuard guard(e.b);
  e.b.setInsertionPointToStart(&branch.getThenRegion().front());
  body();
}
