//===- Files.cpp - What tools read and write ------------------------------===//

#include "tools/support/Files.h"

#include <fcntl.h>
#include <stdio_ext.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>

using namespace tessera;
namespace fs = std::filesystem;

static std::string getReason(int error) { return std::strerror(error); }

//===----------------------------------------------------------------------===//
// Reading
//===----------------------------------------------------------------------===//

ErrorOr<std::string> tessera::readInput(const std::string &path) {
  const bool isStdin = path == "-";
  const int file =
      isStdin ? STDIN_FILENO : open(path.c_str(), O_RDONLY | O_CLOEXEC);
  std::string text;
  std::array<char, 65536> buffer;
  ssize_t size = file < 0 ? -1 : 1;
  while (size > 0) {
    size = read(file, buffer.data(), buffer.size());
    if (size > 0)
      text.append(buffer.data(), static_cast<size_t>(size));
    else if (size < 0 && errno == EINTR)
      size = 1;
  }
  const int error = errno;
  if (!isStdin && file >= 0)
    close(file);
  if (size < 0)
    return notFound("cannot read '" + path + "': " + getReason(error));
  return text;
}

//===----------------------------------------------------------------------===//
// Writing
//===----------------------------------------------------------------------===//

static Status cannotWrite(const std::string &path, const std::string &reason) {
  return unavailable(
      "cannot write " +
      (path == "-" ? std::string("standard output") : "'" + path + "'") + ": " +
      reason);
}

Status tessera::checkOutput(const std::string &path) {
  if (path == "-")
    return Status::ok();
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  if (fs::is_directory(status))
    return cannotWrite(path, "it is a directory; name a file in it");
  if (fs::exists(status))
    return access(path.c_str(), W_OK) == 0
               ? Status::ok()
               : cannotWrite(path, getReason(errno));
  const std::string folder = fs::absolute(path, error).parent_path();
  if (fs::is_directory(folder, error))
    return Status::ok();
  return cannotWrite(
      path, error && error != std::errc::no_such_file_or_directory
                ? error.message()
                : "there is no directory '" + folder + "'; make it first");
}

ErrorOr<std::unique_ptr<OutputFile>> OutputFile::create(const std::string &path,
                                                        Content content) {
  if (Status status = checkOutput(path); !status.isOk())
    return status;
  std::unique_ptr<OutputFile> file(new OutputFile(path));
  if (Status status = file->open(content); !status.isOk())
    return status;
  return file;
}

/// Opens a new file, while the old one stays until finish(). It has the old
/// one's permissions.
Status OutputFile::openUnfinished() {
  // If the path is a link, the file that it points to changes, not the link.
  std::error_code error;
  if (fs::is_symlink(path, error))
    path = fs::canonical(path, error);
  unfinished = path + ".unfinished-" + std::to_string(getpid());
  fs::remove(unfinished, error); // Left by a dead process with our number.
  const int file =
      ::open(unfinished.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  const int reason = errno;
  struct stat old = {};
  if (file >= 0 && stat(path.c_str(), &old) == 0)
    (void)fchmod(file, old.st_mode & 07777);
  stream = file < 0 ? nullptr : fdopen(file, "w");
  return stream ? Status::ok() : cannotWrite(path, getReason(reason));
}

Status OutputFile::open(Content content) {
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  if (path == "-") {
    stream = stdout;
  } else if (!fs::exists(status) || fs::is_regular_file(status)) {
    return openUnfinished();
  } else if (!(stream = std::fopen(path.c_str(), "we"))) {
    return cannotWrite(path, getReason(errno));
  }
  if (content == Content::Binary && isatty(fileno(stream)))
    return invalidArgument("the result is binary, and a terminal would get it; "
                           "name a file with -o, or a pipe");
  return Status::ok();
}

void OutputFile::write(std::string_view bytes) {
  if (std::fwrite(bytes.data(), 1, bytes.size(), stream) != bytes.size() &&
      failure == 0)
    failure = errno;
}

Status OutputFile::close() {
  errno = 0;
  const bool hadError = std::ferror(stream);
  bool isWritten = std::fflush(stream) == 0 && !hadError;
  int reason = failure ? failure : errno;
  if (stream != stdout && std::fclose(stream) != 0 && isWritten) {
    isWritten = false;
    reason = errno;
  }
  if (!isWritten && stream == stdout) {
    // The failure is reported here, so it must not be found again at exit.
    __fpurge(stdout);
    std::clearerr(stdout);
  }
  stream = nullptr;
  if (isWritten)
    return Status::ok();
  return cannotWrite(path, reason ? getReason(reason) : "a write has failed");
}

Status OutputFile::finish() {
  if (Status status = close(); !status.isOk() || unfinished.empty())
    return status;
  if (std::rename(unfinished.c_str(), path.c_str()) != 0)
    return cannotWrite(path, getReason(errno));
  unfinished.clear();
  return Status::ok();
}

OutputFile::~OutputFile() {
  if (stream && stream != stdout)
    std::fclose(stream);
  if (!unfinished.empty())
    unlink(unfinished.c_str());
}

Status tessera::writeOutput(const std::string &path, std::string_view bytes,
                            Content content) {
  ErrorOr<std::unique_ptr<OutputFile>> file = OutputFile::create(path, content);
  if (!file)
    return file.getStatus();
  (*file)->write(bytes);
  return (*file)->finish();
}
