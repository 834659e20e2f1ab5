//===- GlobalBuffer.cpp - A tensor whose accesses are checked -------------===//

#include "compiler/Conversion/Common/GlobalBuffer.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/TypeUtilities.h"

#include <cstdlib>

using namespace mlir;
using namespace tessera;

namespace {
/// The outermost dimension of a view's rows: images, or single rows where all
/// dimensions are merged.
struct OuterDim {
  int64_t rows;  ///< Rows of one step along it.
  int64_t bytes; ///< Of one step along it.
};
} // namespace

static OuterDim getOuterDim(const ViewAccess &access) {
  AccessSpace space = access.getSpace(1);
  if (space.sizes.empty())
    return {1, 0};
  return {space.getExtent() / space.sizes.front(), space.coefs[0].front()};
}

static int64_t sumReach(ArrayRef<OpenNumber> factors,
                        ArrayRef<OpenNumber> sizes) {
  int64_t bytes = 0;
  for (auto [factor, size] : llvm::zip(factors, sizes))
    bytes += std::abs(factor) * (size - 1);
  return bytes;
}

/// Bytes from the first of `steps` steps along the outermost dimension of the
/// rows to the last byte that a column of them can lie at.
static int64_t getReach(const ViewAccess &access, int64_t steps) {
  AccessSpace rows = access.getSpace(1), columns = access.getSpace(2);
  int64_t bytes = sumReach(columns.coefs[0], columns.sizes);
  if (rows.sizes.empty())
    return bytes;
  int64_t inner = sumReach(ArrayRef(rows.coefs[0]).drop_front(),
                           ArrayRef(rows.sizes).drop_front());
  int64_t outer = std::abs(rows.coefs[0].front());
  return bytes + (steps - 1) * outer + std::max(outer, inner);
}

/// Whether the rows (with the groups outside of them) are the outermost
/// dimension in memory: what lies past their end lies past the tensor's.
static bool isOutermostInMemory(const ViewAccess &access) {
  AccessSpace rows = access.getSpace(1), groups = access.getSpace(0);
  if (rows.sizes.empty())
    return true;
  int64_t bytes = rows.coefs[0].front() * rows.sizes.front();
  for (int64_t d = groups.sizes.size() - 1;
       d >= 0 && groups.coefs[0][d] == bytes; --d)
    bytes *= groups.sizes[d];
  return bytes >= access.getTensorBytes();
}

bool tessera::needsRowCheck(const ViewAccess &access, int64_t rows) {
  if (access.isOpen())
    return !access.getSpace(1).getExtent().isKnown() ||
           access.getSpace(1).getExtent() % rows != 0;
  int64_t extent = access.getSpace(1).getExtent();
  int64_t padded = (extent + rows - 1) / rows * rows;
  OuterDim outer = getOuterDim(access);
  constexpr int64_t kWrap = int64_t(1) << 32;
  if (access.getTensorBytes() > kOutOfRange || padded == extent)
    return false;
  return !isOutermostInMemory(access) ||
         getReach(access, padded / outer.rows + 1) >= kWrap;
}

int64_t tessera::getWindowBytes(const ViewAccess &access, int64_t rows) {
  if (access.getTensorBytes() <= kOutOfRange)
    return access.getTensorBytes();
  OuterDim outer = getOuterDim(access);
  // The descriptor hides the absolute position, so no check may need it.
  if (access.getSpace(1).getExtent() % rows != 0 &&
      !isOutermostInMemory(access))
    return access.getTensorBytes();
  for (const auto &form : llvm::drop_begin(access.getSpace(1).coefs))
    if (!form.empty() && form.front() != 0)
      return access.getTensorBytes();
  return getReach(access, (rows + outer.rows - 1) / outer.rows + 1);
}

/// value * factor in 64 bits.
static Value mulWide(Emitter &e, Value value, int64_t factor) {
  Type i64 = e.b.getI64Type();
  Value wide = arith::ExtUIOp::create(e.b, e.loc, i64, value);
  return arith::MulIOp::create(e.b, e.loc, wide,
                               e.constant(e.b.getI64IntegerAttr(factor)));
}

/// The byte offset that `position` of a space contributes, in 64 bits.
static Value evaluateWide(Emitter &e, const AccessSpace &space,
                          Value position) {
  Value sum = e.constant(e.b.getI64IntegerAttr(0));
  for (int64_t d = space.sizes.size() - 1; d >= 0; --d) {
    Value digit = d == 0 ? position : e.remu(position, space.sizes[d]);
    Value bytes = mulWide(e, digit, space.coefs[0][d]);
    sum = arith::AddIOp::create(e.b, e.loc, sum, bytes);
    position = d == 0 ? position : e.divu(position, space.sizes[d]);
  }
  return sum;
}

/// A descriptor that begins at the tile: for tensors that one cannot cover.
static GlobalBuffer makeWindow(Emitter &e, const ViewAccess &access,
                               Value pointer, GlobalBuffer whole, Value group) {
  OuterDim outer = getOuterDim(access);
  Value start = arith::AddIOp::create(
      e.b, e.loc, mulWide(e, e.divu(whole.row0, outer.rows), outer.bytes),
      evaluateWide(e, access.getSpace(0), group));
  Value size = e.constant(e.b.getI64IntegerAttr(access.getTensorBytes()));
  Value left = arith::SubIOp::create(e.b, e.loc, size, start);
  Value limit = e.constant(e.b.getI64IntegerAttr(kOutOfRange));
  left = arith::MinUIOp::create(e.b, e.loc, left, limit);
  Value first = LLVM::GEPOp::create(e.b, e.loc, pointer.getType(),
                                    e.b.getI8Type(), pointer, start);
  whole.descriptor = e.device.makeMemory(e, first, left);
  whole.base[0] = e.constant(access.getConstant(0));
  whole.row0 = e.remu(whole.row0, outer.rows);
  return whole;
}

GlobalBuffer tessera::makeBuffer(Emitter &e, const ViewAccess &access,
                                 Value pointer, Value group, Value row0,
                                 int64_t headroom) {
  GlobalBuffer buffer{{}, access.getSpace(0).evaluate(e, group), row0};
  for (auto [f, form] : llvm::enumerate(buffer.base))
    form = e.add(form, access.getConstant(f));
  if (!access.isOpen() && access.getTensorBytes() > kOutOfRange)
    return makeWindow(e, access, pointer, std::move(buffer), group);
  Value size = e.wideConstant(access.getTensorBytes() + headroom);
  if (headroom > 0) {
    buffer.base[0] = e.add(buffer.base[0], headroom);
    pointer = LLVM::GEPOp::create(
        e.b, e.loc, pointer.getType(), e.b.getI8Type(), pointer,
        ArrayRef<LLVM::GEPArg>{static_cast<int32_t>(-headroom)});
  }
  buffer.descriptor = e.device.makeMemory(e, pointer, size);
  return buffer;
}

Value tessera::loadBuffer(Emitter &e, const GlobalBuffer &buffer, Type type,
                          Value lane, Value uniform) {
  return e.device.load(e, buffer.descriptor, type, lane, uniform,
                       getByteSize(type));
}

void tessera::storeBuffer(Emitter &e, Value value, const GlobalBuffer &buffer,
                          Value lane) {
  e.device.store(e, value, buffer.descriptor, lane,
                 getByteSize(value.getType()));
}
