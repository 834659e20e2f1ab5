//===- PixelOperands.cpp - tf32 operands that are read by pixels ----------===//

#include "compiler/Conversion/Hopper/PixelOperands.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

using namespace mlir;
using namespace tessera;

//===----------------------------------------------------------------------===//
// A, in registers
//===----------------------------------------------------------------------===//

/// Lane 4 g + t has the rows g and g + 8 of its warp's 16, and of 8 k the
/// places t and t + 4 (PTX ISA 8.6, "Register Fragments" of wgmma): the pixels
/// 2 t and 2 t + 1. Their chunks of 16 bytes are swizzled by the pixel.
PixelFragments::PixelFragments(Emitter &e, const HopperShape &shape, Value warp,
                               Value lane, Value firstRow)
    : e(e), shape(shape) {
  constexpr int64_t kElementBytes = 4, kPerChunk = 4, kWarpChunks = 4;
  Value g = e.shru(lane, 2), t = e.andi(lane, 3);
  Value block = e.add(e.divu(firstRow, kPixelBlock), e.shru(warp, 1));
  Value begin = e.add(e.mul(block, kPixelBlockBytes),
                      e.mul(e.andi(g, kPerChunk - 1), kElementBytes));
  begin = e.add(begin, e.mul(t, 2 * kRowBytes));
  Value chunk =
      e.add(e.mul(e.andi(warp, 1), kWarpChunks), e.divu(g, kPerChunk));
  chunk = e.xori(chunk, e.mul(t, 2));
  for (int64_t i = 0; i < kRegisters; ++i) {
    // The row 8 below is two chunks further.
    const int64_t below = i % 2 * 2, odd = i / 2;
    Value swizzled = e.xori(chunk, e.constant(below ^ odd));
    offsets[i] =
        e.add(e.add(begin, odd * kRowBytes), e.mul(swizzled, kChunkBytes));
  }
}

SmallVector<Value> PixelFragments::load(Value buffer) const {
  constexpr int64_t kPixels = 8;
  SmallVector<Value> places, registers;
  for (Value offset : offsets)
    places.push_back(addBytes(e, buffer, offset));
  for (int64_t block = 0; block < shape.blocks; ++block)
    for (int64_t pixel = 0; pixel < kPixelBlock; pixel += kPixels)
      for (Value place : places) {
        Value bytes = e.constant((block * kWgmmaRows + pixel) * kRowBytes);
        registers.push_back(LLVM::LoadOp::create(e.b, e.loc, e.b.getI32Type(),
                                                 addBytes(e, place, bytes),
                                                 /*alignment=*/4));
      }
  return registers;
}

//===----------------------------------------------------------------------===//
// B, in place
//===----------------------------------------------------------------------===//

/// A lane takes four channels, chunk c = lane % 8 of a pixel's row, at four
/// pixels, which become chunk q of the channels' rows: even pixels of 8 for an
/// even q, odd ones for an odd one. Which q a lane takes, is such that every 8
/// lanes read and write all banks: q % 4 is (lane % 8 / 2) ^ (lane / 8). The q
/// four further is the lane's second.
PixelTranspose::PixelTranspose(Emitter &e, Value lane) : e(e) {
  Value c = e.andi(lane, 7);
  Value q = e.xori(e.shru(c, 1), e.shru(lane, 3)), odd = e.andi(q, 1);
  Value firstPixel = e.add(e.mul(e.shru(q, 1), 8), odd);
  Value firstRow = e.mul(c, kSide);
  for (int64_t i = 0; i < kSide; ++i) {
    Value read = e.xori(e.xori(c, odd), e.constant(2 * i));
    reads[i] = e.add(e.mul(e.add(firstPixel, 2 * i), kRowBytes),
                     e.mul(read, kChunkBytes));
    Value write = e.xori(e.xori(q, e.constant(i)), e.mul(e.andi(c, 1), kSide));
    writes[i] =
        e.add(e.mul(e.add(firstRow, i), kRowBytes), e.mul(write, kChunkBytes));
  }
}

void PixelTranspose::emit(Value block) {
  constexpr int64_t kTurns = 2, kTurnPixels = 16, kTurnChunks = 4;
  auto type = VectorType::get(kSide, e.b.getF32Type());
  SmallVector<Value> rows;
  for (int64_t turn = 0; turn < kTurns; ++turn)
    for (Value offset : reads) {
      Value place = addBytes(e, addBytes(e, block, offset),
                             e.constant(turn * kTurnPixels * kRowBytes));
      rows.push_back(LLVM::LoadOp::create(e.b, e.loc, type, place,
                                          /*alignment=*/kChunkBytes));
    }
  emitWarpSync(e); // Behind all reads.
  for (int64_t turn = 0; turn < kTurns; ++turn)
    for (auto [channel, offset] : llvm::enumerate(writes)) {
      Value column = LLVM::UndefOp::create(e.b, e.loc, type);
      for (int64_t i = 0; i < kSide; ++i) {
        Value element = LLVM::ExtractElementOp::create(
            e.b, e.loc, rows[turn * kSide + i], e.constant(channel));
        column = LLVM::InsertElementOp::create(e.b, e.loc, column, element,
                                               e.constant(i));
      }
      Value bytes =
          e.xori(offset, e.constant(turn * kTurnChunks * kChunkBytes));
      LLVM::StoreOp::create(e.b, e.loc, column, addBytes(e, block, bytes),
                            /*alignment=*/kChunkBytes);
    }
}

void PixelTranspose::emitShare(Value buffer, int64_t columns,
                               const WarpShare &share) {
  const int64_t blocks = columns / kPixelBlock;
  for (int64_t i = 0; i < blocks; i += share.count) {
    Value block = e.add(share.warp, i - share.first);
    emitIf(e, e.ult(block, blocks),
           [&] { emit(addBytes(e, buffer, e.mul(block, kPixelBlockBytes))); });
  }
}
