//===- CodeObjects.h - Code objects, once each and compressed --*- C++ -*-===//

#ifndef TESSERA_RUNTIME_DB_CODEOBJECTS_H
#define TESSERA_RUNTIME_DB_CODEOBJECTS_H

#include "runtime/Db/Sqlite.h"

#include <vector>

namespace tessera {

/// The key of a code object. Not a safe one against malice: who can write the
/// file can run code in the client anyway.
int64_t getCodeObjectHash(std::span<const char> bytes);

/// Keeps the bytes unless they are there, and returns their hash. What is
/// there and damaged is replaced; NotSupported for other bytes of the same
/// hash, which are as likely as never.
ErrorOr<int64_t> writeCodeObject(SqliteDatabase &database,
                                 std::span<const char> bytes);

/// The bytes, or NotFound if they are not there or not what they were.
ErrorOr<std::vector<char>> readCodeObject(SqliteDatabase &database,
                                          int64_t hash);

} // namespace tessera

#endif // TESSERA_RUNTIME_DB_CODEOBJECTS_H
