//===- Problem.h - What is asked of the library ----------------*- C++ -*--===//
//
// A problem is plain data: operation, direction, shapes, layouts, types and
// window, and whether its tensors may begin anywhere. Its canonical text, the
// network config, is the key of every cache and database, so two problems are
// the same exactly when their texts are.
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_RUNTIME_BASE_PROBLEM_H
#define TESSERA_RUNTIME_BASE_PROBLEM_H

#include "runtime/Base/ConvProblem.h"
#include "runtime/Base/PoolProblem.h"
#include "runtime/Base/RowWiseProblem.h"

#include <optional>
#include <string>
#include <string_view>
#include <variant>

namespace tessera {

struct Family;

/// Any problem. Plain data; each kind of problem converts to it implicitly.
class Problem {
public:
  Problem() = default;
  Problem(const ConvProblem &conv) : value(conv) {}
  Problem(const PoolProblem &pool) : value(pool) {}
  Problem(const RowWiseProblem &rows) : value(rows) {}

  /// The problem as one of its kinds, or null.
  const ConvProblem *getConv() const {
    return std::get_if<ConvProblem>(&value);
  }
  const PoolProblem *getPool() const {
    return std::get_if<PoolProblem>(&value);
  }
  const RowWiseProblem *getRows() const {
    return std::get_if<RowWiseProblem>(&value);
  }

  /// Whether tensors may begin at any element instead of at a multiple of 16
  /// bytes, as memory from hipMalloc does; the network config then ends in
  /// "-unaligned". Such kernels access one element at a time.
  bool isUnaligned() const { return unaligned; }
  /// The same problem with tensors that may begin at any element.
  Problem asUnaligned() const {
    Problem copy = *this;
    copy.unaligned = true;
    return copy;
  }

  /// Whether the kernel must do without a workspace, since the caller has none
  /// or too small a one; the network config then has "-noworkspace" behind the
  /// problem. It counts for convolutions.
  bool isWithoutWorkspace() const { return withoutWorkspace; }
  Problem asWithoutWorkspace() const {
    Problem copy = *this;
    copy.withoutWorkspace = true;
    return copy;
  }

  /// Whether a family of convolutions has the members whose results have few
  /// pixels, for which smaller tiles keep a chip busy; the network config then
  /// has "-small" behind the problem.
  bool isSmall() const { return small; }
  Problem asSmall() const {
    Problem copy = *this;
    copy.small = true;
    return copy;
  }

  /// Returns InvalidArgument with the first rule that is broken, else ok.
  Status verify() const;
  Problem canonicalize() const;
  std::string toNetworkConfig() const;

  /// Whether it stands for a family of problems: the batch size and spatial
  /// sizes, or the outermost length of rows, may be kUnknownSize.
  bool hasUnknownSizes() const;
  /// The same problem with some sizes in place of unknown ones, for models and
  /// checks that need numbers.
  Problem getSample() const;
  /// The family of a problem without unknown sizes; nothing if no kernel for
  /// unknown sizes could serve it.
  std::optional<Family> findFamily() const;
  /// The size of dimension `dim` of a tensor's memref; nothing if the problem
  /// has no such tensor, or if none of its sizes may be unknown.
  std::optional<int64_t> getTensorSize(KernelArg tensor, int64_t dim) const;

  /// A hash of every field, for tables in memory; allocates nothing.
  uint64_t getHash() const;

  friend bool operator==(const Problem &, const Problem &) = default;

private:
  std::variant<ConvProblem, PoolProblem, RowWiseProblem> value;
  bool unaligned = false;
  bool withoutWorkspace = false;
  bool small = false;
};

/// A problem with unknown sizes, and one of those that it stands for.
struct Family {
  Problem problem;
  /// The member in the form of the family, whose dimensions may be split where
  /// its own are not.
  Problem member;
};

/// The end of the network config of a family of few pixels; that of a problem
/// without a workspace follows.
inline constexpr std::string_view kSmallSuffix = "-small";

/// The end of the network config of a problem without a workspace; that of an
/// unaligned one follows.
inline constexpr std::string_view kNoWorkspaceSuffix = "-noworkspace";

/// The end of an unaligned problem's network config.
inline constexpr std::string_view kUnalignedSuffix = "-unaligned";

/// Whether a word begins as a network config does.
bool isNetworkConfig(std::string_view word);

/// Reads what toNetworkConfig() writes.
ErrorOr<Problem> parseNetworkConfig(std::string_view text);

} // namespace tessera

#endif // TESSERA_RUNTIME_BASE_PROBLEM_H
