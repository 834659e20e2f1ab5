//===- DnnTileOps.td - Ops of tile programs ----------------*- tablegen -*-===//
//
// A tile program says which tile a workgroup owns, and how tiles are loaded
// through a coordinate map, multiplied and stored, inside an explicit software
// pipeline. No op mentions lanes, addresses or the layout of an instruction's
// operands: these come from the target's tables when tiles are lowered. So the
// same ops serve register prefetch with LDS double buffering, direct-to-LDS
// copies, cp.async, and TMA with producers and consumers
// (docs/design/0001-tiled-ir.md).
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_DIALECT_IR_DNNTILEOPS_TD
#define TESSERA_DIALECT_IR_DNNTILEOPS_TD

include "dialect/IR/DnnTileAttrs.td"
include "mlir/Interfaces/ControlFlowInterfaces.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def ViewOp : Dnn_Op<"view", [Pure]> {
  let summary = "View a tensor through GEMM coordinates";
  let description = [{
    A packed tensor may have unknown sizes (`?`). `sizes` has a value for each
    size of the coordinates that is unknown, made of constants and of
    `memref.dim` of the function's arguments. Those of all views of a program
    must agree.

    Example:
    ```mlir
    %a = dnn.view %x <[1], [64, 14, 14], [3, 3, 256] :
           (g, n, p, q, r, s, c) -> (n, p + r - 1, q + s - 1, g * 256 + c)>
       : memref<64x14x14x256xf16> -> <1x12544x2304xf16>
    ```
  }];
  let arguments = (ins AnyMemRef:$source, Variadic<Index>:$openSizes,
                       Dnn_CoordsAttr:$coords);
  let results = (outs Dnn_ViewType:$result);
  let assemblyFormat = [{
    $source $coords (`sizes` `(` $openSizes^ `)`)? attr-dict
    `:` type($source) `->` type($result)
  }];
  let builders = [
    OpBuilder<(ins "::mlir::Type":$result, "::mlir::Value":$source,
                   "CoordsAttr":$coords), [{
      build($_builder, $_state, result, source, ::mlir::ValueRange(), coords);
    }]>];
  let hasVerifier = 1;
}

def ForEachTileOp : Dnn_Op<"for_each_tile",
    [SingleBlock, NoTerminator]> {
  let summary = "Run a body for every output tile, each on one workgroup";
  let description = [{
    Runs the body for each tile of `counts` = [groups, tiles along m, tiles
    along n], each of `tile` = [m, n] elements. The block arguments are the
    group and the first row and column of the tile. Each tile has a workgroup of
    its own, n fastest. With `persistent` there are that many workgroups, each of
    which computes several tiles. With `run` a workgroup computes that many
    neighbouring tiles along m one after another, so that the pixels which
    neighbours share can stay in shared memory. Where the stored view has `?`
    rows, so have the counts: there are as many tiles as cover them.

    Example:
    ```mlir
    dnn.for_each_tile [1, 49, 1] of [256, 256] {
    ^bb0(%g: index, %m: index, %n: index):
      %acc = dnn.pipeline reduce [3, 3, 256] step 32 buffers 2 copy registers
          sync barrier schedule pinned load {
      ^bb0(%k: index):
        %at = dnn.tile_load %a[%g, %m, %k] : <1x12544x2304xf16> -> <256x32xf16>
        %bt = dnn.tile_load %b[%g, %n, %k] : <1x256x2304xf16> -> <256x32xf16>
        dnn.yield %at, %bt : !dnn.tile<256x32xf16>, !dnn.tile<256x32xf16>
      } compute {
      ^bb0(%at: !dnn.tile<256x32xf16>, %bt: !dnn.tile<256x32xf16>,
           %in: !dnn.tile<256x256xf32>):
        %out = dnn.tile_mma %at, %bt, %in using "mfma32" waves [2, 4] lanes n
             : <256x32xf16>, <256x32xf16>, <256x256xf32>
        dnn.yield %out : !dnn.tile<256x256xf32>
      } : <256x256xf32>
      dnn.tile_store %acc, %d[%g, %m, %n] : <256x256xf32>, <1x12544x256xf16>
    }
    ```
  }];
  let arguments = (ins DenseI64ArrayAttr:$counts, DenseI64ArrayAttr:$tile,
                       OptionalAttr<I64Attr>:$persistent,
                       OptionalAttr<I64Attr>:$run);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = [{
    custom<OpenSizes>($counts) `of` $tile (`persistent` $persistent^)? (`run` $run^)?
    attr-dict-with-keyword $body
  }];
  let hasVerifier = 1;
}

def PipelineOp : Dnn_Op<"pipeline", [SingleBlock]> {
  let summary = "Multi-stage main loop that overlaps copies with arithmetic";
  let description = [{
    The main loop of a matrix product. It iterates over the reduction space
    `reduce` (iteration dimensions, the last one fastest) in steps of `step`
    elements. The load region loads the tiles of one iteration into one of
    `buffers` shared-memory buffers; the compute region adds their product to the
    accumulator. The attributes say how the two overlap:

    - `copy`: through registers, directly to LDS, by cp.async, or by TMA;
    - `sync`: workgroup barriers, or an mbarrier for each buffer;
    - `schedule`: `pinned` fixes the order of memory operations around the
      matrix instructions, `natural` leaves it to the scheduler;
    - `roles`: which waves copy and which compute; without it all waves do both.

    If the reduction is not a multiple of `step`, the last iteration reads zeros
    beyond its end. A dimension that is `?` is as long as the views say.

    With `splits` the reduction is split (split-K): the groups of the tiles are so
    many runs of equal length, one for each split, and a split has an equal share
    of the iterations, of which the last ones may be beyond the end. The partial
    results are added elsewhere. Of unknown sizes `used` says as an expression of these
    (runtime/Base/SizeExpr.h) how many of the splits there are, one at least: the first
    ones, which share the reduction out among themselves. The others have no tiles.

    With `cluster` the reduction of each tile is split, too, but among that many
    workgroups of a cluster, each with an equal share of the iterations or one
    more. They add their accumulators through distributed shared memory, always
    in the same order, and store the tile together
    (docs/design/0029-clusters.md).

    With `multicast` two workgroups of a cluster multiply tiles side by side, which
    have the operand of side `m` (the same rows) or `n` (the same columns) in
    common: each copies half of it, to the shared memory of both
    (docs/design/0031-multicast.md).

    With `halo` the iterations visit filter taps fastest. The pixels that the
    taps of a step's channels reach (the tile and its halo) are loaded once for
    all taps, into that many buffers of their own; `buffers` then counts those of
    the other operand (docs/design/0009-window-reuse.md). With copy `registers`
    these are planes of pixels (docs/design/0030-nchw-on-amd.md).

    With `promote` the accumulators of matrix instructions, which round less well
    than an addition of f32 does, sum up so many steps at most; then they are
    added to sums of f32 in registers, and begin anew
    (docs/design/0027-splits-in-registers.md).

    `knobs` are decisions that the lowering else takes by itself, from the shapes and
    the chip: those of the table `dialect/IR/PlanKnobs.def`. `dnn-plan-kernel` writes
    all of them.

    Example:
    ```mlir
    %acc = dnn.pipeline reduce [3, 3, 256] step 32 buffers 2 copy registers
        sync barrier schedule pinned load {
    ^bb0(%k: index):
      %at = dnn.tile_load %a[%g, %m, %k] : <1x12544x2304xf16> -> <256x32xf16>
      %bt = dnn.tile_load %b[%g, %n, %k] : <1x256x2304xf16> -> <256x32xf16>
      dnn.yield %at, %bt : !dnn.tile<256x32xf16>, !dnn.tile<256x32xf16>
    } compute {
    ^bb0(%at: !dnn.tile<256x32xf16>, %bt: !dnn.tile<256x32xf16>,
         %in: !dnn.tile<256x256xf32>):
      %out = dnn.tile_mma %at, %bt, %in using "mfma32" waves [2, 4] lanes n
           : <256x32xf16>, <256x32xf16>, <256x256xf32>
      dnn.yield %out : !dnn.tile<256x256xf32>
    } : <256x256xf32>
    ```
  }];
  let arguments = (ins DenseI64ArrayAttr:$reduce, I64Attr:$step,
                       I64Attr:$buffers, Dnn_CopyKindAttr:$copy,
                       Dnn_SyncKindAttr:$sync, Dnn_ScheduleKindAttr:$schedule,
                       OptionalAttr<Dnn_RolesAttr>:$roles,
                       OptionalAttr<I64Attr>:$splits,
                       OptionalAttr<StrAttr>:$used,
                       OptionalAttr<I64Attr>:$halo,
                       OptionalAttr<I64Attr>:$promote,
                       OptionalAttr<I64Attr>:$cluster,
                       OptionalAttr<Dnn_TileDimAttr>:$multicast,
                       OptionalAttr<DenseI64ArrayAttr>:$knobs);
  let regions = (region SizedRegion<1>:$load, SizedRegion<1>:$compute);
  let results = (outs Dnn_TileType:$result);
  let assemblyFormat = [{
    `reduce` custom<OpenSizes>($reduce) (`splits` $splits^)? (`used` $used^)?
    (`cluster` $cluster^)? (`multicast` custom<EnumWord>($multicast)^)? `step` $step `buffers` $buffers (`halo` $halo^)?
    (`promote` $promote^)? `copy` custom<EnumWord>($copy)
    `sync` custom<EnumWord>($sync) `schedule` custom<EnumWord>($schedule) (`roles` $roles^)?
    (`knobs` `(` custom<KnobWords>($knobs)^ `)`)? `load` $load `compute` $compute attr-dict `:` type($result)
  }];
  let hasVerifier = 1;
}

def TileLoadOp : Dnn_Op<"tile_load", []> {
  let summary = "Load a tile of a view";
  let description = [{
    Example:
    ```mlir
    %at = dnn.tile_load %a[%g, %m, %k] : <1x12544x2304xf16> -> <256x32xf16>
    ```
  }];
  let arguments = (ins Dnn_ViewType:$view, Index:$group, Index:$row,
                       Index:$column);
  let results = (outs Dnn_TileType:$result);
  let assemblyFormat = [{
    $view `[` $group `,` $row `,` $column `]` attr-dict
    `:` type($view) `->` type($result)
  }];
  let hasVerifier = 1;
}

def TileMmaOp : Dnn_Op<"tile_mma", [Pure, AllTypesMatch<["acc", "result"]>]> {
  let summary = "Multiply two tiles and accumulate";
  let description = [{
    Computes acc[m, n] + sum over k of a[m, k] * b[n, k] with the target's matrix
    instruction `instruction`. The tile is divided among `waves` = [along m,
    along n] groups of lanes that execute one instruction (a wave, or a warpgroup
    for wgmma). `lanes` is the output dimension along which the accumulators of a
    lane are neighbours: the contiguous dimension of the stored tensor.

    Example: see `dnn.pipeline`.
  }];
  let arguments = (ins Dnn_TileType:$a, Dnn_TileType:$b, Dnn_TileType:$acc,
                       StrAttr:$instruction, DenseI64ArrayAttr:$waves,
                       Dnn_TileDimAttr:$lanes);
  let results = (outs Dnn_TileType:$result);
  let assemblyFormat = [{
    $a `,` $b `,` $acc `using` $instruction `waves` $waves `lanes` custom<EnumWord>($lanes)
    attr-dict `:` type($a) `,` type($b) `,` type($acc)
  }];
  let hasVerifier = 1;
}

def TileStoreOp : Dnn_Op<"tile_store", [AttrSizedOperandSegments]> {
  let summary = "Store an accumulator tile to a view";
  let description = [{
    The optional region is the epilogue (bias, activation, residual), which maps
    each accumulator before it is rounded to the tensor's type. It has
    element-wise ops only. `ins` are views of further tensors, with the shape of
    the stored view (the view of a bias does not depend on the row). The region
    takes the accumulator and, as f32, or as f64 where the accumulator is, the
    elements of these views at the same coordinates. It may also use f32 and f64
    arguments of the function.

    With `atomic` the tile is added to the contents of memory, one element at a
    time and in no particular order. So different workgroups may store tiles at
    the same coordinates, which are partial results of a split reduction. Both
    types must be f32, and there can be no epilogue.

    `statistics` also writes those of each column, of the rounded elements that
    are stored, to a packed memref<s x 3 x columns x f32>: in each of its s
    partials how many elements it sums up, their mean, and the sum of their squared
    differences from it. Which rows a partial has is up to the lowering; together
    they have all, and one may have none.

    With `norm` the stored elements g are the gradient of a normalisation's result,
    and the partials, a packed memref<s x 2 x columns x f32>, have the sums of g and of
    g times (z - mean). Views are of the normalisation's input z and, if there is
    one, of a mask, by the coordinates of the stored view; behind them come the mean
    of each column, and with a ReLU also one over the deviation, a scale and a bias
    (`dnn.norm_gradient` has the formulas). g is stored with zeros where the
    mask or the ReLU's argument is not positive.

    Example:
    ```mlir
    dnn.tile_store %acc, %d[%g, %m, %n] : <256x256xf32>, <1x12544x256xf16>
    dnn.tile_store %acc, %splits[%g, %m, %n] atomic : <256x256xf32>, <4x256x64xf32>
    dnn.tile_store %acc, %d[%g, %m, %n] epilogue {
    ^bb0(%v: f32):
      %zero = arith.constant 0.0 : f32
      %relu = arith.maximumf %v, %zero : f32
      dnn.yield %relu : f32
    } : <256x256xf32>, <1x12544x256xf16>
    dnn.tile_store %acc, %d[%g, %m, %n] ins(%bias : !dnn.view<1x12544x256xf16>)
        epilogue {
    ^bb0(%v: f32, %b: f32):
      %scaled = arith.mulf %v, %alpha : f32
      %sum = arith.addf %scaled, %b : f32
      dnn.yield %sum : f32
    } : <256x256xf32>, <1x12544x256xf16>
    ```
  }];
  let arguments = (ins Dnn_TileType:$value, Dnn_ViewType:$view, Index:$group,
                       Index:$row, Index:$column,
                       Variadic<Dnn_ViewType>:$extras,
                       Optional<AnyStaticShapeMemRef>:$statistics,
                       Variadic<Dnn_ViewType>:$normTensors,
                       Variadic<AnyStaticShapeMemRef>:$normNumbers,
                       UnitAttr:$atomic);
  let regions = (region AnyRegion:$epilogue);
  let builders = [
    OpBuilder<(ins "::mlir::Value":$value, "::mlir::Value":$view,
                   "::mlir::Value":$group, "::mlir::Value":$row,
                   "::mlir::Value":$column), [{
      build($_builder, $_state, value, view, group, row, column,
            ::mlir::ValueRange(), ::mlir::Value(), ::mlir::ValueRange(),
            ::mlir::ValueRange());
    }]>];
  let assemblyFormat = [{
    $value `,` $view `[` $group `,` $row `,` $column `]` (`atomic` $atomic^)?
    (`statistics` `(` $statistics^ `:` type($statistics) `)`)?
    (`norm` `(` $normTensors^ `:` type($normTensors) `by` $normNumbers `:` type($normNumbers) `)`)?
    (`ins` `(` $extras^ `:` type($extras) `)`)? (`epilogue` $epilogue^)? attr-dict `:` type($value) `,` type($view)
  }];
  let hasVerifier = 1;
}

def YieldOp : Dnn_Op<"yield", [Pure, Terminator, ReturnLike,
    ParentOneOf<["ConvOp", "PipelineOp", "RowWiseOp", "TileStoreOp"]>]> {
  let summary = "Terminator of a region that yields its results";
  let description = [{
    The op that has the region defines the meaning of the values: tiles and
    accumulators of a pipeline, the element that an epilogue stores, or the
    results of a region of a row-wise operation.
  }];
  let arguments = (ins Variadic<AnyType>:$values);
  let assemblyFormat = "attr-dict ($values^ `:` type($values))?";
}

#endif // TESSERA_DIALECT_IR_DNNTILEOPS_TD
