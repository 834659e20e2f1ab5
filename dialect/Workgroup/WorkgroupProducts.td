//===- WorkgroupProducts.td - Products and their operands --*- tablegen -*-===//
//
// Fragments and rows of stages, what is multiplied, and the order of warpgroups.
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_DIALECT_WORKGROUP_WORKGROUPPRODUCTS_TD
#define TESSERA_DIALECT_WORKGROUP_WORKGROUPPRODUCTS_TD

include "dialect/Workgroup/WorkgroupTypes.td"

def SliceOp : Wg_Op<"slice", [Pure]> {
  let summary = "Some rows of each slot";
  let description = [{
    Example:
    ```mlir
    %mine = wg.slice %sa[%row] : <4x192x64xbf16, row_major 128> -> <4x64x64xbf16, row_major 128>
    ```
  }];
  let arguments = (ins Wg_BufferType:$buffer, I32:$row);
  let results = (outs Wg_BufferType:$result);
  let assemblyFormat =
    "$buffer `[` $row `]` attr-dict `:` type($buffer) `->` type($result)";
  let hasVerifier = 1;
}

def SlideOp : Wg_Op<"slide"> {
  let summary = "Rows in several stages, of which each block begins elsewhere";
  let description = [{
    Blocks of as many rows as a slot has. The first begins in `column` of the stage
    `ahead` before the current one, the others `pitch` columns behind the one before
    them; they read on from stage to stage.

    Example:
    ```mlir
    %seen = wg.slide %sx[%column] pitch 1 ahead 2
       : <8x64x64xbf16, column_major 128, mirror> -> <8x192x64xbf16, column_major 128>
    ```
  }];
  let arguments = (ins Wg_BufferType:$buffer, I32:$column, I64Attr:$pitch,
                       I64Attr:$ahead);
  let results = (outs Wg_BufferType:$result);
  let assemblyFormat = [{
    $buffer `[` $column `]` `pitch` $pitch `ahead` $ahead attr-dict
    `:` type($buffer) `->` type($result)
  }];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    int64_t countBlocks() {
      return getType().getRows() / getBuffer().getType().getRows();
    }
    /// Columns of an instruction's share of a step.
    static constexpr int64_t kShare = 16;
  }];
}

def ZeroOp : Wg_Op<"zero", [Pure]> {
  let summary = "Accumulators of zeros";
  let description = [{
    Example:
    ```mlir
    %z = wg.zero : <64x128, lanes m>
    ```
  }];
  let results = (outs Wg_AccType:$result);
  let assemblyFormat = "attr-dict `:` type($result)";
}

def AddOp : Wg_Op<"add", [Pure, AllTypesMatch<["lhs", "rhs", "result"]>]> {
  let summary = "Add accumulators";
  let description = [{
    Example:
    ```mlir
    %s = wg.add %c, %e : <64x128>
    ```
  }];
  let arguments = (ins Wg_AccType:$lhs, Wg_AccType:$rhs);
  let results = (outs Wg_AccType:$result);
  let assemblyFormat = "$lhs `,` $rhs attr-dict `:` type($result)";
}

def MmaOp : Wg_Op<"mma"> {
  let summary = "Issue the products of the tiles in a stage";
  let description = [{
    a times the transpose of b, each of its current stage, as one group of wgmma,
    of which `wg.wait` says when it has run. Without an accumulator the sums begin.
    `shares` = [first, count] of the instructions that share the reduction of a
    stage are all of them by default. A may be what `wg.load` has brought to
    registers: then b is of stages that warps make ready. Of operands that are
    `split` six products of terms are issued, the small ones first.

    Waves multiply fragments, by the matrix `instruction`, and add them to
    accumulators that are there.

    Example, of waves:
    ```mlir
    %d2 = wg.mma %a1, %b1 add %d1 {instruction = "mfma32"}
        : !wg.fragment<32x16xf16>, !wg.fragment<32x16xf16> -> <64x64>
    ```
    Of a stage:
    ```mlir
    %e = wg.mma %mine, %sb add %c
       : <4x64x64xbf16, row_major 128>, <4x128x64xbf16, row_major 128> -> <64x128>
    ```
    Of A in registers:
    ```mlir
    %s = wg.mma %fa, %sb
       : !wg.fragment<64x32xf32, split>, <4x128x32xf32, row_major 128, split> -> <64x128>
    ```
  }];
  let arguments = (ins AnyTypeOf<[Wg_BufferType, Wg_FragmentType]>:$a,
                       AnyTypeOf<[Wg_BufferType, Wg_FragmentType]>:$b,
                       Optional<Wg_AccType>:$acc,
                       OptionalAttr<DenseI64ArrayAttr>:$shares,
                       OptionalAttr<StrAttr>:$instruction);
  let results = (outs Wg_AccType:$result);
  let builders = [
    OpBuilder<(ins "::mlir::Type":$result, "::mlir::Value":$a, "::mlir::Value":$b,
                   "::mlir::Value":$acc, "::mlir::DenseI64ArrayAttr":$shares), [{
      build($_builder, $_state, result, a, b, acc, shares, ::mlir::StringAttr());
    }]>];
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
  let extraClassDeclaration = "::llvm::LogicalResult verifyOfWaves();";
}

def MmaSumsOp : Wg_Op<"mma_sums"> {
  let summary = "Issue the products of the tiles in a stage into tensor memory";
  let description = [{
    One thread issues a times the transpose of b, each of its current stage, as
    tcgen05.mma into the current slot of the sums, which it has acquired; they
    begin with these products, or, if `add` is true, are added to. Products run one
    after the other. Nobody waits for them here: the role's `wg.release` and
    `wg.leave` of operands, and its `wg.next` of sums, count when all that has been
    issued before has run.

    Example:
    ```mlir
    wg.mma_sums %sa, %sb to %sums add %adds
       : <4x128x64xbf16, row_major 128>, <4x64x64xbf16, row_major 128> -> <2x128x64>
    ```
  }];
  let arguments = (ins Wg_BufferType:$a, Wg_BufferType:$b, Wg_SumsType:$sums,
                       I1:$add);
  let assemblyFormat = [{
    $a `,` $b `to` $sums `add` $add attr-dict
    `:` type($a) `,` type($b) `->` type($sums)
  }];
  let hasVerifier = 1;
}

def LoadSumsOp : Wg_Op<"load_sums"> {
  let summary = "Load the current slot of sums into registers";
  let description = [{
    Each warp of the warpgroup has 32 rows, in the order of wgmma's accumulators:
    the first 16 rows of each warp are those of the first instruction's.

    Example:
    ```mlir
    %sum = wg.load_sums %sums : <2x128x64> -> <128x64>
    ```
  }];
  let arguments = (ins Wg_SumsType:$sums);
  let results = (outs Wg_AccType:$result);
  let assemblyFormat = "$sums attr-dict `:` type($sums) `->` type($result)";
  let hasVerifier = 1;
}

def WaitOp : Wg_Op<"wait"> {
  let summary = "Wait for all but some groups of products";
  let description = [{
    Example:
    ```mlir
    wg.wait 1
    ```
  }];
  let arguments = (ins I64Attr:$groups);
  let assemblyFormat = "$groups attr-dict";
}

def OrderWaitOp : Wg_Op<"order_wait"> {
  let summary = "Wait until this warpgroup may issue its products";
  let description = [{
    Example:
    ```mlir
    wg.order_wait %consumer
    ```
  }];
  let arguments = (ins I32:$warpgroup);
  let assemblyFormat = "$warpgroup attr-dict";
}

def OrderArriveOp : Wg_Op<"order_arrive"> {
  let summary = "Let the next of `warpgroups` issue its products";
  let description = [{
    The last warpgroup lets the first one begin. A named barrier for each.

    Example:
    ```mlir
    wg.order_arrive %consumer of 2
    ```
  }];
  let arguments = (ins I32:$warpgroup, I64Attr:$warpgroups);
  let assemblyFormat = "$warpgroup `of` $warpgroups attr-dict";
}

#endif // TESSERA_DIALECT_WORKGROUP_WORKGROUPPRODUCTS_TD
