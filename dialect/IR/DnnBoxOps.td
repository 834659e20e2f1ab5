//===- DnnBoxOps.td - Boxes and matrices in point programs -*- tablegen -*-===//
//
// What point programs add for chips with a copy engine: boxes of a tensor that
// come to shared memory, and leave it, while threads do something else; and
// the matrices of 8 by 8 that a warp reads and writes there.
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_DIALECT_IR_DNNBOXOPS_TD
#define TESSERA_DIALECT_IR_DNNBOXOPS_TD

include "dialect/IR/Dnn.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

class Dnn_BoxCopyOp<string mnemonic, list<Trait> traits = []>
    : Dnn_Op<mnemonic, traits> {
  let hasVerifier = 1;
}

def BoxLoadOp : Dnn_BoxCopyOp<"box_load", [AttrSizedOperandSegments]> {
  let summary = "Begin to copy a box of a tensor to shared memory";
  let description = [{
    Copies the elements from `coordinates` on, so many along each dimension of
    the tensor as `box` says, to slot `slot` of `buffer`; what is outside of the
    tensor is zero. The copy goes on behind the op: `dnn.box_wait` waits for it.
    What threads have read of the slot before a barrier in front of the op is
    not disturbed. All threads of a workgroup reach the op.

    `buffer` is a `memref.alloca` of the program, of the type
    `memref<slots x rows x channels>` in workgroup space: a row is what lies
    together in the tensor, 16, 32, 64 or 128 bytes of it, and the box's rows
    follow in the order of the tensor's memory. Where a row's 16-byte pieces lie
    is the copy engine's choice, so that matrices of neighbouring rows are in
    different banks: only the ops of this file access the buffer. Rows come by
    eights.

    `plain`: rows lie one behind the other, and are of any whole 16 bytes. Loads
    read the buffer, behind the wait; nothing else writes it. Slots are of whole
    128 bytes, which may be more rows than the box has.

    Example: 20 rows of 64 pixels, 32 channels of each, of one image.
    ```mlir
    dnn.box_load %x[%n, %h, %w, %c] box [1, 20, 64, 32] to %raw[%slot]
        : memref<64x56x56x192xbf16>
        to memref<2x1280x32xbf16, #gpu.address_space<workgroup>>
    ```
    ```mlir
    dnn.box_load %x[%n, %h, %w, %c] box [1, 2, 57, 144] plain to %raw[%slot]
        : memref<64x56x56x144xbf16>
        to memref<3x116x144xbf16, #gpu.address_space<workgroup>>
    %v = vector.load %raw[%slot, %pixel, %channel]
        : memref<3x116x144xbf16, #gpu.address_space<workgroup>>, vector<4xbf16>
    ```
    With `if %condition`, the same for all threads of a workgroup, nothing is
    copied where it does not hold. That is a round of the slot, too, which ends
    at once, and leaves there what was there.

    It asks for strides of whole 16 bytes. With the unit attribute
    `dnn.streamed` what is copied leaves the second cache first.
    Source: PTX ISA 8.6, "cp.async.bulk.tensor", tiled mode, and "Swizzling".
  }];
  let arguments = (ins Arg<AnyStaticShapeMemRef, "", [MemRead]>:$tensor,
                       Variadic<Index>:$coordinates, DenseI64ArrayAttr:$box,
                       Arg<AnyStaticShapeMemRef, "", [MemWrite]>:$buffer,
                       Index:$slot, Optional<I1>:$condition, UnitAttr:$plain);
  let assemblyFormat = [{
    $tensor `[` $coordinates `]` `box` $box (`plain` $plain^)?
    `to` $buffer `[` $slot `]` (`if` $condition^)? attr-dict
    `:` type($tensor) `to` type($buffer)
  }];
}

def BoxWaitOp : Dnn_Op<"box_wait"> {
  let summary = "Wait for a box to have come";
  let description = [{
    Waits until the box that was the `round`th (from 0) to be copied to the slot
    is there. Every thread that reads the slot waits, before the next copy to
    the slot but one begins.

    Example: slots are filled in turn.
    ```mlir
    dnn.box_wait %raw[%slot] round %round
        : memref<2x1280x32xbf16, #gpu.address_space<workgroup>>
    ```
  }];
  let arguments = (ins Arg<AnyStaticShapeMemRef, "", [MemRead, MemWrite]>:$buffer,
                       Index:$slot, Index:$round);
  let assemblyFormat = [{
    $buffer `[` $slot `]` `round` $round attr-dict `:` type($buffer)
  }];
}

def BoxStoreOp : Dnn_BoxCopyOp<"box_store"> {
  let summary = "Begin to copy a box from shared memory to a tensor";
  let description = [{
    The way back of `dnn.box_load`, from the one slot of `buffer`; what is
    outside of the tensor is not written. It is a barrier, too: what any thread
    of the workgroup has written to the buffer before is copied.

    Example:
    ```mlir
    dnn.box_store %out to %y[%n, %h, %w, %c] box [1, 14, 56, 32]
        : memref<1x784x32xbf16, #gpu.address_space<workgroup>>
        to memref<64x56x56x192xbf16>
    ```
  }];
  let arguments = (ins Arg<AnyStaticShapeMemRef, "", [MemRead]>:$buffer,
                       Arg<AnyStaticShapeMemRef, "", [MemWrite]>:$tensor,
                       Variadic<Index>:$coordinates, DenseI64ArrayAttr:$box);
  let assemblyFormat = [{
    $buffer `to` $tensor `[` $coordinates `]` `box` $box attr-dict
    `:` type($buffer) `to` type($tensor)
  }];
}

def BoxStoreWaitOp : Dnn_Op<"box_store_wait"> {
  let summary = "Wait until stored boxes may be overwritten";
  let description = [{
    A barrier, behind which what `dnn.box_store` has copied from may be written
    again. The results themselves are seen when the kernel has ended.

    Example: `dnn.box_store_wait`
  }];
  let assemblyFormat = "attr-dict";
}

class Dnn_MatrixAccessOp<string mnemonic> : Dnn_Op<mnemonic> {
  let hasVerifier = 1;
}

def LoadMatricesOp : Dnn_MatrixAccessOp<"load_matrices"> {
  let summary = "Four matrices of 8 by 8 from shared memory to a warp";
  let description = [{
    Lane l points to row l % 8 of matrix l / 8: 8 elements of 16 bits that lie
    together and begin at a multiple of 16 bytes, in a buffer of boxes or in
    other shared memory, whose elements may be pairs. A lane gets of each matrix
    two neighbours of row l / 4, from column l % 4 * 2 on; `transposed`, of
    column l / 4, from row l % 4 * 2 on. These are the fragments of
    `nvgpu.mma.sync`. All threads of a warp reach the op.

    Example: channels of pixels become pixels of channels.
    ```mlir
    %words = dnn.load_matrices transposed %raw[%slot, %pixel, %c]
        : memref<2x1280x32xbf16, #gpu.address_space<workgroup>>
        -> vector<4x2xbf16>
    ```
    Source: PTX ISA 8.6, "ldmatrix".
  }];
  let arguments = (ins UnitAttr:$transposed,
                       Arg<AnyStaticShapeMemRef, "", [MemRead]>:$buffer,
                       Variadic<Index>:$place);
  let results = (outs FixedVectorOfRankAndType<[2], [F16, BF16]>:$matrices);
  let assemblyFormat = [{
    (`transposed` $transposed^)? $buffer `[` $place `]` attr-dict
    `:` type($buffer) `->` type($matrices)
  }];
}

def StoreMatricesOp : Dnn_MatrixAccessOp<"store_matrices"> {
  let summary = "Four matrices of 8 by 8 from a warp to shared memory";
  let description = [{
    As `dnn.load_matrices`, the other way. For chips with a copy engine.

    Example:
    ```mlir
    dnn.store_matrices transposed %words, %out[%zero, %pixel, %c]
        : vector<4x2xbf16>, memref<1x784x32xbf16, #gpu.address_space<workgroup>>
    ```
    Source: PTX ISA 8.6, "stmatrix".
  }];
  let arguments = (ins UnitAttr:$transposed,
                       FixedVectorOfRankAndType<[2], [F16, BF16]>:$matrices,
                       Arg<AnyStaticShapeMemRef, "", [MemWrite]>:$buffer,
                       Variadic<Index>:$place);
  let assemblyFormat = [{
    (`transposed` $transposed^)? $matrices `,` $buffer `[` $place `]` attr-dict
    `:` type($matrices) `,` type($buffer)
  }];
}

#endif // TESSERA_DIALECT_IR_DNNBOXOPS_TD
