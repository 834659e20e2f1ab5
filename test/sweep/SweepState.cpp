//===- SweepState.cpp - The progress of a sweep ---------------------------===//

#include "test/sweep/SweepState.h"

#include "tools/support/Files.h"

#include <filesystem>
#include <iomanip>
#include <sstream>

using namespace tessera;
using namespace tessera::sweep;

ErrorOr<SweepState> tessera::sweep::loadState(const SweepOptions &options) {
  SweepState state;
  state.next = options.from;
  if (options.stateFile.empty() || !std::filesystem::exists(options.stateFile))
    return state;
  const ErrorOr<std::string> text = readInput(options.stateFile);
  if (!text)
    return text.getStatus();
  std::istringstream file(*text);
  uint64_t seed = 0;
  int64_t from = 0;
  std::string word, list;
  file >> word >> std::quoted(list) >> seed >> from >> state.next >>
      state.passed >> state.compiled >> state.failed >> state.refused >>
      state.tooLarge;
  if (!file || word != "sweep")
    return invalidArgument("'" + options.stateFile +
                           "' is no state of a sweep");
  if (list != options.listFile || seed != options.seed || from != options.from)
    return invalidArgument("'" + options.stateFile +
                           "' is the state of a sweep " +
                           (list.empty() ? "with seed " + std::to_string(seed)
                                         : "of the list '" + list + "'") +
                           " from " + std::to_string(from));
  return state;
}

Status tessera::sweep::saveState(const SweepOptions &options,
                                 const SweepState &state) {
  if (options.stateFile.empty())
    return Status::ok();
  std::ostringstream file;
  file << "sweep " << std::quoted(options.listFile) << " " << options.seed
       << " " << options.from << " " << state.next << " " << state.passed << " "
       << state.compiled << " " << state.failed << " " << state.refused << " "
       << state.tooLarge << "\n";
  return writeOutput(options.stateFile, file.str());
}
