//===- DnnAttrs.td - Attributes of the dnn dialect ---------*- tablegen -*-===//

#ifndef TESSERA_DIALECT_IR_DNNATTRS_TD
#define TESSERA_DIALECT_IR_DNNATTRS_TD

include "dialect/IR/Dnn.td"

// The second argument is the name of the enum in messages.
def Dnn_LayoutEnum : I32Enum<"Layout", "a layout", [
  I32EnumCase<"NCHW", 0, "nchw">,
  I32EnumCase<"NHWC", 1, "nhwc">,
]> {
  let cppNamespace = "::tessera::dnn";
}
def Dnn_LayoutAttr : Dnn_EnumAttr<Dnn_LayoutEnum, "layout"> {
  let summary = "Order of the dimensions of a tensor's memref";
  let description = [{
    The letters are the dimensions of an activation. It is also the order in
    memory unless the memref has strides of its own. Filters use the same words:
    `nchw` is output channel, input channel, height, width; `nhwc` is output
    channel, height, width, input channel. With three spatial dimensions, depth
    comes before height in both.
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
  let summary = "Direction of a convolution: the tensor that is computed";
}

def Dnn_PoolDirectionEnum : I32Enum<"PoolDirection", "a direction", [
  I32EnumCase<"Forward", 0, "forward">,
  I32EnumCase<"Backward", 1, "backward">,
]> {
  let cppNamespace = "::tessera::dnn";
}
def Dnn_PoolDirectionAttr
    : Dnn_EnumAttr<Dnn_PoolDirectionEnum, "pool_direction"> {
  let summary = "Direction of a pooling: the pooling itself or its gradient";
}

def Dnn_PoolModeEnum : I32Enum<"PoolMode", "a pooling mode", [
  I32EnumCase<"Max", 0, "max">,
  I32EnumCase<"Average", 1, "average">,
  I32EnumCase<"AverageInclusive", 2, "average_inclusive">,
  I32EnumCase<"MaxNan", 3, "max_nan">,
]> {
  let cppNamespace = "::tessera::dnn";
}
def Dnn_PoolModeAttr : Dnn_EnumAttr<Dnn_PoolModeEnum, "pool_mode"> {
  let summary = "Reduction of the elements of a window";
}

def Dnn_IndexModeEnum : I32Enum<"IndexMode", "an index mode", [
  I32EnumCase<"Mask", 0, "mask">,
  I32EnumCase<"Image", 1, "image">,
]> {
  let cppNamespace = "::tessera::dnn";
}
def Dnn_IndexModeAttr : Dnn_EnumAttr<Dnn_IndexModeEnum, "index_mode"> {
  let summary = "Meaning of the saved index of a maximum";
  let description = [{
    With `mask` the index counts the positions of the window, including those in
    the padding; with `image` it counts the elements of one channel of one image.
  }];
}

def Dnn_ReduceKindEnum : I32Enum<"ReduceKind", "a kind of reduction", [
  I32EnumCase<"Sum", 0, "sum">,
  I32EnumCase<"Product", 1, "product">,
  I32EnumCase<"Max", 2, "max">,
  I32EnumCase<"Min", 3, "min">,
  I32EnumCase<"MaxNum", 4, "maxnum">,
  I32EnumCase<"MinNum", 5, "minnum">,
  I32EnumCase<"Moments", 6, "moments">,
  I32EnumCase<"ArgMax", 7, "argmax">,
  I32EnumCase<"ArgMin", 8, "argmin">,
]> {
  let cppNamespace = "::tessera::dnn";
}
def Dnn_ReduceKindAttr : Dnn_EnumAttr<Dnn_ReduceKindEnum, "reduce_kind"> {
  let summary = "Reduction of the elements of a row";
  let description = [{
    `max` and `min` are NaN if any element is, `maxnum` and `minnum` only if all
    elements are. `moments` has two results, the mean and the sum of squared
    differences from it. `argmax` and `argmin` have two results, the extreme and
    the index in the row of the first element with this value; a NaN wins against
    every number.
  }];
}

#endif // TESSERA_DIALECT_IR_DNNATTRS_TD
