//===- WorkgroupStages.td - Stages of roles and copies to them *- tablegen -*-===//
//
// Who waits for which stage, what the TMA unit copies there, and what warps change of it.
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_DIALECT_WORKGROUP_WORKGROUPSTAGES_TD
#define TESSERA_DIALECT_WORKGROUP_WORKGROUPSTAGES_TD

include "dialect/Workgroup/WorkgroupTypes.td"

//===----------------------------------------------------------------------===//
// Stages
//===----------------------------------------------------------------------===//

def AcquireOp : Wg_Op<"acquire"> {
  let summary = "Wait until the stage is empty, and expect bytes";
  let description = [{
    Of the first stage twice as many, if its slot has a mirror.

    Example:
    ```mlir
    wg.acquire %r expect 40960
    ```
  }];
  let arguments = (ins Wg_StagesType:$stages, I64Attr:$bytes);
  let assemblyFormat = "$stages `expect` $bytes attr-dict";
}

def AwaitOp : Wg_Op<"await"> {
  let summary = "Wait until the stage is full, or ready";
  let description = [{
    Example:
    ```mlir
    wg.await %r
    ```
    Ready:
    ```mlir
    wg.await %r ready
    ```
  }];
  let arguments = (ins Wg_StagesType:$stages, UnitAttr:$ready);
  let assemblyFormat = "$stages (`ready` $ready^)? attr-dict";
}

def ReleaseOp : Wg_Op<"release"> {
  let summary = "Say that the warpgroup has read the stage before this one";
  let description = [{
    Of stages that slide, the oldest one that it has awaited. Of stages that a cluster
    fills, to all workgroups which do. In a role that issues `wg.mma_sums` the tensor
    cores say it, once they have read.

    Example:
    ```mlir
    wg.release %r
    ```
  }];
  let arguments = (ins Wg_StagesType:$stages);
  let assemblyFormat = "$stages attr-dict";
}

def NextOp : Wg_Op<"next"> {
  let summary = "Go to the next stage, or some stages on";
  let description = [{
    Stages that are passed by with `by` belong to another warpgroup.

    Example:
    ```mlir
    wg.next %r
    wg.next %r by %row
    ```
  }];
  let arguments = (ins Wg_StagesType:$stages, Optional<I32>:$steps);
  let assemblyFormat = "$stages (`by` $steps^)? attr-dict";
}

def LeaveOp : Wg_Op<"leave"> {
  let summary = "Release the stage, and go on to the next";
  let description = [{
    Example:
    ```mlir
    wg.leave %r
    ```
  }];
  let arguments = (ins Wg_StagesType:$stages);
  let assemblyFormat = "$stages attr-dict";
}

def DrainOp : Wg_Op<"drain"> {
  let summary = "Wait until all stages are empty again";
  let description = [{
    Behind the last tile, for a thread that other workgroups of the cluster tell
    what they have read: until then its barriers must be there.

    Example:
    ```mlir
    wg.drain %r
    ```
  }];
  let arguments = (ins Wg_StagesType:$stages);
  let assemblyFormat = "$stages attr-dict";
}

//===----------------------------------------------------------------------===//
// Copies
//===----------------------------------------------------------------------===//

def BoxOp : Wg_Op<"box"> {
  let summary = "Locate a tile of an operand for the TMA unit";
  let description = [{
    Computes what does not change from step to step of the tile at `row` of
    `group`. The view becomes a tensor map of the kernel. With `pixels` the
    reduction walks pixels, else channels (compiler/Conversion/Hopper/TmaOperand.h).
    With `evict_first` what is copied leaves L2 first; with `multicast` two
    workgroups of the cluster copy a half each, to both. The last step of each tap
    reaches beyond the last channel, or with `last_in_place` ends with it; with
    `last_behind` it also comes behind all other steps. With `halo` all taps share
    what a copy brings, the rows of the tile and those around it, and a step is
    channels (compiler/Conversion/Hopper/HaloOperand.h). With `slides` taps share
    them, too, but pixels are the reduction: a copy brings the next ones, of one tap
    and so many rows as a slot has (compiler/Conversion/Hopper/SlidingHalo.h).

    Example:
    ```mlir
    %pa = wg.box %a[%g, %m] evict_first multicast : <1x12544x2304xbf16> -> <192x64xbf16>
    ```
  }];
  let arguments = (ins Dnn_ViewType:$view, I32:$group, I32:$row,
                       UnitAttr:$pixels, UnitAttr:$evictFirst,
                       UnitAttr:$multicast, UnitAttr:$lastBehind,
                       UnitAttr:$lastInPlace, UnitAttr:$halo,
                       UnitAttr:$slides);
  let results = (outs Wg_BoxType:$result);
  let assemblyFormat = [{
    $view `[` $group `,` $row `]` (`pixels` $pixels^)?
    (`evict_first` $evictFirst^)? (`multicast` $multicast^)?
    (`last_behind` $lastBehind^)? (`last_in_place` $lastInPlace^)?
    (`halo` $halo^)? (`slides` $slides^)? attr-dict `:` type($view) `->` type($result)
  }];
  let hasVerifier = 1;
}

def CopyOp : Wg_Op<"copy"> {
  let summary = "Copy the tile of a step by TMA into the current stage";
  let description = [{
    Example:
    ```mlir
    wg.copy %pa[%m] to %sa signal %r : <192x64xbf16> -> <4x192x64xbf16, row_major 128>
    ```
  }];
  let arguments = (ins Wg_BoxType:$box, I32:$step, Wg_BufferType:$buffer,
                       Wg_StagesType:$stages);
  let assemblyFormat = [{
    $box `[` $step `]` `to` $buffer `signal` $stages attr-dict
    `:` type($box) `->` type($buffer)
  }];
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// Operands that are changed on their way
//===----------------------------------------------------------------------===//

def PrepareOp : Wg_Op<"prepare"> {
  let summary = "Change an operand of the stage to what wgmma reads";
  let description = [{
    Each warp of the role changes its share of f32 where it lies: to terms of bf16
    in a buffer that is `split`, two where the f32 were and two as far behind
    (docs/design/0027-splits-in-registers.md); else what lies together, columns, to
    rows, in blocks of 32 by 32 (docs/design/0011-tf32.md).

    Example:
    ```mlir
    wg.prepare %sb : <4x128x32xf32, row_major 128, split>
    ```
  }];
  let arguments = (ins Wg_BufferType:$buffer);
  let assemblyFormat = "$buffer attr-dict `:` type($buffer)";
  let hasVerifier = 1;
}

def ArriveOp : Wg_Op<"arrive"> {
  let summary = "Say that this warp has done its share of making the stage ready";
  let description = [{
    What its lanes have written is seen by wgmma behind a `wg.await` of `ready`.

    Example:
    ```mlir
    wg.arrive %r
    ```
  }];
  let arguments = (ins Wg_StagesType:$stages);
  let assemblyFormat = "$stages attr-dict";
}

def LoadOp : Wg_Op<"load", [
    AttrSizedOperandSegments,
    OptionalTypesMatchWith<"box is of a tile like a slot", "buffer", "box",
                           "::llvm::cast<BufferType>($_self).getTile()">,
    OptionalTypesMatchWith<"image is of a tile like a slot", "buffer", "image",
                           "::llvm::cast<BufferType>($_self).getTile()">]> {
  let summary = "Load rows of the stage to the registers of the warpgroup";
  let description = [{
    A value for `wg.mma` while that stage is current. To a type with `split` each f32
    is split on its way.

    In a program of waves each has its share of the rows, `at` = [slot, first column].
    Of rows that taps share they are those of the tile as the `tap` sees them, in the slot
    `behind` so many bytes (`wg.fill`). Of pixels with 64 channels of narrow groups the
    fragment is what taps see of those from `pixel` of the block on, whatever row or column
    of the tile that is; `at` a line of a circular buffer, in one line of taps. `within` a
    block of a tile, what is outside of its image is zero.

    Example, of lines of pixels:
    ```mlir
    %l2 = wg.load %sx at [2, 0] pixel %p : <8x32x576xf16, circular 18> -> <16x192xf16>
    ```
    Of rows that taps share:
    ```mlir
    %fa = wg.load %sx at [0, 0] behind %slot of %tx tap 0
        : <2x128x32xf16, halo 192> -> <64x16xf16>
    ```
    Of waves:
    ```mlir
    %a1 = wg.load %sx at [1, 16] : <2x64x32xf16, chunks 32> -> <32x16xf16>
    ```
    Of a stage:
    ```mlir
    %fa = wg.load %mine : <4x64x32xf32, row_major 128> -> <64x32xf32, split>
    ```
  }];
  let arguments = (ins Wg_BufferType:$buffer,
                       OptionalAttr<DenseI64ArrayAttr>:$at, Optional<I32>:$behind,
                       Optional<Wg_BoxType>:$box, OptionalAttr<I64Attr>:$tap,
                       Optional<I32>:$pixel, Optional<Wg_BoxType>:$image,
                       Optional<I32>:$block);
  let results = (outs Wg_FragmentType:$result);
  let assemblyFormat = [{
    $buffer (`at` $at^)? (`behind` $behind^)? (`of` $box^ `tap` $tap)?
    (`pixel` $pixel^)? (`within` $image^ `[` $block `]`)? attr-dict
    `:` type($buffer) `->` type($result)
  }];
  let builders = [
    OpBuilder<(ins "::mlir::Type":$result, "::mlir::Value":$buffer), [{
      build($_builder, $_state, result, buffer, ::mlir::DenseI64ArrayAttr(),
            ::mlir::Value(), ::mlir::Value(), ::mlir::IntegerAttr(), ::mlir::Value(),
            ::mlir::Value(), ::mlir::Value());
    }]>];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    ::llvm::LogicalResult verifyOfWaves();
    ::llvm::LogicalResult verifyOfCells();
  }];
}

#endif // TESSERA_DIALECT_WORKGROUP_WORKGROUPSTAGES_TD
