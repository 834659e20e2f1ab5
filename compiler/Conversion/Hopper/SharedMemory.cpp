//===- SharedMemory.cpp - Addresses in shared memory ----------------------===//

#include "compiler/Conversion/Hopper/SharedMemory.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace tessera;

static constexpr llvm::StringLiteral kSharedName = "dynamic_shared";
static constexpr int64_t kAlignment = 1024;

SharedBase tessera::emitSharedBase(Emitter &e, gpu::GPUModuleOp module) {
  auto pointer = LLVM::LLVMPointerType::get(e.b.getContext(), 3);
  if (!module.lookupSymbol(kSharedName)) {
    OpBuilder b = OpBuilder::atBlockBegin(module.getBody());
    LLVM::GlobalOp::create(b, e.loc, LLVM::LLVMArrayType::get(b.getI8Type(), 0),
                           /*isConstant=*/false, LLVM::Linkage::External,
                           kSharedName, Attribute(), kAlignment,
                           pointer.getAddressSpace());
  }
  Value begin = LLVM::AddressOfOp::create(e.b, e.loc, pointer, kSharedName);
  Value address = LLVM::PtrToIntOp::create(e.b, e.loc, e.b.getI32Type(), begin);
  address = e.andi(e.add(address, kAlignment - 1), -kAlignment);
  return {address, LLVM::IntToPtrOp::create(e.b, e.loc, pointer, address)};
}

Value tessera::addBytes(Emitter &e, Value pointer, Value bytes) {
  return LLVM::GEPOp::create(e.b, e.loc, pointer.getType(), e.b.getI8Type(),
                             pointer, bytes);
}

void tessera::emitIf(Emitter &e, Value condition,
                     llvm::function_ref<void()> body) {
  auto branch = scf::IfOp::create(e.b, e.loc, condition);
  OpBuilder::InsertionGuard guard(e.b);
  e.b.setInsertionPointToStart(&branch.getThenRegion().front());
  body();
}
