//===- dnn-onnx.cpp - The problems of an ONNX model -----------------------===//
//
// Prints the problems of a model as a list that every tool reads. The tools
// start this program when they meet a model (tools/problems).
//
//===----------------------------------------------------------------------===//

#include "tools/dnn-onnx/Model.h"
#include "tools/dnn-onnx/Nodes.h"
#include "tools/problems/Collector.h"
#include "tools/support/Tool.h"

#include <array>
#include <csignal>
#include <cstdio>
#include <set>
#include <string_view>
#include <sys/resource.h>
#include <unistd.h>

using namespace tessera;
using namespace tessera::model;

static constexpr char kHelp[] =
    R"(Prints the convolutions and poolings of an ONNX model, a network config a line
and the node behind it.

  dnn-onnx MODEL [flags]

)";

namespace {
struct Arguments {
  std::string path;
  ProblemFileOptions options;
  bool help = false;
};
} // namespace

static ErrorOr<Arguments> readArguments(int argc, char **argv) {
  Arguments arguments;
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    if (word == "--help" || word == "-h") {
      arguments.help = true;
      return arguments;
    }
    const bool hasValue = hasProblemFileValue(word) && i + 1 < argc;
    ErrorOr<bool> taken = readProblemFileFlag(word, hasValue ? argv[i + 1] : "",
                                              arguments.options);
    if (!taken)
      return taken.getStatus();
    if (*taken)
      i += hasValue;
    else if (word.starts_with("-") || !arguments.path.empty())
      return invalidArgument("unknown argument '" + word + "'; see --help");
    else
      arguments.path = word;
  }
  if (arguments.path.empty())
    return invalidArgument("no model is given; see --help");
  return arguments;
}

static std::string getName(const onnx::NodeProto &node) {
  const std::string &name = !node.name().empty()     ? node.name()
                            : node.output_size() > 0 ? node.output(0)
                                                     : node.op_type();
  return node.op_type() + " '" + name + "'";
}

namespace {
/// Domain and name of each function that the model defines.
using Functions = std::set<std::pair<std::string, std::string>>;
} // namespace

static ErrorOr<std::vector<Problem>>
readNode(const onnx::NodeProto &node, const Scope &scope,
         const Functions &functions, const ProblemFileOptions &options) {
  if (functions.contains({node.domain(), node.op_type()}))
    return notSupported("functions of a model are not looked into");
  return toProblems(node, scope, options);
}

namespace {
/// Prints the problems of a graph and of those inside it (branches and loops).
class Printer {
public:
  Printer(const onnx::ModelProto &model, const ProblemFileOptions &options)
      : options(options) {
    for (const onnx::FunctionProto &function : model.functions())
      functions.emplace(function.domain(), function.name());
  }

  void print(const onnx::GraphProto &graph, const Scope *outer = nullptr) {
    const Scope scope(graph, outer);
    for (const onnx::NodeProto &node : graph.node()) {
      ErrorOr<std::vector<Problem>> problems =
          readNode(node, scope, functions, options);
      if (problems)
        for (const Problem &problem : *problems)
          print(problem, getName(node));
      else
        passOver(problems.getStatus(), getName(node));
      for (const onnx::AttributeProto &attribute : node.attribute())
        if (attribute.has_g())
          print(attribute.g(), &scope);
    }
  }

  int getProblems() const { return problems; }
  int getPassedOver() const { return passedOver; }

private:
  void print(const Problem &problem, const std::string &node) {
    if (Status status = problem.verify(); !status.isOk())
      return passOver(status, node);
    std::fputs(toModelLine(problem, node).c_str(), stdout);
    ++problems;
  }
  void passOver(const Status &reason, const std::string &node) {
    std::fputs(toModelLine(reason, node).c_str(), stdout);
    ++passedOver;
  }

  const ProblemFileOptions &options;
  Functions functions;
  int problems = 0;
  int passedOver = 0;
};
} // namespace

/// Limits the time to two minutes, which is more than the largest model takes.
static void limitTime() {
  const rlimit seconds = {120, 125};
  setrlimit(RLIMIT_CPU, &seconds);
}

/// The library checks little of what it reads: one in a thousand models with
/// random changes of bytes makes it crash.
static void refuseModel(int) {
  constexpr std::string_view kText =
      "dnn-onnx: error: the ONNX library does not survive this model\n";
  [[maybe_unused]] ssize_t written =
      write(STDERR_FILENO, kText.data(), kText.size());
  _exit(1);
}

/// The handler has a stack of its own, because the ordinary one may be full.
static void catchFaults() {
  static std::array<char, 65536> stack;
  stack_t alternative = {};
  alternative.ss_sp = stack.data();
  alternative.ss_size = stack.size();
  sigaltstack(&alternative, nullptr);
  struct sigaction action = {};
  action.sa_handler = refuseModel;
  action.sa_flags = SA_ONSTACK;
  for (int signal : {SIGSEGV, SIGBUS, SIGABRT, SIGFPE, SIGILL, SIGXCPU})
    sigaction(signal, &action, nullptr);
}

static int fail(const std::string &sentence, int code = 1) {
  std::fflush(stdout);
  std::fprintf(stderr, "dnn-onnx: error: %s\n", sentence.c_str());
  return code;
}

/// A model without problems is a failure, because the caller expected some.
static int printModel(const onnx::ModelProto &model,
                      const Arguments &arguments) {
  Printer printer(model, arguments.options);
  printer.print(model.graph());
  if (printer.getProblems() > 0)
    return 0;
  if (printer.getPassedOver() == 0)
    return fail("'" + arguments.path + "' has no convolution and no pooling",
                kOnlyPassedOver);
  return fail("'" + arguments.path + "' has no problem that we have: all its " +
                  std::to_string(printer.getPassedOver()) +
                  " convolutions and poolings were passed over, for the "
                  "reasons on standard output",
              kOnlyPassedOver);
}

static int runOnnx(int argc, char **argv) {
  ErrorOr<Arguments> arguments = readArguments(argc, argv);
  if (arguments && arguments->help) {
    std::printf("%s%s", kHelp, getProblemFileHelp());
    return 0;
  }
  if (!arguments)
    return fail(arguments.getStatus().getMessage());
  limitTime();
  catchFaults();
  ErrorOr<onnx::ModelProto> model =
      loadModel(arguments->path, arguments->options);
  return model ? printModel(*model, *arguments)
               : fail(model.getStatus().getMessage());
}

int main(int argc, char **argv) {
  return runTool("dnn-onnx", argc, argv, runOnnx);
}
