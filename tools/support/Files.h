//===- Files.h - What tools read and write ---------------------*- C++ -*--===//
//
// A tool's output is complete or absent: with a full disk, or for a reader of a
// file that is being written, there is never a part of it. "-" is stdin or
// stdout.
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_TOOLS_SUPPORT_FILES_H
#define TESSERA_TOOLS_SUPPORT_FILES_H

#include "runtime/Base/ErrorOr.h"

#include <cstdio>
#include <memory>
#include <string>
#include <string_view>

namespace tessera {

/// Reads all bytes of a file. NotFound with the system's reason if it cannot be
/// read.
ErrorOr<std::string> readInput(const std::string &path);

/// Whether the output may go to a terminal.
enum class Content { Text, Binary };

/// Whether a file at `path` can be created: it is no directory, and its parent
/// exists, since a missing one is more likely a misspelling than intended. For
/// callers that only write after hours.
Status checkOutput(const std::string &path);

/// A file that appears when it is complete. It is written beside its path and
/// renamed in finish(); an object that is destroyed before leaves the old file.
/// Devices and pipes are written directly. Belongs to one thread.
class OutputFile {
public:
  static ErrorOr<std::unique_ptr<OutputFile>>
  create(const std::string &path, Content content = Content::Text);
  ~OutputFile();
  OutputFile(const OutputFile &) = delete;
  OutputFile &operator=(const OutputFile &) = delete;

  void write(std::string_view bytes);
  /// The stream, for callers that print.
  std::FILE *getStream() { return stream; }

  /// Completes the file. Unavailable if one of the writes has failed. Nothing
  /// may be written afterwards.
  Status finish();

private:
  explicit OutputFile(std::string path) : path(std::move(path)) {}
  Status open(Content content);
  Status openUnfinished();
  Status close();

  std::string path;
  std::string unfinished; ///< Path until finish(); "" if written directly.
  std::FILE *stream = nullptr;
  int failure = 0; ///< The errno of the first failed write().
};

/// Writes a whole file.
Status writeOutput(const std::string &path, std::string_view bytes,
                   Content content = Content::Text);

} // namespace tessera

#endif // TESSERA_TOOLS_SUPPORT_FILES_H
