//===- WorkgroupTypes.td - The wg dialect and its types ----*- tablegen -*-===//
//
// What ops have in their hands: buffers and their layouts, stages, tiles on their way,
// fragments and sums.
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_DIALECT_WORKGROUP_WORKGROUPTYPES_TD
#define TESSERA_DIALECT_WORKGROUP_WORKGROUPTYPES_TD

include "dialect/IR/DnnTileAttrs.td"
include "mlir/Interfaces/ControlFlowInterfaces.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def WgDialect : Dialect {
  let name = "wg";
  let cppNamespace = "::tessera::wg";
  let summary = "Programs of a workgroup";
  let description = [{
    A kernel at stage `workgroup` is a `dnn.kernel` function with views of its
    tensors and one `wg.program`. Loops and branches are those of `scf`, numbers
    (of tiles, steps, rows) are i32.
  }];
  let useDefaultTypePrinterParser = 1;
  let extraClassDeclaration = [{
    void registerTypes();
  }];
}

class Wg_Op<string mnemonic, list<Trait> traits = []>
    : Op<WgDialect, mnemonic, traits>;

//===----------------------------------------------------------------------===//
// Types
//===----------------------------------------------------------------------===//

def Wg_BufferType : TypeDef<WgDialect, "Buffer"> {
  let mnemonic = "buffer";
  let summary = "Slots of shared memory, each with a tile";
  let description = [{
    `!wg.buffer<4x192x64xbf16, row_major 128>` has 4 slots of 192 rows and 64
    columns. What lies together is a piece of a row, or, `column_major`, of a
    column; behind it is the same piece of the next. The piece has so many bytes,
    128, 64 or 32, and its 16-byte chunks are swizzled as TMA does it for that
    size. A slot begins at a multiple of 1024 bytes. With `split` behind the swizzle
    it has twice the space: f32 become terms of bf16 there (`wg.prepare`). With
    `mirror` a copy of the first slot is behind the last, so that columns can be read
    through the end of the slots to their begin (`wg.slide`).

    Other layouts are those that threads write and read, in 16-byte chunks of rows
    (compiler/Conversion/Cooperative/LdsTile.h): `<2x256x32xf16, chunks 32>` is
    swizzled for LDS of 32 banks, `blocks 4` for threads that transpose 4 rows on
    their way, `pairs` for those that take two rows of which either may be missing,
    `matrices` for ldmatrix. `lines` are columns, as memory has them, which are
    transposed when they are read. `plain` is no tile but so many elements. `mixed` is a
    tile of results that leave in 16-byte chunks of rows
    (compiler/Conversion/Cooperative/StagedStore.h).

    Two layouts are for rows that the taps of a filter share, the pixels of the tile and
    those around it: `<2x128x32xf16, halo 160>` has slots of 160 pixels with 32 channels
    each, the line of zeros behind the slots is for what is outside of the image
    (compiler/Conversion/Cooperative/HaloLines.h). `planes 256` has them from images whose
    channels are planes; the last pixels of a slot are zeros (PlaneHalo.h).

    Two layouts are for operands whose whole reduction is there at once:
    `<1x256x176xf16, windows 4292>` has slots of so many elements, in which the windows of
    256 neighbouring pixels overlap (compiler/Conversion/Cooperative/WindowTile.h), and
    `padded` has rows an odd number of chunks apart (ResidentTile.h).

    Three layouts are for 64 channels of narrow groups (docs/design/0010-groups.md).
    `<2x112x576xf16, pixels 180>` has slots of 180 pixels with 64 channels each, those that
    all taps of a block of 112 results see; of backward weights the columns of the tile are
    the block's pixels (compiler/Conversion/Ampere/ImageTile.h). In
    `<9x40x576xf16, circular 22>` slots are lines of 22 such pixels, of which a block sees
    several (LineRing.h). `diagonal 8` has the rows of a filter as memory has them, with the
    8 channels of one group for each tap: what is of other groups is zero (CellFilter.h).
  }];
  let parameters = (ins "int64_t":$slots, "int64_t":$rows, "int64_t":$columns,
                        "::mlir::Type":$elementType,
                        "::tessera::wg::Layout":$layout, "int64_t":$swizzle,
                        "bool":$isSplit, "bool":$isMirrored);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    bool getColumnMajor() const { return getLayout() == Layout::ColumnMajor; }
    /// Whether TMA and wgmma have this layout, or threads.
    bool isOfTma() const {
      return getLayout() == Layout::RowMajor || getColumnMajor();
    }
    /// Whether taps share what is in a slot.
    bool isShared() const {
      return getLayout() == Layout::Halo || getLayout() == Layout::Planes;
    }
    /// Whether a slot has the whole reduction.
    bool isWhole() const {
      return getLayout() == Layout::Windows || getLayout() == Layout::Padded;
    }
    /// Of a slot, up to the next one; and of all of them.
    int64_t getSlotBytes() const;
    /// Whether it has 64 channels of narrow groups.
    bool isOfCells() const {
      return getLayout() == Layout::Pixels || getLayout() == Layout::Circular ||
             getLayout() == Layout::Diagonal;
    }
    /// Rows of it, and the tile that a slot has.
    BufferType withRows(int64_t rows) const;
    BoxType getTile() const;
    int64_t getBytes() const;
  }];
}

def Wg_StagesType : TypeDef<WgDialect, "Stages"> {
  let mnemonic = "stages";
  let summary = "Stages that are filled and read one behind the other";
}

def Wg_BoxType : TypeDef<WgDialect, "Box"> {
  let mnemonic = "box";
  let summary = "What copies of a tile's steps have in common";
  let parameters = (ins "int64_t":$rows, "int64_t":$columns,
                        "::mlir::Type":$elementType);
  let hasCustomAssemblyFormat = 1;
}

def Wg_PiecesType : TypeDef<WgDialect, "Pieces"> {
  let mnemonic = "pieces";
  let summary = "A tile on its way, in the registers of the workgroup";
  let description = [{
    `!wg.pieces<256x32xf16>`: each thread has some pieces of it, which `wg.fetch` has
    loaded from memory, and `wg.put` will write to shared memory.
  }];
  let parameters = (ins "int64_t":$rows, "int64_t":$columns,
                        "::mlir::Type":$elementType);
  let hasCustomAssemblyFormat = 1;
}

def Wg_FragmentType : TypeDef<WgDialect, "Fragment"> {
  let mnemonic = "fragment";
  let summary = "A tile of an operand in the registers of a wave or a warpgroup";
  let description = [{
    `!wg.fragment<64x32xf32>`: 64 rows and 32 columns as wgmma takes them, or
    as the matrix instruction of the product does. With `split` each f32 is its terms
    of bf16 (docs/design/0027-splits-in-registers.md).
  }];
  let parameters = (ins "int64_t":$rows, "int64_t":$columns,
                        "::mlir::Type":$elementType, "bool":$isSplit);
  let hasCustomAssemblyFormat = 1;
}

def Wg_AccType : TypeDef<WgDialect, "Acc"> {
  let mnemonic = "acc";
  let summary = "Accumulators of a warpgroup, or of all waves";
  let description = [{
    `!wg.acc<64x128>`: f32 of 64 rows and 128 columns of the result, in registers
    as wgmma leaves them; or of the tile of a workgroup, in those of all its waves, as
    their matrix instruction does, whose sums may be i32 or f64. With `lanes m` rows of the instruction are columns of the
    result (docs/design/0016-swapped-operands.md).
  }];
  let parameters = (ins "int64_t":$rows, "int64_t":$columns,
                        "bool":$isSwapped);
  let hasCustomAssemblyFormat = 1;
  let extraClassDeclaration = [{
    /// Instructions that share it, and the columns of each.
    int64_t countBlocks() const;
    int64_t getProductColumns() const;
  }];
}

def Wg_SumsType : TypeDef<WgDialect, "Sums"> {
  let mnemonic = "sums";
  let summary = "Slots of tensor memory, each with sums";
  let description = [{
    `!wg.sums<2x128x64>`: 2 slots of f32 of 128 rows and 64 columns of the result,
    in the tensor memory of a multiprocessor (sm_100), which has 128 lanes of 512
    words. A slot's rows are lanes, its columns words.
  }];
  let parameters = (ins "int64_t":$slots, "int64_t":$rows, "int64_t":$columns);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
}

def Wg_ResultType : TypeDef<WgDialect, "Result"> {
  let mnemonic = "result";
  let summary = "Where the results of a tile go";
}

#endif // TESSERA_DIALECT_WORKGROUP_WORKGROUPTYPES_TD
