//===- Workgroup.td - The wg dialect -----------------------*- tablegen -*-===//
//
// The program of a workgroup: who copies which tile into which stage of a circular buffer,
// who multiplies it, and who waits for what (docs/design/0035-workgroup-level.md).
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_DIALECT_WORKGROUP_WORKGROUP_TD
#define TESSERA_DIALECT_WORKGROUP_WORKGROUP_TD

include "dialect/IR/DnnTileAttrs.td"
include "mlir/Interfaces/ControlFlowInterfaces.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def WgDialect : Dialect {
  let name = "wg";
  let cppNamespace = "::tessera::wg";
  let summary = "Programs of a workgroup";
  let description = [{
    A kernel at stage `workgroup` is a `dnn.kernel` function with views of its
    tensors and one `wg.program`. Loops and branches are those of `scf`, numbers
    (of tiles, steps, rows) are i32.
  }];
  let useDefaultTypePrinterParser = 1;
  let extraClassDeclaration = [{
    void registerTypes();
  }];
}

class Wg_Op<string mnemonic, list<Trait> traits = []>
    : Op<WgDialect, mnemonic, traits>;

//===----------------------------------------------------------------------===//
// Types
//===----------------------------------------------------------------------===//

def Wg_BufferType : TypeDef<WgDialect, "Buffer"> {
  let mnemonic = "buffer";
  let summary = "Slots of shared memory, each with a tile";
  let description = [{
    `!wg.buffer<4x192x64xbf16, row_major 128>` has 4 slots of 192 rows and 64
    columns. What lies together is a piece of a row, or, `column_major`, of a
    column; behind it is the same piece of the next. The piece has so many bytes,
    128, 64 or 32, and its 16-byte chunks are swizzled as TMA does it for that
    size. A slot begins at a multiple of 1024 bytes. With `split` behind the swizzle
    it has twice the space: f32 become terms of bf16 there (`wg.prepare`). With
    `mirror` a copy of the first slot is behind the last, so that columns can be read
    through the end of the slots to their begin (`wg.slide`).

    Other layouts are those that threads write and read, in 16-byte chunks of rows
    (compiler/Conversion/Cooperative/LdsTile.h): `<2x256x32xf16, chunks 32>` is
    swizzled for LDS of 32 banks, `blocks 4` for threads that transpose 4 rows on
    their way, `pairs` for those that take two rows of which either may be missing,
    `matrices` for ldmatrix. `lines` are columns, as memory has them, which are
    transposed when they are read. `plain` is no tile but so many elements. `mixed` is a
    tile of results that leave in 16-byte chunks of rows
    (compiler/Conversion/Cooperative/StagedStore.h).

    Two layouts are for rows that the taps of a filter share, the pixels of the tile and
    those around it: `<2x128x32xf16, halo 160>` has slots of 160 pixels with 32 channels
    each, the line of zeros behind the slots is for what is outside of the image
    (compiler/Conversion/Cooperative/HaloLines.h). `planes 256` has them from images whose
    channels are planes; the last pixels of a slot are zeros (PlaneHalo.h).

    Two layouts are for operands whose whole reduction is there at once:
    `<1x256x176xf16, windows 4292>` has slots of so many elements, in which the windows of
    256 neighbouring pixels overlap (compiler/Conversion/Cooperative/WindowTile.h), and
    `padded` has rows an odd number of chunks apart (ResidentTile.h).
  }];
  let parameters = (ins "int64_t":$slots, "int64_t":$rows, "int64_t":$columns,
                        "::mlir::Type":$elementType,
                        "::tessera::wg::Layout":$layout, "int64_t":$swizzle,
                        "bool":$isSplit, "bool":$isMirrored);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    bool getColumnMajor() const { return getLayout() == Layout::ColumnMajor; }
    /// Whether TMA and wgmma have this layout, or threads.
    bool isOfTma() const {
      return getLayout() == Layout::RowMajor || getColumnMajor();
    }
    /// Whether taps share what is in a slot.
    bool isShared() const {
      return getLayout() == Layout::Halo || getLayout() == Layout::Planes;
    }
    /// Whether a slot has the whole reduction.
    bool isWhole() const {
      return getLayout() == Layout::Windows || getLayout() == Layout::Padded;
    }
    /// Of a slot, up to the next one; and of all of them.
    int64_t getSlotBytes() const;
    /// Rows of it, and the tile that a slot has.
    BufferType withRows(int64_t rows) const;
    BoxType getTile() const;
    int64_t getBytes() const;
  }];
}

def Wg_StagesType : TypeDef<WgDialect, "Stages"> {
  let mnemonic = "stages";
  let summary = "Stages that are filled and read one behind the other";
}

def Wg_BoxType : TypeDef<WgDialect, "Box"> {
  let mnemonic = "box";
  let summary = "What copies of a tile's steps have in common";
  let parameters = (ins "int64_t":$rows, "int64_t":$columns,
                        "::mlir::Type":$elementType);
  let hasCustomAssemblyFormat = 1;
}

def Wg_PiecesType : TypeDef<WgDialect, "Pieces"> {
  let mnemonic = "pieces";
  let summary = "A tile on its way, in the registers of the workgroup";
  let description = [{
    `!wg.pieces<256x32xf16>`: each thread has some pieces of it, which `wg.fetch` has
    loaded from memory, and `wg.put` will write to shared memory.
  }];
  let parameters = (ins "int64_t":$rows, "int64_t":$columns,
                        "::mlir::Type":$elementType);
  let hasCustomAssemblyFormat = 1;
}

def Wg_FragmentType : TypeDef<WgDialect, "Fragment"> {
  let mnemonic = "fragment";
  let summary = "A tile of an operand in the registers of a wave or a warpgroup";
  let description = [{
    `!wg.fragment<64x32xf32>`: 64 rows and 32 columns as wgmma takes them, or
    as the matrix instruction of the product does. With `split` each f32 is its terms
    of bf16 (docs/design/0027-splits-in-registers.md).
  }];
  let parameters = (ins "int64_t":$rows, "int64_t":$columns,
                        "::mlir::Type":$elementType, "bool":$isSplit);
  let hasCustomAssemblyFormat = 1;
}

def Wg_AccType : TypeDef<WgDialect, "Acc"> {
  let mnemonic = "acc";
  let summary = "Accumulators of a warpgroup, or of all waves";
  let description = [{
    `!wg.acc<64x128>`: f32 of 64 rows and 128 columns of the result, in registers
    as wgmma leaves them; or of the tile of a workgroup, in those of all its waves, as
    their matrix instruction does, whose sums may be i32 or f64. With `lanes m` rows of the instruction are columns of the
    result (docs/design/0016-swapped-operands.md).
  }];
  let parameters = (ins "int64_t":$rows, "int64_t":$columns,
                        "bool":$isSwapped);
  let hasCustomAssemblyFormat = 1;
  let extraClassDeclaration = [{
    /// Instructions that share it, and the columns of each.
    int64_t countBlocks() const;
    int64_t getProductColumns() const;
  }];
}

def Wg_SumsType : TypeDef<WgDialect, "Sums"> {
  let mnemonic = "sums";
  let summary = "Slots of tensor memory, each with sums";
  let description = [{
    `!wg.sums<2x128x64>`: 2 slots of f32 of 128 rows and 64 columns of the result,
    in the tensor memory of a multiprocessor (sm_100), which has 128 lanes of 512
    words. A slot's rows are lanes, its columns words.
  }];
  let parameters = (ins "int64_t":$slots, "int64_t":$rows, "int64_t":$columns);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
}

def Wg_ResultType : TypeDef<WgDialect, "Result"> {
  let mnemonic = "result";
  let summary = "Where the results of a tile go";
}

//===----------------------------------------------------------------------===//
// Frame
//===----------------------------------------------------------------------===//

def ProgramOp : Wg_Op<"program", [SingleBlock, NoTerminator]> {
  let summary = "What each workgroup runs";
  let description = [{
    `workgroups` are launched, of which `resident` share a multiprocessor if that is
    known. The arguments are the workgroup's number and its rank; with `cluster`, so
    many workgroups are a cluster, which has one number, and the rank is that in it.
    With `of` and an expression of sizes (`wg.size`), the number of tiles, no more
    than that are launched, or, of `?` workgroups, as many. Shared memory, stages and
    then roles, which run at the same time. Or, with `waves` = [along m, along n], so
    many waves share each tile, and run what stands in the program itself.

    Example:
    ```mlir
    wg.program workgroups 132 resident 1 {
    ^bb0(%id: i32, %rank: i32):
      %sa = wg.alloc : <4x128x64xbf16, row_major 128>
      %sb = wg.alloc : <4x64x64xbf16, column_major 128>
      %r = wg.stages %sa, %sb full 1 empty 2
         : !wg.buffer<4x128x64xbf16, row_major 128>, !wg.buffer<4x64x64xbf16, column_major 128>
      wg.role "copy" thread registers 40 {
      ^bb0(%none: i32):
        // Waits for empty stages, and fills them.
      }
      wg.role "multiply" warpgroups 2 registers 232 {
      ^bb0(%consumer: i32):
        // Waits for full stages, multiplies, and releases them.
      }
    }
    ```
  }];
  let arguments = (ins I64Attr:$workgroups, OptionalAttr<StrAttr>:$tiles,
                       OptionalAttr<I64Attr>:$resident,
                       OptionalAttr<I64Attr>:$cluster,
                       OptionalAttr<DenseI64ArrayAttr>:$waves);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = [{
    `workgroups` custom<Workgroups>($workgroups) (`of` $tiles^)?
    (`resident` $resident^)? (`cluster` $cluster^)? (`waves` $waves^)?
    attr-dict-with-keyword $body
  }];
  let hasVerifier = 1;
}

def SizeOp : Wg_Op<"size", [Pure]> {
  let summary = "A number made of unknown sizes of the kernel's tensors";
  let description = [{
    The expression is postfix (`runtime/Base/SizeExpr.h`): `xd1` is dimension 1 of
    the memref of tensor x, and what follows is ceil(x0 * x1 / 128). The launch
    computes it. A division by it becomes a multiplication.

    Example:
    ```mlir
    %tiles = wg.size "xd0.xd1.*.128.^"
    ```
  }];
  let arguments = (ins StrAttr:$expression);
  let results = (outs I32:$result);
  let assemblyFormat = "$expression attr-dict";
}

def AllocOp : Wg_Op<"alloc", [HasParent<"ProgramOp">]> {
  let summary = "Shared memory of the workgroup";
  let description = [{
    Example:
    ```mlir
    %sa = wg.alloc : <4x192x64xbf16, row_major 128>
    ```
  }];
  let results = (outs Wg_BufferType:$result);
  let assemblyFormat = "attr-dict `:` type($result)";
}

def AllocSumsOp : Wg_Op<"alloc_sums", [HasParent<"ProgramOp">]> {
  let summary = "Tensor memory of the workgroup";
  let description = [{
    Example:
    ```mlir
    %sums = wg.alloc_sums : <2x128x64>
    ```
  }];
  let results = (outs Wg_SumsType:$result);
  let assemblyFormat = "attr-dict `:` type($result)";
}

def StagesOp : Wg_Op<"stages", [HasParent<"ProgramOp">]> {
  let summary = "Stages with mbarriers for full, ready and empty";
  let description = [{
    Stage n is slot n of each of the buffers. It is full when `full` threads have
    arrived, which acquire it, and the bytes that they expect have been copied; it
    is empty when `empty` warpgroups have released it. At first all are empty.
    Without `empty` each stage is filled once, and stays as it is. Stages of sums
    are full when the products have run that fill them. With `ready` so many warps
    change operands where they lie, once the stage is full (`wg.prepare`), and
    arrive then: before, nobody multiplies these.

    Example:
    ```mlir
    %r = wg.stages %sa, %sb full 1 empty 3
       : !wg.buffer<4x192x64xbf16, row_major 128>, !wg.buffer<4x128x64xbf16, row_major 128>
    ```
  }];
  let arguments = (ins Variadic<AnyTypeOf<[Wg_BufferType, Wg_SumsType]>>:$buffers,
                       I64Attr:$full,
                       OptionalAttr<I64Attr>:$ready,
                       OptionalAttr<I64Attr>:$empty);
  let results = (outs Wg_StagesType:$result);
  let assemblyFormat = [{
    $buffers `full` $full (`ready` $ready^)? (`empty` $empty^)? attr-dict
    `:` type($buffers)
  }];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    int64_t countStages();
    /// Whether they are of tensor memory.
    bool haveSums();
    /// Whether each stage is filled once.
    bool stays() { return !getEmpty(); }
    /// Whether consumers read several stages at once, through the end of them.
    bool slides();
    /// Of a stage.
    int64_t countBarriers() { return getReady() ? 3 : 2; }
  }];
}

def RoleOp : Wg_Op<"role", [HasParent<"ProgramOp">, SingleBlock, NoTerminator]> {
  let summary = "What some of the warpgroups run";
  let description = [{
    The next `warpgroups` of the workgroup run the body, or with `thread` one thread
    of a warp, or so many `warps`, with so many registers a thread (setmaxnreg).
    Roles of a thread and of warps that follow each other share a warpgroup. The
    argument is the number of the warpgroup, or of the warp, among those of the
    role. Each role begins at the first stage.

    Example: see `wg.program`; of warps:
    ```mlir
    wg.role "split" warps 3 registers 88 {
    ^bb0(%warp: i32):
      // Waits for full stages, and makes them ready.
    }
    ```
  }];
  let arguments = (ins StrAttr:$name,
                       DefaultValuedAttr<I64Attr, "1">:$warpgroups,
                       UnitAttr:$thread, OptionalAttr<I64Attr>:$warps,
                       I64Attr:$registers);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = [{
    $name custom<RoleThreads>($warpgroups, $thread, $warps)
    `registers` $registers attr-dict-with-keyword $body
  }];
  let hasVerifier = 1;
}

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
                           "::llvm::cast<BufferType>($_self).getTile()">]> {
  let summary = "Load rows of the stage to the registers of the warpgroup";
  let description = [{
    A value for `wg.mma` while that stage is current. To a type with `split` each f32
    is split on its way.

    In a program of waves each has its share of the rows, `at` = [slot, first column].
    Of rows that taps share they are those of the tile as the `tap` sees them, in the slot
    `behind` so many bytes (`wg.fill`).

    Example, of rows that taps share:
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
                       Optional<Wg_BoxType>:$box, OptionalAttr<I64Attr>:$tap);
  let results = (outs Wg_FragmentType:$result);
  let assemblyFormat = [{
    $buffer (`at` $at^)? (`behind` $behind^)? (`of` $box^ `tap` $tap)? attr-dict
    `:` type($buffer) `->` type($result)
  }];
  let builders = [
    OpBuilder<(ins "::mlir::Type":$result, "::mlir::Value":$buffer), [{
      build($_builder, $_state, result, buffer, ::mlir::DenseI64ArrayAttr(),
            ::mlir::Value(), ::mlir::Value(), ::mlir::IntegerAttr());
    }]>];
  let hasVerifier = 1;
  let extraClassDeclaration = "::llvm::LogicalResult verifyOfWaves();";
}

//===----------------------------------------------------------------------===//
// Copies and steps of waves
//===----------------------------------------------------------------------===//

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
    reduction go rows without taps, from its begin.

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
    OptionalTypesMatchWith<"parts before are of its type", "result", "before",
                           "$_self">]> {
  let summary = "Load the tile of a step into registers";
  let description = [{
    `at` bytes from the begin of what is walked. `part` = [i, n] is the i-th n-th of the
    loads, beside those of the parts before, which are `with` it.

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
                       Optional<Wg_PiecesType>:$before);
  let results = (outs Wg_PiecesType:$result);
  let assemblyFormat = [{
    $box `[` $at `]` (`part` $part^)? (`with` $before^)? attr-dict
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
                       OptionalAttr<DenseI64ArrayAttr>:$part);
  let assemblyFormat = [{
    $box `[` $at `]` `to` $buffer `[` $slot `]` (`behind` $behind^)? (`part` $part^)?
    attr-dict `:` type($box) `->` type($buffer)
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

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

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

//===----------------------------------------------------------------------===//
// Results
//===----------------------------------------------------------------------===//

def ResultOp : Wg_Op<"result", [AttrSizedOperandSegments]> {
  let summary = "Prepare to store a tile's results";
  let description = [{
    `row` and `column` are the first of what the warpgroup stores. A warp stages
    16 rows (columns, of a result whose rows lie together), `staged` bytes of each
    at a time, in as many slots as it has of `staging`. From there they leave by
    TMA, or `by_rows`, with addresses and checks for each. What the first piece
    needs of `ins` (see dnn.tile_store) is under way from here.

    Waves store from their registers; with `atomic` they add to what is in memory. Or
    `via` a buffer of mixed chunks, from where `wg.flush` stores.

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
                       UnitAttr:$atomic, Variadic<Dnn_ViewType>:$extras);
  let results = (outs Wg_ResultType:$result);
  let assemblyFormat = [{
    $view `[` $group `,` $row `,` $column `]` (`via` $staging^ (`staged` $staged^)?)?
    (`by_rows` $byRows^)? (`atomic` $atomic^)?
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
    of its workgroup's number among the tiles of a row.

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
                       Variadic<AnyStaticShapeMemRef>:$normNumbers);
  let regions = (region AnyRegion:$epilogue);
  let assemblyFormat = [{
    $acc `to` $result (`statistics` `(` $statistics^ `:` type($statistics) `)`)?
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

#endif // TESSERA_DIALECT_WORKGROUP_WORKGROUP_TD
