//===- SharedFolder.h - Several processes, one list of problems -*- C++ -*-===//
//
// Ranks of an MPI job, or any processes, cooperate through a folder that all of
// them see, and send no messages, so that a rank that dies can neither block
// nor end the others. A rank takes a problem by locking a byte of the file
// "claims" (runtime/Db/ByteLock.h), which the system releases when the rank
// dies, tunes it into a database of its own, and creates a file "done/<hash>".
// So a lost rank costs the time of its current problem, which another rank
// takes. The first rank that sees everything done merges the databases into
// "kernels.db".
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_TOOLS_DNN_TUNE_SHAREDFOLDER_H
#define TESSERA_TOOLS_DNN_TUNE_SHAREDFOLDER_H

#include "runtime/Base/Problem.h"

#include <functional>
#include <string>
#include <vector>

namespace tessera::tune_tool {

/// The number of this process, from the variables of an MPI launcher.
struct Rank {
  std::string name = "alone"; ///< "rank-3"; also the name of its folder.
  int number = 0;
  int local = 0; ///< Rank on this machine.
};

/// Reads the variables that Open MPI, PMIx, MPICH and Slurm set.
Rank readRank();

class SharedFolder {
public:
  /// Creates the folder if it does not exist.
  static ErrorOr<SharedFolder> open(const std::string &path, const Rank &rank);

  /// The folder of this rank's database.
  std::string getOwnFolder() const { return path + "/" + rank.name; }
  const std::string &getPath() const { return path; }

  /// Takes one problem after another, until every one is done by some rank.
  /// `work` returns whether it was: a failure ends the work of this rank and
  /// leaves the problem to others.
  Status takeProblems(const std::vector<Problem> &problems,
                      const std::function<Status(const Problem &)> &work);

  /// Merges all ranks' databases into one. True in the one process that did it.
  ErrorOr<bool> merge();

private:
  SharedFolder(std::string path, Rank rank)
      : path(std::move(path)), rank(std::move(rank)) {}

  enum class Step { Done, Busy, Worked };
  ErrorOr<Step> takeOne(const Problem &problem,
                        const std::function<Status(const Problem &)> &work);
  std::string getDoneFile(const Problem &problem) const;
  std::string getClaimFile() const { return path + "/claims"; }

  std::string path;
  Rank rank;
};

} // namespace tessera::tune_tool

#endif // TESSERA_TOOLS_DNN_TUNE_SHAREDFOLDER_H
