//===- WorkgroupWaves.td - Copies and steps of waves -------*- tablegen -*-===//
//
// What all waves of a workgroup do together: copies to slots, barriers and steps.
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_DIALECT_WORKGROUP_WORKGROUPWAVES_TD
#define TESSERA_DIALECT_WORKGROUP_WORKGROUPWAVES_TD

include "dialect/Workgroup/WorkgroupTypes.td"

def TileOp : Wg_Op<"tile"> {
  let summary = "Locate a tile of an operand for the threads that copy it";
  let description = [{
    What does not change from step to step of the tile at `row` of `group`, which goes
    to slots of the buffer. The first `taps` dimensions of the reduction are taps, each
    of which `wg.tap` locates, and the others are walked. Without `taps` all are, and
    each access computes its own address (compiler/Conversion/Cooperative/TileCopy.h). With
    `pixels` a tap is a chunk of a plane of pixels, and the table says which of them
    each has, complete behind the next barrier
    (compiler/Conversion/Cooperative/PlaneCopy.h).

    To a buffer of rows that taps share go those of the tile and those around them, once
    for all taps; none is located, because `wg.load` names its own. To one with the whole
    reduction go rows without taps, from its begin. To one of pixels go those that all taps of
    the tile see, and to a circular one lines of them.

    Example:
    ```mlir
    %tx = wg.tile %a[%c0, %m] to %sx taps 2
        : <1x800x576xf16> -> <64x32xf16>, <2x64x32xf16, chunks 32>
    ```
  }];
  let arguments = (ins Dnn_ViewType:$view, I32:$group, I32:$row,
                       Wg_BufferType:$buffer, OptionalAttr<I64Attr>:$taps,
                       UnitAttr:$pixels, Optional<Wg_BufferType>:$table);
  let results = (outs Wg_BoxType:$result);
  let assemblyFormat = [{
    $view `[` $group `,` $row `]` `to` $buffer (`taps` $taps^)?
    (`pixels` $pixels^)? (`table` $table^)? attr-dict
    `:` type($view) `->` type($result) `,` type($buffer) ``
    custom<FurtherBuffer>(type($table))
  }];
  let hasVerifier = 1;
  /// Of known sizes.
  let extraClassDeclaration = "int64_t countTaps();";
}

def TapOp : Wg_Op<"tap", [AllTypesMatch<["box", "result"]>]> {
  let summary = "Locate a tap of a tile";
  let description = [{
    Loads from it are zeros if it is behind the last tap. A tile has one tap at a
    time, the last one that was located.

    Example:
    ```mlir
    %x0 = wg.tap %tx[%c0] : <64x32xf16>
    ```
  }];
  let arguments = (ins Wg_BoxType:$box, I32:$tap);
  let results = (outs Wg_BoxType:$result);
  let assemblyFormat = "$box `[` $tap `]` attr-dict `:` type($box)";
  let hasVerifier = 1;
}

def HasTapOp : Wg_Op<"has_tap", [Pure]> {
  let summary = "Whether a tap has anything for the rows of a tile";
  let description = [{
    Example:
    ```mlir
    %exists = wg.has_tap %tx[%id] : <64x32xf16>
    ```
  }];
  let arguments = (ins Wg_BoxType:$box, I32:$tap);
  let results = (outs I1:$result);
  let assemblyFormat = "$box `[` $tap `]` attr-dict `:` type($box)";
}

def FetchOp : Wg_Op<"fetch", [
    AttrSizedOperandSegments,
    OptionalTypesMatchWith<"parts before are of its type", "result", "before",
                           "$_self">]> {
  let summary = "Load the tile of a step into registers";
  let description = [{
    `at` bytes from the begin of what is walked. `part` = [i, n] is the i-th n-th of the
    loads, beside those of the parts before, which are `with` it. Of a tile of pixels
    `at` is a number of blocks, and zeros are loaded but `if` that is true.

    Example, of the second of two parts:
    ```mlir
    %p = wg.fetch %tx[%c64] part [1, 2] with %s0#4 : <64x32xf16> -> <64x32xf16>
    ```
    Of all:
    ```mlir
    %px = wg.fetch %x0[%c0] : <64x32xf16> -> <64x32xf16>
    ```
  }];
  let arguments = (ins Wg_BoxType:$box, I32:$at,
                       OptionalAttr<DenseI64ArrayAttr>:$part,
                       Optional<Wg_PiecesType>:$before, Optional<I1>:$exists);
  let results = (outs Wg_PiecesType:$result);
  let assemblyFormat = [{
    $box `[` $at `]` (`part` $part^)? (`with` $before^)? (`if` $exists^)? attr-dict
    `:` type($box) `->` type($result)
  }];
  let hasVerifier = 1;
}

def PutOp : Wg_Op<"put"> {
  let summary = "Write a tile from registers to a slot";
  let description = [{
    With `part` = [i, n] those pieces that are complete with the i-th n-th of the loads
    (`wg.fetch`).

    Example:
    ```mlir
    wg.put %px to %sx[0] : <64x32xf16> -> <2x64x32xf16, chunks 32>
    ```
  }];
  let arguments = (ins Wg_PiecesType:$pieces, Wg_BufferType:$buffer,
                       I64Attr:$slot, OptionalAttr<DenseI64ArrayAttr>:$part);
  let assemblyFormat = [{
    $pieces `to` $buffer `[` $slot `]` (`part` $part^)? attr-dict
    `:` type($pieces) `->` type($buffer)
  }];
  let hasVerifier = 1;
}

def FillOp : Wg_Op<"fill"> {
  let summary = "Copy the tile of a step directly to a slot";
  let description = [{
    It is there behind a barrier that waits for its group. `part` = [i, n] is the i-th
    n-th of it. Slots of rows that taps share may be swapped by a loop that carries
    where one of them begins: the slot `behind` so many bytes, which are a constant, what
    a loop carries, or the last slot's bytes less either.

    Of pixels `at` is a number of blocks; to a circular buffer go so many `lines` from line
    `at` of the block on, and to so many slots.

    Example:
    ```mlir
    wg.fill %xt[%k] to %sx[0] : <128x64xf16> -> <2x128x64xf16, chunks 64>
    ```
    A part of shared rows:
    ```mlir
    wg.fill %ta[%at] to %sx[0] behind %other part [0, 2]
        : <128x32xf16> -> <2x128x32xf16, halo 192>
    ```
  }];
  let arguments = (ins Wg_BoxType:$box, I32:$at, Wg_BufferType:$buffer,
                       I64Attr:$slot, Optional<I32>:$behind,
                       OptionalAttr<DenseI64ArrayAttr>:$part,
                       OptionalAttr<I64Attr>:$lines);
  let assemblyFormat = [{
    $box `[` $at `]` `to` $buffer `[` $slot `]` (`behind` $behind^)? (`part` $part^)?
    (`lines` $lines^)? attr-dict `:` type($box) `->` type($buffer)
  }];
  let hasVerifier = 1;
}

def CommitOp : Wg_Op<"commit"> {
  let summary = "What has been copied directly until here is a group";
  let description = [{
    Example:
    ```mlir
    wg.commit
    ```
  }];
  let assemblyFormat = "attr-dict";
}

def BarrierOp : Wg_Op<"barrier"> {
  let summary = "Wait for all waves, and for what they have done to shared memory";
  let description = [{
    With `ahead` also for all groups of direct copies but so many.

    Example, of direct copies:
    ```mlir
    wg.barrier ahead 0
    ```
    Of copies through registers:
    ```mlir
    wg.barrier
    ```
  }];
  let arguments = (ins OptionalAttr<I64Attr>:$ahead);
  let assemblyFormat = "(`ahead` $ahead^)? attr-dict";
}

def StepOp : Wg_Op<"step", [SingleBlock]> {
  let summary = "Ops that overlap: copies spread over products";
  let description = [{
    The products run in their order, and what they need is there. Between the
    instructions of the products are the others' instructions, those in front of
    the barrier and those behind it, in the order of
    compiler/Conversion/Cooperative/StepBody.h. `pinned` keeps that order, and has one
    wait for each product's fragments; else it is a proposal to LLVM.

    Without a barrier a step has loads and products only, and a product's fragments are
    loaded while those of the product before are multiplied. If all of B is held in
    registers from outside, the rows of one instruction are multiplied after the other, so
    that few sums are open at a time.

    Example, without a barrier:
    ```mlir
    %half = wg.step pinned {
      %a0 = wg.load %sx at [0, 0] : <1x128x80xf16, windows 2014> -> <32x16xf16>
      %b0 = wg.load %sw at [0, 0] : <1x32x80xf16, padded> -> <32x16xf16>
      %a1 = wg.load %sx at [0, 16] : <1x128x80xf16, windows 2014> -> <32x16xf16>
      %b1 = wg.load %sw at [0, 16] : <1x32x80xf16, padded> -> <32x16xf16>
      %a2 = wg.load %sx at [0, 32] : <1x128x80xf16, windows 2014> -> <32x16xf16>
      %b2 = wg.load %sw at [0, 32] : <1x32x80xf16, padded> -> <32x16xf16>
      %d0 = wg.mma %a0, %b0 add %z {instruction = "mfma32"}
          : !wg.fragment<32x16xf16>, !wg.fragment<32x16xf16> -> <128x32>
      %d1 = wg.mma %a1, %b1 add %d0 {instruction = "mfma32"}
          : !wg.fragment<32x16xf16>, !wg.fragment<32x16xf16> -> <128x32>
      %d2 = wg.mma %a2, %b2 add %d1 {instruction = "mfma32"}
          : !wg.fragment<32x16xf16>, !wg.fragment<32x16xf16> -> <128x32>
      wg.yield %d2 : !wg.acc<128x32>
    } -> !wg.acc<128x32>
    ```
    With one:
    ```mlir
    %s:5 = wg.step pinned {
      %a1 = wg.load %sx at [0, 16] : <2x64x32xf16, chunks 32> -> <32x16xf16>
      %b1 = wg.load %sw at [0, 16] : <2x64x32xf16, chunks 32> -> <32x16xf16>
      wg.put %vx to %sx[1] : <64x32xf16> -> <2x64x32xf16, chunks 32>
      wg.put %vw to %sw[1] : <64x32xf16> -> <2x64x32xf16, chunks 32>
      %nx = wg.fetch %xt[%c0] : <64x32xf16> -> <64x32xf16>
      %nw = wg.fetch %wt[%c0] : <64x32xf16> -> <64x32xf16>
      %d1 = wg.mma %a0, %b0 add %d0 {instruction = "mfma32"}
          : !wg.fragment<32x16xf16>, !wg.fragment<32x16xf16> -> <64x64>
      %d2 = wg.mma %a1, %b1 add %d1 {instruction = "mfma32"}
          : !wg.fragment<32x16xf16>, !wg.fragment<32x16xf16> -> <64x64>
      wg.barrier
      %a2 = wg.load %sx at [1, 0] : <2x64x32xf16, chunks 32> -> <32x16xf16>
      %b2 = wg.load %sw at [1, 0] : <2x64x32xf16, chunks 32> -> <32x16xf16>
      wg.yield %d2, %nx, %nw, %a2, %b2
          : !wg.acc<64x64>, !wg.pieces<64x32xf16>, !wg.pieces<64x32xf16>,
            !wg.fragment<32x16xf16>, !wg.fragment<32x16xf16>
    } -> !wg.acc<64x64>, !wg.pieces<64x32xf16>, !wg.pieces<64x32xf16>,
         !wg.fragment<32x16xf16>, !wg.fragment<32x16xf16>
    ```
  }];
  let arguments = (ins UnitAttr:$pinned);
  let regions = (region SizedRegion<1>:$body);
  let results = (outs Variadic<AnyType>:$values);
  let assemblyFormat = [{
    (`pinned` $pinned^)? $body (`->` type($values)^)? attr-dict
  }];
  let hasVerifier = 1;
}

#endif // TESSERA_DIALECT_WORKGROUP_WORKGROUPWAVES_TD
