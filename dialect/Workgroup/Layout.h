//===- Layout.h - How tiles lie in shared memory ---------------*- C++ -*--===//
//
// The layouts of a `wg.buffer` by name; Workgroup.td says what they are.
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_DIALECT_WORKGROUP_LAYOUT_H
#define TESSERA_DIALECT_WORKGROUP_LAYOUT_H

#include "llvm/ADT/StringRef.h"

#include <optional>

namespace tessera::wg {

/// The first two are those of TMA and wgmma; the number behind a name is that
/// of the bytes of a swizzle, of banks, or of rows.
enum class Layout {
  RowMajor,
  ColumnMajor,
  Chunks,
  Blocks,
  Pairs,
  Matrices,
  Lines,
  Plain
};

llvm::StringRef getName(Layout layout);
std::optional<Layout> parseLayout(llvm::StringRef name);
/// Whether a number follows the name.
bool hasNumber(Layout layout);

} // namespace tessera::wg

#endif // TESSERA_DIALECT_WORKGROUP_LAYOUT_H
