//===- SlidingProgram.cpp - Backward weights whose taps share pixels ------===//
//
// Two stages with a thread each that fills them: of the gradient, 64 positions
// at a time, and of the input, whose chunks of 64 positions stay for as many
// steps as taps reach. Where a chunk is read from, differs by taps.
//
// The input is B, and a consumer has all taps of a filter row; or it is A, and
// a consumer has some lines of windows.
//
//===----------------------------------------------------------------------===//

#include "compiler/Conversion/Hopper/TileOrder.h"
#include "compiler/Conversion/Workgroup/ProgramWriter.h"

using namespace mlir;
using namespace tessera;

namespace {
class SlidingProgram final : public ProgramWriter {
public:
  explicit SlidingProgram(const Context &context)
      : ProgramWriter(context), halo(*plan.sliding), isOfB(shape.halo.isOfB),
        ahead(halo.countAhead()) {}

private:
  void emitStages() override {
    gradients = makeStages(isOfB ? bufferA : bufferB, shape.consumers);
    chunks = makeStages(isOfB ? bufferB : bufferA, shape.consumers);
  }
  void emitCopiers() override;
  Value multiply(Value group, llvm::function_ref<void()> onIssued) override;

  void copyTile(Value tile, const TmaOperand &operand, bool isB, Value stages,
                const OpenNumber &steps);
  Value slide();
  Value multiplySeen(Value seen, Value sums);

  const SlidingHalo &halo;
  bool isOfB;    ///< What slides; else of A.
  int64_t ahead; ///< Chunks that a step reads behind its own.
  Value gradients, chunks;
};
} // namespace

void SlidingProgram::copyTile(Value tile, const TmaOperand &operand, bool isB,
                              Value stages, const OpenNumber &steps) {
  ResultTile at = locateTile(tile);
  Value first = getFirstStep(e, plan, at.group, rank);
  wg::BoxOp box = emitBox(isB ? program.loadN : program.loadM, operand,
                          at.group, isB ? at.column : at.row);
  forEachStep(e.constant(steps), [&](Value i) {
    wg::AcquireOp::create(e.b, e.loc, stages, operand.getBytes());
    wg::CopyOp::create(e.b, e.loc, box, e.add(first, i),
                       isB ? bufferB : bufferA, stages);
    wg::NextOp::create(e.b, e.loc, stages, Value());
  });
}

/// A tile needs the chunks behind its last step's, too, and so begins anew
/// where another has ended.
void SlidingProgram::emitCopiers() {
  auto emit = [&](StringRef name, const TmaOperand &operand, bool isB,
                  Value stages, const OpenNumber &steps) {
    emitCopier(name, [&] {
      forEachTile(workgroup, plan.countWalkers(), [&](Value tile) {
        copyTile(tile, operand, isB, stages, steps);
      });
    });
  };
  emit("gradient", isOfB ? plan.a : plan.b, !isOfB, gradients, plan.steps);
  emit("chunks", halo, isOfB, chunks, plan.steps + ahead);
}

/// Of B a line is a consumer's filter row; of A each block of a consumer's rows
/// is one.
Value SlidingProgram::slide() {
  Value line = e.mul(consumer, isOfB ? 1 : shape.blocks);
  Value from = isOfB ? bufferB : bufferA;
  auto type = cast<wg::BufferType>(from.getType())
                  .withRows(isOfB ? shape.getColumns() : shape.getRows());
  return wg::SlideOp::create(
      e.b, e.loc, type, from, e.mul(line, halo.getFilterRows()),
      isOfB ? halo.getTapRows() : halo.getFilterRows(), ahead);
}

Value SlidingProgram::multiplySeen(Value seen, Value sums) {
  wg::AwaitOp::create(e.b, e.loc, gradients);
  return wg::MmaOp::create(e.b, e.loc, acc, isOfB ? bufferA : seen,
                           isOfB ? seen : bufferB, sums, DenseI64ArrayAttr());
}

/// A stage and a chunk are released when the products of the next step have
/// been issued, so that one group always runs.
Value SlidingProgram::multiply(Value, llvm::function_ref<void()>) {
  wg::AwaitOp::create(e.b, e.loc, chunks);
  for (int64_t i = 0; i < ahead; ++i) {
    wg::NextOp::create(e.b, e.loc, chunks, Value());
    wg::AwaitOp::create(e.b, e.loc, chunks);
  }
  Value first = multiplySeen(slide(), Value());
  wg::NextOp::create(e.b, e.loc, gradients, Value());
  Value sums = forEachStep(e.constant(1), e.constant(plan.steps), first,
                           [&](Value, Value carried) {
                             wg::NextOp::create(e.b, e.loc, chunks, Value());
                             Value seen = slide();
                             wg::AwaitOp::create(e.b, e.loc, chunks);
                             Value next = multiplySeen(seen, carried);
                             wg::WaitOp::create(e.b, e.loc, 1);
                             wg::ReleaseOp::create(e.b, e.loc, gradients);
                             wg::ReleaseOp::create(e.b, e.loc, chunks);
                             wg::NextOp::create(e.b, e.loc, gradients, Value());
                             return next;
                           });
  wg::WaitOp::create(e.b, e.loc, 0);
  wg::ReleaseOp::create(e.b, e.loc, gradients);
  for (int64_t i = 0; i < ahead; ++i)
    wg::ReleaseOp::create(e.b, e.loc, chunks);
  wg::LeaveOp::create(e.b, e.loc, chunks);
  return sums;
}

std::unique_ptr<ProgramWriter>
tessera::makeSlidingProgram(const ProgramWriter::Context &context) {
  return std::make_unique<SlidingProgram>(context);
}
