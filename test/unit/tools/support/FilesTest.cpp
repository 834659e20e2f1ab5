//===- FilesTest.cpp - What tools read and write --------------------------===//

#include "tools/support/Files.h"

#include "test/unit/Support/TemporaryDirectory.h"
#include "tools/support/Tool.h"

#include <gtest/gtest.h>

#include <fcntl.h>
#include <pty.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <filesystem>

using namespace tessera;
namespace fs = std::filesystem;

static std::string read(const std::string &path) {
  ErrorOr<std::string> text = readInput(path);
  return text ? *text : text.getStatus().getMessage();
}

static int64_t countFiles(const std::string &folder) {
  return std::distance(fs::directory_iterator(folder),
                       fs::directory_iterator());
}

/// Limits the size of files, which acts like a full disk.
struct FileLimit {
  explicit FileLimit(rlim_t bytes) {
    surviveFileLimits();
    getrlimit(RLIMIT_FSIZE, &before);
    const rlimit limit = {bytes, before.rlim_max};
    setrlimit(RLIMIT_FSIZE, &limit);
  }
  ~FileLimit() { setrlimit(RLIMIT_FSIZE, &before); }
  rlimit before = {};
};

// The sentence includes the system's reason; a directory can be opened, but not
// read.
TEST(Files, SayWhyTheyCannotBeRead) {
  test::TemporaryDirectory directory;
  EXPECT_EQ(read(directory.get("none")), "cannot read '" +
                                             directory.get("none") +
                                             "': No such file or directory");
  EXPECT_EQ(read(directory.getPath()),
            "cannot read '" + directory.getPath() + "': Is a directory");
  EXPECT_EQ(read("/dev/null"), "");
}

// Everything that is written can be read, and nothing lies beside it.
TEST(Files, AreWhatWasWritten) {
  test::TemporaryDirectory directory;
  const std::string path = directory.get("file");
  const std::string bytes = std::string(100000, 'x') + '\0' + "y";
  ASSERT_TRUE(writeOutput(path, bytes, Content::Binary).isOk());
  EXPECT_EQ(read(path), bytes);
  ASSERT_TRUE(writeOutput(path, "shorter").isOk());
  EXPECT_EQ(read(path), "shorter");
  EXPECT_EQ(countFiles(directory.getPath()), 1);
}

// A link stays a link, and its file keeps its permissions.
TEST(Files, KeepLinksAndPermissions) {
  test::TemporaryDirectory directory;
  const std::string file = directory.get("file"), link = directory.get("link");
  ASSERT_TRUE(writeOutput(file, "old").isOk());
  ASSERT_EQ(chmod(file.c_str(), 0640), 0);
  fs::create_symlink("file", link);
  ASSERT_TRUE(writeOutput(link, "new").isOk());
  EXPECT_TRUE(fs::is_symlink(link));
  EXPECT_EQ(read(file), "new");
  EXPECT_EQ(fs::status(file).permissions(), static_cast<fs::perms>(0640));
}

// A write that fails is reported, keeps the old file, and leaves nothing beside
// it.
TEST(Files, LeaveNothingOfAFailedWrite) {
  test::TemporaryDirectory directory;
  const std::string path = directory.get("file"), other = directory.get("new");
  ASSERT_TRUE(writeOutput(path, "old").isOk());
  const std::string large(1 << 20, 'x');
  FileLimit limit(4096);
  EXPECT_EQ(writeOutput(path, large).getMessage(),
            "cannot write '" + path + "': File too large");
  EXPECT_EQ(writeOutput(other, large).getMessage(),
            "cannot write '" + other + "': File too large");
  EXPECT_EQ(read(path), "old");
  EXPECT_EQ(countFiles(directory.getPath()), 1);
}

// A writer that is destroyed early leaves nothing either.
TEST(Files, LeaveNothingUnfinished) {
  test::TemporaryDirectory directory;
  {
    auto file = OutputFile::create(directory.get("file"));
    ASSERT_TRUE(file);
    std::fputs("a part", (*file)->getStream());
  }
  EXPECT_EQ(countFiles(directory.getPath()), 0);
}

// A device is written instead of replaced, and its error is reported.
TEST(Files, MayBeDevices) {
  EXPECT_TRUE(writeOutput("/dev/null", "text").isOk());
  EXPECT_TRUE(fs::is_character_file("/dev/null"));
  EXPECT_EQ(writeOutput("/dev/full", "text").getMessage(),
            "cannot write '/dev/full': No space left on device");
}

// A directory is refused, and a missing one is not created.
TEST(Files, NeedADirectory) {
  test::TemporaryDirectory directory;
  const std::string inside = directory.get("no/such/file");
  for (const auto &write : {checkOutput, +[](const std::string &path) {
                              return writeOutput(path, "");
                            }}) {
    EXPECT_EQ(write(inside).getMessage(),
              "cannot write '" + inside + "': there is no directory '" +
                  directory.get("no/such") + "'; make it first");
    EXPECT_EQ(write(directory.getPath()).getMessage(),
              "cannot write '" + directory.getPath() +
                  "': it is a directory; name a file in it");
  }
  EXPECT_TRUE(checkOutput(directory.get("file")).isOk());
  EXPECT_EQ(countFiles(directory.getPath()), 0);
}

// Binary output is not written to a terminal.
TEST(Files, KeepBinaryFromATerminal) {
  int master = -1, slave = -1;
  std::array<char, 256> name;
  ASSERT_EQ(openpty(&master, &slave, name.data(), nullptr, nullptr), 0);
  const Status status = writeOutput(name.data(),
                                    "\x7f"
                                    "ELF",
                                    Content::Binary);
  EXPECT_EQ(status.getCode(), StatusCode::InvalidArgument);
  EXPECT_NE(status.getMessage().find("a terminal would get it"),
            std::string::npos);
  EXPECT_TRUE(writeOutput(name.data(), "text").isOk());
  close(slave);
  close(master);
}
