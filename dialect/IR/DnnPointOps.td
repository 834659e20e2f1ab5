//===- DnnPointOps.td - Point programs at the tiled level --*- tablegen -*-===//
//
// Ops of point programs, which compute everything that is not a matrix product
// (pooling, depthwise, stems, sums of partial results). A thread owns a point and
// computes with scf, arith, vector and math ops; the ops here add what those
// dialects lack: a grid of threads, and accesses with bounds checks.
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_DIALECT_IR_DNNPOINTOPS_TD
#define TESSERA_DIALECT_IR_DNNPOINTOPS_TD

include "dialect/IR/Dnn.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def ForEachPointOp : Dnn_Op<"for_each_point", [SingleBlock, NoTerminator]> {
  let summary = "Run a body for every point of a space, each on one thread";
  let description = [{
    Runs the body once for each point of a space of the given sizes, the last
    dimension fastest, on one thread each, with `threads` threads in a workgroup.
    The block arguments are the point's coordinates. A size may be a value, made
    of constants and of `memref.dim` of the function's arguments.

    Points run in no particular order and do not see each other's stores.

    If the product of the sizes of the last few dimensions is a multiple of
    `threads`, the other coordinates are uniform within a workgroup: their
    arithmetic is then scalar, and so are loads that depend on nothing else.

    Threads of a workgroup may share memory, which is a `memref.alloca` in
    workgroup space, accessed by `vector.load` and `vector.store`, with
    `gpu.barrier` between them, which all threads must reach. DnnBoxOps.td has
    copies of whole boxes to and from it.

    Threads of a warp may compute a matrix product, by `nvgpu.mma.sync` on
    fragments in registers, and may exchange registers by `gpu.shuffle`; all
    threads of the warp must reach these ops.

    The i64 attribute `dnn.resident` gives the number of workgroups that should
    be resident on a compute unit, which limits the registers of a thread.

    A kernel function has one such op, after any ops that all points share, and a
    return. Its arguments are memrefs and f32 or f64 scalars; the string
    attribute `dnn.arg` of an argument is kept.

    The example copies every second pixel, with eight channels in a thread:
    ```mlir
    func.func @subsample(%x: memref<64x56x56x64xf16>, %y: memref<64x28x28x64xf16>)
        attributes {dnn.kernel} {
      %two = arith.constant 2 : index
      %eight = arith.constant 8 : index
      dnn.for_each_point [64, 28, 28, 8] threads 256 {
      ^bb0(%n: index, %p: index, %q: index, %block: index):
        %h = arith.muli %p, %two : index
        %w = arith.muli %q, %two : index
        %c = arith.muli %block, %eight : index
        %v, %inside = dnn.point_load %x[%n, %h, %w, %c] : memref<64x56x56x64xf16> -> vector<8xf16>
        dnn.point_store %v, %y[%n, %p, %q, %c] : vector<8xf16>, memref<64x28x28x64xf16>
      }
      return
    }
    ```
  }];
  let arguments = (ins Variadic<Index>:$openSizes, DenseI64ArrayAttr:$sizes,
                       I64Attr:$threads);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = [{
    custom<DynamicIndexList>($openSizes, $sizes) `threads` $threads
    attr-dict-with-keyword $body
  }];
  let hasVerifier = 1;
  let builders = [OpBuilder<(ins "::mlir::ArrayRef<int64_t>":$sizes,
                                 "int64_t":$threads), [{
    build($_builder, $_state, ::mlir::ValueRange(), sizes, threads);
  }]>];
  let extraClassDeclaration = [{
    /// Whether all sizes are constants.
    bool hasKnownSizes() { return getOpenSizes().empty(); }
  }];
}

def Dnn_PointElement : AnyTypeOf<[AnyFloat, I8, I16, I32, I64]>;
def Dnn_PointValue
    : AnyTypeOf<[Dnn_PointElement, FixedVectorOfRankAndType<[1], [Dnn_PointElement]>]>;

class Dnn_PointAccessOp<string mnemonic> : Dnn_Op<mnemonic> {
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// Whether dimension `dim` is checked against the tensor's size.
    bool isChecked(int64_t dim) {
      return !::llvm::is_contained(
          getInside().value_or(::llvm::ArrayRef<int64_t>()), dim);
    }
  }];
}

def PointLoadOp : Dnn_PointAccessOp<"point_load"> {
  let summary = "Load neighbouring elements of a tensor; zero out of bounds";
  let description = [{
    Coordinates may be out of bounds, and negative: then `value` is zero and
    `valid` is false.

    A vector has elements that are neighbours along the last dimension of stride
    1 with more than one element; its length divides that dimension's size and
    the other strides. The coordinate of its first element must be a multiple of
    the length; only this one is checked.

    A packed tensor may have unknown sizes (`?`), but not along a vector. A
    stride is then a multiple of the known sizes that it is a product of.

    `inside` lists dimensions whose coordinates are always in bounds; they are
    not checked.

    The unit attribute `dnn.streamed` says that caches need not keep the data.

    The example loads from the row above; image and channel are always valid:
    ```mlir
    %v, %ok = dnn.point_load %x[%n, %above, %w, %c] inside [0, 3]
        : memref<64x56x56x64xf16> -> vector<8xf16>
    ```
  }];
  let arguments = (ins Arg<AnyMemRef, "", [MemRead]>:$source,
                       Variadic<Index>:$coordinates,
                       OptionalAttr<DenseI64ArrayAttr>:$inside);
  let results = (outs Dnn_PointValue:$value, I1:$valid);
  let assemblyFormat = [{
    $source `[` $coordinates `]` (`inside` $inside^)? attr-dict
    `:` type($source) `->` type($value)
  }];
}

def PointStoreOp : Dnn_PointAccessOp<"point_store"> {
  let summary = "Store neighbouring elements of a tensor; nothing out of bounds";
  let description = [{
    The rules are those of `dnn.point_load`. If a coordinate is out of bounds,
    nothing is written.

    Example:
    ```mlir
    dnn.point_store %r, %y[%n, %p, %q, %c] inside [0, 1, 2, 3]
        : vector<8xf16>, memref<64x28x28x64xf16>
    ```
  }];
  let arguments = (ins Dnn_PointValue:$value,
                       Arg<AnyMemRef, "", [MemWrite]>:$target,
                       Variadic<Index>:$coordinates,
                       OptionalAttr<DenseI64ArrayAttr>:$inside);
  let assemblyFormat = [{
    $value `,` $target `[` $coordinates `]` (`inside` $inside^)? attr-dict
    `:` type($value) `,` type($target)
  }];
}

#endif // TESSERA_DIALECT_IR_DNNPOINTOPS_TD
