//===- AmdDeviceOps.cpp - AMD's instructions ------------------------------===//
//
// Global memory is behind buffer descriptors: the buffer instructions check an
// offset against the descriptor's size, at the price of nothing.
//
//===----------------------------------------------------------------------===//

#include "compiler/Conversion/Common/DeviceOps.h"
#include "compiler/Conversion/Common/EmitId.h"

#include "mlir/Dialect/AMDGPU/IR/AMDGPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/ROCDLDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace tessera;

namespace {
class AmdDeviceOps final : public DeviceOps {
public:
  using DeviceOps::DeviceOps;

  Value emitThreadId(Emitter &e, std::optional<int64_t> count) const override;
  Value emitBlockId(Emitter &e, std::optional<int64_t> count) const override;
  Value emitUniform(Emitter &e, Value value) const override;
  void emitLdsBarrier(Emitter &e) const override;
  void emitBareBarrier(Emitter &e) const override;
  void emitWait(Emitter &e, std::optional<int64_t> loads,
                std::optional<int64_t> lds) const override;
  void emitOrderPin(Emitter &e) const override;
  void setKernelAttributes(gpu::GPUFuncOp kernel, int64_t accumulatorRegisters,
                           std::optional<int64_t> perUnit) const override;
  CheckedMemory makeMemory(Emitter &e, Value pointer,
                           Value bytes) const override;
  Value load(Emitter &e, CheckedMemory memory, Type type, Value lane,
             Value uniform, int64_t alignment) const override;
  void store(Emitter &e, Value value, CheckedMemory memory, Value lane,
             int64_t alignment) const override;
  void atomicAdd(Emitter &e, Value value, CheckedMemory memory,
                 Value lane) const override;
  Value emitDirectPlace(Emitter &, Value wavePlace, Value,
                        int64_t) const override {
    return wavePlace;
  }
  void loadToLds(Emitter &e, CheckedMemory memory, Value ldsPointer,
                 int64_t bytes, Value lane, Value uniform,
                 int64_t immediate) const override;
  void endDirectGroup(Emitter &) const override {}
  void waitForDirectGroups(Emitter &e, int64_t groups,
                           int64_t loads) const override {
    emitWait(e, groups * loads, 0);
  }
  Value readMatrices(Emitter &, Value, VectorType) const override {
    llvm_unreachable("no row of AMD's reads matrices");
  }
  Value multiply(Emitter &e, const MatrixInstruction &instruction, Value p,
                 Value q, Value accumulator) const override;
  Value dotBytes(Emitter &e, Value p, Value q,
                 Value accumulator) const override;
  Intrinsic getIntrinsic(Operation *op) const override;
};
} // namespace

//===----------------------------------------------------------------------===//
// Threads
//===----------------------------------------------------------------------===//

Value AmdDeviceOps::emitThreadId(Emitter &e,
                                 std::optional<int64_t> count) const {
  return emitId<ROCDL::ThreadIdXOp>(e, count);
}

Value AmdDeviceOps::emitBlockId(Emitter &e,
                                std::optional<int64_t> count) const {
  return emitId<ROCDL::BlockIdXOp>(e, count);
}

/// A scalar register, which only a readfirstlane tells LLVM.
Value AmdDeviceOps::emitUniform(Emitter &e, Value value) const {
  return ROCDL::ReadfirstlaneOp::create(e.b, e.loc, value.getType(), value);
}

/// The fence of gpu.barrier would wait for global memory, too.
void AmdDeviceOps::emitLdsBarrier(Emitter &e) const {
  amdgpu::LDSBarrierOp::create(e.b, e.loc);
}

void AmdDeviceOps::emitBareBarrier(Emitter &e) const {
  ROCDL::SBarrierOp::create(e.b, e.loc);
}

void AmdDeviceOps::emitWait(Emitter &e, std::optional<int64_t> loads,
                            std::optional<int64_t> lds) const {
  auto count = [&](std::optional<int64_t> value) {
    return value ? e.b.getI32IntegerAttr(*value) : IntegerAttr();
  };
  amdgpu::MemoryCounterWaitOp::create(e.b, e.loc, count(loads), nullptr,
                                      count(lds), nullptr, nullptr);
}

void AmdDeviceOps::emitOrderPin(Emitter &e) const {
  ROCDL::SchedBarrier::create(e.b, e.loc, 0);
}

/// A wave whose sums fill half of its registers keeps them in the AGPRs; left
/// to itself, LLVM 22 mixes both forms of the matrix instructions and copies.
void AmdDeviceOps::setKernelAttributes(gpu::GPUFuncOp kernel,
                                       int64_t accumulatorRegisters,
                                       std::optional<int64_t>) const {
  constexpr int64_t kAgprs = 256;
  if (accumulatorRegisters != kAgprs)
    return;
  Builder b(kernel.getContext());
  kernel->setAttr("passthrough", b.getArrayAttr(b.getStrArrayAttr(
                                     {"amdgpu-agpr-alloc", "256"})));
}

//===----------------------------------------------------------------------===//
// Global memory
//===----------------------------------------------------------------------===//

CheckedMemory AmdDeviceOps::makeMemory(Emitter &e, Value pointer,
                                       Value bytes) const {
  auto type = LLVM::LLVMPointerType::get(e.b.getContext(), 8);
  Value descriptor = ROCDL::MakeBufferRsrcOp::create(
      e.b, e.loc, type, pointer, e.constant(e.b.getI16IntegerAttr(0)), bytes,
      e.constant(target.bufferWord3));
  return {descriptor, {}};
}

/// Buffer instructions ask for the alignment of a dword only.
Value AmdDeviceOps::load(Emitter &e, CheckedMemory memory, Type type,
                         Value lane, Value uniform, int64_t) const {
  return ROCDL::RawPtrBufferLoadOp::create(e.b, e.loc, type, memory.base, lane,
                                           uniform, e.constant(0), nullptr,
                                           nullptr, nullptr);
}

void AmdDeviceOps::store(Emitter &e, Value value, CheckedMemory memory,
                         Value lane, int64_t) const {
  ROCDL::RawPtrBufferStoreOp::create(e.b, e.loc, value, memory.base, lane,
                                     e.constant(0), e.constant(0), nullptr,
                                     nullptr, nullptr);
}

void AmdDeviceOps::atomicAdd(Emitter &e, Value value, CheckedMemory memory,
                             Value lane) const {
  ROCDL::RawPtrBufferAtomicFaddOp::create(e.b, e.loc, value, memory.base, lane,
                                          e.constant(0), e.constant(0), nullptr,
                                          nullptr, nullptr);
}

/// The place is that of the wave, in M0; the chip adds the lane's.
void AmdDeviceOps::loadToLds(Emitter &e, CheckedMemory memory, Value ldsPointer,
                             int64_t bytes, Value lane, Value uniform,
                             int64_t immediate) const {
  ROCDL::RawPtrBufferLoadLdsOp::create(
      e.b, e.loc, memory.base, ldsPointer, e.constant(bytes), lane, uniform,
      e.constant(immediate), e.constant(0), nullptr, nullptr, nullptr);
}

//===----------------------------------------------------------------------===//
// Arithmetic
//===----------------------------------------------------------------------===//

Value AmdDeviceOps::multiply(Emitter &e, const MatrixInstruction &instruction,
                             Value p, Value q, Value accumulator) const {
  switch (instruction.kind) {
  case MatrixKind::Fma:
  case MatrixKind::Mma:
    break;
  case MatrixKind::Mfma:
    return amdgpu::MFMAOp::create(
        e.b, e.loc, accumulator.getType(), instruction.rows,
        instruction.columns, instruction.k, /*blocks=*/1, p, q, accumulator);
  case MatrixKind::Wmma:
    return amdgpu::WMMAOp::create(e.b, e.loc, accumulator.getType(),
                                  instruction.rows, instruction.columns,
                                  instruction.k, p, q, accumulator);
  }
  llvm_unreachable("the row is no instruction of AMD's");
}

Value AmdDeviceOps::dotBytes(Emitter &e, Value p, Value q,
                             Value accumulator) const {
  Type i32 = e.b.getI32Type();
  Value no = e.constant(e.b.getBoolAttr(false));
  if (target.byteDot == IntegerDot::Signed)
    return callIntrinsic(e, "llvm.amdgcn.sdot4", i32, {p, q, accumulator, no});
  Value yes = e.constant(e.b.getBoolAttr(true));
  return callIntrinsic(e, "llvm.amdgcn.sudot4", i32,
                       {yes, p, yes, q, accumulator, no});
}

/// The code generator has exp2 and log2 of f32, right to one unit in the last
/// place, where upstream calls AMD's device library, which we do not link.
Intrinsic AmdDeviceOps::getIntrinsic(Operation *op) const {
  if (isa<math::SqrtOp>(op))
    return {"llvm.sqrt"};
  if (!getElementTypeOrSelf(op->getResult(0)).isF32())
    return {};
  if (isa<math::Exp2Op>(op))
    return {"llvm.exp2"};
  if (isa<math::Log2Op>(op))
    return {"llvm.log2"};
  if (isa<math::RsqrtOp>(op))
    return {"llvm.amdgcn.rsq", /*takesVectors=*/false};
  return {};
}

std::unique_ptr<DeviceOps>
tessera::createAmdDeviceOps(const GpuTarget &target) {
  return std::make_unique<AmdDeviceOps>(target);
}
