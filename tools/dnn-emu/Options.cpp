//===- Options.cpp - The command line of dnn-emu --------------------------===//

#include "tools/dnn-emu/Options.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>

using namespace tessera;
using namespace tessera::emu;
using tessera::emulator::CheckSet;

void tessera::emu::printHelp() {
  std::printf(
      R"(Runs one kernel of an AMDGPU code object on the emulated device.

usage: dnn-emu FILE [option]...

what to run
  --kernel NAME         which, if the file holds several
  --target CHIP         default: the chip that the file was made for
  --grid X[,Y[,Z]]      workgroups (1,1,1)
  --block X[,Y[,Z]]     work-items of a workgroup (what the kernel was
                        made for, or 64,1,1)
  --lds BYTES           dynamic LDS (0)
  --lds-overruns-pass   beyond the end of LDS drop stores and load 0, as the
                        hardware does, instead of failing
  --groups N            execute only N workgroups, spread over the grid (all)
  --arg SPEC            the kernel's next argument, one of
      buffer:BYTES[=FILL]   device memory; FILL is zeros, ones[:TYPE],
                            iota[:TYPE], random:SEED[:TYPE] or file:PATH;
                            without it the memory is poison
      i8|i16|i32|i64|u8|u16|u32|u64|f32|f64:VALUE
      bytes:HEX             as they lie in memory
      TYPE is f32 (default), f16, bf16, f64, i8, i16, i32 or i64

what to look at
  --check=LIST          checks to run under: all, default, none, names, -names;
                        --check=help lists them
  --dump N=FILE         write buffer argument N (from 0) after the run
  --compare N=FILE[:RTOL]   compare it: bit by bit, or within RTOL as the
                            buffer's TYPE
  --trace[=FILE]        every instruction, what it changed and touched
  --trace-wave G,W      only wave W of workgroup G (numbered x first)
  --trace-limit N       stop tracing after N instructions (10000)
  --stats[=FILE]        one line of JSON, as TESSERA_EMULATOR_STATS
  --useful-macs N       multiplications that the problem needs, for --stats
  --profile             the disassembly with counts and clocks, hottest loop
                        first
  --time[=FILE]         predict how long the launch takes on the chip, from a
                        few of its workgroups, which alone are run; FILE gets
                        one line of JSON
  --timeline FILE       with --time: what the waves of one compute unit issue
                        when, for Perfetto
  --time-with NAME=X    with another parameter of the timing model
  --list                the kernels of the file; nothing is run
  --disassemble         their instructions; nothing is run
  --threads N           host threads (all); a trace uses one
  --max-instructions N  of one wave (2^30)

Exit code: 0 well, 1 a fault, a finding of a check or a mismatch, 2 a wrong
command line or a file that cannot be used.
)");
}

void tessera::emu::printCheckHelp() {
  std::printf("Bounds, alignment and the watchdog are always checked. "
              "--check=LIST adds:\n");
  for (size_t i = 0; i < emulator::kCheckNames.size(); ++i)
    std::printf("  %-14s %s\n", emulator::kCheckNames[i].data(),
                emulator::kCheckTexts[i].data());
  std::printf("  all, none, default\n  -NAME takes one out: "
              "--check=all,-global-races\n");
}

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

/// Parses "64,2": up to `N` numbers; the others keep their values.
template <size_t N>
static bool parseList(std::string_view text, std::array<uint32_t, N> &values) {
  size_t next = 0;
  while (next < N) {
    size_t comma = text.find(',');
    std::optional<uint64_t> value = parseNumber(text.substr(0, comma));
    if (!value || *value > UINT32_MAX)
      return false;
    values[next++] = static_cast<uint32_t>(*value);
    if (comma == text.npos)
      return true;
    text.remove_prefix(comma + 1);
  }
  return false;
}

/// Parses "N=FILE".
static ErrorOr<DumpSpec> parseDump(const std::string &option,
                                   const std::string &text) {
  size_t equals = text.find('=');
  std::optional<uint64_t> number = parseNumber(text.substr(0, equals));
  if (equals == text.npos || !number || equals + 1 == text.size())
    return invalidArgument(option + " needs N=FILE, not '" + text + "'");
  return DumpSpec{static_cast<unsigned>(*number), text.substr(equals + 1)};
}

/// A colon and a number at the end set the tolerance.
static ErrorOr<CompareSpec> parseCompare(const std::string &text) {
  ErrorOr<DumpSpec> dump = parseDump("--compare", text);
  if (!dump)
    return dump.getStatus();
  CompareSpec spec{dump->argument, dump->path, std::nullopt};
  size_t colon = spec.path.rfind(':');
  if (colon == spec.path.npos || colon + 1 == spec.path.size())
    return spec;
  char *end = nullptr;
  double tolerance = std::strtod(spec.path.c_str() + colon + 1, &end);
  if (*end == 0) {
    spec.tolerance = tolerance;
    spec.path.resize(colon);
  }
  return spec;
}

//===----------------------------------------------------------------------===//
// Options
//===----------------------------------------------------------------------===//

namespace {
/// Parses the words one after another, with "--name value" and "--name=value".
class Parser {
public:
  Parser(int argc, char **argv) : words(argv + 1, argv + argc) {}
  ErrorOr<EmuOptions> parse();

private:
  /// An option that needs a value, and the method that parses it.
  struct ValuedOption {
    std::string_view name;
    Status (*read)(Parser &);
  };
  static const ValuedOption *findValued(std::string_view name);
  bool *findFlag();
  Status parseWord();
  Status parseFile(const std::string &word);

  // These parse the value of the current option.
  Status readText(std::string &to);
  /// If the option is `wanted`, which may have a file, sets both.
  bool readOutput(std::string_view wanted, bool &isSet, std::string &path);
  Status readTimeParameter();
  Status readSize(std::array<uint32_t, 3> &to);
  Status readTraceWave();
  Status readChecks();
  template <typename Number>
  Status readNumber(uint64_t limit, Number &to);
  template <typename T>
  Status store(ErrorOr<T> parsed, std::vector<T> &to);

  std::vector<std::string> words;
  size_t next = 0;
  std::string name;
  std::optional<std::string> value;
  EmuOptions options;
};
} // namespace

Status Parser::readText(std::string &to) {
  to = *value;
  return Status::ok();
}

bool Parser::readOutput(std::string_view wanted, bool &isSet,
                        std::string &path) {
  if (name != wanted)
    return false;
  isSet = true;
  path = value.value_or("");
  return true;
}

Status Parser::readTimeParameter() {
  const size_t equals = value->find('=');
  char *end = nullptr;
  if (equals != value->npos) {
    const double number = std::strtod(value->c_str() + equals + 1, &end);
    if (end != value->c_str() + equals + 1 && *end == 0) {
      options.timeParameters.emplace_back(value->substr(0, equals), number);
      return Status::ok();
    }
  }
  return invalidArgument(name + " needs NAME=NUMBER, not '" + *value + "'");
}

Status Parser::readSize(std::array<uint32_t, 3> &to) {
  to = {1, 1, 1};
  if (parseList(*value, to) && !std::ranges::count(to, 0u))
    return Status::ok();
  return invalidArgument(name +
                         " needs X[,Y[,Z]], each from 1 to 4294967295, not '" +
                         *value + "'");
}

Status Parser::readTraceWave() {
  options.traceWave = {0, 0};
  if (parseList(*value, *options.traceWave) && value->find(',') != value->npos)
    return Status::ok();
  return invalidArgument("--trace-wave needs GROUP,WAVE, not '" + *value + "'");
}

Status Parser::readChecks() {
  options.checkHelp = *value == "help";
  std::string unknown;
  std::optional<CheckSet> checks =
      CheckSet::parse(options.checkHelp ? "default" : *value, &unknown);
  if (!checks)
    return invalidArgument("--check has the unknown word '" + unknown +
                           "'; --check=help lists them");
  options.checks = *checks;
  return Status::ok();
}

template <typename Number>
Status Parser::readNumber(uint64_t limit, Number &to) {
  std::optional<uint64_t> number = parseNumber(*value);
  if (!number || *number > limit)
    return invalidArgument(name + " needs a number up to " +
                           std::to_string(limit) + ", not '" + *value + "'");
  to = static_cast<Number>(*number);
  return Status::ok();
}

template <typename T>
Status Parser::store(ErrorOr<T> parsed, std::vector<T> &to) {
  if (parsed)
    to.push_back(*parsed);
  return parsed.getStatus();
}

const Parser::ValuedOption *Parser::findValued(std::string_view name) {
  static constexpr ValuedOption kOptions[] = {
      {"--kernel", [](Parser &p) { return p.readText(p.options.kernel); }},
      {"--target", [](Parser &p) { return p.readText(p.options.target); }},
      {"--grid", [](Parser &p) { return p.readSize(p.options.grid); }},
      {"--block", [](Parser &p) { return p.readSize(p.options.block); }},
      {"--lds",
       [](Parser &p) {
         return p.readNumber(1u << 30, p.options.dynamicLdsBytes);
       }},
      {"--groups",
       [](Parser &p) { return p.readNumber(~uint64_t(0), p.options.groups); }},
      {"--arg",
       [](Parser &p) {
         return p.store(parseArgument(*p.value), p.options.arguments);
       }},
      {"--dump",
       [](Parser &p) {
         return p.store(parseDump(p.name, *p.value), p.options.dumps);
       }},
      {"--compare",
       [](Parser &p) {
         return p.store(parseCompare(*p.value), p.options.compares);
       }},
      {"--check", [](Parser &p) { return p.readChecks(); }},
      {"--threads",
       [](Parser &p) { return p.readNumber(256, p.options.threads); }},
      {"--max-instructions",
       [](Parser &p) {
         return p.readNumber(UINT64_MAX, p.options.maxInstructions);
       }},
      {"--trace-wave", [](Parser &p) { return p.readTraceWave(); }},
      {"--trace-limit",
       [](Parser &p) {
         return p.readNumber(UINT64_MAX, p.options.traceLimit);
       }},
      {"--timeline",
       [](Parser &p) { return p.readText(p.options.timelinePath); }},
      {"--time-with", [](Parser &p) { return p.readTimeParameter(); }},
      {"--useful-macs",
       [](Parser &p) {
         return p.readNumber(UINT64_MAX, p.options.usefulMacs);
       }},
  };
  const auto *found = std::ranges::find(kOptions, name, &ValuedOption::name);
  return found == std::end(kOptions) ? nullptr : found;
}

/// The field that the current option sets if it takes no value.
bool *Parser::findFlag() {
  return name == "--list"                ? &options.list
         : name == "--disassemble"       ? &options.disassemble
         : name == "--profile"           ? &options.profile
         : name == "--lds-overruns-pass" ? &options.ignoresLdsOverruns
         : name == "--help"              ? &options.help
                                         : nullptr;
}

Status Parser::parseFile(const std::string &word) {
  if (!options.file.empty())
    return invalidArgument("there is a second file, '" + word + "'");
  options.file = word;
  return Status::ok();
}

Status Parser::parseWord() {
  std::string word = words[next++];
  if (!word.starts_with("-"))
    return parseFile(word);
  size_t equals = word.find('=');
  name = word.substr(0, equals);
  if (name == "-h")
    name = "--help";
  value.reset();
  if (equals != word.npos)
    value = word.substr(equals + 1);
  if (bool *flag = findFlag()) {
    if (value)
      return invalidArgument(name + " takes no value");
    *flag = true;
    return Status::ok();
  }
  if (readOutput("--trace", options.trace, options.tracePath) ||
      readOutput("--stats", options.stats, options.statsPath) ||
      readOutput("--time", options.time, options.timePath))
    return Status::ok();
  const ValuedOption *option = findValued(name);
  if (!option)
    return invalidArgument("unknown option '" + name + "'; see --help");
  if (!value) {
    if (next == words.size())
      return invalidArgument(name + " needs a value");
    value = words[next++];
  }
  return option->read(*this);
}

ErrorOr<EmuOptions> Parser::parse() {
  while (next < words.size())
    if (Status status = parseWord(); !status.isOk())
      return status;
  if (options.file.empty() && !options.help && !options.checkHelp)
    return invalidArgument("there is no file to run; see --help");
  if (!options.time && !options.timelinePath.empty())
    return invalidArgument("--timeline needs --time");
  if (options.time && (options.stats || options.profile || options.trace ||
                       !options.dumps.empty() || !options.compares.empty()))
    return invalidArgument("--time runs only a few workgroups, so it goes with "
                           "none of --dump, --compare, --trace, --stats and "
                           "--profile");
  return options;
}

ErrorOr<EmuOptions> tessera::emu::parseOptions(int argc, char **argv) {
  return Parser(argc, argv).parse();
}
