//===- DbOptions.cpp - The command line of dnn-tune db --------------------===//

#include "tools/dnn-tune/DbOptions.h"

#include <charconv>
#include <filesystem>

using namespace tessera;
using namespace tessera::tune_tool;

const char *tune_tool::getDbHelp() {
  return R"(Looks after the databases of kernels and tunings.

usage: dnn-tune db COMMAND [operand]... [option]...

what to do
  list               a line for each kernel and for each problem that was tuned
  show PROBLEM       all that is known of a problem
  explain PROBLEM    where a kernel is looked for, and why it is not found
  export FILE        write rows as a package
  import FILE...     take the rows of other files over
  merge OUT FILE...  write the rows of several files as one package
  verify [FILE]...   read every row; exit code 1 if one is damaged
  prune              delete kernels of old revisions, and give space back

PROBLEM is a network config or, in quotes, a driver line.

options
  --db FOLDER        with the database kernels.db to work on, as in dnn-tune
                     (that of the library)
  --file FILE        work on this file instead: a package
  --target CHIP      rows for this chip; explain: instead of the device's
  --problem TEXT     rows of problems whose network config contains it
  --kernels          no tunings
  --tunings          no kernels
  --revision R       explain: of the compiler, instead of this one's;
                     prune: to be kept, may be said again (the newest one)
  --max-mb N         prune: then delete the oldest kernels down to this size

Exit code: 0 well, 1 not found or damaged, 2 a wrong command line or a file
that cannot be used.
)";
}

Status tune_tool::checkDatabaseFolder(const std::string &folder) {
  namespace fs = std::filesystem;
  std::error_code error;
  if (folder.empty() || fs::is_directory(folder, error))
    return Status::ok();
  if (!fs::exists(folder, error)) {
    // The folder itself is created; if its parent is missing, the path is
    // misspelt.
    fs::path parent = fs::absolute(folder, error).parent_path();
    if (folder.ends_with('/'))
      parent = parent.parent_path();
    return fs::exists(parent, error)
               ? Status::ok()
               : invalidArgument("--db names the folder '" + folder +
                                 "', but there is no '" + parent.string() + "'");
  }
  return invalidArgument("--db names the folder of a database, but '" + folder +
                         "' is a file; dnn-tune db --file works on a file");
}

/// The number of operands of a command.
struct Arity {
  const char *command;
  size_t least, most;
};
static constexpr size_t kMany = SIZE_MAX;
static constexpr Arity kCommands[] = {{"list", 0, 0},       {"show", 1, 1},
                                      {"explain", 1, 1},    {"export", 1, 1},
                                      {"import", 1, kMany}, {"merge", 2, kMany},
                                      {"verify", 0, kMany}, {"prune", 0, 0}};

static Status checkOperands(const DbOptions &options) {
  for (const Arity &arity : kCommands) {
    if (options.command != arity.command)
      continue;
    if (options.operands.size() < arity.least)
      return invalidArgument(options.command +
                             " lacks an operand; see dnn-tune db --help");
    if (options.operands.size() > arity.most)
      return invalidArgument(options.command + " does not take '" +
                             options.operands[arity.most] + "'");
    return Status::ok();
  }
  return invalidArgument("there is no command '" + options.command +
                         "'; see dnn-tune db --help");
}

static ErrorOr<int64_t> parseMegabytes(const std::string &text) {
  int64_t number = 0;
  const char *end = text.data() + text.size();
  auto [rest, error] = std::from_chars(text.data(), end, number);
  constexpr int64_t largest = int64_t(1) << 40;
  if (error != std::errc() || rest != end || number < 0 || number > largest)
    return invalidArgument("--max-mb takes a number of megabytes, not '" +
                           text + "'");
  return number * 1000000;
}

/// Parses a flag with its value; false if there is no such flag.
static ErrorOr<bool> readValue(const std::string &flag,
                               const std::string &value, DbOptions &options) {
  if (flag == "--max-mb") {
    ErrorOr<int64_t> bytes = parseMegabytes(value);
    if (!bytes)
      return bytes.getStatus();
    options.maxBytes = *bytes;
    return true;
  }
  if (flag == "--revision") {
    options.revisions.push_back(value);
    return true;
  }
  std::string *text = flag == "--db"        ? &options.folder
                      : flag == "--file"    ? &options.file
                      : flag == "--target"  ? &options.filter.target
                      : flag == "--problem" ? &options.filter.problem
                                            : nullptr;
  if (!text)
    return false;
  if (value.empty())
    return invalidArgument(flag + " needs a value");
  *text = value;
  return true;
}

ErrorOr<DbOptions>
tune_tool::parseDbOptions(const std::vector<std::string> &words) {
  DbOptions options;
  for (size_t i = 0; i < words.size(); ++i) {
    const std::string &word = words[i];
    if (word == "--help" || word == "-h") {
      options.help = true;
      return options;
    }
    if (word == "--kernels" || word == "--tunings") {
      (word == "--kernels" ? options.filter.hasTunings
                           : options.filter.hasKernels) = false;
    } else if (word.starts_with("--")) {
      ErrorOr<bool> isKnown =
          readValue(word, i + 1 < words.size() ? words[i + 1] : "", options);
      if (!isKnown)
        return isKnown.getStatus();
      if (!*isKnown)
        return invalidArgument("there is no option " + word);
      ++i;
    } else if (options.command.empty()) {
      options.command = word;
    } else {
      options.operands.push_back(word);
    }
  }
  Status status = checkOperands(options);
  if (status.isOk())
    status = checkDatabaseFolder(options.folder);
  if (status.isOk() && !options.folder.empty() && !options.file.empty())
    status = invalidArgument("--db and --file name two databases; give one");
  if (!status.isOk())
    return status;
  return options;
}
