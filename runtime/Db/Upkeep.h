//===- Upkeep.h - Is a file sound, and not too large? ----------*- C++ -*--===//

#ifndef TESSERA_RUNTIME_DB_UPKEEP_H
#define TESSERA_RUNTIME_DB_UPKEEP_H

#include "runtime/Db/DatabaseFile.h"

#include <string>
#include <vector>

namespace tessera {

struct VerifyResult {
  int64_t kernels = 0;
  int64_t codeObjects = 0;
  int64_t tunings = 0;
  /// One sentence for each row that cannot be trusted, and for each fault that
  /// SQLite finds in the file.
  std::vector<std::string> faults;
};

/// Reads every row and every code object. A failure says why the file cannot be
/// read.
ErrorOr<VerifyResult> verifyFile(DatabaseFile &file);

struct PruneOptions {
  /// Kernels of these revisions are kept; if there are none, those of the
  /// newest.
  std::vector<std::string> revisions;
  /// The kernels that were stored first are then deleted, until the file is no
  /// larger.
  int64_t maxBytes = INT64_MAX;
};

struct PruneResult {
  int64_t kernels = 0; ///< Deleted ones.
  int64_t bytesBefore = 0;
  int64_t bytesAfter = 0;
};

/// Deletes kernels and releases their space. Tunings stay: they are small and
/// outlive revisions.
ErrorOr<PruneResult> pruneFile(DatabaseFile &file, const PruneOptions &options);

} // namespace tessera

#endif // TESSERA_RUNTIME_DB_UPKEEP_H
