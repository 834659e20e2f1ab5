//===- WorkgroupResults.td - How results leave -------------*- tablegen -*-===//
//
// Where sums go, through which memory, and what is computed of them on their way.
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_DIALECT_WORKGROUP_WORKGROUPRESULTS_TD
#define TESSERA_DIALECT_WORKGROUP_WORKGROUPRESULTS_TD

include "dialect/Workgroup/WorkgroupTypes.td"

def ResultOp : Wg_Op<"result", [AttrSizedOperandSegments]> {
  let summary = "Prepare to store a tile's results";
  let description = [{
    `row` and `column` are the first of what the warpgroup stores. A warp stages
    16 rows (columns, of a result whose rows lie together), `staged` bytes of each
    at a time, in as many slots as it has of `staging`. From there they leave by
    TMA, or `by_rows`, with addresses and checks for each. What the first piece
    needs of `ins` (see dnn.tile_store) is under way from here.

    Waves store from their registers; with `atomic` they add to what is in memory. Or
    `via` a buffer of mixed chunks, from where `wg.flush` stores. In a loop that waves
    share, each stores the rows `from` so many of the tile on.

    Example, of waves:
    ```mlir
    %out = wg.result %d[%c0, %m, %c0] : <1x800x64xf16>
    ```
    Of warpgroups:
    ```mlir
    %out = wg.result %d[%g, %row, %column] via %st staged 128
         : <1x12544x256xbf16>, <24x16x64xbf16, row_major 128>
    ```
  }];
  let arguments = (ins Dnn_ViewType:$view, I32:$group, I32:$row, I32:$column,
                       Optional<Wg_BufferType>:$staging,
                       OptionalAttr<I64Attr>:$staged, UnitAttr:$byRows,
                       UnitAttr:$atomic, Variadic<Dnn_ViewType>:$extras,
                       Optional<I32>:$from);
  let results = (outs Wg_ResultType:$result);
  let assemblyFormat = [{
    $view `[` $group `,` $row `,` $column `]` (`via` $staging^ (`staged` $staged^)?)?
    (`by_rows` $byRows^)? (`atomic` $atomic^)? (`from` $from^)?
    (`ins` `(` $extras^ `:` type($extras) `)`)?
    attr-dict `:` type($view) `` custom<FurtherBuffer>(type($staging))
  }];
  let hasVerifier = 1;
}

def StoreOp : Wg_Op<"store", [AttrSizedOperandSegments]> {
  let summary = "Store accumulators";
  let description = [{
    The epilogue is that of `dnn.tile_store`, and so are `statistics` and `norm`, of
    which each warp writes parts: one for each tile, if they have as many parts as
    tiles have warps, else one for all of its tiles, whose columns are then those
    of its workgroup's number among the tiles of a row. Rows may lie `behind` those of the
    result by so many.

    Example:
    ```mlir
    wg.store %share to %out epilogue {
    ^bb0(%v: f32):
      %zero = arith.constant 0.0 : f32
      %relu = arith.maximumf %v, %zero : f32
      wg.yield %relu : f32
    } : <64x64>
    ```
  }];
  let arguments = (ins Wg_AccType:$acc, Wg_ResultType:$result,
                       Optional<AnyStaticShapeMemRef>:$statistics,
                       Variadic<Dnn_ViewType>:$normTensors,
                       Variadic<AnyStaticShapeMemRef>:$normNumbers,
                       OptionalAttr<I64Attr>:$behind);
  let regions = (region AnyRegion:$epilogue);
  let assemblyFormat = [{
    $acc `to` $result (`behind` $behind^)? (`statistics` `(` $statistics^ `:` type($statistics) `)`)?
    (`norm` `(` $normTensors^ `:` type($normTensors) `by` $normNumbers `:` type($normNumbers) `)`)?
    (`epilogue` $epilogue^)? attr-dict `:` type($acc)
  }];
  let hasVerifier = 1;
}

def SendOp : Wg_Op<"send"> {
  let summary = "Send accumulators to the workgroups of a cluster that add them";
  let description = [{
    Each workgroup adds some columns of the tile, in the rows of some of its warps
    (docs/design/0029-clusters.md). Behind the op all of them have come; its results
    are the first of these columns, and whether this warp has rows of them.

    Example:
    ```mlir
    %column, %has = wg.send %s : <64x128>
    ```
  }];
  let arguments = (ins Wg_AccType:$acc);
  let results = (outs I32:$column, I1:$hasShare);
  let assemblyFormat = "$acc attr-dict `:` type($acc)";
}

def ReceiveOp : Wg_Op<"receive"> {
  let summary = "Add what the workgroups of the cluster have sent";
  let description = [{
    Example:
    ```mlir
    %share = wg.receive : <64x64>
    ```
  }];
  let results = (outs Wg_AccType:$result);
  let assemblyFormat = "attr-dict `:` type($result)";
}

def FlushOp : Wg_Op<"flush", [AttrSizedOperandSegments]> {
  let summary = "Wait until all results have left shared memory";
  let description = [{
    Waves store a result that is `via` a buffer here. `share` = [i, n, blocks] is the i-th
    n-th of what `block` has of it, one of so many, if there `exists` such a result.

    Example, of waves, a share:
    ```mlir
    wg.flush of %old block %block share [0, 2, 2] if %hasBefore
    ```
    Of all results:
    ```mlir
    wg.flush
    ```
  }];
  let arguments = (ins Optional<Wg_ResultType>:$result, Optional<I32>:$block,
                       OptionalAttr<DenseI64ArrayAttr>:$share, Optional<I1>:$exists);
  let assemblyFormat = [{
    (`of` $result^)? (`block` $block^ `share` $share `if` $exists)? attr-dict
  }];
  let builders = [
    OpBuilder<(ins), [{
      build($_builder, $_state, ::mlir::Value(), ::mlir::Value(),
            ::mlir::DenseI64ArrayAttr(), ::mlir::Value());
    }]>];
  let hasVerifier = 1;
}

def YieldOp : Wg_Op<"yield", [Pure, Terminator, ReturnLike,
                              ParentOneOf<["StoreOp", "StepOp"]>]> {
  let summary = "The element that an epilogue stores, or what a step leaves";
  let description = [{
    Example: see `wg.store` and `wg.step`.
  }];
  let arguments = (ins Variadic<AnyType>:$values);
  let assemblyFormat = "($values^ `:` type($values))? attr-dict";
}

#endif // TESSERA_DIALECT_WORKGROUP_WORKGROUPRESULTS_TD
