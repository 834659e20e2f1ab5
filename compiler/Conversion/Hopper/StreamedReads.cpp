//===- StreamedReads.cpp - What the second cache may forget ---------------===//

#include "compiler/Conversion/Hopper/StreamedReads.h"

using namespace mlir;
using namespace tessera;

static int64_t getTensorBytes(Value view) {
  auto type =
      cast<MemRefType>(TileProgram::getView(view).getSource().getType());
  return type.getNumElements() * type.getElementTypeBitWidth() / 8;
}

/// Whether the reduction is of channels at one tap.
static bool hasOneTap(TileProgram &program) {
  return llvm::all_of(program.pipeline.getReduce().drop_back(),
                      [](int64_t size) { return size == 1; });
}

StreamedReads tessera::chooseStreamedReads(TileProgram &program, TmaWalk walk) {
  // Less than this finds its place without anybody's loss.
  constexpr int64_t kLeast = 14 << 20;
  const int64_t a = getTensorBytes(program.loadM.getView());
  const int64_t b = getTensorBytes(program.loadN.getView());
  // Of backward weights, both are images. Who reads the same pixels, for other
  // channels, does so at about the same time.
  if (walk == TmaWalk::Pixels)
    return {a + b >= kLeast, a + b >= kLeast};
  // Of the others, taps and tiles of other columns read the pixels again, and
  // what does not fit into the second cache would be gone too early.
  constexpr int64_t kMost = 40 << 20, kReadsPerWrite = 2;
  const int64_t result = getTensorBytes(program.store.getView());
  return {hasOneTap(program) && a >= kLeast && a <= kMost &&
              a >= kReadsPerWrite * result,
          false};
}

Value tessera::emitStreamedPolicy(Emitter &e) {
  constexpr int64_t kEvictFirst = 0x12f0000000000000;
  return e.constant(e.b.getI64IntegerAttr(kEvictFirst));
}
