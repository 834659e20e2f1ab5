//===- DnnBoxOps.td - Boxes and matrices in point programs -*- tablegen -*-===//
//
// Ops of point programs for chips with a copy engine (TMA): asynchronous copies
// of boxes between a tensor and shared memory, and loads and stores of 8 by 8
// matrices in shared memory by a warp.
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
  let summary = "Start an asynchronous copy of a box of a tensor to shared memory";
  let description = [{
    Copies a box of the tensor to slot `slot` of `buffer`. The box begins at
    `coordinates` and has the extents `box`, one for each dimension of the
    tensor; elements outside of the tensor are zero. The copy is asynchronous:
    `dnn.box_wait` waits for it. The program must have a barrier between the last
    read of the slot's previous contents and this op. All threads of a workgroup
    must reach the op.

    `buffer` is a `memref.alloca` of the program, of the type
    `memref<slots x rows x channels>` in workgroup space. A row has 16, 32, 64 or
    128 bytes that are contiguous in the tensor, and the rows of the box are in
    the order of the tensor's memory. The copy engine swizzles the rows' 16-byte
    chunks, so that matrices of neighbouring rows are in different banks; hence
    only the ops of this file may access the buffer. The number of rows is a
    multiple of eight.

    With `plain` the rows are not swizzled, and have any multiple of 16 bytes.
    After the wait, ordinary loads may read the buffer, but nothing else may
    write it. The size of a slot is a multiple of 128 bytes; it may have more
    rows than the box.

    The first example copies 32 channels of 20 rows of 64 pixels of one image:
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
    With `if %condition`, which must be the same for all threads of a workgroup,
    nothing is copied if the condition is false. This counts as a round of the
    slot, too, which ends at once and leaves its contents.

    The tensor's strides must be multiples of 16 bytes. With the unit attribute
    `dnn.streamed` the data is evicted first from L2.

    Source: PTX ISA 8.6, "cp.async.bulk.tensor", tiled mode, and "Swizzling".
  }];
  let arguments = (ins Arg<AnyMemRef, "", [MemRead]>:$tensor,
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
  let summary = "Wait until a box has been copied";
  let description = [{
    Waits until copy number `round` (from 0) to the slot is complete. Every
    thread that reads the slot must wait, and must do so before the second-next
    copy to the slot starts.

    Example, in which slots are filled one after another:
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
  let summary = "Start an asynchronous copy of a box from shared memory to a tensor";
  let description = [{
    The reverse of `dnn.box_load`, from the only slot of `buffer`. Elements
    outside of the tensor are not written. The op is also a barrier: everything
    that threads of the workgroup have written to the buffer before is copied.

    Example:
    ```mlir
    dnn.box_store %out to %y[%n, %h, %w, %c] box [1, 14, 56, 32]
        : memref<1x784x32xbf16, #gpu.address_space<workgroup>>
        to memref<64x56x56x192xbf16>
    ```
  }];
  let arguments = (ins Arg<AnyStaticShapeMemRef, "", [MemRead]>:$buffer,
                       Arg<AnyMemRef, "", [MemWrite]>:$tensor,
                       Variadic<Index>:$coordinates, DenseI64ArrayAttr:$box);
  let assemblyFormat = [{
    $buffer `to` $tensor `[` $coordinates `]` `box` $box attr-dict
    `:` type($buffer) `to` type($tensor)
  }];
}

def BoxStoreWaitOp : Dnn_Op<"box_store_wait"> {
  let summary = "Wait until stored boxes may be overwritten";
  let description = [{
    The op is a barrier, after which the buffers of all `dnn.box_store` may be
    written again. The stored elements are visible when the kernel has ended.

    Example: `dnn.box_store_wait`
  }];
  let assemblyFormat = "attr-dict";
}

class Dnn_MatrixAccessOp<string mnemonic> : Dnn_Op<mnemonic> {
  let hasVerifier = 1;
}

def LoadMatricesOp : Dnn_MatrixAccessOp<"load_matrices"> {
  let summary = "Load four 8 by 8 matrices from shared memory into a warp";
  let description = [{
    Lane l supplies the indices of row l % 8 of matrix l / 8. A row is 8
    contiguous elements of 16 bits, aligned to 16 bytes, in a buffer of boxes or
    in other shared memory, whose elements may be pairs. Of each matrix lane l
    gets two neighbours of row l / 4, beginning at column l % 4 * 2; with
    `transposed`, two neighbours of column l / 4, beginning at row l % 4 * 2.
    These are the fragments of `nvgpu.mma.sync`. All threads of a warp must reach
    the op.

    The example transposes a matrix of pixels by channels:
    ```mlir
    %words = dnn.load_matrices transposed %raw[%slot, %pixel, %c]
        : memref<2x1280x32xbf16, #gpu.address_space<workgroup>>
        -> vector<4x2xbf16>
    ```
    Source: PTX ISA 8.6, "ldmatrix".
  }];
  let arguments = (ins UnitAttr:$transposed,
                       Arg<AnyStaticShapeMemRef, "", [MemRead]>:$buffer,
                       Variadic<Index>:$indices);
  let results = (outs FixedVectorOfRankAndType<[2], [F16, BF16]>:$matrices);
  let assemblyFormat = [{
    (`transposed` $transposed^)? $buffer `[` $indices `]` attr-dict
    `:` type($buffer) `->` type($matrices)
  }];
}

def StoreMatricesOp : Dnn_MatrixAccessOp<"store_matrices"> {
  let summary = "Store four 8 by 8 matrices from a warp to shared memory";
  let description = [{
    The reverse of `dnn.load_matrices`, with the same fragments and indices. Only
    chips with a copy engine have it.

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
                       Variadic<Index>:$indices);
  let assemblyFormat = [{
    (`transposed` $transposed^)? $matrices `,` $buffer `[` $indices `]` attr-dict
    `:` type($matrices) `,` type($buffer)
  }];
}

#endif // TESSERA_DIALECT_IR_DNNBOXOPS_TD
