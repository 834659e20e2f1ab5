//===- SplitPair.cpp - f32 in terms of bf16 -------------------------------===//

#include "compiler/Conversion/Nvidia/SplitPair.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

using namespace mlir;
using namespace tessera;

/// The first term is truncated, so that none overflows. What is left of it has
/// 16 bits at most, so that the others are exact.
SplitPair tessera::splitPair(Emitter &e, Value low, Value high) {
  static constexpr char kText[] = R"({
.reg .pred p, q;
.reg .f32 x, y;
.reg .b32 u;
abs.f32 x, $4;
abs.f32 y, $5;
setp.lt.f32 p, x, 0f7F800000;
setp.lt.f32 q, y, 0f7F800000;
selp.f32 x, $4, 0f00000000, p;
selp.f32 y, $5, 0f00000000, q;
cvt.rz.bf16x2.f32 $0, $5, $4;
cvt.rz.bf16x2.f32 $1, y, x;
shl.b32 u, $1, 16;
sub.f32 x, x, u;
and.b32 u, $1, 0xffff0000;
sub.f32 y, y, u;
cvt.rn.bf16x2.f32 $2, y, x;
shl.b32 u, $2, 16;
sub.f32 x, x, u;
and.b32 u, $2, 0xffff0000;
sub.f32 y, y, u;
cvt.rn.bf16x2.f32 $3, y, x;
})";
  Type i32 = e.b.getI32Type();
  auto type = LLVM::LLVMStructType::getLiteral(
      e.b.getContext(), SmallVector<Type>(SplitPair::kTerms, i32));
  Value all = LLVM::InlineAsmOp::create(
                  e.b, e.loc, TypeRange(type), ValueRange{low, high}, kText,
                  "=r,=r,=r,=r,f,f",
                  /*has_side_effects=*/false, /*is_align_stack=*/false,
                  LLVM::tailcallkind::TailCallKind::None,
                  LLVM::AsmDialectAttr(), ArrayAttr())
                  .getRes();
  SplitPair pair;
  for (auto [i, term] : llvm::enumerate(pair.terms))
    term = LLVM::ExtractValueOp::create(e.b, e.loc, all,
                                        ArrayRef(static_cast<int64_t>(i)));
  return pair;
}
