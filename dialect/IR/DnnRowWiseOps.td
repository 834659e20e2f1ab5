//===- DnnRowWiseOps.td - Row-wise operations -------------*- tablegen -*--===//
//
// One op serves every primitive that reduces rows of elements to a few numbers
// and then maps each element with these: softmax, normalisations, reductions and
// element-wise operations (docs/design/0015-row-wise.md).
//
// The labels rowwise_c1, rowwise_c2, ... are those of docs/spec/row-wise.md.
// tools/dev/check_spec_labels.py checks that both, the verifier in DnnRowWiseOps.cpp
// and test/lit/Dialect/rowwise-invalid.mlir agree.
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_DIALECT_IR_DNNROWSOPS_TD
#define TESSERA_DIALECT_IR_DNNROWSOPS_TD

include "dialect/IR/DnnAttrs.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def Dnn_ReduceKindLists
    : TypedArrayAttrBase<TypedArrayAttrBase<Dnn_ReduceKindAttr, "kinds">,
                         "kinds of each reduction">;

def RowWiseOp : Dnn_Op<"row_wise",
    [Dnn_Primitive, SingleBlock, AttrSizedOperandSegments,
     DeclareOpInterfaceMethods<MemoryEffectsOpInterface>]> {
  let summary = "Row-wise operation: reductions of rows and a map with their results";
  let description = [{
    A row is the set of elements of the space `lengths` that differ in `reduced`
    dimensions only. Tensors are memrefs of the space's rank. An input has size 1
    in dimensions in which it is broadcast, a row output has size 1 in every
    reduced dimension, and an output has the sizes of the space. The exact
    semantics and the reason for each constraint are in docs/spec/row-wise.md.

    Every region takes an element of each input, each scalar, and the results of
    all reductions before it. Elements are widened: floats to the compute type,
    which is f64 if any tensor is f64 and f32 otherwise; integers to i32, or to
    i64 if they have 64 bits.

    - `reduce KIND, ...` runs for each element of a row and yields one value for
      each kind. `moments` (mean, sum of squared differences from it), `argmax`
      and `argmin` (value, index in the row as an i32) have two results.
    - `row` runs once for each row, and takes elements only of inputs that have
      one element a row. It yields the elements of the row outputs, and then any
      further values that `map` takes.
    - `map` runs for each element and yields the elements of the outputs. Its
      last arguments are the further values of `row`.

    ```mlir
    dnn.row_wise [64, 1000] reduced [1] ins(%x : memref<64x1000xf16>)
        rowouts(%s : memref<64x1xf32>) outs(%y : memref<64x1000xf16>)
      reduce sum {
      ^bb0(%e: f32):
        dnn.yield %e : f32
      }
      row {
      ^bb0(%sum: f32):
        %one = arith.constant 1.0 : f32
        %scale = arith.divf %one, %sum : f32
        dnn.yield %sum, %scale : f32, f32
      }
      map {
      ^bb0(%e: f32, %sum: f32, %scale: f32):
        %r = arith.mulf %e, %scale : f32
        dnn.yield %r : f32
      }
    ```
  }];

  let arguments = (ins
    DenseI64ArrayAttr:$lengths /*rowwise_c1, rowwise_c19*/,
    DenseI64ArrayAttr:$reduced /*rowwise_c2, rowwise_c18*/,
    Dnn_ReduceKindLists:$kinds /*rowwise_c12*/,
    Variadic<AnyMemRef>:$inputs /*rowwise_c3, rowwise_c4, rowwise_c7, rowwise_c9*/,
    Variadic<AnyMemRef>:$rowOutputs
      /*rowwise_c3, rowwise_c5, rowwise_c7, rowwise_c8, rowwise_c9, rowwise_c10*/,
    Variadic<AnyMemRef>:$outputs
      /*rowwise_c3, rowwise_c6, rowwise_c7, rowwise_c8, rowwise_c9, rowwise_c10*/,
    Variadic<AnyFloat>:$scalars /*rowwise_c11*/
  );
  let regions = (region
    AnyRegion:$row /*rowwise_c13, rowwise_c15*/,
    AnyRegion:$map /*rowwise_c13, rowwise_c16*/,
    VariadicRegion<AnyRegion>:$reduces /*rowwise_c12, rowwise_c13, rowwise_c14*/
  );

  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    bool isReduced(int64_t dim) {
      return ::llvm::is_contained(getReduced(), dim);
    }
    int64_t getRowLength();

    /// Whether an input has one element for each row.
    bool isOnePerRow(::mlir::MemRefType type);

    /// The type of floats in the regions: f64 or f32.
    ::mlir::Type getComputeType();
    /// The type of a tensor's elements in the regions.
    ::mlir::Type getWidened(::mlir::MemRefType type);

    bool hasRow() { return !getRow().empty(); }
    bool hasMap() { return !getMap().empty(); }

    /// The kinds of reduction `index`, one for each value that its region yields.
    ::llvm::SmallVector<::tessera::dnn::ReduceKind> getKindsOf(size_t index);
    /// The types of the results of reduction `index`, whose region is valid.
    ::llvm::SmallVector<::mlir::Type> getResultTypesOf(size_t index);
    /// The types of the further values that `row` yields for `map`.
    ::llvm::SmallVector<::mlir::Type> getRowValueTypes();
  }];
}

class Dnn_RowNumberOp<string mnemonic> : Dnn_Op<mnemonic,
    [Pure, HasParent<"RowWiseOp">]> {
  let assemblyFormat = "attr-dict `:` type($number)";
  let hasVerifier = 1;
}

def RowIndexOp : Dnn_RowNumberOp<"row_index"> {
  let summary = "Index of the element in its row";
  let description = [{
    The linear index over the reduced dimensions, the last one fastest. The op is
    allowed in regions `reduce` and `map` only.

    ```mlir
    %n = dnn.row_index : i32
    ```
  }];
  let results = (outs I32:$number /*rowwise_c17*/);
}

def ElementIndexOp : Dnn_RowNumberOp<"element_index"> {
  let summary = "Index of the element in the space";
  let description = [{
    The linear index over all dimensions, the last one fastest. The op is allowed
    in regions `reduce` and `map` only.

    ```mlir
    %i = dnn.element_index : i64
    ```
  }];
  let results = (outs I64:$number /*rowwise_c17*/);
}

#endif // TESSERA_DIALECT_IR_DNNROWSOPS_TD
