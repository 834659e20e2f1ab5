//===- KernelRow.cpp - A kernel as a row of a table -----------------------===//

#include "runtime/Db/KernelRow.h"

#include "runtime/Base/Hash.h"
#include "runtime/Base/Log.h"

#include <sstream>

using namespace tessera;

//===----------------------------------------------------------------------===//
// Launches as text
//===----------------------------------------------------------------------===//

/// Calls `visit` with every number of a launch, in the order of its line.
template <typename Recipe, typename Visitor>
static void visitNumbers(Recipe &recipe, Visitor visit) {
  for (auto &size : recipe.grid)
    visit(size);
  for (auto &size : recipe.block)
    visit(size);
  visit(recipe.dynamicLdsBytes);
}

/// One line a launch: "symbol grid block dynamicLds x,w,y map ...", the sizes as
/// three numbers each; "-" if there is no argument.
static std::string toText(const std::vector<LaunchRecipe> &launches) {
  std::string text;
  for (const LaunchRecipe &recipe : launches) {
    text += recipe.symbol;
    visitNumbers(
        recipe, [&](uint32_t number) { text += " " + std::to_string(number); });
    const char *separator = " ";
    for (KernelArg arg : recipe.args) {
      text += separator + std::string(getName(arg));
      separator = ",";
    }
    if (recipe.args.empty())
      text += " -";
    for (const TensorMap &map : recipe.maps)
      text += " " + map.toText();
    text += "\n";
  }
  return text;
}

/// The words "x,w,y"; nothing if one is unknown.
static std::optional<std::vector<KernelArg>> parseArgs(std::string_view text) {
  std::vector<KernelArg> args;
  if (text == "-")
    return args;
  while (!text.empty()) {
    std::string_view name = text.substr(0, text.find(','));
    std::optional<KernelArg> arg = parseKernelArg(name);
    if (!arg)
      return std::nullopt;
    args.push_back(*arg);
    text.remove_prefix(std::min(name.size() + 1, text.size()));
  }
  return args;
}

/// Reads what toText() writes; nothing if it is anything else.
static std::optional<std::vector<LaunchRecipe>>
parseLaunches(const std::string &text) {
  std::vector<LaunchRecipe> launches;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    LaunchRecipe recipe;
    std::istringstream words(line);
    std::string args;
    words >> recipe.symbol;
    visitNumbers(recipe, [&](uint32_t &number) { words >> number; });
    if (!words)
      return std::nullopt;
    words >> args;
    std::optional<std::vector<KernelArg>> parsed = parseArgs(args);
    if (!parsed)
      return std::nullopt;
    recipe.args = std::move(*parsed);
    for (std::string word; words >> word;) {
      ErrorOr<TensorMap> map = parseTensorMap(word);
      if (!map)
        return std::nullopt;
      recipe.maps.push_back(*map);
    }
    launches.push_back(std::move(recipe));
  }
  if (toText(launches) != text)
    return std::nullopt;
  return launches;
}

//===----------------------------------------------------------------------===//
// Numbers as columns
//===----------------------------------------------------------------------===//

/// Calls `visit` with every number of a kernel, in the order of the columns
/// workspace_bytes ... scratch_bytes.
template <typename SomeKernel, typename Visitor>
static void visitColumns(SomeKernel &kernel, Visitor visit) {
  visit(kernel.workspaceBytes);
  visit(kernel.resources.vgprs);
  visit(kernel.resources.agprs);
  visit(kernel.resources.sgprs);
  visit(kernel.resources.vgprSpills);
  visit(kernel.resources.sgprSpills);
  visit(kernel.resources.ldsBytes);
  visit(kernel.resources.scratchBytes);
}

/// Covers the key too: a row under another key is as wrong as a flipped bit.
static int64_t getChecksum(const KernelKey &key, const Kernel &kernel) {
  Fnv1a hash;
  hash.addField(key.networkConfig);
  hash.addField(key.target);
  hash.addField(key.revision);
  hash.addField(kernel.tile);
  hash.addField(toText(kernel.launches));
  visitColumns(kernel, [&](uint64_t number) { hash.addField(number); });
  hash.addField(
      std::string_view(kernel.codeObject.data(), kernel.codeObject.size()));
  return static_cast<int64_t>(hash.get());
}

// Columns of a query count from 0 in this order; parameters of the insertion
// from 3, after problem and target.
#define KERNEL_COLUMNS                                                         \
  "revision, tile, launches, code_object, checksum, workspace_bytes, vgprs, "  \
  "agprs, sgprs, vgpr_spills, sgpr_spills, lds_bytes, scratch_bytes"
namespace {
enum Column { Revision, Tile, Launches, CodeObject, Checksum, FirstNumber };
} // namespace
static constexpr int kRowid = FirstNumber + 8;
static constexpr int kFirstParameter = 3;

Status tessera::writeKernelRow(SqliteDatabase &database, const KernelKey &key,
                               const Kernel &kernel) {
  ErrorOr<SqliteStatement> insert = database.prepare(
      "INSERT OR REPLACE INTO kernels (problem, target, " KERNEL_COLUMNS
      ") VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, "
      "?15)");
  if (!insert)
    return insert.getStatus();
  insert->bind(1, key.networkConfig);
  insert->bind(2, key.target);
  insert->bind(kFirstParameter + Revision, key.revision);
  insert->bind(kFirstParameter + Tile, kernel.tile);
  insert->bind(kFirstParameter + Launches, toText(kernel.launches));
  insert->bindBlob(kFirstParameter + CodeObject, kernel.codeObject);
  insert->bind(kFirstParameter + Checksum, getChecksum(key, kernel));
  int parameter = kFirstParameter + FirstNumber;
  visitColumns(kernel, [&](uint64_t number) {
    insert->bind(parameter++, static_cast<int64_t>(number));
  });
  return insert->step().getStatus();
}

/// The current row of `query`, if its checksum is right.
static std::optional<Kernel> decodeRow(const SqliteStatement &query,
                                       KernelKey key) {
  Kernel kernel;
  key.revision = query.getText(Revision);
  kernel.tile = query.getText(Tile);
  std::optional<std::vector<LaunchRecipe>> launches =
      parseLaunches(std::string(query.getText(Launches)));
  if (!launches)
    return std::nullopt;
  kernel.launches = std::move(*launches);
  std::span<const char> codeObject = query.getBlob(CodeObject);
  kernel.codeObject.assign(codeObject.begin(), codeObject.end());
  int column = FirstNumber;
  visitColumns(kernel, [&](auto &number) {
    number = static_cast<std::remove_reference_t<decltype(number)>>(
        query.getInt(column++));
  });
  if (query.getInt(Checksum) != getChecksum(key, kernel))
    return std::nullopt;
  return kernel;
}

static Status deleteRow(SqliteDatabase &database, int64_t rowid) {
  ErrorOr<SqliteStatement> statement =
      database.prepare("DELETE FROM kernels WHERE rowid = ?1");
  if (!statement)
    return statement.getStatus();
  statement->bind(1, rowid);
  return statement->step().getStatus();
}

ErrorOr<Kernel> tessera::readKernelRow(SqliteDatabase &database,
                                       const KernelKey &key) {
  while (true) {
    int64_t wrongRow = 0;
    { // A statement that still reads would keep us from deleting.
      ErrorOr<SqliteStatement> query = database.prepare(
          "SELECT " KERNEL_COLUMNS ", rowid FROM kernels WHERE problem = ?1 "
          "AND target = ?2 AND (revision = ?3 OR ?3 = '') ORDER BY rowid DESC "
          "LIMIT 1");
      if (!query)
        return query.getStatus();
      query->bind(1, key.networkConfig);
      query->bind(2, key.target);
      query->bind(3, key.revision);
      ErrorOr<bool> hasRow = query->step();
      if (!hasRow)
        return hasRow.getStatus();
      if (!*hasRow)
        return notFound("no kernel is stored for " + key.networkConfig);
      if (std::optional<Kernel> kernel = decodeRow(*query, key))
        return *kernel;
      wrongRow = query->getInt(kRowid);
    }
    logMessage(LogLevel::Warning,
               "a stored kernel has a wrong checksum and is deleted: " +
                   key.networkConfig);
    if (Status status = deleteRow(database, wrongRow); !status.isOk())
      return status;
  }
}
