//===- DnnPointOps.td - Point programs at the tiled level --*- tablegen -*-===//
//
// A kernel as a point program: everything that is no matrix product (pooling,
// depthwise, stems, sums of parts). One thread owns a point and computes with
// scf, arith, vector and math ops on what it loads; these ops add what those
// dialects lack, which is a grid, and memory that ends where its tensor ends.
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_DIALECT_IR_DNNPOINTOPS_TD
#define TESSERA_DIALECT_IR_DNNPOINTOPS_TD

include "dialect/IR/Dnn.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def ForEachPointOp : Dnn_Op<"for_each_point", [SingleBlock, NoTerminator]> {
  let summary = "Give every point of a space to a thread";
  let description = [{
    Runs the body once for each point of the space of the given sizes, the
    last dimension fastest, one thread a point and `threads` threads a
    workgroup. The block arguments are the point's coordinates.

    Points run in no order and do not see each other's stores.

    Dimensions whose sizes (together with those of the dimensions behind them)
    `threads` divides leave the dimensions before them the same for a whole
    workgroup: their arithmetic is then scalar, and so are loads that depend on
    nothing else.

    Threads of a workgroup may share memory: a `memref.alloca` in workgroup
    space, `vector.load` and `vector.store` of it, and `gpu.barrier` between
    them, which all threads must reach. DnnBoxOps.td has copies of whole boxes
    to it and back.

    Threads of a warp may share a product of matrices, `nvgpu.mma.sync` on
    fragments in registers, and exchange registers by `gpu.shuffle`: all threads
    of the warp must reach these. The i64
    attribute `dnn.resident` asks for so many workgroups on a compute unit, that
    is for no more registers than they leave each other.

    A kernel function holds one such op, after any ops that all points share,
    and a return. Its arguments are memrefs and f32 or f64 scalars; the string
    attribute `dnn.arg` of an argument is kept.

    Example: eight channels of every second pixel.
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
  let arguments = (ins DenseI64ArrayAttr:$sizes, I64Attr:$threads);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = [{
    $sizes `threads` $threads attr-dict-with-keyword $body
  }];
  let hasVerifier = 1;
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
  let summary = "Load an element or neighbouring elements, or zero outside";
  let description = [{
    Coordinates may be negative or too large: where one is outside its
    dimension, `value` is zero and `valid` is false.

    A vector holds elements that are neighbours along the last dimension of
    stride 1 and more than one element; its length divides that dimension's
    size and the other strides. The first one's coordinate must be a multiple
    of the length, and decides for all.

    `inside` lists dimensions whose coordinate the program knows to be inside;
    they are not checked.

    The unit attribute `dnn.streamed` says that caches need not keep it.

    Example: the row above, of a pixel whose image and channel are valid.
    ```mlir
    %v, %ok = dnn.point_load %x[%n, %above, %w, %c] inside [0, 3]
        : memref<64x56x56x64xf16> -> vector<8xf16>
    ```
  }];
  let arguments = (ins Arg<AnyStaticShapeMemRef, "", [MemRead]>:$source,
                       Variadic<Index>:$coordinates,
                       OptionalAttr<DenseI64ArrayAttr>:$inside);
  let results = (outs Dnn_PointValue:$value, I1:$valid);
  let assemblyFormat = [{
    $source `[` $coordinates `]` (`inside` $inside^)? attr-dict
    `:` type($source) `->` type($value)
  }];
}

def PointStoreOp : Dnn_PointAccessOp<"point_store"> {
  let summary = "Store an element or neighbouring elements; nothing outside";
  let description = [{
    As `dnn.point_load`; where a coordinate is outside its dimension, nothing
    is written.

    Example:
    ```mlir
    dnn.point_store %r, %y[%n, %p, %q, %c] inside [0, 1, 2, 3]
        : vector<8xf16>, memref<64x28x28x64xf16>
    ```
  }];
  let arguments = (ins Dnn_PointValue:$value,
                       Arg<AnyStaticShapeMemRef, "", [MemWrite]>:$target,
                       Variadic<Index>:$coordinates,
                       OptionalAttr<DenseI64ArrayAttr>:$inside);
  let assemblyFormat = [{
    $value `,` $target `[` $coordinates `]` (`inside` $inside^)? attr-dict
    `:` type($value) `,` type($target)
  }];
}

#endif // TESSERA_DIALECT_IR_DNNPOINTOPS_TD
