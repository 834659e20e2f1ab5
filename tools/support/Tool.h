//===- Tool.h - What every tool's main() does ------------------*- C++ -*-===//

#ifndef TESSERA_TOOLS_SUPPORT_TOOL_H
#define TESSERA_TOOLS_SUPPORT_TOOL_H

namespace tessera {

/// Runs a tool and returns its exit code. Prints the versions instead where
/// one of the words is --version. What was printed and could not be written (a
/// full disk) is a failure with a sentence, although `work` has not noticed;
/// the exit code is then `failure` if it would have been 0.
int runTool(const char *name, int argc, char **argv, int (*work)(int, char **),
            int failure = 1);

/// Lets a write beyond the limit of a file's size (ulimit -f) fail as one to a
/// full disk does, instead of ending the process. Called by runTool(), and
/// again by whoever has set handlers of signals since.
void surviveFileLimits();

} // namespace tessera

#endif // TESSERA_TOOLS_SUPPORT_TOOL_H
