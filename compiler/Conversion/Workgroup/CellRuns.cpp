//===- CellRuns.cpp - Programs of runs of blocks --------------------------===//
//
// Forward and backward data by workgroups that go down the image. Lines that
// the next block sees, too, stay in a circular buffer. 16 pixels of a line are
// a fragment, which meets all lines of results that see it, so that a line is
// read once, and not once for each line of taps; a line of results is stored as
// soon as nothing is left to add.
//
//===----------------------------------------------------------------------===//

#include "compiler/Conversion/Ampere/CellStore.h"
#include "compiler/Conversion/Ampere/LineRing.h"
#include "compiler/Conversion/Workgroup/CellWriter.h"

#include <map>

using namespace mlir;
using namespace tessera;

OpenNumber CellRuns::count(TileProgram &program) const {
  const OpenNumber tiles = program.countTilesM();
  return tiles.isKnown() ? OpenNumber(int64_t(tiles) / run)
                         : OpenNumber(ceilDiv(tiles.toExpr(), SizeExpr(run)));
}

/// `filter`: of each line of taps.
void CellWriter::emitFragment(const Position &at, Value pixel,
                              ArrayRef<Value> filter) {
  const int64_t columns = program.step / image.tapLines;
  Value result = makeResult(at, pixel);
  std::map<int64_t, Value> sums; // Of lines of results.
  for (int64_t line = 0; line < image.countLines(); ++line) {
    const auto users = listUsers(image, line);
    if (users.empty())
      continue;
    for (const LineUser &user : users)
      if (!sums.count(user.result))
        sums[user.result] = zero();
    SmallVector<Value> next = step(std::ssize(users), [&] {
      Value a = load(/*isM=*/true, line, kFragment, columns, pixel);
      return llvm::map_to_vector(users, [&](const LineUser &user) {
        return multiply(a, filter[user.tap], sums[user.result]);
      });
    });
    for (auto [user, value] : llvm::zip_equal(users, next)) {
      sums[user.result] = value;
      if (user.tap + 1 == image.tapLines)
        store(value, result, user.result * image.width);
    }
  }
}

void CellWriter::multiplyLines(const Position &at, Value wave,
                               ArrayRef<Value> filter) {
  const int64_t fragments = llvm::divideCeilSigned(image.width, kFragment);
  loop(wave, e.constant(fragments), program.waves[0], {},
       [&](Value fragment, ValueRange) -> SmallVector<Value> {
         emitFragment(at, e.mul(fragment, kFragment), filter);
         return {};
       });
}

/// Lines of a block that is to come take the place of those that only the block
/// before this one has seen: all waves are done with them.
void CellWriter::emitRuns(const CellOperands &operands, const CellRuns &runs) {
  const auto [run, ahead, advance] = runs;
  const int64_t lines = operands.image.countLines();
  const int64_t shared = lines - advance, slots = lines + ahead * advance;
  allocateOperands(operands, slots, wg::Layout::Circular,
                   operands.image.countColumns(), /*isOver=*/false);
  Value wave = getWave(dnn::TileDim::M);
  auto [group, number] =
      locateNumber(id, runs.count(program), image.groupSpace.sizes.back());
  Value first = e.mul(number, run);
  fill(makeTile(/*isM=*/false, group, e.constant(0)), e.constant(0), 0);
  Value tile =
      makeTile(/*isM=*/true, group, e.mul(first, image.countResults()));
  fill(tile, e.constant(0), 0, lines);
  commit();
  for (int64_t block = 1; block < ahead; ++block) {
    const int64_t line = block * advance + shared;
    fill(tile, e.constant(line), line, advance);
    commit();
  }
  meet(ahead - 1);
  Value all =
      load(/*isM=*/false, 0, program.rowsN / program.waves[1], program.step);
  const int64_t columns = program.step / image.tapLines;
  auto type = cast<wg::FragmentType>(all.getType());
  type = wg::FragmentType::get(e.b.getContext(), type.getRows(), columns,
                               type.getElementType(), /*isSplit=*/false);
  SmallVector<Value> filter;
  for (int64_t tap = 0; tap < image.tapLines; ++tap)
    filter.push_back(wg::ColumnsOp::create(
        e.b, e.loc, type, all, e.b.getI64IntegerAttr(tap * columns)));
  loop(e.constant(0), e.constant(run), 1, {},
       [&](Value block, ValueRange) -> SmallVector<Value> {
         meet(runs.ahead - 1);
         Value next = e.add(block, runs.ahead);
         emitWhere(e.ult(next, runs.run), [&] {
           Value line = e.add(e.mul(next, runs.advance), shared);
           fill(tile, line, slots - runs.advance, runs.advance);
         });
         commit();
         Value row = e.mul(e.add(first, block), image.countResults());
         multiplyLines({group, row}, wave, filter);
         wg::RotateOp::create(e.b, e.loc, bufferM,
                              e.b.getI64IntegerAttr(runs.advance));
         return {};
       });
}
