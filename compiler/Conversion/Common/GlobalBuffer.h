//===- GlobalBuffer.h - A tensor whose accesses are checked ----*- C++ -*--===//
//
// Accesses check an offset against the size of the memory behind a descriptor
// (DeviceOps.h): loads out of range give zero and stores do nothing. That is
// our padding and our tails, at the price of one select.
//
// Offsets have 32 bits, and we keep the upper half of them for "out of range".
// A tensor of more than 2 GiB therefore gets a descriptor of its own in each
// workgroup, which begins at the first row (image, channel) of its tile.
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_COMPILER_CONVERSION_COMMON_GLOBALBUFFER_H
#define TESSERA_COMPILER_CONVERSION_COMMON_GLOBALBUFFER_H

#include "compiler/Conversion/Common/DeviceOps.h"
#include "compiler/Conversion/Common/ViewAccess.h"

namespace tessera {

/// An offset that is out of range of every descriptor we make.
inline constexpr int64_t kOutOfRange = int64_t(1) << 31;

/// A descriptor, and where a tile begins in terms of it.
struct GlobalBuffer {
  CheckedMemory descriptor;
  /// What group and constants contribute to each form; of the offset, what is
  /// left of it behind the descriptor's first byte.
  llvm::SmallVector<mlir::Value> base;
  /// First row of the tile, relative to the descriptor's first byte.
  mlir::Value row0;
};

/// Bytes that a tile of `rows` rows may span in a descriptor of its own; the
/// lowering refuses a view where they exceed kOutOfRange.
int64_t getWindowBytes(const ViewAccess &access, int64_t rows);

/// Whether rows past the view's end, in the last of the tiles of `rows` rows,
/// may be anywhere but out of the descriptor's range or at another row's
/// place: their offsets could wrap around, or a walk along them could end
/// behind the tensor without being noticed. Of unknown sizes nothing is ruled
/// out.
bool needsRowCheck(const ViewAccess &access, int64_t rows);

/// The descriptor for the tile at `row0` of `group`. That of a tensor of
/// unknown sizes, which has at most 2 GiB, covers all of it. It begins
/// `headroom` bytes before the tensor, which one descriptor must cover then;
/// those bytes are added to every offset.
GlobalBuffer makeBuffer(Emitter &e, const ViewAccess &access,
                        mlir::Value pointer, mlir::Value group,
                        mlir::Value row0, int64_t headroom = 0);

/// Loads `type` at byte offset `lane` (range-checked) + `uniform` (the same in
/// all lanes, not checked), which are multiples of its size.
mlir::Value loadBuffer(Emitter &e, const GlobalBuffer &buffer, mlir::Type type,
                       mlir::Value lane, mlir::Value uniform);

/// Stores an integer or a vector of i32 at byte offset `lane`, a multiple of
/// its size.
void storeBuffer(Emitter &e, mlir::Value value, const GlobalBuffer &buffer,
                 mlir::Value lane);

} // namespace tessera

#endif // TESSERA_COMPILER_CONVERSION_COMMON_GLOBALBUFFER_H
