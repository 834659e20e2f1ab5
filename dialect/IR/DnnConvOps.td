//===- DnnConvOps.td - The convolution ---------------------*- tablegen -*-===//
//
// The labels conv_c1, conv_c2, ... are those of docs/spec/convolution.md;
// tools/dev/check_spec_labels.py keeps the two, the verifier in DnnConvOps.cpp
// and test/lit/Dialect/invalid.mlir in step.
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_DIALECT_IR_DNNCONVOPS_TD
#define TESSERA_DIALECT_IR_DNNCONVOPS_TD

include "dialect/IR/DnnAttrs.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def ConvOp : Dnn_Op<"conv", [Dnn_Primitive]> {
  let summary = "2-D convolution of a batch of images";
  let description = [{
    Computes `y = conv(x, w)` for packed tensors. Every operand is a memref
    whose dimensions are written in memory order, which `layouts` names for x,
    w and y in turn. The exact semantics and the reason for each constraint are
    in docs/spec/convolution.md.

    Only the direction `forward` passes the verifier.

    ```mlir
    dnn.conv forward ins(%x, %w) outs(%y) layouts(nhwc, nhwc, nhwc)
        pads [1, 1] strides [1, 1] dilations [1, 1] groups 1
        : memref<64x14x14x256xf16>, memref<256x3x3x256xf16>, memref<64x14x14x256xf16>
    ```
  }];

  let arguments = (ins
    Dnn_ConvDirectionAttr:$direction /*conv_c6*/,
    Arg<AnyMemRef, "input", [MemRead]>:$x
      /*conv_c1, conv_c2, conv_c3, conv_c4, conv_c5, conv_c15*/,
    Arg<AnyMemRef, "filter", [MemRead]>:$w
      /*conv_c1, conv_c2, conv_c3, conv_c4, conv_c5, conv_c14*/,
    Arg<AnyMemRef, "output, overwritten", [MemWrite]>:$y
      /*conv_c1, conv_c2, conv_c3, conv_c4, conv_c5, conv_c15, conv_c16, conv_c17*/,
    Dnn_LayoutAttr:$xLayout,
    Dnn_LayoutAttr:$wLayout,
    Dnn_LayoutAttr:$yLayout,
    DenseI64ArrayAttr:$pads /*conv_c7, conv_c8*/,
    DenseI64ArrayAttr:$strides /*conv_c7, conv_c9*/,
    DenseI64ArrayAttr:$dilations /*conv_c7, conv_c10*/,
    I64Attr:$groups /*conv_c11, conv_c12, conv_c13*/
  );

  let assemblyFormat = [{
    custom<EnumWord>($direction) `ins` `(` $x `,` $w `)` `outs` `(` $y `)`
    `layouts` `(` custom<EnumWord>($xLayout) `,` custom<EnumWord>($wLayout) `,`
                  custom<EnumWord>($yLayout) `)`
    `pads` $pads `strides` $strides `dilations` $dilations `groups` $groups
    attr-dict `:` type($x) `,` type($w) `,` type($y)
  }];

  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// Sizes and window, independent of layout.
    ::tessera::dnn::ConvDims getDims();

    /// The element type of all three tensors.
    ::mlir::Type getElementType() { return getX().getType().getElementType(); }
  }];
}

#endif // TESSERA_DIALECT_IR_DNNCONVOPS_TD
