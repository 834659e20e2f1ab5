//===- PredicatedAccess.cpp - Accesses under a predicate ------------------===//
//
// They are written as PTX, since LLVM has no predicated instruction in its IR
// and a branch for each access would cut the loops into pieces.
//
//===----------------------------------------------------------------------===//

#include "compiler/Conversion/Common/PredicatedAccess.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace tessera;

Value tessera::emitAddress(Emitter &e, Value pointer, Value offset) {
  if (matchPattern(offset, m_Zero()))
    return pointer;
  Value wide = arith::ExtUIOp::create(e.b, e.loc, e.b.getI64Type(), offset);
  return LLVM::GEPOp::create(e.b, e.loc, pointer.getType(), e.b.getI8Type(),
                             pointer, wide);
}

//===----------------------------------------------------------------------===//
// One instruction
//===----------------------------------------------------------------------===//

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

/// A text of PTX, which may have one result.
static Value emitAsm(Emitter &e, Type result, ValueRange operands,
                     StringRef text, StringRef constraints, bool hasEffects) {
  auto op = LLVM::InlineAsmOp::create(
      e.b, e.loc, result ? TypeRange(result) : TypeRange(), operands, text,
      constraints, hasEffects, /*is_align_stack=*/false,
      LLVM::tailcallkind::TailCallKind::None, LLVM::AsmDialectAttr(),
      ArrayAttr());
  return result ? op.getRes() : Value();
}

namespace {
/// What a load gives where it does not happen, what it knows of the memory, and
/// whether it stays where it is.
struct LoadMode {
  uint32_t otherwise;
  std::string space;
  bool isPinned = false;
};
} // namespace

/// One instruction for `count` words of `bits` bits, where `inside` is true; it
/// is null if that is everywhere.
/// Unless it is pinned, the text says nothing of memory to LLVM, so that it may
/// move: no kernel reads what it has stored. Registers have at least 16 bits.
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

//===----------------------------------------------------------------------===//
// A value
//===----------------------------------------------------------------------===//

/// Words that one instruction moves of `left`, at an address of `alignment`.
static size_t getPieceWords(size_t left, int64_t alignment) {
  size_t words = 4;
  while (words > 1 && (words > left || words * 4 > size_t(alignment)))
    words /= 2;
  return words;
}

/// An integer or a vector of i32, in as few instructions as possible.
static Value loadValue(Emitter &e, Value inside, Type type, Value address,
                       int64_t alignment, LoadMode mode) {
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
  return loadValue(e, condition, type, pointer, alignment,
                   {otherwise, space, memory.isPinned});
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

void tessera::addIf(Emitter &e, Value condition, Value value, Value pointer) {
  emitAsm(e, {}, {condition, pointer, value},
          "@$0 red.relaxed.gpu.global.add.f32 [$1], $2;", "b,l,f,~{memory}",
          /*hasEffects=*/true);
}
