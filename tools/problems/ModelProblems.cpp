//===- ModelProblems.cpp - Problems of a model, by dnn-onnx ---------------===//
//
// Models are read by a separate program, so that no other tool links the ONNX
// library, and a tool whose model crashes that library reports it and
// continues.
//
//===----------------------------------------------------------------------===//

#include "tools/problems/Collector.h"

#include <array>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace tessera;

static constexpr std::string_view kPassedOver = "# passed over\t";

//===----------------------------------------------------------------------===//
// Lines
//===----------------------------------------------------------------------===//

/// Makes one field of a line, whatever characters a model has in its names.
static std::string toField(std::string text) {
  for (char &c : text)
    if (static_cast<unsigned char>(c) < ' ')
      c = '?';
  return text;
}

std::string tessera::toModelLine(const Problem &problem,
                                 const std::string &node) {
  return problem.toNetworkConfig() + "\t# " + toField(node) + "\n";
}

std::string tessera::toModelLine(const Status &passedOver,
                                 const std::string &node) {
  return std::string(kPassedOver) + toField(passedOver.getMessage()) + "\t# " +
         toField(node) + "\n";
}

static void readModelLine(const std::string &path, std::string_view line,
                          ProblemCollector &collector) {
  const bool isProblem = !line.starts_with(kPassedOver);
  if (!isProblem)
    line.remove_prefix(kPassedOver.size());
  const size_t tab = line.find("\t# ");
  if (tab == line.npos)
    return;
  const std::string text(line.substr(0, tab));
  const std::string source = path + ": " + std::string(line.substr(tab + 3));
  if (!isProblem)
    return collector.passOver(text, source);
  ErrorOr<Problem> problem = parseNetworkConfig(text);
  if (problem)
    collector.add(*problem, 1, source);
  else
    collector.passOver(problem.getStatus().getMessage(), source);
}

//===----------------------------------------------------------------------===//
// The program
//===----------------------------------------------------------------------===//

/// The reader lies beside the running program, in builds and installations;
/// else its name, for the PATH.
static std::string findReader() {
  std::error_code error;
  const std::filesystem::path self =
      std::filesystem::read_symlink("/proc/self/exe", error);
  const std::filesystem::path beside = self.parent_path() / "dnn-onnx";
  return !error && std::filesystem::exists(beside, error) ? beside.string()
                                                          : "dnn-onnx";
}

namespace {
struct Pipe {
  std::array<int, 2> ends{-1, -1};

  Pipe() {
    if (pipe2(ends.data(), O_CLOEXEC) != 0)
      ends = {-1, -1};
  }
  ~Pipe() {
    closeWriter();
    if (ends[0] >= 0)
      close(ends[0]);
  }
  Pipe(const Pipe &) = delete;
  Pipe &operator=(const Pipe &) = delete;

  bool isOpen() const { return ends[0] >= 0; }
  void closeWriter() {
    if (ends[1] >= 0)
      close(ends[1]);
    ends[1] = -1;
  }
  std::string readAll() const {
    std::string text;
    std::array<char, 65536> buffer;
    for (;;) {
      const ssize_t size = read(ends[0], buffer.data(), buffer.size());
      if (size < 0 && errno == EINTR)
        continue;
      if (size <= 0)
        return text;
      text.append(buffer.data(), static_cast<size_t>(size));
    }
  }
};

struct Answer {
  std::string text; ///< Standard output, or the text of a failure.
  int status = 0;   ///< That of waitpid().
};
} // namespace

/// Runs the program; both of its outputs go into one pipe, since it writes to
/// only one of them.
static ErrorOr<Answer> runReader(const std::vector<std::string> &words) {
  Pipe pipe;
  if (!pipe.isOpen())
    return unavailable(std::string("cannot make a pipe: ") +
                       std::strerror(errno));
  std::vector<char *> arguments;
  for (const std::string &word : words)
    arguments.push_back(const_cast<char *>(word.c_str()));
  arguments.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, pipe.ends[1], STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&actions, pipe.ends[1], STDERR_FILENO);
  pid_t child = -1;
  const int error = posix_spawnp(&child, words[0].c_str(), &actions, nullptr,
                                 arguments.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (error != 0)
    return notSupported(
        "it is neither text nor SQLite, and there is no dnn-onnx to read a "
        "model with (" +
        std::string(std::strerror(error)) +
        "); it is built where the ONNX library is (libonnx-dev)");
  pipe.closeWriter();
  Answer answer{pipe.readAll()};
  while (waitpid(child, &answer.status, 0) < 0 && errno == EINTR) {
  }
  return answer;
}

Status tessera::readModelProblems(const std::string &path,
                                  const ProblemFileOptions &options,
                                  ProblemCollector &collector) {
  std::vector<std::string> words = {findReader(), path};
  for (const std::string &flag : toFlags(options))
    words.push_back(flag);
  ErrorOr<Answer> answer = runReader(words);
  if (!answer)
    return answer.getStatus().withContext("cannot read '" + path + "'");
  if (WIFSIGNALED(answer->status))
    return invalidArgument(
        "'" + path + "' is a model that the ONNX library does not survive: " +
        strsignal(WTERMSIG(answer->status)));
  std::string_view text = answer->text;
  if (const int code = WEXITSTATUS(answer->status);
      code != 0 && code != kOnlyPassedOver) {
    // Such a line reads "dnn-onnx: error: SENTENCE".
    constexpr std::string_view kHead = "dnn-onnx: error: ";
    text.remove_prefix(text.starts_with(kHead) ? kHead.size() : 0);
    return invalidArgument(std::string(text.substr(0, text.find('\n'))));
  }
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    readModelLine(path, text.substr(0, end), collector);
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return Status::ok();
}
