//===- NvidiaDeviceOps.cpp - NVIDIA's instructions ------------------------===//
//
// Registers know what they wait for, and ptxas orders instructions anew, so
// that waits and order pins are nothing here.
//
// Global memory has no descriptors: an access is executed under a predicate
// that compares its offset with the size (PredicatedAccess.h).
//
//===----------------------------------------------------------------------===//

#include "compiler/Conversion/Common/DeviceOps.h"
#include "compiler/Conversion/Common/EmitId.h"
#include "compiler/Conversion/Common/PredicatedAccess.h"
#include "compiler/Target/ElementType.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace tessera;

namespace {
class NvidiaDeviceOps final : public DeviceOps {
public:
  using DeviceOps::DeviceOps;

  Value emitThreadId(Emitter &e, std::optional<int64_t> count) const override;
  Value emitBlockId(Emitter &e, std::optional<int64_t> count) const override;
  Value emitUniform(Emitter &, Value value) const override { return value; }
  void emitLdsBarrier(Emitter &e) const override;
  void emitBareBarrier(Emitter &e) const override { emitLdsBarrier(e); }
  void emitWait(Emitter &, std::optional<int64_t>,
                std::optional<int64_t>) const override {}
  void emitOrderPin(Emitter &) const override {}
  void setKernelAttributes(gpu::GPUFuncOp kernel, int64_t,
                           std::optional<int64_t> perUnit) const override;
  CheckedMemory makeMemory(Emitter &e, Value pointer,
                           Value bytes) const override;
  Value load(Emitter &e, CheckedMemory memory, Type type, Value lane,
             Value uniform, int64_t alignment) const override;
  void store(Emitter &e, Value value, CheckedMemory memory, Value lane,
             int64_t alignment) const override;
  void atomicAdd(Emitter &e, Value value, CheckedMemory memory,
                 Value lane) const override;
  Value emitDirectPlace(Emitter &e, Value wavePlace, Value lane,
                        int64_t bytes) const override {
    return e.add(wavePlace, e.mul(lane, bytes));
  }
  void loadToLds(Emitter &e, CheckedMemory memory, Value ldsPointer,
                 int64_t bytes, Value lane, Value uniform,
                 int64_t immediate) const override;
  void endDirectGroup(Emitter &e) const override;
  void waitForDirectGroups(Emitter &e, int64_t groups,
                           int64_t loads) const override;
  Value readMatrices(Emitter &e, Value ldsPointer,
                     VectorType type) const override;
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

Value NvidiaDeviceOps::emitThreadId(Emitter &e,
                                    std::optional<int64_t> count) const {
  return emitId<NVVM::ThreadIdXOp>(e, count);
}

Value NvidiaDeviceOps::emitBlockId(Emitter &e,
                                   std::optional<int64_t> count) const {
  return emitId<NVVM::BlockIdXOp>(e, count);
}

/// bar.sync orders the accesses of shared memory before and behind it.
void NvidiaDeviceOps::emitLdsBarrier(Emitter &e) const {
  NVVM::BarrierOp::create(e.b, e.loc);
}

/// Else ptxas takes the registers of all of them for one.
void NvidiaDeviceOps::setKernelAttributes(
    gpu::GPUFuncOp kernel, int64_t, std::optional<int64_t> perUnit) const {
  if (perUnit)
    kernel->setAttr(NVVM::NVVMDialect::getMinctasmAttrName(),
                    Builder(kernel.getContext()).getI32IntegerAttr(*perUnit));
}

//===----------------------------------------------------------------------===//
// Global memory
//===----------------------------------------------------------------------===//

CheckedMemory NvidiaDeviceOps::makeMemory(Emitter &e, Value pointer,
                                          Value bytes) const {
  APInt size;
  if (matchPattern(bytes, m_ConstantInt(&size)))
    return {pointer, e.constant(size.getZExtValue())};
  return {pointer,
          arith::TruncIOp::create(e.b, e.loc, e.b.getI32Type(), bytes)};
}

/// Whether all of the `bytes` at offset `lane` are in range.
static Value emitIsInside(Emitter &e, CheckedMemory memory, Value lane,
                          int64_t bytes) {
  APInt size;
  Value last =
      matchPattern(memory.bytes, m_ConstantInt(&size))
          ? e.constant(size.getZExtValue() - bytes)
          : arith::SubIOp::create(e.b, e.loc, memory.bytes, e.constant(bytes))
                .getResult();
  return arith::CmpIOp::create(e.b, e.loc, arith::CmpIPredicate::ule, lane,
                               last);
}

Value NvidiaDeviceOps::load(Emitter &e, CheckedMemory memory, Type type,
                            Value lane, Value uniform,
                            int64_t alignment) const {
  Value inside = emitIsInside(e, memory, lane, getByteSize(type));
  Value address = emitAddress(e, memory.base, lane);
  return loadIf(e, inside, type, emitAddress(e, address, uniform), alignment,
                /*otherwise=*/0, {});
}

void NvidiaDeviceOps::store(Emitter &e, Value value, CheckedMemory memory,
                            Value lane, int64_t alignment) const {
  Value inside = emitIsInside(e, memory, lane, getByteSize(value.getType()));
  storeIf(e, inside, value, emitAddress(e, memory.base, lane), alignment);
}

void NvidiaDeviceOps::atomicAdd(Emitter &e, Value value, CheckedMemory memory,
                                Value lane) const {
  Value inside = emitIsInside(e, memory, lane, getByteSize(value.getType()));
  addIf(e, inside, value, emitAddress(e, memory.base, lane));
}

/// cp.async of 16 bytes, of which it reads none and fills in zeros where the
/// lane is out of range. Each lane says where in LDS: the immediate is the
/// memory's alone.
void NvidiaDeviceOps::loadToLds(Emitter &e, CheckedMemory memory,
                                Value ldsPointer, int64_t bytes, Value lane,
                                Value uniform, int64_t immediate) const {
  Value inside = emitIsInside(e, memory, lane, bytes);
  Value address = emitAddress(e, memory.base, lane);
  address = emitAddress(e, address, uniform);
  address = emitAddress(e, address, e.constant(immediate));
  Value size = e.select(inside, e.constant(bytes), e.constant(0));
  NVVM::CpAsyncOp::create(e.b, e.loc, ldsPointer, address, bytes,
                          NVVM::LoadCacheModifierKind::CG, size);
}

void NvidiaDeviceOps::endDirectGroup(Emitter &e) const {
  NVVM::CpAsyncCommitGroupOp::create(e.b, e.loc);
}

void NvidiaDeviceOps::waitForDirectGroups(Emitter &e, int64_t groups,
                                          int64_t) const {
  NVVM::CpAsyncWaitGroupOp::create(e.b, e.loc, groups);
}

//===----------------------------------------------------------------------===//
// Arithmetic
//===----------------------------------------------------------------------===//

/// The registers of a fragment, as mma.sync takes them: pairs of f16, f64, or
/// integers; those of f32 rounded to tf32, which else is cut off.
static SmallVector<Value> splitRegisters(Emitter &e, Value fragment) {
  auto type = cast<VectorType>(fragment.getType());
  SmallVector<Value> registers;
  if (type.getElementType().isF64()) {
    for (int64_t i = 0; i < type.getNumElements(); ++i)
      registers.push_back(vector::ExtractOp::create(e.b, e.loc, fragment, i));
    return registers;
  }
  int64_t perRegister = 32 / type.getElementTypeBitWidth();
  int64_t count = type.getNumElements() / perRegister;
  if (type.getElementType().isF16()) {
    for (int64_t i = 0; i < count; ++i)
      registers.push_back(vector::ShuffleOp::create(
          e.b, e.loc, fragment, fragment, ArrayRef<int64_t>{2 * i, 2 * i + 1}));
    return registers;
  }
  Type i32 = e.b.getI32Type();
  if (type.getElementType().isF32()) {
    for (int64_t i = 0; i < count; ++i)
      registers.push_back(
          callIntrinsic(e, "llvm.nvvm.f2tf32.rna", i32,
                        {vector::ExtractOp::create(e.b, e.loc, fragment, i)}));
    return registers;
  }
  Value words = vector::BitCastOp::create(
      e.b, e.loc, VectorType::get(count, i32), fragment);
  for (int64_t i = 0; i < count; ++i)
    registers.push_back(vector::ExtractOp::create(e.b, e.loc, words, i));
  return registers;
}

static SmallVector<Value> joinOperands(ValueRange a, ValueRange b,
                                       ValueRange c) {
  SmallVector<Value> operands(a);
  llvm::append_range(operands, b);
  llvm::append_range(operands, c);
  return operands;
}

/// One mma.sync of floats of 8 bits, for which upstream's op has no types.
static Value emitFloat8Mma(Emitter &e, Type element, Type sums, ValueRange a,
                           ValueRange b, ValueRange c) {
  return callIntrinsic(e,
                       isa<Float8E5M2Type>(element)
                           ? "llvm.nvvm.mma.m16n8k32.row.col.f32.e5m2.e5m2.f32"
                           : "llvm.nvvm.mma.m16n8k32.row.col.f32.e4m3.e4m3.f32",
                       sums, joinOperands(a, b, c));
}

/// The same of f64: one m16n8k8, or an m8n8k4 for each row of a lane.
static SmallVector<Value> emitDoubleMma(Emitter &e, int64_t k, ValueRange a,
                                        ValueRange b, ValueRange c) {
  const bool isShort = k == 4;
  const size_t count = isShort ? 2 : 4; // Sums of an instruction.
  auto type = LLVM::LLVMStructType::getLiteral(
      e.b.getContext(), SmallVector<Type>(count, c.front().getType()));
  SmallVector<Value> results;
  for (size_t row = 0; row < c.size() / count; ++row) {
    Value product = callIntrinsic(e,
                                  isShort ? "llvm.nvvm.mma.m8n8k4.row.col.f64"
                                          : "llvm.nvvm.mma.m16n8k8.row.col.f64",
                                  type,
                                  joinOperands(isShort ? a.slice(row, 1) : a, b,
                                               c.slice(row * count, count)));
    for (size_t i = 0; i < count; ++i)
      results.push_back(LLVM::ExtractValueOp::create(e.b, e.loc, product, i));
  }
  return results;
}

/// One mma.sync: c + the 16 rows of a times the 8 rows of b.
static SmallVector<Value> emitMma(Emitter &e, Type element, int64_t k,
                                  ValueRange a, ValueRange b, ValueRange c) {
  if (element.isF64())
    return emitDoubleMma(e, k, a, b, c);
  using Types = std::array<NVVM::MMATypes, 2>;
  constexpr std::array kLayouts = {NVVM::MMALayout::row, NVVM::MMALayout::col};
  std::optional<Types> types;
  std::optional<NVVM::MMAIntOverflow> overflow;
  if (element.isBF16())
    types = {NVVM::MMATypes::bf16, NVVM::MMATypes::bf16};
  if (element.isF32())
    types = {NVVM::MMATypes::tf32, NVVM::MMATypes::tf32};
  if (element.isInteger()) {
    types = {NVVM::MMATypes::s8, NVVM::MMATypes::s8};
    overflow = NVVM::MMAIntOverflow::wrapped;
  }
  Type sum = c.front().getType();
  auto sums = LLVM::LLVMStructType::getLiteral(e.b.getContext(),
                                               SmallVector<Type>(4, sum));
  Value product =
      isFloat8(element)
          ? emitFloat8Mma(e, element, sums, a, b, c)
          : NVVM::MmaOp::create(e.b, e.loc, sums, a, b, c,
                                ArrayRef<int64_t>{16, 8, k}, std::nullopt,
                                overflow, types, kLayouts);
  SmallVector<Value> results;
  for (int64_t i = 0; i < 4; ++i)
    results.push_back(LLVM::ExtractValueOp::create(e.b, e.loc, product, i));
  return results;
}

static Value emitLdMatrix(Emitter &e, Value ldsPointer, VectorType type,
                          NVVM::MMALayout layout) {
  constexpr int64_t kMatrices = 4;
  Type i32 = e.b.getI32Type();
  auto registers = LLVM::LLVMStructType::getLiteral(
      e.b.getContext(), SmallVector<Type>(kMatrices, i32));
  MLIRContext *context = e.b.getContext();
  Value read = NVVM::LdMatrixOp::create(
      e.b, e.loc, registers, ldsPointer, kMatrices, layout,
      NVVM::LdStMatrixShapeAttr::get(context, 8, 8),
      NVVM::LdStMatrixEltType::B16);
  SmallVector<Value> words;
  for (int64_t i = 0; i < kMatrices; ++i)
    words.push_back(LLVM::ExtractValueOp::create(e.b, e.loc, read, i));
  Value joined = vector::FromElementsOp::create(
      e.b, e.loc, VectorType::get(kMatrices, i32), words);
  return vector::BitCastOp::create(e.b, e.loc, type, joined);
}

Value NvidiaDeviceOps::readMatrices(Emitter &e, Value ldsPointer,
                                    VectorType type) const {
  return emitLdMatrix(e, ldsPointer, type, NVVM::MMALayout::row);
}

Value tessera::readTransposedMatrices(Emitter &e, Value ldsPointer,
                                      VectorType type) {
  return emitLdMatrix(e, ldsPointer, type, NVVM::MMALayout::col);
}

/// Word u of lane t of a quad becomes word t of lane u; `bits` are those of the
/// lane's number.
static void transposeQuad(Emitter &e, std::array<Value, 4> &words,
                          std::array<Value, 2> bits) {
  Type type = words.front().getType();
  for (int64_t stage : {0, 1}) {
    int64_t apart = int64_t(1) << stage;
    for (int64_t low : {0, 1, 2, 3}) {
      if (low & apart)
        continue;
      Value &first = words[low], &second = words[low + apart];
      Value sent = e.select(bits[stage], first, second);
      Value got = NVVM::ShflOp::create(e.b, e.loc, type, e.constant(-1), sent,
                                       e.constant(apart), e.constant(31),
                                       NVVM::ShflKind::bfly, UnitAttr());
      first = e.select(bits[stage], got, first);
      second = e.select(bits[stage], second, got);
    }
  }
}

Value tessera::dealSums(Emitter &e, Value accumulator, Value lane) {
  constexpr int64_t kLanes = 4, kNeighbours = 2;
  auto type = cast<VectorType>(accumulator.getType());
  auto isSet = [&](int64_t bit) {
    return arith::CmpIOp::create(e.b, e.loc, arith::CmpIPredicate::ne,
                                 e.andi(lane, bit), e.constant(0));
  };
  std::array<Value, 2> bits = {isSet(1), isSet(2)};
  SmallVector<Value> sums(type.getNumElements());
  for (int64_t column = 0; column < type.getNumElements();
       column += kLanes * kNeighbours)
    for (int64_t neighbour = 0; neighbour < kNeighbours; ++neighbour) {
      auto getPlace = [&](int64_t i) {
        return column + i * kNeighbours + neighbour;
      };
      std::array<Value, 4> words;
      for (int64_t i = 0; i < kLanes; ++i)
        words[i] =
            vector::ExtractOp::create(e.b, e.loc, accumulator, getPlace(i));
      transposeQuad(e, words, bits);
      for (int64_t i = 0; i < kLanes; ++i)
        sums[getPlace(i)] = words[i];
    }
  return vector::FromElementsOp::create(e.b, e.loc, type, sums);
}

/// Q holds the instruction's A: rows g and g + 8 of the first half of k, then
/// of the second; of the shortest reductions, which have one half, both rows.
/// Each part of P is a B of a register for each half, and gives two sums of
/// both rows, which lie as many places apart along P as there are parts, or
/// together where the parts lie one behind the other.
Value NvidiaDeviceOps::multiply(Emitter &e, const MatrixInstruction &row,
                                Value p, Value q, Value accumulator) const {
  SmallVector<Value> b = splitRegisters(e, p), a = splitRegisters(e, q);
  SmallVector<Value> sums;
  for (int64_t i = 0; i < row.accRegs; ++i)
    sums.push_back(vector::ExtractOp::create(e.b, e.loc, accumulator, i));
  Type element = cast<VectorType>(p.getType()).getElementType();
  const int64_t halves = static_cast<int64_t>(b.size()) / row.pRows;
  for (int64_t part = 0; part < row.pRows; ++part) {
    bool isDealt = row.pStep == 1;
    int64_t first = isDealt ? part : part * row.accVector;
    int64_t apart = isDealt ? row.pRows : 1;
    int64_t second = first + row.getColumnRegs();
    int64_t places[] = {first, first + apart, second, second + apart};
    SmallVector<Value> c;
    for (int64_t place : places)
      c.push_back(sums[place]);
    SmallVector<Value> d = emitMma(e, element, row.k, a,
                                   ArrayRef(b).slice(part * halves, halves), c);
    for (auto [place, value] : llvm::zip(places, d))
      sums[place] = value;
  }
  return vector::FromElementsOp::create(
      e.b, e.loc, cast<VectorType>(accumulator.getType()), sums);
}

Value NvidiaDeviceOps::dotBytes(Emitter &e, Value p, Value q,
                                Value accumulator) const {
  return callIntrinsic(e, "llvm.nvvm.idp4a.s.s", e.b.getI32Type(),
                       {p, q, accumulator});
}

/// Upstream calls NVIDIA's device library, which we do not link, for each of
/// these. Of exp2 and log2 the code generator knows the approximate
/// instructions alone, right to 2^-22 (PTX ISA; log2 near 1 absolutely so).
Intrinsic NvidiaDeviceOps::getIntrinsic(Operation *op) const {
  if (isa<math::FmaOp>(op))
    return {"llvm.fma"};
  if (isa<math::AbsFOp>(op))
    return {"llvm.fabs"};
  if (isa<arith::MaxNumFOp>(op))
    return {"llvm.maxnum"};
  if (isa<arith::MinNumFOp>(op))
    return {"llvm.minnum"};
  if (isa<math::SqrtOp>(op))
    return {"llvm.sqrt"};
  bool isF32 = op->getNumResults() == 1 &&
               getElementTypeOrSelf(op->getResult(0)).isF32();
  if (isF32 && isa<math::Exp2Op>(op))
    return {"llvm.nvvm.ex2.approx", /*takesVectors=*/false};
  if (isF32 && isa<math::Log2Op>(op))
    return {"llvm.nvvm.lg2.approx.f", /*takesVectors=*/false};
  if (isF32 && isa<math::RsqrtOp>(op))
    return {"llvm.nvvm.rsqrt.approx.f", /*takesVectors=*/false};
  return {};
}

std::unique_ptr<DeviceOps>
tessera::createNvidiaDeviceOps(const GpuTarget &target) {
  return std::make_unique<NvidiaDeviceOps>(target);
}
