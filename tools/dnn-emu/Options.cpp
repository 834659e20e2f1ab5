//===- Options.cpp - The command line of dnn-emu --------------------------===//

#include "tools/dnn-emu/Options.h"

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <cstring>

using namespace tessera;
using namespace tessera::emu;
using tessera::emulator::CheckSet;

unsigned tessera::emu::getElementBytes(ElementType type) {
  static constexpr unsigned kBytes[] = {1, 2, 4, 8, 2, 2, 4, 8};
  return kBytes[static_cast<unsigned>(type)];
}

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
// Words
//===----------------------------------------------------------------------===//

static std::optional<uint64_t> parseNumber(std::string_view text) {
  int base = 10;
  if (text.starts_with("0x")) {
    base = 16;
    text.remove_prefix(2);
  }
  uint64_t value = 0;
  auto [end, error] =
      std::from_chars(text.data(), text.data() + text.size(), value, base);
  if (text.empty() || error != std::errc() || end != text.data() + text.size())
    return std::nullopt;
  return value;
}

/// "64,2": up to `N` numbers; the rest keep their values.
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

static std::optional<ElementType> parseType(std::string_view name) {
  static constexpr std::string_view kNames[] = {"i8",  "i16",  "i32", "i64",
                                                "f16", "bf16", "f32", "f64"};
  auto it = std::ranges::find(kNames, name);
  if (it == std::end(kNames))
    return std::nullopt;
  return static_cast<ElementType>(it - kNames);
}

static Status badArgument(const ArgumentSpec &spec, const std::string &why) {
  return invalidArgument("--arg " + spec.text + ": " + why);
}

//===----------------------------------------------------------------------===//
// --arg
//===----------------------------------------------------------------------===//

/// "zeros", "random:7:f16", "file:x.bin".
static Status parseFill(std::string_view text, ArgumentSpec &spec) {
  using enum ArgumentSpec::Fill;
  if (text.starts_with("file:")) {
    spec.fill = File;
    spec.path = text.substr(5);
    return Status::ok();
  }
  auto takeWord = [&text] {
    size_t colon = text.find(':');
    std::string_view word = text.substr(0, colon);
    text = colon == text.npos ? "" : text.substr(colon + 1);
    return word;
  };
  std::string_view name = takeWord();
  if (name == "zeros")
    spec.fill = Zeros;
  else if (name == "ones")
    spec.fill = Ones;
  else if (name == "iota")
    spec.fill = Iota;
  else if (name == "random")
    spec.fill = Random;
  else
    return badArgument(spec, "there is no fill '" + std::string(name) + "'");
  if (spec.fill == Random) {
    std::optional<uint64_t> seed = parseNumber(takeWord());
    if (!seed)
      return badArgument(spec, "random needs a seed, as in random:1");
    spec.seed = *seed;
  }
  if (text.empty())
    return Status::ok();
  std::optional<ElementType> type = parseType(text);
  if (!type)
    return badArgument(spec, "there is no type '" + std::string(text) + "'");
  spec.type = *type;
  return Status::ok();
}

static Status parseHex(std::string_view text, ArgumentSpec &spec) {
  for (size_t i = 0; i + 1 < text.size(); i += 2) {
    uint8_t byte = 0;
    auto [end, error] =
        std::from_chars(text.data() + i, text.data() + i + 2, byte, 16);
    if (error != std::errc() || end != text.data() + i + 2)
      return badArgument(spec, "bytes need hexadecimal digits");
    spec.bytes.push_back(byte);
  }
  if (text.size() % 2 || text.empty())
    return badArgument(spec, "bytes need pairs of hexadecimal digits");
  return Status::ok();
}

template <typename T>
static void setBytes(ArgumentSpec &spec, T value) {
  spec.bytes.resize(sizeof value);
  std::memcpy(spec.bytes.data(), &value, sizeof value);
}

static Status parseScalar(std::string_view type, const std::string &value,
                          ArgumentSpec &spec) {
  char *end = nullptr;
  if (type == "f32" || type == "f64") {
    double number = std::strtod(value.c_str(), &end);
    type == "f32" ? setBytes(spec, static_cast<float>(number))
                  : setBytes(spec, number);
  } else {
    std::optional<uint64_t> bits = parseNumber(type.substr(1));
    if ((type[0] != 'i' && type[0] != 'u') || !bits ||
        (*bits != 8 && *bits != 16 && *bits != 32 && *bits != 64))
      return badArgument(spec, "there is no kind '" + std::string(type) + "'");
    bool isNegative = value.starts_with('-');
    uint64_t number =
        isNegative ? static_cast<uint64_t>(std::strtoll(value.c_str(), &end, 0))
                   : std::strtoull(value.c_str(), &end, 0);
    // An unsigned number may fill a signed type: i32:0xffffffff is -1.
    bool fits = isNegative ? type[0] == 'i' && static_cast<int64_t>(number) >=
                                                   INT64_MIN >> (64 - *bits)
                           : *bits == 64 || number >> *bits == 0;
    if (!fits)
      return badArgument(spec,
                         value + " does not fit into " + std::string(type));
    setBytes(spec, number);
    spec.bytes.resize(*bits / 8);
  }
  if (value.empty() || *end)
    return badArgument(spec, "'" + value + "' is not a number");
  return Status::ok();
}

static ErrorOr<ArgumentSpec> parseArgument(const std::string &text) {
  ArgumentSpec spec;
  spec.text = text;
  size_t colon = text.find(':');
  if (colon == text.npos || colon == 0)
    return badArgument(spec, "needs KIND:VALUE, such as i32:5");
  std::string_view kind = std::string_view(text).substr(0, colon);
  std::string value = text.substr(colon + 1);
  Status status;
  if (kind == "buffer") {
    size_t equals = value.find('=');
    std::optional<uint64_t> bytes = parseNumber(value.substr(0, equals));
    if (!bytes || !*bytes)
      return badArgument(spec, "a buffer needs its size in bytes");
    spec.isBuffer = true;
    spec.bufferBytes = *bytes;
    if (equals != value.npos)
      status = parseFill(std::string_view(value).substr(equals + 1), spec);
  } else if (kind == "bytes") {
    status = parseHex(value, spec);
  } else {
    status = parseScalar(kind, value, spec);
  }
  if (!status.isOk())
    return status;
  return spec;
}

//===----------------------------------------------------------------------===//
// Options
//===----------------------------------------------------------------------===//

/// "N=FILE".
static ErrorOr<DumpSpec> parseDump(const std::string &option,
                                   const std::string &text) {
  size_t equals = text.find('=');
  std::optional<uint64_t> number = parseNumber(text.substr(0, equals));
  if (equals == text.npos || !number || equals + 1 == text.size())
    return invalidArgument(option + " needs N=FILE, not '" + text + "'");
  return DumpSpec{static_cast<unsigned>(*number), text.substr(equals + 1)};
}

/// A colon and a number at the end are the tolerance.
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

namespace {
/// Walks over the words; knows "--name value" and "--name=value".
class Parser {
public:
  Parser(int argc, char **argv) : words(argv + 1, argv + argc) {}
  ErrorOr<EmuOptions> parse();

private:
  Status parseWord();
  Status parseFlag();
  Status parseValued();
  Status readNumber(uint64_t limit, uint64_t &to);
  template <typename T>
  Status store(ErrorOr<T> value, std::vector<T> &to) {
    if (!value)
      return value.getStatus();
    to.push_back(*value);
    return Status::ok();
  }

  std::vector<std::string> words;
  size_t next = 0;
  std::string name;
  std::optional<std::string> value;
  EmuOptions options;
};
} // namespace

Status Parser::readNumber(uint64_t limit, uint64_t &to) {
  std::optional<uint64_t> number = parseNumber(*value);
  if (!number || *number > limit)
    return invalidArgument(name + " needs a number up to " +
                           std::to_string(limit) + ", not '" + *value + "'");
  to = *number;
  return Status::ok();
}

Status Parser::parseFlag() {
  bool *const flag = name == "--list"          ? &options.list
                     : name == "--disassemble" ? &options.disassemble
                     : name == "--profile"     ? &options.profile
                     : name == "--help"        ? &options.help
                                               : nullptr;
  if (flag && value)
    return invalidArgument(name + " takes no value");
  if (flag)
    *flag = true;
  return Status::ok();
}

Status Parser::parseValued() {
  uint64_t number = 0;
  Status status;
  if (name == "--kernel")
    options.kernel = *value;
  else if (name == "--target")
    options.target = *value;
  else if (name == "--grid" || name == "--block") {
    auto &to = name == "--grid" ? options.grid : options.block;
    to = {1, 1, 1};
    if (!parseList(*value, to) || std::ranges::count(to, 0u))
      return invalidArgument(
          name + " needs X[,Y[,Z]], each from 1 to 4294967295, not '" + *value +
          "'");
  } else if (name == "--lds") {
    status = readNumber(1u << 30, number);
    options.dynamicLdsBytes = static_cast<uint32_t>(number);
  } else if (name == "--arg")
    status = store(parseArgument(*value), options.arguments);
  else if (name == "--dump")
    status = store(parseDump(name, *value), options.dumps);
  else if (name == "--compare")
    status = store(parseCompare(*value), options.compares);
  else if (name == "--threads") {
    status = readNumber(256, number);
    options.threads = static_cast<unsigned>(number);
  } else if (name == "--max-instructions")
    status = readNumber(UINT64_MAX, options.maxInstructions);
  else if (name == "--trace-limit")
    status = readNumber(UINT64_MAX, options.traceLimit);
  else if (name == "--useful-macs") {
    status = readNumber(UINT64_MAX, number);
    options.usefulMacs = number;
  } else if (name == "--trace-wave") {
    options.traceWave = {0, 0};
    if (!parseList(*value, *options.traceWave) ||
        value->find(',') == value->npos)
      return invalidArgument("--trace-wave needs GROUP,WAVE, not '" + *value +
                             "'");
  } else if (name == "--check") {
    options.checkHelp = *value == "help";
    std::string unknown;
    std::optional<CheckSet> checks =
        CheckSet::parse(options.checkHelp ? "default" : *value, &unknown);
    if (!checks)
      return invalidArgument("--check has the unknown word '" + unknown +
                             "'; --check=help lists them");
    options.checks = *checks;
  }
  return status;
}

Status Parser::parseWord() {
  std::string word = words[next++];
  if (!word.starts_with("-")) {
    if (!options.file.empty())
      return invalidArgument("there is a second file, '" + word + "'");
    options.file = word;
    return Status::ok();
  }
  size_t equals = word.find('=');
  name = word.substr(0, equals);
  value.reset();
  if (equals != word.npos)
    value = word.substr(equals + 1);
  if (name == "-h")
    name = "--help";
  for (const char *flag : {"--list", "--disassemble", "--profile", "--help"})
    if (name == flag)
      return parseFlag();
  if (name == "--trace" || name == "--stats") {
    (name == "--trace" ? options.trace : options.stats) = true;
    (name == "--trace" ? options.tracePath : options.statsPath) =
        value.value_or("");
    return Status::ok();
  }
  static constexpr std::string_view kValued[] = {
      "--kernel",      "--target",
      "--grid",        "--block",
      "--lds",         "--arg",
      "--dump",        "--compare",
      "--check",       "--threads",
      "--trace-wave",  "--trace-limit",
      "--useful-macs", "--max-instructions"};
  if (std::ranges::find(kValued, name) == std::end(kValued))
    return invalidArgument("unknown option '" + name + "'; see --help");
  if (!value) {
    if (next == words.size())
      return invalidArgument(name + " needs a value");
    value = words[next++];
  }
  return parseValued();
}

ErrorOr<EmuOptions> Parser::parse() {
  while (next < words.size())
    if (Status status = parseWord(); !status.isOk())
      return status;
  if (options.file.empty() && !options.help && !options.checkHelp)
    return invalidArgument("there is no file to run; see --help");
  return options;
}

ErrorOr<EmuOptions> tessera::emu::parseOptions(int argc, char **argv) {
  return Parser(argc, argv).parse();
}
