//===- Collector.h - Gathers a file's problems -----------------*- C++ -*--===//
//
// The readers of all kinds of files write into a collector. It canonicalizes
// problems, counts repetitions, and groups what was skipped by its reason, so
// that a database of 200,000 lines gives a report of one screen.
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_TOOLS_PROBLEMS_COLLECTOR_H
#define TESSERA_TOOLS_PROBLEMS_COLLECTOR_H

#include "tools/problems/ProblemFile.h"

#include <span>
#include <unordered_map>

namespace tessera {

class ProblemCollector {
public:
  /// Adds a problem, which need not be valid, or records that it was skipped.
  void add(const Problem &problem, int64_t count, const std::string &source);
  void add(const ErrorOr<std::vector<Problem>> &problems, int64_t count,
           const std::string &source);
  void passOver(const std::string &reason, const std::string &source);

  ProblemFile take() { return std::move(file); }

private:
  struct Hash {
    size_t operator()(const Problem &problem) const {
      return problem.getHash();
    }
  };

  ProblemFile file;
  std::unordered_map<Problem, size_t, Hash> known;
  std::unordered_map<std::string, size_t> reasons;
};

// Each kind of file has a reader. It adds what it finds and fails only if the
// file as a whole cannot be read.

Status readTextProblems(const std::string &path,
                        const ProblemFileOptions &options,
                        ProblemCollector &collector);
Status readSqliteProblems(const std::string &path, ProblemCollector &collector);
Status readModelProblems(const std::string &path,
                         const ProblemFileOptions &options,
                         ProblemCollector &collector);

/// The exit code of dnn-onnx if it found no problem in a sound model; the lines
/// about skipped nodes say why.
inline constexpr int kOnlyPassedOver = 3;

/// A line of dnn-onnx's output: a config and its node, or a reason and its
/// node.
std::string toModelLine(const Problem &problem, const std::string &node);
std::string toModelLine(const Status &passedOver, const std::string &node);

} // namespace tessera

#endif // TESSERA_TOOLS_PROBLEMS_COLLECTOR_H
