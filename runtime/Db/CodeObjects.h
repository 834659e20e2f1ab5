//===- CodeObjects.h - Code objects, once each and compressed --*- C++ -*--===//

#ifndef TESSERA_RUNTIME_DB_CODEOBJECTS_H
#define TESSERA_RUNTIME_DB_CODEOBJECTS_H

#include "runtime/Db/Sqlite.h"

#include <vector>

namespace tessera {

/// The key of a code object. The hash is no protection against malice: whoever
/// can write the file can run code in the client anyway.
int64_t getCodeObjectHash(std::span<const char> bytes);

/// Stores the bytes unless they exist, and returns their hash. A damaged entry
/// is replaced. Fails with NotSupported if other bytes have the same hash,
/// which is as good as impossible.
ErrorOr<int64_t> writeCodeObject(SqliteDatabase &database,
                                 std::span<const char> bytes);

/// Returns the bytes, or NotFound if they do not exist or are damaged.
ErrorOr<std::vector<char>> readCodeObject(SqliteDatabase &database,
                                          int64_t hash);

} // namespace tessera

#endif // TESSERA_RUNTIME_DB_CODEOBJECTS_H
