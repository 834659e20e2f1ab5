//===- WorkgroupCells.td - Narrow groups of channels -------*- tablegen -*-===//
//
// What programs of waves have beside the ops of WorkgroupWaves.td where a workgroup has 64
// channels of narrow groups (docs/design/0010-groups.md): slots that are numbered from one
// that moves, loops that waves share, and sums of waves that share pixels.
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_DIALECT_WORKGROUP_WORKGROUPCELLS_TD
#define TESSERA_DIALECT_WORKGROUP_WORKGROUPCELLS_TD

include "dialect/Workgroup/WorkgroupTypes.td"

def WaveOp : Wg_Op<"wave", [Pure]> {
  let summary = "The number of this wave among those along m or n";
  let description = [{
    Only loops begin with it, whose steps are as many as there are such waves: so each wave
    has its share of the iterations. In such a loop nothing is copied, and there is no
    barrier.

    Example:
    ```mlir
    %m = wg.wave along m
    ```
  }];
  let arguments = (ins Dnn_TileDimAttr:$dim);
  let results = (outs I32:$result);
  let assemblyFormat = "`along` custom<Dim>($dim) attr-dict";
  let hasVerifier = 1;
}

def RotateOp : Wg_Op<"rotate"> {
  let summary = "Number the slots of buffers from another one on";
  let description = [{
    What was slot `steps` is slot 0 from here on, and those before it come behind the last
    one. What is in them stays where it is. Slots of `pixels` are blocks, those of a
    `circular` buffer lines.

    Example:
    ```mlir
    wg.rotate %sx by 2 : <8x32x576xf16, circular 18>
    ```
  }];
  let arguments = (ins Variadic<Wg_BufferType>:$buffers, I64Attr:$steps);
  let assemblyFormat = "$buffers `by` $steps attr-dict `:` custom<Buffers>(type($buffers))";
  let hasVerifier = 1;
}

def ColumnsOp : Wg_Op<"columns", [Pure]> {
  let summary = "Some columns of a fragment";
  let description = [{
    Of a filter those of some taps.

    Example:
    ```mlir
    %f1 = wg.columns %f[192] : !wg.fragment<16x576xf16> -> !wg.fragment<16x192xf16>
    ```
  }];
  let arguments = (ins Wg_FragmentType:$fragment, I64Attr:$first);
  let results = (outs Wg_FragmentType:$result);
  let assemblyFormat = [{
    $fragment `[` $first `]` attr-dict
    `:` qualified(type($fragment)) `->` qualified(type($result))
  }];
  let hasVerifier = 1;
}

def ReduceOp : Wg_Op<"reduce", [AllTypesMatch<["acc", "result"]>]> {
  let summary = "Add the accumulators of waves that share the reduction";
  let description = [{
    All waves along n but the first write theirs to the buffer, and meet the others; the first
    adds them in their order, and what is stored of the result it stores alone.
    It is written `%all = wg.reduce %sums via %partial`.
  }];
  let arguments = (ins Wg_AccType:$acc, Wg_BufferType:$buffer);
  let results = (outs Wg_AccType:$result);
  let assemblyFormat = "$acc `via` $buffer attr-dict `:` type($acc) `,` type($buffer)";
  let hasVerifier = 1;
}

#endif // TESSERA_DIALECT_WORKGROUP_WORKGROUPCELLS_TD
