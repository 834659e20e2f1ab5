//===- Workgroup.td - The wg dialect -----------------------*- tablegen -*-===//
//
// The program of a workgroup: who copies which tile into which stage of a circular buffer,
// who multiplies it, and who waits for what (docs/design/0035-workgroup-level.md). Here is its
// frame; the other ops have a file for each subject.
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_DIALECT_WORKGROUP_WORKGROUP_TD
#define TESSERA_DIALECT_WORKGROUP_WORKGROUP_TD

include "dialect/Workgroup/WorkgroupCells.td"
include "dialect/Workgroup/WorkgroupProducts.td"
include "dialect/Workgroup/WorkgroupResults.td"
include "dialect/Workgroup/WorkgroupStages.td"
include "dialect/Workgroup/WorkgroupTypes.td"
include "dialect/Workgroup/WorkgroupWaves.td"

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

def WalkOp : Wg_Op<"walk", [Pure]> {
  let summary = "The number of a tile in the order that the launch asks for";
  let description = [{
    `tile` itself, or, in a launch that begins with the last of the `of` tiles, the
    tile that is as far from the last one. The kernel has an argument for it
    (`runtime/Base/TileOrder.h`).

    Example:
    ```mlir
    %at = wg.walk %id of 1568
    ```
  }];
  let arguments = (ins I32:$tile, I64Attr:$tiles);
  let results = (outs I32:$result);
  let assemblyFormat = "$tile `of` $tiles attr-dict";
  let hasVerifier = 1;
}

def AllocOp : Wg_Op<"alloc", [HasParent<"ProgramOp">]> {
  let summary = "Shared memory of the workgroup";
  let description = [{
    In a program of narrow groups it may begin where a slot of another buffer does, `over
    %sx[1]`: over that slot and all memory behind it. In a program of waves, what results
    go through may lie `over %sx[0]`, the first operand's first slot, and so over both
    operands.

    Example:
    ```mlir
    %sa = wg.alloc : <4x192x64xbf16, row_major 128>
    ```
  }];
  let arguments = (ins Optional<Wg_BufferType>:$base, OptionalAttr<I64Attr>:$slot);
  let results = (outs Wg_BufferType:$result);
  let assemblyFormat = [{
    (`over` $base^ `[` $slot `]`)? attr-dict `:` type($result) ``
    custom<FurtherBuffer>(type($base))
  }];
  let builders = [
    OpBuilder<(ins "::mlir::Type":$result), [{
      build($_builder, $_state, result, ::mlir::Value(), ::mlir::IntegerAttr());
    }]>];
  let hasVerifier = 1;
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
    Roles of a thread and of warps that follow each other share a warpgroup. A role
    of `thread first` is the first thread's of the warpgroups behind it, which begin
    when it has ended: it can wait for none of them, and no registers move. The
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
                       I64Attr:$registers, UnitAttr:$first);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = [{
    $name custom<RoleThreads>($warpgroups, $thread, $warps) (`first` $first^)?
    `registers` $registers attr-dict-with-keyword $body
  }];
  let hasVerifier = 1;
}

#endif // TESSERA_DIALECT_WORKGROUP_WORKGROUP_TD
