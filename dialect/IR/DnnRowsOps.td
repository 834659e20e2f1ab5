//===- DnnRowsOps.td - Element-wise, reducing, normalising -*- tablegen -*-===//
//
// One op for every primitive whose rows of elements are reduced to a few
// numbers before each element is mapped with them (docs/design/0015-rows.md).
//
// The labels rows_c1, rows_c2, ... are those of docs/spec/rows.md;
// tools/dev/check_spec_labels.py keeps the two, the verifier in DnnRowsOps.cpp
// and test/lit/Dialect/rows-invalid.mlir in step.
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_DIALECT_IR_DNNROWSOPS_TD
#define TESSERA_DIALECT_IR_DNNROWSOPS_TD

include "dialect/IR/DnnAttrs.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def Dnn_ReduceKindLists
    : TypedArrayAttrBase<TypedArrayAttrBase<Dnn_ReduceKindAttr, "kinds">,
                         "kinds of each reduction">;

def RowsOp : Dnn_Op<"rows",
    [Dnn_Primitive, SingleBlock, AttrSizedOperandSegments,
     DeclareOpInterfaceMethods<MemoryEffectsOpInterface>]> {
  let summary = "Reductions of rows of elements, and a map with their results";
  let description = [{
    Elements of the space `lengths` that agree in the dimensions that are not
    `reduced` are a row. Tensors are memrefs of the space's rank: an input has
    size 1 where it is broadcast, a row output in each reduced dimension, an
    output nowhere. The exact semantics and the reason for each constraint are
    in docs/spec/rows.md.

    Every region takes the element of each input, each scalar, and the results
    of all reductions before it. Elements are widened: floats to the compute
    type, which is f64 if any tensor is of f64 and else f32; integers to i32,
    or i64 if they have 64 bits.

    - `reduce KIND, ...` runs for each element of a row and yields one value a
      kind. `moments` (mean, sum of squared differences from it), `argmax` and
      `argmin` (value, number in the row as an i32) have two results.
    - `row` runs once a row, and takes elements of those inputs only that have
      one a row. It yields what goes to the row outputs, then what `map` takes
      besides.
    - `map` runs for each element and yields what goes to the outputs. It takes
      what `row` yielded besides last.

    ```mlir
    dnn.rows [64, 1000] reduced [1] ins(%x : memref<64x1000xf16>)
        rowouts(%s : memref<64x1xf32>) outs(%y : memref<64x1000xf16>)
      reduce sum {
      ^bb0(%e: f32):
        dnn.yield %e : f32
      }
      row {
      ^bb0(%sum: f32):
        %one = arith.constant 1.0 : f32
        %factor = arith.divf %one, %sum : f32
        dnn.yield %sum, %factor : f32, f32
      }
      map {
      ^bb0(%e: f32, %sum: f32, %factor: f32):
        %r = arith.mulf %e, %factor : f32
        dnn.yield %r : f32
      }
    ```
  }];

  let arguments = (ins
    DenseI64ArrayAttr:$lengths /*rows_c1*/,
    DenseI64ArrayAttr:$reduced /*rows_c2, rows_c18*/,
    Dnn_ReduceKindLists:$kinds /*rows_c12*/,
    Variadic<AnyMemRef>:$inputs /*rows_c3, rows_c4, rows_c7, rows_c9*/,
    Variadic<AnyMemRef>:$rowOutputs
      /*rows_c3, rows_c5, rows_c7, rows_c8, rows_c9, rows_c10*/,
    Variadic<AnyMemRef>:$outputs
      /*rows_c3, rows_c6, rows_c7, rows_c8, rows_c9, rows_c10*/,
    Variadic<AnyFloat>:$scalars /*rows_c11*/
  );
  let regions = (region
    AnyRegion:$row /*rows_c13, rows_c15*/,
    AnyRegion:$map /*rows_c13, rows_c16*/,
    VariadicRegion<AnyRegion>:$reduces /*rows_c12, rows_c13, rows_c14*/
  );

  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    bool isReduced(int64_t dim) {
      return ::llvm::is_contained(getReduced(), dim);
    }
    int64_t getRowLength();

    /// Whether an input has one element for each row.
    bool isOneARow(::mlir::MemRefType type);

    /// Of floats in the regions: f64 or f32.
    ::mlir::Type getComputeType();
    /// Of a tensor's element in the regions.
    ::mlir::Type getWidened(::mlir::MemRefType type);

    bool hasRow() { return !getRow().empty(); }
    bool hasMap() { return !getMap().empty(); }

    /// What reduction `index` does with the values that its region yields.
    ::llvm::SmallVector<::tessera::dnn::ReduceKind> getKindsOf(size_t index);
    /// The types of the results of reduction `index`, whose region is valid.
    ::llvm::SmallVector<::mlir::Type> getResultTypesOf(size_t index);
    /// The types of what `row` hands to `map`.
    ::llvm::SmallVector<::mlir::Type> getRowValueTypes();
  }];
}

class Dnn_RowNumberOp<string mnemonic> : Dnn_Op<mnemonic,
    [Pure, HasParent<"RowsOp">]> {
  let assemblyFormat = "attr-dict `:` type($number)";
  let hasVerifier = 1;
}

def RowIndexOp : Dnn_RowNumberOp<"row_index"> {
  let summary = "The number of the element in its row";
  let description = [{
    Counted over the reduced dimensions, the last one fastest. Only in `reduce`
    and `map`.

    ```mlir
    %n = dnn.row_index : i32
    ```
  }];
  let results = (outs I32:$number /*rows_c17*/);
}

def ElementIndexOp : Dnn_RowNumberOp<"element_index"> {
  let summary = "The number of the element in the space";
  let description = [{
    Counted over all dimensions, the last one fastest. Only in `reduce` and
    `map`.

    ```mlir
    %i = dnn.element_index : i64
    ```
  }];
  let results = (outs I64:$number /*rows_c17*/);
}

#endif // TESSERA_DIALECT_IR_DNNROWSOPS_TD
