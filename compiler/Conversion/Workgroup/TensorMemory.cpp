//===- TensorMemory.cpp - Sums in the memory of tensor cores --------------===//

#include "compiler/Conversion/Workgroup/TensorMemory.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"

using namespace mlir;
using namespace tessera;

/// The warp that allocates: not that of the copies.
static constexpr int64_t kAllocator = 1;

/// Reduction of one instruction.
static constexpr int64_t kReductionBytes = 32;

TensorMemory::TensorMemory(Emitter &e, const HopperShape &shape,
                           wg::SumsType sums, Type element,
                           const SharedBase &shared, int64_t offset)
    : e(e), shape(shape), type(sums), element(element), shared(shared),
      offset(offset) {}

/// A power of two, and 32 or more.
static int64_t getAllocated(wg::SumsType type) {
  constexpr uint64_t kLeast = 32;
  const auto words = static_cast<uint64_t>(type.getSlots() * type.getColumns());
  return static_cast<int64_t>(std::max(kLeast, llvm::bit_ceil(words)));
}

static Value getPointer(Emitter &e, Value address) {
  constexpr unsigned kTensorSpace = 6;
  auto pointer = LLVM::LLVMPointerType::get(e.b.getContext(), kTensorSpace);
  return LLVM::IntToPtrOp::create(e.b, e.loc, pointer, address);
}

static Value isAllocator(Emitter &e, Value warp) {
  return arith::CmpIOp::create(e.b, e.loc, arith::CmpIPredicate::eq, warp,
                               e.constant(kAllocator));
}

void TensorMemory::allocate(Value warp) {
  emitIf(e, isAllocator(e, warp), [&] {
    NVVM::Tcgen05AllocOp::create(
        e.b, e.loc, addBytes(e, shared.pointer, e.constant(offset)),
        e.constant(getAllocated(type)));
    NVVM::Tcgen05RelinquishAllocPermitOp::create(e.b, e.loc);
    NVVM::Tcgen05FenceOp::create(e.b, e.loc,
                                 NVVM::Tcgen05FenceKind::BEFORE_THREAD_SYNC);
  });
}

void TensorMemory::find() {
  fence();
  base = LLVM::LoadOp::create(e.b, e.loc, e.b.getI32Type(),
                              addBytes(e, shared.pointer, e.constant(offset)),
                              /*alignment=*/4);
}

void TensorMemory::free(Value warp) {
  NVVM::Tcgen05FenceOp::create(e.b, e.loc,
                               NVVM::Tcgen05FenceKind::BEFORE_THREAD_SYNC);
  NVVM::BarrierOp::create(e.b, e.loc);
  emitIf(e, isAllocator(e, warp), [&] {
    fence();
    NVVM::Tcgen05DeallocOp::create(e.b, e.loc, getPointer(e, base),
                                   e.constant(getAllocated(type)));
  });
}

void TensorMemory::fence() {
  NVVM::Tcgen05FenceOp::create(e.b, e.loc,
                               NVVM::Tcgen05FenceKind::AFTER_THREAD_SYNC);
}

/// The first word of a slot, in lane 0.
Value TensorMemory::locate(Value slot) {
  return e.add(base, e.mul(slot, type.getColumns()));
}

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

/// PTX ISA, "Instruction descriptor" of kind f16: sums of f32, operands of
/// bf16 (1) or f16 (0) whose reduction lies together, columns by 8, rows by 16.
static int64_t getInstructionBits(wg::SumsType type, Type element) {
  const int64_t operand = element.isBF16() ? 1 : 0, f32 = 1;
  return (f32 << 4) | (operand << 7) | (operand << 10) |
         (type.getColumns() / 8 << 17) | (type.getRows() / 16 << 24);
}

/// PTX ISA, "Shared memory descriptor": in units of 16 bytes, the distance of 8
/// rows; 1 for this generation; 2 for a swizzle of 128 bytes. Blocks have no
/// distance, as a row is one.
static constexpr int64_t getDescriptorBits() {
  constexpr int64_t kUnit = 16, kRows = 8, kVersion = 1, kSwizzle128 = 2;
  return (int64_t(1) << 16) | (kRows * kRowBytes / kUnit << 32) |
         (kVersion << 46) | (kSwizzle128 << 61);
}

void TensorMemory::multiply(Value bytesA, Value bytesB, Value slot,
                            Value adds) {
  auto describe = [&](Value bytes, int64_t k) {
    Value address = e.shru(e.add(e.add(shared.address, bytes), k), 4);
    Value units = arith::ExtUIOp::create(e.b, e.loc, e.b.getI64Type(), address);
    return arith::AddIOp::create(
        e.b, e.loc, units,
        e.constant(e.b.getI64IntegerAttr(getDescriptorBits())));
  };
  Value to = getPointer(e, locate(slot));
  Value bits = e.constant(getInstructionBits(type, element));
  Value always = e.constant(e.b.getBoolAttr(true));
  for (int64_t k = 0; k < shape.rowBytes; k += kReductionBytes)
    NVVM::Tcgen05MMAOp::create(
        e.b, e.loc, NVVM::Tcgen05MMAKind::F16, NVVM::CTAGroupKind::CTA_1,
        NVVM::Tcgen05MMACollectorOp::DISCARD, /*aShift=*/false, to,
        describe(bytesA, k), describe(e.add(bytesB, shape.getOffsetB()), k),
        bits, k == 0 ? adds : always, /*scaleInputD=*/Value(),
        /*disableOutputLane=*/Value());
}

void TensorMemory::commit(Value barrier) {
  NVVM::Tcgen05CommitOp::create(e.b, e.loc, barrier,
                                /*multicastMask=*/Value());
}

//===----------------------------------------------------------------------===//
// Loads
//===----------------------------------------------------------------------===//

namespace {
/// Inline assembly that loads: registers may be read behind a wait only, and
/// LLVM would put moves between upstream's two ops.
class LoadText {
public:
  explicit LoadText(int64_t words) : words(words) {}

  /// Loads 16 rows of so many columns, a power of two, at the words `address`:
  /// of each 8 columns a lane gets two neighbours in its row, and two in the
  /// row 8 below, as of wgmma's sums.
  void add(int64_t columns, Value address) {
    text += "tcgen05.ld.sync.aligned.16x256b.x" + std::to_string(columns / 8) +
            ".b32 {";
    for (int64_t i = 0; i < columns / 2; ++i)
      text += (i == 0 ? "$" : ", $") + std::to_string(loaded++);
    text += "}, [$" + std::to_string(words + addresses.size()) + "];\n";
    addresses.push_back(address);
  }

  /// All words, f32, as a struct.
  Value emit(Emitter &e) {
    std::string constraints;
    for (int64_t i = 0; i < words; ++i)
      constraints += "=f,";
    for (size_t i = 0; i < addresses.size(); ++i)
      constraints += i == 0 ? "r" : ",r";
    const SmallVector<Type> types(words, e.b.getF32Type());
    auto result = LLVM::LLVMStructType::getLiteral(e.b.getContext(), types);
    return LLVM::InlineAsmOp::create(
               e.b, e.loc, result, addresses,
               text + "tcgen05.wait::ld.sync.aligned;", constraints,
               /*has_side_effects=*/true, /*is_align_stack=*/false,
               LLVM::TailCallKind::None,
               LLVM::AsmDialectAttr::get(e.b.getContext(),
                                         LLVM::AsmDialect::AD_ATT),
               ArrayAttr())
        .getResult(0);
  }

private:
  int64_t words;
  int64_t loaded = 0;
  SmallVector<Value> addresses;
  std::string text;
};
} // namespace

SmallVector<Value> TensorMemory::load(Value slot, Value warp) {
  constexpr int64_t kMostColumns = 128, kLaneBit = 16;
  const int64_t columns = type.getColumns(), perBlock = columns / 2;
  const int64_t blocks = shape.getWarpRows() / kStoreRows;
  LoadText text(blocks * perBlock);
  for (int64_t block = 0; block < blocks; ++block) {
    Value lane = e.add(e.mul(warp, shape.getWarpRows()), block * kStoreRows);
    Value address = e.add(locate(slot), e.mul(lane, int64_t(1) << kLaneBit));
    for (int64_t first = 0, count = 0; first < columns; first += count) {
      count =
          std::min(kMostColumns, static_cast<int64_t>(llvm::bit_floor(
                                     static_cast<uint64_t>(columns - first))));
      text.add(count, e.add(address, first));
    }
  }
  Value all = text.emit(e);
  const SmallVector<Type> types(perBlock, e.b.getF32Type());
  auto ofBlock = LLVM::LLVMStructType::getLiteral(e.b.getContext(), types);
  SmallVector<Value> sums(blocks, LLVM::UndefOp::create(e.b, e.loc, ofBlock));
  for (int64_t i = 0; i < blocks * perBlock; ++i)
    sums[i / perBlock] = LLVM::InsertValueOp::create(
        e.b, e.loc, sums[i / perBlock],
        LLVM::ExtractValueOp::create(e.b, e.loc, all, i), i % perBlock);
  return sums;
}

void TensorMemory::awaitLoads() {
  constexpr int64_t kBarrier = 4; // The workgroup's own is 0.
  NVVM::Tcgen05FenceOp::create(e.b, e.loc,
                               NVVM::Tcgen05FenceKind::BEFORE_THREAD_SYNC);
  NVVM::BarrierOp::create(e.b, e.loc, TypeRange(), e.constant(kBarrier),
                          e.constant(kWarpgroup), nullptr, Value());
}
