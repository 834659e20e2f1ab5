//===- NvidiaDeviceOps.cpp - NVIDIA's instructions ------------------------===//
//
// Registers know what they wait for, and ptxas orders instructions anew, so
// that waits and order pins are nothing here.
//
// Global memory has no descriptors: an access is executed under a predicate
// that compares its offset with the size. It is written as PTX, since LLVM has
// no predicated instruction in its IR and a branch for each access would cut
// the loops into pieces.
//
//===----------------------------------------------------------------------===//

#include "compiler/Conversion/DeviceOps.h"
#include "compiler/Conversion/EmitId.h"
#include "compiler/Conversion/PredicatedAccess.h"
#include "compiler/Conversion/TransposedCopy.h"

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

static Value emitAddress(Emitter &e, Value pointer, Value offset) {
  if (matchPattern(offset, m_Zero()))
    return pointer;
  Value wide = arith::ExtUIOp::create(e.b, e.loc, e.b.getI64Type(), offset);
  return LLVM::GEPOp::create(e.b, e.loc, pointer.getType(), e.b.getI8Type(),
                             pointer, wide);
}

/// "{$2, $3}": `count` registers of an asm text from number `first` on.
static std::string getRegisters(size_t first, size_t count) {
  std::string list;
  for (size_t i = first; i != first + count; ++i)
    list += (i == first ? "$" : ", $") + std::to_string(i);
  return count == 1 ? list : "{" + list + "}";
}

/// ".v2.b32": of an access of `count` registers of `bits` bits.
static std::string getSuffix(size_t count, unsigned bits) {
  return (count == 1 ? "" : ".v" + std::to_string(count)) + ".b" +
         std::to_string(bits);
}

static Value emitAsm(Emitter &e, Type result, ValueRange operands,
                     StringRef text, StringRef constraints, bool hasEffects) {
  auto op = LLVM::InlineAsmOp::create(
      e.b, e.loc, result ? TypeRange(result) : TypeRange(), operands, text,
      constraints, hasEffects, /*is_align_stack=*/false,
      LLVM::tailcallkind::TailCallKind::None, LLVM::AsmDialectAttr(),
      ArrayAttr());
  return result ? op.getRes() : Value();
}

/// What a load gives where it does not happen, what it knows of the memory, and
/// whether it stays where it is.
struct LoadMode {
  uint32_t otherwise = 0;
  std::string space = "global";
  bool isPinned = false;
};

/// One instruction for `count` words of `bits` bits, where `inside` is true; it
/// is null if that is everywhere.
/// The text says nothing of memory to LLVM, so that it may move: no kernel
/// reads what it has stored. Registers have at least 16 bits.
static SmallVector<Value> loadWords(Emitter &e, Value inside, Value address,
                                    size_t count, unsigned bits,
                                    LoadMode mode) {
  bool isWide = bits == 32;
  uint32_t otherwise = isWide ? mode.otherwise : mode.otherwise & 0xffff;
  std::string text, constraints;
  for (size_t i = 0; i != count; ++i) {
    if (inside)
      text += (isWide ? "mov.b32 $" : "mov.b16 $") + std::to_string(i) + ", " +
              std::to_string(otherwise) + "; ";
    constraints += isWide ? "=&r," : "=&h,";
  }
  SmallVector<Value> operands = {address};
  if (inside) {
    text += "@" + getRegisters(count, 1) + " ";
    constraints += "b,";
    operands.insert(operands.begin(), inside);
  }
  text += "ld." + mode.space + getSuffix(count, bits) + " " +
          getRegisters(0, count) + ", [" +
          getRegisters(count + operands.size() - 1, 1) + "];";
  Type word = e.b.getIntegerType(isWide ? 32 : 16);
  Type result = word;
  if (count > 1)
    result = LLVM::LLVMStructType::getLiteral(e.b.getContext(),
                                              SmallVector<Type>(count, word));
  Value loaded =
      emitAsm(e, result, operands, text, constraints + "l", mode.isPinned);
  if (count == 1)
    return {loaded};
  SmallVector<Value> words;
  for (size_t i = 0; i != count; ++i)
    words.push_back(LLVM::ExtractValueOp::create(e.b, e.loc, loaded, i));
  return words;
}

static void storeWords(Emitter &e, Value inside, Value address,
                       ArrayRef<Value> words, unsigned bits) {
  SmallVector<Value> operands = {inside, address};
  llvm::append_range(operands, words);
  std::string text = "@$0 st.global" + getSuffix(words.size(), bits) +
                     " [$1], " + getRegisters(2, words.size()) + ";";
  std::string constraints = "b,l";
  for (size_t i = 0; i != words.size(); ++i)
    constraints += bits == 32 ? ",r" : ",h";
  emitAsm(e, {}, operands, text, constraints + ",~{memory}",
          /*hasEffects=*/true);
}

/// Words that one instruction moves of `left`, at an address of `alignment`.
static size_t getPieceWords(size_t left, int64_t alignment) {
  size_t words = 4;
  while (words > 1 && (words > left || words * 4 > size_t(alignment)))
    words /= 2;
  return words;
}

/// An integer or a vector of i32, in as few instructions as possible.
static Value loadValue(Emitter &e, Value inside, Type type, Value address,
                       int64_t alignment, LoadMode mode = {}) {
  auto vector = dyn_cast<VectorType>(type);
  if (!vector) {
    unsigned bits = type.getIntOrFloatBitWidth();
    Value word = loadWords(e, inside, address, 1, bits, mode).front();
    return word.getType() == type
               ? word
               : arith::TruncIOp::create(e.b, e.loc, type, word).getResult();
  }
  SmallVector<Value> words;
  size_t count = vector.getNumElements();
  while (words.size() != count) {
    size_t piece = getPieceWords(count - words.size(), alignment);
    Value place = emitAddress(e, address, e.constant(words.size() * 4));
    llvm::append_range(words, loadWords(e, inside, place, piece, 32, mode));
  }
  return vector::FromElementsOp::create(e.b, e.loc, vector, words);
}

static void storeValue(Emitter &e, Value inside, Value value, Value address,
                       int64_t alignment) {
  auto vector = dyn_cast<VectorType>(value.getType());
  if (!vector) {
    unsigned bits = value.getType().getIntOrFloatBitWidth();
    if (bits == 8)
      value = arith::ExtUIOp::create(e.b, e.loc, e.b.getI16Type(), value);
    return storeWords(e, inside, address, value, bits);
  }
  int64_t count = vector.getNumElements();
  for (int64_t done = 0; done != count;) {
    int64_t piece = getPieceWords(count - done, alignment);
    SmallVector<Value> words;
    for (int64_t i = done; i != done + piece; ++i)
      words.push_back(vector::ExtractOp::create(e.b, e.loc, value, i));
    Value place = emitAddress(e, address, e.constant(done * 4));
    storeWords(e, inside, place, words, 32);
    done += piece;
  }
}

Value NvidiaDeviceOps::load(Emitter &e, CheckedMemory memory, Type type,
                            Value lane, Value uniform,
                            int64_t alignment) const {
  Value inside = emitIsInside(e, memory, lane, getByteSize(type));
  Value address = emitAddress(e, memory.base, lane);
  return loadValue(e, inside, type, emitAddress(e, address, uniform),
                   alignment);
}

void NvidiaDeviceOps::store(Emitter &e, Value value, CheckedMemory memory,
                            Value lane, int64_t alignment) const {
  Value inside = emitIsInside(e, memory, lane, getByteSize(value.getType()));
  storeValue(e, inside, value, emitAddress(e, memory.base, lane), alignment);
}

/// A load that always happens is LLVM's own, which knows more of it than of a
/// text, but has no word for streams.
Value tessera::loadIf(Emitter &e, Value condition, Type type, Value pointer,
                      int64_t alignment, uint32_t otherwise,
                      LoadedMemory memory) {
  if (!condition && !memory.isStreamed)
    return LLVM::LoadOp::create(e.b, e.loc, type, pointer, alignment,
                                /*isVolatile=*/false, /*isNonTemporal=*/false,
                                memory.isConstant);
  std::string space = memory.isConstant ? "global.nc" : "global";
  if (memory.isStreamed)
    space += ".L1::no_allocate";
  return loadValue(e, condition, type, pointer, alignment, {otherwise, space});
}

Value tessera::loadStreamed(Emitter &e, Value condition, Type type,
                            Value pointer, int64_t alignment) {
  return loadValue(e, condition, type, pointer, alignment,
                   {0, "global.cs", /*isPinned=*/true});
}

void tessera::storeIf(Emitter &e, Value condition, Value value, Value pointer,
                      int64_t alignment) {
  if (condition)
    return storeValue(e, condition, value, pointer, alignment);
  LLVM::StoreOp::create(e.b, e.loc, value, pointer, alignment);
}

void NvidiaDeviceOps::atomicAdd(Emitter &e, Value value, CheckedMemory memory,
                                Value lane) const {
  Value inside = emitIsInside(e, memory, lane, getByteSize(value.getType()));
  Value address = emitAddress(e, memory.base, lane);
  emitAsm(e, {}, {inside, address, value},
          "@$0 red.relaxed.gpu.global.add.f32 [$1], $2;", "b,l,f,~{memory}",
          /*hasEffects=*/true);
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

/// The 32-bit registers of a fragment, as mma.sync takes them: pairs of f16, or
/// integers; those of f32 rounded to tf32, which else is cut off.
static SmallVector<Value> splitRegisters(Emitter &e, Value fragment) {
  auto type = cast<VectorType>(fragment.getType());
  int64_t perRegister = 32 / type.getElementTypeBitWidth();
  int64_t count = type.getNumElements() / perRegister;
  SmallVector<Value> registers;
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

/// One mma.sync: c + the 16 rows of a times the 8 rows of b.
static SmallVector<Value> emitMma(Emitter &e, Type element, int64_t k,
                                  ValueRange a, ValueRange b, ValueRange c) {
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
  Value product = NVVM::MmaOp::create(e.b, e.loc, sums, a, b, c,
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
/// of the second. Each part of P is a B of two registers, and gives two sums of
/// both rows, which lie as many places apart along P as there are parts, or
/// together where the parts lie one behind the other.
Value NvidiaDeviceOps::multiply(Emitter &e, const MatrixInstruction &row,
                                Value p, Value q, Value accumulator) const {
  SmallVector<Value> b = splitRegisters(e, p), a = splitRegisters(e, q);
  SmallVector<Value> sums;
  for (int64_t i = 0; i < row.accRegs; ++i)
    sums.push_back(vector::ExtractOp::create(e.b, e.loc, accumulator, i));
  Type element = cast<VectorType>(p.getType()).getElementType();
  for (int64_t part = 0; part < row.pParts; ++part) {
    bool isDealt = row.pStep == 1;
    int64_t first = isDealt ? part : part * row.accVector;
    int64_t apart = isDealt ? row.pParts : 1;
    int64_t second = first + row.getColumnRegs();
    int64_t places[] = {first, first + apart, second, second + apart};
    SmallVector<Value> c;
    for (int64_t place : places)
      c.push_back(sums[place]);
    SmallVector<Value> d =
        emitMma(e, element, row.k, a, {b[2 * part], b[2 * part + 1]}, c);
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
