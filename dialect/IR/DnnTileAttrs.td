//===- DnnTileAttrs.td - Words of the tiled level ----------*- tablegen -*-===//
//
// Attributes and types of the ops in DnnTileOps.td.
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_DIALECT_IR_DNNTILEATTRS_TD
#define TESSERA_DIALECT_IR_DNNTILEATTRS_TD

include "dialect/IR/DnnAttrs.td"
include "mlir/IR/AttrTypeBase.td"

//===----------------------------------------------------------------------===//
// Attributes
//===----------------------------------------------------------------------===//

def Dnn_CoordsAttr : AttrDef<DnnDialect, "Coords"> {
  let mnemonic = "coords";
  let summary = "How GEMM coordinates become tensor coordinates";
  let description = [{
    Each GEMM coordinate (group, row, reduction) is *unmerged* into iteration
    dimensions of the given sizes, the last one fastest; an affine map without
    division then *embeds* them into tensor coordinates. Stride and dilation
    are its factors, padding is its negative constant, a slice (a group's
    channels) is an offset. A tensor coordinate outside its dimension means
    zero: im2col is never materialised.

    Example: the input of a 3x3 convolution with padding 1, NHWC, as the
    GEMM matrix [group, pixel, tap x channel]:
    ```mlir
    #dnn.coords<[1], [64, 14, 14], [3, 3, 256] :
      (d0, d1, d2, d3, d4, d5, d6) -> (d1, d2 + d4 - 1, d3 + d5 - 1, d0 * 256 + d6)>
    ```
  }];
  let parameters = (ins
    ArrayRefParameter<"int64_t", "sizes of all iteration dimensions">:$sizes,
    ArrayRefParameter<"int64_t", "iteration dimensions of each coordinate">:$ranks,
    "::mlir::AffineMap":$map);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    /// Sizes of the iteration dimensions of GEMM coordinate `index`.
    ::llvm::ArrayRef<int64_t> getSpace(unsigned index) const;
    /// Position in the map of the first dimension of coordinate `index`.
    unsigned getFirstDim(unsigned index) const;
    /// Number of values of GEMM coordinate `index`.
    int64_t getExtent(unsigned index) const;
  }];
}

def Dnn_CopyKindEnum : I32Enum<"CopyKind", "how tiles reach shared memory", [
    I32EnumCase<"Registers", 0, "registers">,
    I32EnumCase<"DirectToLds", 1, "direct_to_lds">,
    I32EnumCase<"CpAsync", 2, "cp_async">,
    I32EnumCase<"Tma", 3, "tma">]> {
  let cppNamespace = "::tessera::dnn";
}
def Dnn_CopyKindAttr : Dnn_EnumAttr<Dnn_CopyKindEnum, "copy">;

def Dnn_SyncKindEnum : I32Enum<"SyncKind", "how the steps are kept in order", [
    I32EnumCase<"Barrier", 0, "barrier">,
    I32EnumCase<"Mbarrier", 1, "mbarrier">]> {
  let cppNamespace = "::tessera::dnn";
}
def Dnn_SyncKindAttr : Dnn_EnumAttr<Dnn_SyncKindEnum, "sync">;

def Dnn_ScheduleKindEnum : I32Enum<"ScheduleKind", "who orders the instructions of a step", [
    I32EnumCase<"Natural", 0, "natural">,
    I32EnumCase<"Pinned", 1, "pinned">]> {
  let cppNamespace = "::tessera::dnn";
}
def Dnn_ScheduleKindAttr : Dnn_EnumAttr<Dnn_ScheduleKindEnum, "schedule">;

def Dnn_ConsumerOrderEnum : I32Enum<"ConsumerOrder", "how consumer groups share tiles", [
    I32EnumCase<"Cooperative", 0, "cooperative">,
    I32EnumCase<"PingPong", 1, "pingpong">]> {
  let cppNamespace = "::tessera::dnn";
}

def Dnn_RolesAttr : AttrDef<DnnDialect, "Roles"> {
  let mnemonic = "roles";
  let summary = "The split of a workgroup into copying and computing waves";
  let description = [{
    Without it every wave copies and computes. With it, `producers` groups of
    waves run the load region and `consumers` groups the compute region,
    either all on one tile (`cooperative`) or each on a tile of its own in
    turn (`pingpong`).

    Example: `#dnn.roles<producers = 1, consumers = 2, order = pingpong>`
  }];
  let parameters = (ins "int64_t":$producers, "int64_t":$consumers,
                        EnumParameter<Dnn_ConsumerOrderEnum>:$order);
  let assemblyFormat = "`<` struct(params) `>`";
}

def Dnn_TileDimEnum : I32Enum<"TileDim", "a dimension of an output tile", [
    I32EnumCase<"M", 0, "m">,
    I32EnumCase<"N", 1, "n">]> {
  let cppNamespace = "::tessera::dnn";
}
def Dnn_TileDimAttr : Dnn_EnumAttr<Dnn_TileDimEnum, "dim">;

//===----------------------------------------------------------------------===//
// Types
//===----------------------------------------------------------------------===//

class Dnn_ShapedType<string name, string typeMnemonic, string typeSummary>
    : TypeDef<DnnDialect, name> {
  let mnemonic = typeMnemonic;
  let summary = typeSummary;
  let parameters = (ins ArrayRefParameter<"int64_t">:$shape,
                        "::mlir::Type":$elementType);
  let hasCustomAssemblyFormat = 1;
}

def Dnn_ViewType : Dnn_ShapedType<"View", "view",
    "A tensor in memory, seen through GEMM coordinates"> {
  let description = [{
    `!dnn.view<1x12544x2304xf16>`: group x row x column. Reading outside the
    tensor (padding) gives zero; writing there, or past the view's last row or
    column, does nothing.
  }];
}

def Dnn_TileType : Dnn_ShapedType<"Tile", "tile",
    "A tile held by a workgroup"> {
  let description = [{
    `!dnn.tile<256x32xf16>`: row x column. Where it lives (registers, shared
    memory, accumulators) follows from the op that makes it.
  }];
}

#endif // TESSERA_DIALECT_IR_DNNTILEATTRS_TD
