//===- Dnn.td - The dnn dialect ----------------------------*- tablegen -*-===//
//
// Every file of ops includes this one.
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_DIALECT_IR_DNN_TD
#define TESSERA_DIALECT_IR_DNN_TD

include "mlir/IR/EnumAttr.td"
include "mlir/IR/OpBase.td"

def DnnDialect : Dialect {
  let name = "dnn";
  let cppNamespace = "::tessera::dnn";
  let summary = "Deep-learning primitives and the tiled programs of their kernels";
  let description = [{
    The dialect has an op for each primitive that the library offers, on memrefs
    of static shape, and the ops of the tiled programs that compute a primitive.
    Primitives are specified in docs/spec and, as code, by dialect/Reference.

    A kernel at stage `dnn` is a function with the unit attribute `dnn.kernel`,
    whose body is one primitive and a return. Its arguments are tensors and then
    scalars; those of a convolution are x, w, y, the tensors of the epilogue and
    its scalars. The string attribute `dnn.arg` names each argument:

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

// The trait of the ops of stage `dnn`, each of which is the only op of its kernel
// function. They say what is computed, but not how.
def Dnn_Primitive : NativeOpTrait<"Primitive"> {
  let cppNamespace = "::tessera::dnn";
}

class Dnn_Op<string mnemonic, list<Trait> traits = []>
    : Op<DnnDialect, mnemonic, traits>;

// Ops print the bare word (`custom<EnumWord>`); elsewhere the whole attribute is
// printed, such as #dnn.layout<nhwc>.
class Dnn_EnumAttr<EnumInfo info, string mnemonic>
    : EnumAttr<DnnDialect, info, mnemonic> {
  let assemblyFormat = "`<` $value `>`";
}

#endif // TESSERA_DIALECT_IR_DNN_TD
