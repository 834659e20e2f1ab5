//===- Upkeep.h - Is a file sound, and not too large? ----------*- C++ -*-===//

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
  /// One sentence for each row that is not to be believed, and for what SQLite
  /// finds wrong with the file.
  std::vector<std::string> faults;
};

/// Reads every row and every code object. A failure says why the file cannot
/// be read at all.
ErrorOr<VerifyResult> verifyFile(DatabaseFile &file);

struct PruneOptions {
  /// Kernels of these revisions are kept; of none: those of the newest.
  std::vector<std::string> revisions;
  /// Then the kernels that were stored first go, until the file is no larger.
  int64_t maxBytes = INT64_MAX;
};

struct PruneResult {
  int64_t kernels = 0; ///< That are gone.
  int64_t bytesBefore = 0;
  int64_t bytesAfter = 0;
};

/// Deletes kernels and gives their space back. Tunings stay: they are small,
/// and outlive revisions.
ErrorOr<PruneResult> pruneFile(DatabaseFile &file, const PruneOptions &options);

} // namespace tessera

#endif // TESSERA_RUNTIME_DB_UPKEEP_H
