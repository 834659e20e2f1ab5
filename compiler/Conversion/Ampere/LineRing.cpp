//===- LineRing.cpp - Lines of an image that stay -------------------------===//

#include "compiler/Conversion/Ampere/LineRing.h"
#include "compiler/Conversion/Common/GlobalBuffer.h"
#include "compiler/Conversion/Nvidia/SharedMemory.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

using namespace mlir;
using namespace tessera;

/// Below the ring's end the difference is, without a sign, the larger.
Value LineRing::wrap(Emitter &e, Value bytes) const {
  return arith::MinUIOp::create(e.b, e.loc, bytes, e.add(bytes, -getBytes()));
}

SmallVector<LineUser> tessera::listUsers(const ImageTile &image, int64_t line) {
  SmallVector<LineUser> users;
  for (int64_t tap = 0; tap < image.tapLines; ++tap) {
    const int64_t steps = line - tap * image.tapLineStep;
    if (steps >= 0 && steps % image.lineStep == 0 &&
        steps / image.lineStep < image.height)
      users.push_back({steps / image.lineStep, tap});
  }
  return users;
}

LineCopy::LineCopy(Emitter &e, const LineRing &ring, const ImageCopy &copy,
                   Value group, Value block)
    : e(e), ring(ring), copy(copy) {
  const ImageTile &image = ring.image;
  base = image.groupSpace.evaluate(e, group);
  for (auto [form, other, constant] :
       llvm::zip(base, image.blockSpace.evaluate(e, block), image.constants))
    form = e.add(e.add(form, other), constant);
}

void LineCopy::emit(Value line, Value slot, int64_t count) const {
  const ImageTile &image = ring.image;
  Value size = e.wideConstant(image.tensorBytes);
  CheckedMemory memory = e.device.makeMemory(e, copy.pointer, size);
  Value chunk = e.mul(e.remu(copy.thread, image.countPixelChunks()),
                      ImageTile::kChunkBytes);
  const int64_t pass = copy.threads / image.countPixelChunks();
  for (int64_t first = 0; first < image.countColumns(); first += pass) {
    Value column = e.add(e.divu(copy.thread, image.countPixelChunks()), first);
    Value isInside = e.ult(e.add(base[2], column), image.numColumns);
    Value offset =
        e.add(e.add(base[0], e.mul(column, image.columnBytes)), chunk);
    Value target = e.add(e.mul(column, image.getPixelBytes()), chunk);
    auto copyLines = [&] {
      for (int64_t i = 0; i < count; ++i) {
        Value next = e.add(line, i);
        Value valid =
            e.both(isInside, e.ult(e.add(base[1], next), image.numLines));
        Value from =
            e.select(valid, e.add(offset, e.mul(next, image.lineBytes)),
                     e.constant(kOutOfRange));
        Value place = ring.wrap(e, e.add(slot, i * ring.getLineBytes()));
        Value to = LLVM::GEPOp::create(e.b, e.loc, copy.shared.getType(),
                                       e.b.getI8Type(), copy.shared,
                                       ValueRange{e.add(place, target)});
        e.device.loadToLds(e, memory, to, ImageTile::kChunkBytes, from,
                           e.constant(0), /*immediate=*/0);
      }
    };
    if (first + pass > image.countColumns())
      emitIf(e, e.ult(column, image.countColumns()), copyLines);
    else
      copyLines();
  }
}
