//===- Layout.h - How tiles lie in shared memory ---------------*- C++ -*--===//
//
// The layouts of a `wg.buffer` by name; WorkgroupTypes.td says what they are.
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_DIALECT_WORKGROUP_LAYOUT_H
#define TESSERA_DIALECT_WORKGROUP_LAYOUT_H

#include "llvm/ADT/StringRef.h"

#include <optional>

namespace tessera::wg {

/// The first two are those of TMA and wgmma; the number behind a name is that
/// of the bytes of a swizzle, of banks, of rows, of lines, of pixels, of
/// channels, or of elements.
enum class Layout {
  RowMajor,
  ColumnMajor,
  Chunks,
  Blocks,
  Halo,
  Planes,
  Pixels,
  Circular,
  Diagonal,
  Windows,
  Pairs,
  Matrices,
  Lines,
  Padded,
  Plain,
  Mixed
};

llvm::StringRef getName(Layout layout);
std::optional<Layout> parseLayout(llvm::StringRef name);
/// Whether a number follows the name; and whether a slot is an operand's tile.
bool hasNumber(Layout layout);
inline bool isOfOperand(Layout layout) { return layout < Layout::Plain; }

} // namespace tessera::wg

#endif // TESSERA_DIALECT_WORKGROUP_LAYOUT_H
