//===- GlobalBuffer.cpp - A tensor behind a buffer descriptor -------------===//

#include "compiler/Conversion/GlobalBuffer.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/ROCDLDialect.h"

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

/// Bytes from the first of `steps` steps along the outermost dimension of the
/// rows to the last byte that a column of them can lie at.
static int64_t getReach(const ViewAccess &access, int64_t steps) {
  int64_t bytes = steps * getOuterDim(access).bytes;
  AccessSpace columns = access.getSpace(2);
  for (auto [factor, size] : llvm::zip(columns.coefs[0], columns.sizes))
    bytes += std::abs(factor) * (size - 1);
  return bytes;
}

bool tessera::needsRowCheck(const ViewAccess &access, int64_t rows) {
  int64_t extent = access.getSpace(1).getExtent();
  int64_t padded = (extent + rows - 1) / rows * rows;
  OuterDim outer = getOuterDim(access);
  constexpr int64_t kWrap = int64_t(1) << 32;
  return access.getTensorBytes() <= kOutOfRange && padded != extent &&
         getReach(access, padded / outer.rows + 1) >= kWrap;
}

int64_t tessera::getWindowBytes(const ViewAccess &access, int64_t rows) {
  if (access.getTensorBytes() <= kOutOfRange)
    return access.getTensorBytes();
  OuterDim outer = getOuterDim(access);
  // The descriptor hides the absolute position, so no check may need it.
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

Value tessera::makeDescriptor(Emitter &e, Value pointer, Value bytes,
                              const GpuTarget &target) {
  auto type = LLVM::LLVMPointerType::get(e.b.getContext(), 8);
  return ROCDL::MakeBufferRsrcOp::create(e.b, e.loc, type, pointer,
                                         e.constant(e.b.getI16IntegerAttr(0)),
                                         bytes, e.constant(target.bufferWord3));
}

GlobalBuffer tessera::makeBuffer(Emitter &e, const ViewAccess &access,
                                 Value pointer, Value group, Value row0,
                                 const GpuTarget &target) {
  Value size = e.constant(e.b.getI64IntegerAttr(access.getTensorBytes()));
  if (access.getTensorBytes() <= kOutOfRange)
    return {makeDescriptor(e, pointer, size, target), group, row0};

  OuterDim outer = getOuterDim(access);
  AccessSpace groups = access.getSpace(0);
  int64_t groupBytes = groups.sizes.empty() ? 0 : groups.coefs[0].front();
  Value start = arith::AddIOp::create(
      e.b, e.loc, mulWide(e, e.divu(row0, outer.rows), outer.bytes),
      mulWide(e, group, groupBytes));
  Value left = arith::SubIOp::create(e.b, e.loc, size, start);
  Value limit = e.constant(e.b.getI64IntegerAttr(kOutOfRange));
  left = arith::MinUIOp::create(e.b, e.loc, left, limit);
  Value first = LLVM::GEPOp::create(e.b, e.loc, pointer.getType(),
                                    e.b.getI8Type(), pointer, start);
  return {makeDescriptor(e, first, left, target), e.constant(0),
          e.remu(row0, outer.rows)};
}

Value tessera::loadBuffer(Emitter &e, Value descriptor, Type type, Value lane,
                          Value uniform) {
  return ROCDL::RawPtrBufferLoadOp::create(e.b, e.loc, type, descriptor, lane,
                                           uniform, e.constant(0), nullptr,
                                           nullptr, nullptr);
}

void tessera::storeBuffer(Emitter &e, Value value, Value descriptor,
                          Value lane) {
  ROCDL::RawPtrBufferStoreOp::create(e.b, e.loc, value, descriptor, lane,
                                     e.constant(0), e.constant(0), nullptr,
                                     nullptr, nullptr);
}
