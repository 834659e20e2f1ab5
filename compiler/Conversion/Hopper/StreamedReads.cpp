//===- StreamedReads.cpp - What L2 may forget -----------------------------===//

#include "compiler/Conversion/Hopper/StreamedReads.h"
#include "dialect/IR/PlanKnobs.h"

using namespace mlir;
using namespace tessera;

int64_t tessera::getReadBytes(TileProgram &program, Value view) {
  auto type =
      cast<MemRefType>(TileProgram::getView(view).getSource().getType());
  int64_t offset = 0, span = 1, reached = 1;
  SmallVector<int64_t> strides;
  (void)type.getStridesAndOffset(strides, offset);
  for (auto [size, stride] : llvm::zip_equal(type.getShape(), strides))
    span += (size - 1) * stride;
  for (int64_t extent : cast<dnn::ViewType>(view.getType()).getShape())
    reached *= extent;
  reached /= static_cast<int64_t>(program.pipeline.getSplits().value_or(1));
  return std::min(span, reached) * type.getElementTypeBitWidth() / 8;
}

/// Whether the reduction is of channels at one tap.
static bool hasOneTap(TileProgram &program) {
  return llvm::all_of(program.pipeline.getReduce().drop_back(),
                      [](int64_t size) { return size == 1; });
}

StreamedReads tessera::chooseStreamedReads(TileProgram &program, TmaWalk walk) {
  // In the order of the knob's words: none, a, b, ab.
  if (std::optional<int64_t> hint =
          dnn::PlanKnobs(program.pipeline.getKnobs()).get(dnn::Knob::Hint))
    return {(*hint & 1) != 0, (*hint & 2) != 0};
  if (program.hasUnknownSizes())
    return {};
  // Less than this finds its place without anybody's loss.
  constexpr int64_t kLeast = 14 << 20;
  const int64_t a = getReadBytes(program, program.loadM.getView());
  const int64_t b = getReadBytes(program, program.loadN.getView());
  // Of backward weights, both are images. Who reads the same pixels, for other
  // channels, does so at about the same time; where that takes long, some come
  // too late.
  constexpr int64_t kMostPixels = 192 << 20;
  if (walk == TmaWalk::Pixels) {
    const bool isStreamed = a + b >= kLeast && a + b <= kMostPixels;
    return {isStreamed, isStreamed};
  }
  // Of the others, taps and tiles beside theirs read the pixels again, and what
  // does not fit into L2 would be gone too early. The filter is small.
  constexpr int64_t kMost = 40 << 20, kReadsPerWrite = 2;
  const int64_t result = getReadBytes(program, program.store.getView());
  auto isStreamed = [&](int64_t bytes, int64_t others) {
    return hasOneTap(program) && bytes > others && bytes >= kLeast &&
           bytes <= kMost && bytes >= kReadsPerWrite * result;
  };
  return {isStreamed(a, b), isStreamed(b, a)};
}

Value tessera::emitStreamedPolicy(Emitter &e) {
  constexpr int64_t kEvictFirst = 0x12f0000000000000;
  return e.constant(e.b.getI64IntegerAttr(kEvictFirst));
}
