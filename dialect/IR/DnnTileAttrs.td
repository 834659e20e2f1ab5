//===- DnnTileAttrs.td - Attributes of tile programs -------*- tablegen -*-===//
//
// The attributes and types of the ops in DnnTileOps.td.
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
  let summary = "Map from GEMM coordinates to tensor coordinates";
  let description = [{
    Each GEMM coordinate (group, row, reduction) is *unmerged* into iteration
    dimensions of the given sizes, the last one fastest; an affine map without
    division then *embeds* them into tensor coordinates. Strides and dilations
    are coefficients of the map, padding is a negative constant, and a slice (the
    channels of a group) is an offset. Tensor coordinates out of bounds stand for
    zeros, so that im2col is never materialised. A size that is a value of the
    view is `?`.

    The example is the input of a 3x3 convolution with padding 1, NHWC, as the
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
    /// The sizes of the iteration dimensions of GEMM coordinate `index`.
    ::llvm::ArrayRef<int64_t> getSpace(unsigned index) const;
    /// The position in the map of the first dimension of coordinate `index`.
    unsigned getFirstDim(unsigned index) const;
    /// The number of values of GEMM coordinate `index`; dynamic if a size is.
    int64_t getExtent(unsigned index) const;
  }];
}

def Dnn_CopyKindEnum : I32Enum<"CopyKind", "a kind of copy to shared memory", [
    I32EnumCase<"Registers", 0, "registers">,
    I32EnumCase<"DirectToLds", 1, "direct_to_lds">,
    I32EnumCase<"CpAsync", 2, "cp_async">,
    I32EnumCase<"Tma", 3, "tma">]> {
  let cppNamespace = "::tessera::dnn";
}
def Dnn_CopyKindAttr : Dnn_EnumAttr<Dnn_CopyKindEnum, "copy">;

def Dnn_SyncKindEnum : I32Enum<"SyncKind", "a kind of synchronization", [
    I32EnumCase<"Barrier", 0, "barrier">,
    I32EnumCase<"Mbarrier", 1, "mbarrier">]> {
  let cppNamespace = "::tessera::dnn";
}
def Dnn_SyncKindAttr : Dnn_EnumAttr<Dnn_SyncKindEnum, "sync">;

def Dnn_ScheduleKindEnum : I32Enum<"ScheduleKind", "a kind of schedule", [
    I32EnumCase<"Natural", 0, "natural">,
    I32EnumCase<"Pinned", 1, "pinned">]> {
  let cppNamespace = "::tessera::dnn";
}
def Dnn_ScheduleKindAttr : Dnn_EnumAttr<Dnn_ScheduleKindEnum, "schedule">;

def Dnn_ConsumerOrderEnum : I32Enum<"ConsumerOrder", "an order of consumers", [
    I32EnumCase<"Cooperative", 0, "cooperative">,
    I32EnumCase<"PingPong", 1, "pingpong">]> {
  let cppNamespace = "::tessera::dnn";
}

def Dnn_RolesAttr : AttrDef<DnnDialect, "Roles"> {
  let mnemonic = "roles";
  let summary = "Warp specialization: the producers and consumers of a workgroup";
  let description = [{
    Without this attribute every wave copies and computes. With it, `producers`
    groups of waves run the load region and `consumers` groups run the compute
    region. The consumers share a tile (`cooperative`), or each has a tile of its
    own and they alternate (`pingpong`).

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
    "Tensor in memory with GEMM coordinates"> {
  let description = [{
    The dimensions of `!dnn.view<1x12544x2304xf16>` are group, row and column,
    of which rows or columns may be `?`.
    Loads outside of the tensor (padding) yield zero. Stores there, or beyond the
    view's last row or column, do nothing.
  }];
}

def Dnn_TileType : Dnn_ShapedType<"Tile", "tile",
    "Tile of a workgroup"> {
  let description = [{
    The dimensions of `!dnn.tile<256x32xf16>` are row and column. The op that
    yields a tile decides where it is: in registers, in shared memory or in
    accumulators.
  }];
}

#endif // TESSERA_DIALECT_IR_DNNTILEATTRS_TD
