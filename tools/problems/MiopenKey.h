//===- MiopenKey.h - MIOpen's names of convolutions ------------*- C++ -*--===//
//
// The key of MIOpen's find and perf databases.
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_TOOLS_PROBLEMS_MIOPENKEY_H
#define TESSERA_TOOLS_PROBLEMS_MIOPENKEY_H

#include "runtime/Base/Problem.h"

#include <array>
#include <optional>
#include <string_view>

namespace tessera {

/// The fields of a key, in MIOpen's terms: "in" is the tensor that the
/// direction reads besides the filter, so it is x forward and y in both
/// backward directions, and "out" is the other one. Depth comes first and is 1
/// (padding 0) unless `hasDepth`.
struct MiopenKey {
  using Three = std::array<int64_t, 3>;

  bool hasDepth = false;
  int64_t inChannels = 1;
  int64_t outChannels = 1;
  int64_t batch = 1;
  int64_t groups = 1;
  int64_t bias = 0;
  Three in{1, 1, 1};
  std::optional<Three> out; ///< SQLite files lack it.
  Three filter{1, 1, 1};
  Three pad{0, 0, 0};
  Three stride{1, 1, 1};
  Three dilation{1, 1, 1};
  std::string_view inLayout, filterLayout, outLayout;
  std::string_view dataType;
  std::string_view direction;
};

/// Whether a line begins like a record of a text database, "KEY=VALUES".
bool isMiopenRecord(std::string_view line);

/// Parses the problem of such a line.
ErrorOr<Problem> parseMiopenRecord(std::string_view line);

/// The convolution of a key. Without `out`, backward keys of strided
/// convolutions determine the size of x only up to a stride; of those sizes
/// this takes the one that the stride divides, which is the usual one, else the
/// smallest. The result need not be valid.
ErrorOr<Problem> toProblem(const MiopenKey &key);

} // namespace tessera

#endif // TESSERA_TOOLS_PROBLEMS_MIOPENKEY_H
