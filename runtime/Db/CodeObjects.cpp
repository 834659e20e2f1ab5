//===- CodeObjects.cpp - Code objects, once each and compressed -----------===//

#include "runtime/Db/CodeObjects.h"

#include "runtime/Base/Hash.h"

#include <algorithm>

#include <zstd.h>

using namespace tessera;

/// Code objects of AMD's chips shrink to a third at any level up to 6, in 0.3
/// ms.
static constexpr int kLevel = 3;

/// Larger than any code object by far: a frame that claims to be larger is
/// damaged.
static constexpr uint64_t kMaxBytes = uint64_t(1) << 30;

int64_t tessera::getCodeObjectHash(std::span<const char> bytes) {
  Fnv1a hash;
  hash.addField(std::string_view(bytes.data(), bytes.size()));
  return static_cast<int64_t>(hash.get());
}

static ErrorOr<std::vector<char>> compress(std::span<const char> bytes) {
  std::vector<char> compressed(ZSTD_compressBound(bytes.size()));
  const size_t size = ZSTD_compress(compressed.data(), compressed.size(),
                                    bytes.data(), bytes.size(), kLevel);
  if (ZSTD_isError(size))
    return Status(StatusCode::ResourceExhausted,
                  std::string("cannot compress a code object: ") +
                      ZSTD_getErrorName(size));
  compressed.resize(size);
  return compressed;
}

ErrorOr<std::vector<char>> tessera::readCodeObject(SqliteDatabase &database,
                                                   int64_t hash) {
  ErrorOr<SqliteStatement> query =
      database.prepare("SELECT compressed FROM code_objects WHERE hash = ?1");
  if (!query)
    return query.getStatus();
  query->bind(1, hash);
  ErrorOr<bool> hasRow = query->step();
  if (!hasRow)
    return hasRow.getStatus();
  if (!*hasRow)
    return notFound("its code object is not in the file");
  std::span<const char> compressed = query->getBlob(0);
  const Status damaged = notFound("its code object is damaged");
  const uint64_t size =
      ZSTD_getFrameContentSize(compressed.data(), compressed.size());
  if (size > kMaxBytes) // The values that stand for errors are larger, too.
    return damaged;
  std::vector<char> bytes(size);
  if (ZSTD_decompress(bytes.data(), size, compressed.data(),
                      compressed.size()) != size ||
      getCodeObjectHash(bytes) != hash)
    return damaged;
  return bytes;
}

ErrorOr<int64_t> tessera::writeCodeObject(SqliteDatabase &database,
                                          std::span<const char> bytes) {
  const int64_t hash = getCodeObjectHash(bytes);
  ErrorOr<std::vector<char>> known = readCodeObject(database, hash);
  if (known && !std::ranges::equal(*known, bytes))
    return notSupported("two code objects have the same hash");
  if (known)
    return hash;
  if (known.getStatus().getCode() != StatusCode::NotFound)
    return known.getStatus();
  ErrorOr<std::vector<char>> compressed = compress(bytes);
  if (!compressed)
    return compressed.getStatus();
  ErrorOr<SqliteStatement> insert = database.prepare(
      "INSERT OR REPLACE INTO code_objects (hash, compressed) VALUES (?1, ?2)");
  if (!insert)
    return insert.getStatus();
  insert->bind(1, hash);
  insert->bindBlob(2, *compressed);
  if (ErrorOr<bool> done = insert->step(); !done)
    return done.getStatus();
  return hash;
}
