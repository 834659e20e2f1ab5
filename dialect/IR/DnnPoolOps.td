//===- DnnPoolOps.td - The pooling -------------------------*- tablegen -*-===//
//
// The labels pool_c1, pool_c2, ... are those of docs/spec/pooling.md.
// tools/dev/check_spec_labels.py checks that both, the verifier in DnnPoolOps.cpp
// and test/lit/Dialect/pool-invalid.mlir agree.
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_DIALECT_IR_DNNPOOLOPS_TD
#define TESSERA_DIALECT_IR_DNNPOOLOPS_TD

include "dialect/IR/DnnAttrs.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def PoolOp : Dnn_Op<"pool",
    [Dnn_Primitive, DeclareOpInterfaceMethods<MemoryEffectsOpInterface>]> {
  let summary = "Pooling of a batch of images, or its gradient";
  let description = [{
    `forward` computes y, and `indices` if there are any, from x. `backward`
    computes x, the gradient of the input, from y, the gradient of the output,
    and in mode `max` from the `indices` of the forward direction. Every operand
    is a memref whose dimensions are in the order that `layouts` gives for x and
    y, in this sequence; `indices` have y's order and are packed. `pads` are at
    both ends of each dimension, or before the first element if `after` has those
    after the last one. The exact
    semantics and the reason for each constraint are in docs/spec/pooling.md.

    ```mlir
    dnn.pool forward max x(%x) y(%y) indices(%i mask) layouts(nhwc, nhwc)
        window [3, 3] pads [1, 1] strides [2, 2]
        : memref<64x112x112x64xf16>, memref<64x56x56x64xf16>, memref<64x56x56x64xi8>
    ```
  }];

  let arguments = (ins
    Dnn_PoolDirectionAttr:$direction,
    Dnn_PoolModeAttr:$mode,
    AnyMemRef:$x
      /*pool_c1, pool_c2, pool_c3, pool_c4, pool_c5, pool_c6, pool_c12, pool_c13*/,
    AnyMemRef:$y
      /*pool_c1, pool_c2, pool_c3, pool_c4, pool_c5, pool_c6, pool_c7, pool_c12, pool_c13, pool_c14*/,
    Optional<AnyMemRef>:$indices
      /*pool_c15, pool_c16, pool_c18, pool_c19, pool_c20*/,
    OptionalAttr<Dnn_IndexModeAttr>:$indexMode /*pool_c17*/,
    Dnn_LayoutAttr:$xLayout,
    Dnn_LayoutAttr:$yLayout,
    DenseI64ArrayAttr:$window /*pool_c8, pool_c9*/,
    DenseI64ArrayAttr:$pads /*pool_c8, pool_c10*/,
    OptionalAttr<DenseI64ArrayAttr>:$padsAfter /*pool_c21*/,
    DenseI64ArrayAttr:$strides /*pool_c8, pool_c11*/
  );

  let assemblyFormat = [{
    custom<EnumWord>($direction) custom<EnumWord>($mode)
    `x` `(` $x `)` `y` `(` $y `)`
    (`indices` `(` $indices^ custom<EnumWord>($indexMode) `)`)?
    `layouts` `(` custom<EnumWord>($xLayout) `,` custom<EnumWord>($yLayout) `)`
    `window` $window `pads` $pads (`after` $padsAfter^)? `strides` $strides
    attr-dict `:` type($x) `,` type($y) (`,` type($indices)^)?
  }];

  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// Sizes and window, independent of layout.
    ::tessera::dnn::PoolDims getDims();

    /// The element type of x and y.
    ::mlir::Type getElementType() { return getX().getType().getElementType(); }
  }];
}

#endif // TESSERA_DIALECT_IR_DNNPOOLOPS_TD
