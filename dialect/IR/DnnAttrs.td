//===- DnnAttrs.td - Attributes of the dnn dialect ---------*- tablegen -*-===//

#ifndef TESSERA_DIALECT_IR_DNNATTRS_TD
#define TESSERA_DIALECT_IR_DNNATTRS_TD

include "dialect/IR/Dnn.td"

// The second argument is what messages call the enum.
def Dnn_LayoutEnum : I32Enum<"Layout", "a layout", [
  I32EnumCase<"NCHW", 0, "nchw">,
  I32EnumCase<"NHWC", 1, "nhwc">,
]> {
  let cppNamespace = "::tessera::dnn";
}
def Dnn_LayoutAttr : Dnn_EnumAttr<Dnn_LayoutEnum, "layout"> {
  let summary = "Order of a tensor's dimensions, in memory unless it is strided";
  let description = [{
    Dimensions are those of an activation. A filter uses the same words: `nchw`
    is output channel, input channel, height, width; `nhwc` is output channel,
    height, width, input channel. With three spatial dimensions, depth comes
    before height in both.
  }];
}

def Dnn_ConvDirectionEnum : I32Enum<"ConvDirection", "a direction", [
  I32EnumCase<"Forward", 0, "forward">,
  I32EnumCase<"BackwardData", 1, "backward_data">,
  I32EnumCase<"BackwardWeights", 2, "backward_weights">,
]> {
  let cppNamespace = "::tessera::dnn";
}
def Dnn_ConvDirectionAttr
    : Dnn_EnumAttr<Dnn_ConvDirectionEnum, "conv_direction"> {
  let summary = "Which of a convolution's tensors is computed from the others";
}

#endif // TESSERA_DIALECT_IR_DNNATTRS_TD
