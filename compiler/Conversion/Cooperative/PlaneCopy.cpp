//===- PlaneCopy.cpp - Brings chunks of planes of pixels to LDS -----------===//

#include "compiler/Conversion/Cooperative/PlaneCopy.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace tessera;

static constexpr int64_t kElementBytes = PlaneCopy::kElementBytes;
static constexpr int64_t kChunkPixels = kChunkBytes / kElementBytes;
static constexpr int64_t kWordPixels = 2;
static constexpr int64_t kHalfBits = 16;

/// Halves of v_perm_b32 selectors: a zero, the pixels of the word that was
/// loaded, and those of a chunk at the edge.
static constexpr int64_t kZero = 0x0c0c;
static constexpr int64_t kOwn[kWordPixels] = {0x0100, 0x0302};
static constexpr int64_t kEdge[kWordPixels] = {0x0504, 0x0706};

//===----------------------------------------------------------------------===//
// Which views
//===----------------------------------------------------------------------===//

/// The reduction dimensions but the first: a plane.
static AccessSpace getPlane(const ViewAccess &access) {
  return access.getSpace(2, 1, access.getNumColumnDims() - 1);
}

/// Bytes from the begin of a plane to the tensor's last pixel, in the last of
/// all planes.
static int64_t getLastBytes(const ViewAccess &access) {
  int64_t bytes =
      access.getTensorBytes() - access.getFirstBytes() - kElementBytes;
  AccessSpace channels = access.getSpace(1);
  bytes -= channels.coefs[0].back() * (channels.sizes.back() - 1);
  for (const AccessSpace &space :
       {access.getSpace(0), access.getSpace(2, 0, 1)})
    for (auto [factor, size] : llvm::zip(space.coefs[0], space.sizes))
      bytes -= factor * (size - 1);
  return bytes;
}

bool PlaneCopy::isFor(const ViewAccess &access, int64_t rows, int64_t step) {
  if (access.getElementBytes() != kElementBytes ||
      access.getNumColumnDims() < 2)
    return false;
  // Pixels follow each other, and images differ by an offset. What is out of
  // range stays so under a tap that sees pixels in front.
  AccessSpace plane = getPlane(access), offsets = plane.getOffsets();
  const int64_t bytes = plane.getExtent() * kElementBytes;
  if (offsets.sizes.size() != 1 ||
      offsets.getInnermostStep() != kElementBytes || plane.getExtent() < step ||
      access.getTensorBytes() + bytes > kOutOfRange ||
      !access.getSpace(2, 0, 1).isLinear())
    return false;
  // The rows of a tile are channels under one tap, which reaches one end of the
  // tensor at most: its planes are no shorter than those of the loop.
  AccessSpace channels = access.getSpace(1);
  auto isChecked = [](const auto &form) { return form.back() != 0; };
  return !channels.sizes.empty() &&
         (channels.sizes.size() == 1 || channels.sizes.back() % rows == 0) &&
         llvm::none_of(llvm::drop_begin(channels.coefs), isChecked) &&
         getLastBytes(access) + kElementBytes >= bytes;
}

int64_t PlaneCopy::countTableBytes(const ViewAccess &access,
                                   const ReductionWalk &walk) {
  if (access.getNumForms() == 1 && walk.plane % kWordPixels == 0)
    return 0;
  return (walk.inner / kChunkPixels + 1) * kChunkBytes;
}

//===----------------------------------------------------------------------===//
// The table, and what chunks cannot load
//===----------------------------------------------------------------------===//

static Value compare(Emitter &e, arith::CmpIPredicate predicate, Value lhs,
                     Value rhs) {
  return arith::CmpIOp::create(e.b, e.loc, predicate, lhs, rhs);
}

/// The forms at the first row of a tile, of which the offset is without that of
/// its channel: from a pixel of the loop to the one that the tile's tap sees.
static SmallVector<Value> evaluateTap(Emitter &e, const ViewAccess &access,
                                      const GlobalBuffer &buffer) {
  AccessSpace rows = access.getSpace(1);
  SmallVector<Value> forms = rows.evaluate(e, buffer.row0);
  for (auto [form, base] : llvm::zip(forms, buffer.base))
    form = e.add(form, base);
  AccessSpace taps = rows;
  taps.sizes.pop_back();
  for (auto &factors : taps.coefs)
    factors.pop_back();
  Value tap = e.divu(buffer.row0, rows.sizes.back());
  forms[0] = e.add(taps.evaluate(e, tap)[0],
                   access.getConstant(0) - access.getFirstBytes());
  return forms;
}

/// Whether a chip tests the first byte of a dword or the last one is not the
/// same for all: the limit is chosen such that both mean the same.
GlobalBuffer PlaneCopy::makeBuffer(Emitter &e, const ViewAccess &access,
                                   Value pointer, GlobalBuffer whole) {
  Value shift = evaluateTap(e, access, whole)[0];
  Value isHalf = compare(
      e, arith::CmpIPredicate::eq,
      e.andi(e.add(shift, getLastBytes(access)), kElementBytes), e.constant(0));
  auto size = [&](int64_t bytes) {
    return e.constant(e.b.getI64IntegerAttr(bytes));
  };
  const int64_t bytes = access.getTensorBytes();
  whole.descriptor = e.device.makeMemory(
      e, pointer, e.select(isHalf, size(bytes - kElementBytes), size(bytes)));
  return whole;
}

/// Of a tap that sees pixels `shift` bytes further on: the chunk that sees the
/// first pixel of the first image if those are in front, else the last one of
/// the last.
PlaneCopy::EdgeChunk PlaneCopy::findEdgeChunk(Value shift) {
  Value zero = e.constant(0);
  Value isFront = compare(e, arith::CmpIPredicate::slt, shift, zero);
  auto choose = [&](int64_t behind) {
    return e.select(isFront, zero, e.constant(behind));
  };
  Value pixel =
      arith::SubIOp::create(e.b, e.loc, choose(getLastBytes(access)), shift);
  Value chunk = e.divu(pixel, kChunkBytes);
  const int64_t images = walk.outer - 1;
  return {chunk, e.add(choose(images * imageBytes), e.mul(chunk, kChunkBytes)),
          e.select(e.ult(pixel, walk.plane * kElementBytes),
                   e.add(choose(images * countChunks()), chunk),
                   e.constant(-1))};
}

/// What is not the tensor's becomes zeros.
void PlaneCopy::loadEdges(const EdgeChunk &edge, const GlobalBuffer &whole) {
  auto type = VectorType::get(kChunkPixels, e.b.getI16Type());
  Value moved =
      arith::SubIOp::create(e.b, e.loc, edge.bytes, e.mul(chunk, kChunkBytes));
  for (unsigned pass = 0; pass < passes; ++pass) {
    Value first = e.add(getRowOffset(pass), moved);
    SmallVector<Value> pixels;
    for (int64_t i = 0; i < kChunkPixels; ++i)
      pixels.push_back(loadBuffer(e, whole, getIntegerType(1),
                                  e.add(first, i * kElementBytes),
                                  e.constant(0)));
    edges.push_back(vector::BitCastOp::create(
        e.b, e.loc, getIntegerType(kChunkPixels),
        vector::FromElementsOp::create(e.b, e.loc, type, pixels)));
  }
}

/// The selectors of chunk `chunk` of a plane under a tap, of the pixels that
/// are loaded with it or beforehand.
Value PlaneCopy::emitSelectors(Value chunk, ValueRange tap, Value isEdge) {
  SmallVector<Value> words;
  for (int64_t i = 0; i < kChunkPixels; ++i) {
    Value pixel = e.add(e.mul(chunk, kChunkPixels), i);
    SmallVector<Value> forms = innerSpace.evaluate(e, pixel);
    Value valid = e.ult(pixel, walk.plane);
    for (unsigned f = 1; f < access.getNumForms(); ++f)
      valid = e.both(valid, e.ult(e.add(forms[f], tap[f]), access.getBound(f)));
    const int64_t side = i % kWordPixels, shift = side * kHalfBits;
    Value bytes = e.select(isEdge, e.constant(kEdge[side] << shift),
                           e.constant(kOwn[side] << shift));
    bytes = e.select(valid, bytes, e.constant(kZero << shift));
    if (side == 0)
      words.push_back(bytes);
    else
      words.back() = e.add(words.back(), bytes);
  }
  return vector::FromElementsOp::create(e.b, e.loc,
                                        getIntegerType(kChunkPixels), words);
}

/// All threads fill the table, whose last entry is that of the edge.
void PlaneCopy::fillTable(const EdgeChunk &edge, ValueRange tap,
                          int64_t threads, Value thread) {
  auto loop = scf::ForOp::create(
      e.b, e.loc, thread, e.constant(countChunks() + 1), e.constant(threads));
  OpBuilder::InsertionGuard guard(e.b);
  e.b.setInsertionPointToStart(loop.getBody());
  Value at = loop.getInductionVar();
  Value isEdge =
      compare(e, arith::CmpIPredicate::eq, at, e.constant(countChunks()));
  Value words = emitSelectors(e.select(isEdge, edge.chunk, at), tap, isEdge);
  auto type = VectorType::get(kChunkPixels, access.getElementType());
  vector::StoreOp::create(e.b, e.loc,
                          vector::BitCastOp::create(e.b, e.loc, type, words),
                          table, e.toIndex(e.mul(at, kChunkPixels)));
}

PlaneCopy::PlaneCopy(Emitter &e, const ViewAccess &access, LdsTile lds,
                     const ReductionWalk &walk, GlobalBuffer buffer,
                     const GlobalBuffer &whole, int64_t threads, Value thread,
                     Value table)
    : ChunkCopy(e, access, lds, walk, std::move(buffer), threads, thread),
      table(table), imageBytes(access.getSpace(2, 0, 1).getInnermostStep()) {
  if (!table)
    return;
  SmallVector<Value> tap = evaluateTap(e, access, whole);
  EdgeChunk edge = findEdgeChunk(tap[0]);
  edgeNumber = edge.number;
  loadEdges(edge, whole);
  fillTable(edge, tap, threads, thread);
}

//===----------------------------------------------------------------------===//
// Steps
//===----------------------------------------------------------------------===//

/// The step may begin in one plane and end in the next.
void PlaneCopy::setTap(Value first) {
  using Predicate = arith::CmpIPredicate;
  const int64_t chunks = countChunks();
  step = first;
  Value number = e.add(first, chunk);
  Value image = e.divu(first, chunks);
  Value start = e.add(first, e.mul(image, -chunks));
  Value place = e.add(start, chunk);
  Value isNext = compare(e, Predicate::uge, place, e.constant(chunks));
  Value bytes = e.add(e.mul(image, imageBytes), e.mul(start, kChunkBytes));
  bytes = e.add(e.select(isNext, e.constant(imageBytes - chunks * kChunkBytes),
                         e.constant(0)),
                bytes);
  setOffset(e.select(e.ult(number, walk.outer * chunks), bytes,
                     e.constant(kOutOfRange)));
  place = e.select(isNext, e.add(place, -chunks), place);
  if (table) {
    Value isEdge = compare(e, Predicate::eq, number, edgeNumber);
    place = e.select(isEdge, e.constant(chunks), place);
    entry = e.toIndex(e.mul(place, kChunkPixels));
  } else if (walk.plane % kChunkPixels != 0) {
    Value isEnd = compare(e, Predicate::eq, place, e.constant(chunks - 1));
    mask = e.select(isEnd, e.constant(0), e.constant(-1));
  }
}

void PlaneCopy::load(unsigned pass, unsigned, Value, Value,
                     SmallVectorImpl<Value> &pieces) {
  pieces.push_back(
      loadAtTap(pass, getIntegerType(kChunkPixels), e.constant(0), 0));
  if (mask)
    pieces.push_back(mask);
  if (!table)
    return;
  if (pass == 0) {
    auto type = VectorType::get(kChunkPixels, access.getElementType());
    Value loaded = vector::LoadOp::create(e.b, e.loc, type, table, entry);
    selectors[step] = vector::BitCastOp::create(
        e.b, e.loc,
        VectorType::get(kChunkPixels / kWordPixels, e.b.getI32Type()), loaded);
  }
  pieces.push_back(selectors[step]);
}

/// The first word of a chunk of which a pixel may be left out.
unsigned PlaneCopy::getFirstWord() const {
  if (access.getNumForms() > 1)
    return 0;
  int64_t left = walk.plane % kChunkPixels;
  return (left == 0 ? kChunkPixels : left) / kWordPixels;
}

void PlaneCopy::write(unsigned pass, unsigned, ArrayRef<Value> pieces,
                      Value buffer) {
  auto extract = [&](Value vector, int64_t i) -> Value {
    return vector::ExtractOp::create(e.b, e.loc, vector, i);
  };
  auto type = cast<VectorType>(pieces.front().getType());
  SmallVector<Value> words;
  for (unsigned i = 0; i < type.getNumElements(); ++i) {
    Value word = extract(pieces.front(), i);
    if (i >= getFirstWord())
      word = table ? callIntrinsic(
                         e, "llvm.amdgcn.perm", type.getElementType(),
                         {extract(edges[pass], i), word, extract(pieces[1], i)})
                   : arith::AndIOp::create(e.b, e.loc, word, pieces[1]);
    words.push_back(word);
  }
  Value joined = vector::FromElementsOp::create(e.b, e.loc, type, words);
  store(pass,
        vector::BitCastOp::create(
            e.b, e.loc, VectorType::get(kChunkPixels, access.getElementType()),
            joined),
        buffer);
}
