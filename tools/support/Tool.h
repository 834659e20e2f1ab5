//===- Tool.h - What every tool's main() does ------------------*- C++ -*--===//

#ifndef TESSERA_TOOLS_SUPPORT_TOOL_H
#define TESSERA_TOOLS_SUPPORT_TOOL_H

namespace tessera {

/// Runs a tool and returns its exit code. If one of the words is --version, it
/// prints the versions instead. If printed text could not be written (a full
/// disk), that is a failure with a sentence, although `work` has not noticed;
/// the exit code is then `failure` if it would have been 0.
int runTool(const char *name, int argc, char **argv, int (*work)(int, char **),
            int failure = 1);

/// Makes a write beyond the limit of a file's size (ulimit -f) fail like one to
/// a full disk, instead of ending the process. runTool() calls it; code that
/// has set handlers of signals since must call it again.
void surviveFileLimits();

} // namespace tessera

#endif // TESSERA_TOOLS_SUPPORT_TOOL_H
