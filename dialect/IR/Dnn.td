//===- Dnn.td - The dnn dialect ----------------------------*- tablegen -*-===//
//
// Every op file includes this one.
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_DIALECT_IR_DNN_TD
#define TESSERA_DIALECT_IR_DNN_TD

include "mlir/IR/EnumAttr.td"
include "mlir/IR/OpBase.td"

def DnnDialect : Dialect {
  let name = "dnn";
  let cppNamespace = "::tessera::dnn";
  let summary = "Deep-learning primitives, from the problem to its tiles";
  let description = [{
    One op for each primitive that the library offers, on memrefs of static
    shape; and the ops that such a primitive is tiled into. What a primitive
    computes is defined in docs/spec, and by dialect/Reference in code.

    A kernel at stage `dnn` is a function with the unit attribute `dnn.kernel`,
    whose body is one primitive and a return. Its arguments are the tensors,
    a convolution's in the order x, w, y and then those of the epilogue, and
    after them scalars; the string attribute `dnn.arg` says what each is:

    ```mlir
    func.func @conv(%x: memref<1x8x8x4xf16> {dnn.arg = "x"},
                    %w: memref<16x3x3x4xf16> {dnn.arg = "w"},
                    %y: memref<1x6x6x16xf16> {dnn.arg = "y"})
        attributes {dnn.kernel} {
      dnn.conv forward x(%x) w(%w) y(%y) layouts(nhwc, nhwc, nhwc)
          pads [0, 0] strides [1, 1] dilations [1, 1] groups 1
          : memref<1x8x8x4xf16>, memref<16x3x3x4xf16>, memref<1x6x6x16xf16>
      return
    }
    ```
  }];
  let useDefaultAttributePrinterParser = 1;
  let useDefaultTypePrinterParser = 1;
  let extraClassDeclaration = [{
    void registerAttributes();
    void registerTypes();
  }];
}

// What a user asks for, as opposed to how it is computed: the ops of stage
// `dnn`, each alone in its kernel function.
def Dnn_Primitive : NativeOpTrait<"Primitive"> {
  let cppNamespace = "::tessera::dnn";
}

class Dnn_Op<string mnemonic, list<Trait> traits = []>
    : Op<DnnDialect, mnemonic, traits>;

// Inside an op, the word alone is written (`custom<EnumWord>`); elsewhere the
// whole attribute, such as #dnn.layout<nhwc>.
class Dnn_EnumAttr<EnumInfo info, string mnemonic>
    : EnumAttr<DnnDialect, info, mnemonic> {
  let assemblyFormat = "`<` $value `>`";
}

#endif // TESSERA_DIALECT_IR_DNN_TD
