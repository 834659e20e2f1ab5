//===- ClangCompiler.cpp - clang as a run-time compiler -------------------===//
//
// Used where there is no hiprtc. The program is run directly, without a shell,
// on files of a directory that exists for one compilation.
//
//===----------------------------------------------------------------------===//

#include "runtime/Base/Env.h"
#include "runtime/Gpu/RuntimeCompiler.h"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace tessera;

extern char **environ;

namespace {
/// A new directory that is deleted with its owner.
class ScratchDirectory {
public:
  ScratchDirectory() {
    std::error_code error;
    std::filesystem::path base = std::filesystem::temp_directory_path(error);
    path = (error ? "/tmp" : base.string()) + "/tessera-XXXXXX";
    if (!mkdtemp(path.data()))
      path.clear();
  }
  ~ScratchDirectory() {
    std::error_code error;
    if (exists())
      std::filesystem::remove_all(path, error);
  }
  ScratchDirectory(const ScratchDirectory &) = delete;
  ScratchDirectory &operator=(const ScratchDirectory &) = delete;

  bool exists() const { return !path.empty(); }
  std::string get(const char *file) const { return path + "/" + file; }

private:
  std::string path;
};

class ClangCompiler final : public RuntimeCompiler {
public:
  explicit ClangCompiler(std::string program)
      : RuntimeCompiler(std::move(program)) {}

  ErrorOr<std::vector<char>>
  compile(const std::string &source, const std::string &architecture,
          const std::vector<std::string> &options) const override;
};
} // namespace

static std::vector<char> readFile(const std::string &path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

/// Runs a program to its end, both its outputs going to the file `log`. Ok if
/// it returned 0.
static Status runProgram(std::vector<std::string> words,
                         const std::string &log) {
  std::vector<char *> arguments;
  for (std::string &word : words)
    arguments.push_back(word.data());
  arguments.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, log.c_str(),
                                   O_WRONLY | O_CREAT | O_TRUNC, 0600);
  posix_spawn_file_actions_adddup2(&actions, STDOUT_FILENO, STDERR_FILENO);
  pid_t process = 0;
  const int error = posix_spawn(&process, arguments[0], &actions, nullptr,
                                arguments.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (error)
    return unavailable("cannot run " + words[0] + ": " + std::strerror(error));
  int state = 0;
  while (waitpid(process, &state, 0) < 0)
    if (errno != EINTR)
      return unavailable("lost sight of " + words[0]);
  if (!WIFEXITED(state) || WEXITSTATUS(state) != 0)
    return invalidArgument(words[0] + " failed");
  return Status::ok();
}

ErrorOr<std::vector<char>>
ClangCompiler::compile(const std::string &source,
                       const std::string &architecture,
                       const std::vector<std::string> &options) const {
  const ScratchDirectory directory;
  if (!directory.exists())
    return unavailable("cannot make a temporary directory");
  const std::string from = directory.get("source.hip"),
                    to = directory.get("code.o"), log = directory.get("log");
  if (!(std::ofstream(from, std::ios::binary) << source))
    return unavailable("cannot write " + from);
  std::vector<std::string> words = {getName(),
                                    "-x",
                                    "hip",
                                    "--cuda-device-only",
                                    "--no-gpu-bundle-output",
                                    "--offload-arch=" + architecture,
                                    "-nogpuinc",
                                    "-nogpulib",
                                    "-std=c++17",
                                    "-O3",
                                    "-o",
                                    to};
  words.insert(words.end(), options.begin(), options.end());
  words.push_back(from);
  if (Status status = runProgram(std::move(words), log); !status.isOk()) {
    const std::vector<char> text = readFile(log);
    return Status(status.getCode(), status.getMessage() + " for " +
                                        architecture + ":\n" +
                                        std::string(text.begin(), text.end()));
  }
  return readFile(to);
}

/// The file that the shell would run for `program`.
static std::optional<std::string> findInPath(const std::string &program) {
  const std::string path = getEnvText("PATH").value_or("");
  for (size_t begin = 0; begin <= path.size();) {
    const size_t end = std::min(path.find(':', begin), path.size());
    const std::string file = path.substr(begin, end - begin) + "/" + program;
    if (file.front() == '/' && access(file.c_str(), X_OK) == 0)
      return file;
    begin = end + 1;
  }
  return std::nullopt;
}

ErrorOr<RuntimeCompilerPtr> tessera::findClang() {
  // First the clang that we build with, which knows every chip that we do, then
  // newer and older ones, then any program named clang.
  for (const char *name : {"clang-22", "clang-24", "clang-23", "clang-21",
                           "clang-20", "clang-19", "clang"})
    if (std::optional<std::string> file = findInPath(name))
      return RuntimeCompilerPtr(
          std::make_unique<ClangCompiler>(std::move(*file)));
  return notFound("there is no clang in PATH");
}
