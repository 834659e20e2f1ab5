//===- DnnConvOps.td - The convolution ---------------------*- tablegen -*-===//
//
// The labels conv_c1, conv_c2, ... are those of docs/spec/convolution.md.
// tools/dev/check_spec_labels.py checks that both, the verifier in DnnConvOps.cpp
// and test/lit/Dialect/invalid.mlir agree.
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_DIALECT_IR_DNNCONVOPS_TD
#define TESSERA_DIALECT_IR_DNNCONVOPS_TD

include "dialect/IR/DnnAttrs.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def ConvOp : Dnn_Op<"conv",
    [Dnn_Primitive, SingleBlock, DeclareOpInterfaceMethods<MemoryEffectsOpInterface>]> {
  let summary = "Convolution of a batch of images or volumes, or its gradient";
  let description = [{
    x, w and y are the input, the filter and the output of a convolution, or
    the gradients of these; `direction` says which one is computed from the
    other two and overwritten: y (`forward`), x (`backward_data`) or w
    (`backward_weights`).

    Every operand is a memref whose dimensions are in the order that `layouts`
    gives for x, w and y, in this sequence; it may have strides of its own. Rank
    4 has two spatial dimensions, rank 5 has depth before height. The exact
    semantics and the reason for each constraint are in
    docs/spec/convolution.md.

    `pads` are at both ends of each spatial dimension. Where the padding differs,
    they are the padding before the first element, and `after` has that after
    the last one: `pads [1, 0] after [1, 2]`.

    With `tf32`, operands of f32 may be rounded to ten bits of mantissa before
    they are multiplied, if the target has faster instructions for it.

    The epilogue maps each accumulator to the element that is stored. Its block
    takes the accumulator and an element of each tensor after `ins`, all in the
    type of the accumulator. A tensor of the result's shape is read at the
    result's coordinates, a tensor of rank 1 at its channel.

    ```mlir
    dnn.conv forward x(%x) w(%w) y(%y) layouts(nhwc, nhwc, nhwc)
        pads [1, 1] strides [1, 1] dilations [1, 1] groups 1
        epilogue ins(%bias : memref<256xf16>) {
    ^bb0(%sum: f32, %b: f32):
      %zero = arith.constant 0.0 : f32
      %biased = arith.addf %sum, %b : f32
      %relu = arith.maximumf %biased, %zero : f32
      dnn.yield %relu : f32
    } : memref<64x14x14x256xf16>, memref<256x3x3x256xf16>, memref<64x14x14x256xf16>
    ```
  }];

  let arguments = (ins
    Dnn_ConvDirectionAttr:$direction /*conv_c6*/,
    AnyMemRef:$x
      /*conv_c1, conv_c2, conv_c3, conv_c4, conv_c5, conv_c15, conv_c18*/,
    AnyMemRef:$w
      /*conv_c1, conv_c2, conv_c3, conv_c4, conv_c5, conv_c14, conv_c18*/,
    AnyMemRef:$y
      /*conv_c1, conv_c2, conv_c3, conv_c15, conv_c16, conv_c17, conv_c18, conv_c19*/,
    Dnn_LayoutAttr:$xLayout,
    Dnn_LayoutAttr:$wLayout,
    Dnn_LayoutAttr:$yLayout,
    DenseI64ArrayAttr:$pads /*conv_c7, conv_c8*/,
    OptionalAttr<DenseI64ArrayAttr>:$padsAfter /*conv_c26*/,
    DenseI64ArrayAttr:$strides /*conv_c7, conv_c9*/,
    DenseI64ArrayAttr:$dilations /*conv_c7, conv_c10*/,
    I64Attr:$groups /*conv_c11, conv_c12, conv_c13*/,
    UnitAttr:$tf32 /*conv_c25*/,
    Variadic<AnyMemRef>:$extras /*conv_c20, conv_c21*/
  );
  let regions = (region AnyRegion:$epilogue /*conv_c22, conv_c23, conv_c24*/);

  let assemblyFormat = [{
    custom<EnumWord>($direction) `x` `(` $x `)` `w` `(` $w `)` `y` `(` $y `)`
    `layouts` `(` custom<EnumWord>($xLayout) `,` custom<EnumWord>($wLayout) `,`
                  custom<EnumWord>($yLayout) `)`
    `pads` $pads (`after` $padsAfter^)? `strides` $strides `dilations` $dilations `groups` $groups
    (`tf32` $tf32^)?
    (`epilogue` (`ins` `(` $extras^ `:` type($extras) `)`)? $epilogue^)?
    attr-dict `:` type($x) `,` type($w) `,` type($y)
  }];

  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// Sizes and window, independent of layout.
    ::tessera::dnn::ConvDims getDims();

    /// The element type of the two tensors that are read, such as x and w.
    ::mlir::Type getElementType();
    /// That of the result, which may be wider.
    ::mlir::Type getResultElementType();

    /// The type of the epilogue's arithmetic and arguments: f64 or f32.
    ::mlir::Type getComputeType();

    /// The operand that is written.
    ::mlir::OpOperand &getResultOperand();
    ::tessera::dnn::Layout getResultLayout();

    /// The number of spatial dimensions: 2 or 3.
    int64_t getNumSpatialDims() { return getX().getType().getRank() - 2; }

    bool hasEpilogue() { return !getEpilogue().empty(); }
  }];
}

def StatisticsOp : Dnn_Op<"statistics"> {
  let summary = "Mean and variance of each channel of a convolution's result";
  let description = [{
    Of what the `dnn.conv` before it has stored in `tensor`, in f32: the mean of
    each channel over all images and positions, and the variance of the
    population, which is the mean of squared differences from it. The dimensions
    of `tensor` are in the order of `layout`. docs/spec/convolution.md has the
    reason for each constraint.

    ```mlir
    dnn.statistics %y layout nhwc mean(%mean) variance(%variance)
        : memref<1x4x4x16xf16>, memref<16xf32>, memref<16xf32>
    ```
  }];
  let arguments = (ins
    Arg<AnyStaticShapeMemRef, "", [MemRead]>:$tensor /*conv_c27, conv_c29*/,
    Dnn_LayoutAttr:$layout,
    Arg<AnyStaticShapeMemRef, "", [MemWrite]>:$mean /*conv_c28*/,
    Arg<AnyStaticShapeMemRef, "", [MemWrite]>:$variance /*conv_c28*/
  );
  let assemblyFormat = [{
    $tensor `layout` custom<EnumWord>($layout) `mean` `(` $mean `)`
    `variance` `(` $variance `)` attr-dict
    `:` type($tensor) `,` type($mean) `,` type($variance)
  }];
  let hasVerifier = 1;
}

def NormGradientOp : Dnn_Op<"norm_gradient", [AttrSizedOperandSegments]> {
  let summary = "The sums of a normalisation's gradient, of what backward data stores";
  let description = [{
    Of what the `dnn.conv` before it has stored in `gradient`, g, and of the input z
    that the normalisation had: for each channel, in f32, the sum of g, and that of
    g times (z - mean) inverse. `mean` and `inverse`, one over the deviation, are
    those of the normalisation.

    With `relu` the normalisation had an activation behind it: g is zero where
    fma((z - mean) inverse, scale, bias), computed in f32, is not positive, and is
    stored so. With `mask` it is zero where the tensor of that name, as large as g,
    is not positive. The dimensions of `gradient`, of z and of the mask are in the order of
    `layout`. docs/spec/convolution.md has the reason for each constraint.

    ```mlir
    dnn.norm_gradient %x layout nhwc of %z by(%mean, %inverse)
        relu(%scale : memref<8xf32>, %bias : memref<8xf32>) sums(%sum, %dot)
        : memref<1x4x4x8xf16>, memref<1x4x4x8xf16>, memref<8xf32>, memref<8xf32>,
          memref<8xf32>, memref<8xf32>
    ```
  }];
  let arguments = (ins
    Arg<AnyStaticShapeMemRef, "", [MemRead, MemWrite]>:$gradient /*conv_c30, conv_c33*/,
    Dnn_LayoutAttr:$layout,
    Arg<AnyStaticShapeMemRef, "", [MemRead]>:$input /*conv_c31*/,
    Arg<AnyStaticShapeMemRef, "", [MemRead]>:$mean /*conv_c32*/,
    Arg<AnyStaticShapeMemRef, "", [MemRead]>:$inverse /*conv_c32*/,
    Arg<Optional<AnyStaticShapeMemRef>, "", [MemRead]>:$scale /*conv_c32, conv_c34*/,
    Arg<Optional<AnyStaticShapeMemRef>, "", [MemRead]>:$bias /*conv_c32, conv_c34*/,
    Arg<Optional<AnyStaticShapeMemRef>, "", [MemRead]>:$mask /*conv_c31, conv_c34*/,
    Arg<AnyStaticShapeMemRef, "", [MemWrite]>:$sum /*conv_c32*/,
    Arg<AnyStaticShapeMemRef, "", [MemWrite]>:$dot /*conv_c32*/
  );
  let assemblyFormat = [{
    $gradient `layout` custom<EnumWord>($layout) `of` $input
    `by` `(` $mean `,` $inverse `)`
    (`relu` `(` $scale^ `:` type($scale) `,` $bias `:` type($bias) `)`)?
    (`mask` `(` $mask^ `:` type($mask) `)`)? `sums` `(` $sum `,` $dot `)` attr-dict
    `:` type($gradient) `,` type($input) `,` type($mean) `,` type($inverse)
    `,` type($sum) `,` type($dot)
  }];
  let hasVerifier = 1;
}

#endif // TESSERA_DIALECT_IR_DNNCONVOPS_TD
