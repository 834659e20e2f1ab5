//===- CacheFolderTest.cpp - Files that are not ours to take --------------===//
//
// A file at the path of the user's database that is not the user's is left as
// it is, byte for byte, and the user is warned.
//
//===----------------------------------------------------------------------===//

#include "runtime/Db/CacheFolder.h"
#include "runtime/Db/KernelStore.h"

#include "test/unit/Support/SampleKernel.h"
#include "test/unit/Support/TemporaryDirectory.h"

#include <gtest/gtest.h>

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <map>

using namespace tessera;
using namespace tessera::test;
namespace fs = std::filesystem;

static const KernelKey kKey = {"conv-a", "gfx942", "r1"};

namespace {
struct CacheFolder : testing::Test {
  TemporaryDirectory folder;
  const std::string home = folder.get("home");
  const std::string file = home + "/kernels.db";

  CacheFolder() { mkdir(home.c_str(), 0755); }

  /// The names and contents of all files.
  std::map<std::string, std::string> readHome() const {
    std::map<std::string, std::string> files;
    for (const fs::directory_entry &entry : fs::directory_iterator(home)) {
      std::ifstream bytes(entry.path(), std::ios::binary);
      files[entry.path().filename()] =
          std::string(std::istreambuf_iterator<char>(bytes), {});
    }
    return files;
  }

  /// Stores and finds like a process; returns what it logs.
  std::string use(bool isUsed) {
    testing::internal::CaptureStderr();
    {
      KernelStore store(file, {});
      store.store(kKey, makeSampleKernel());
      EXPECT_EQ(store.find(kKey).has_value(), isUsed);
      EXPECT_EQ(store.getClaimFile().empty(), !isUsed);
    }
    return testing::internal::GetCapturedStderr();
  }

  /// Checks that nothing is found, stored or changed, and that one warning has
  /// these words.
  void expectRefusal(const std::string &words) {
    const auto before = readHome();
    const std::string said = use(false);
    EXPECT_EQ(said.find("Warning kernels are not cached on disk: "),
              said.find("Warning"));
    EXPECT_NE(said.find(words), said.npos) << said;
    EXPECT_EQ(std::ranges::count(said, '\n'), 1) << said;
    EXPECT_EQ(readHome(), before);
  }

  void execute(const std::string &sql) const {
    ErrorOr<SqliteDatabase> database = SqliteDatabase::open(file);
    ASSERT_TRUE(database);
    Status status = database->execute(sql);
    ASSERT_TRUE(status.isOk()) << status.getMessage();
  }
};
} // namespace

// A database of another program, by its mark, its version or its tables, is not
// touched, and nothing is made beside it.
TEST_F(CacheFolder, DatabaseOfAnotherProgram) {
  for (const char *sql :
       {"CREATE TABLE kernels (linux, hurd)", "PRAGMA application_id = 1234",
        "PRAGMA user_version = 7",
        "PRAGMA journal_mode = WAL; CREATE TABLE bookmarks (url); "
        "PRAGMA application_id = 1234"}) {
    fs::remove(file);
    execute(sql);
    // The folder's lock file is ours.
    std::ofstream(file + ".claims").close();
    SCOPED_TRACE(sql);
    expectRefusal("a database of another program");
  }
}

// Neither is a database whose content is still in a journal, because its
// program died.
TEST_F(CacheFolder, JournalOfAnotherProgram) {
  const std::string other = folder.get("other.db");
  {
    ErrorOr<SqliteDatabase> database = SqliteDatabase::open(other);
    ASSERT_TRUE(database->execute("PRAGMA journal_mode = WAL").isOk());
    ASSERT_TRUE(database->execute("CREATE TABLE bookmarks (url)").isOk());
    fs::copy(other, file);
    fs::copy(other + "-wal", file + "-wal");
  }
  std::ofstream(file + ".claims").close();
  expectRefusal("a database of another program");
}

// Our own file whose mark was overwritten is a damaged file, not a stranger's.
TEST_F(CacheFolder, OwnFileWithoutItsMark) {
  EXPECT_EQ(use(true), "");
  execute("PRAGMA application_id = 1234");
  EXPECT_NE(use(true).find("was damaged"), std::string::npos);
  EXPECT_TRUE(fs::exists(file + ".corrupt-1"));
}

// No file is made through a dangling symbolic link; a file of ours is used
// through a link.
TEST_F(CacheFolder, SymbolicLinks) {
  const std::string target = folder.get("elsewhere.db");
  fs::create_symlink(target, file);
  std::ofstream(file + ".claims").close();
  testing::internal::CaptureStderr();
  EXPECT_FALSE(KernelStore(file, {}).find(kKey));
  const std::string said = testing::internal::GetCapturedStderr();
  EXPECT_NE(said.find("is a symbolic link whose end is missing"), said.npos)
      << said;
  EXPECT_FALSE(fs::exists(target));
  EXPECT_TRUE(fs::is_symlink(file));

  std::ofstream(target).close();
  EXPECT_EQ(use(true), "");
  EXPECT_GT(fs::file_size(target), 0u);
}

// The lock file is not made through a link either.
TEST_F(CacheFolder, SymbolicLinkAsLockFile) {
  fs::create_symlink(folder.get("elsewhere"), file + ".claims");
  EXPECT_EQ(use(true), "");
  EXPECT_FALSE(fs::exists(folder.get("elsewhere")));
}

// A pipe does not block.
TEST_F(CacheFolder, PipeInPlaceOfTheFile) {
  ASSERT_EQ(mkfifo(file.c_str(), 0644), 0);
  const std::string said = [&] {
    testing::internal::CaptureStderr();
    EXPECT_FALSE(KernelStore(file, {}).find(kKey));
    return testing::internal::GetCapturedStderr();
  }();
  EXPECT_NE(said.find("is no file"), said.npos) << said;
}

// A folder that others may write is not used: what they put there would run
// with the user's rights. The sticky bit keeps them from replacing files.
TEST_F(CacheFolder, FolderThatOthersMayWrite) {
  for (const mode_t mode : {0777, 0757}) {
    ASSERT_EQ(chmod(home.c_str(), mode), 0);
    expectRefusal("other users may write the folder '" + home + "'");
  }
  ASSERT_EQ(chmod(home.c_str(), 01777), 0);
  EXPECT_EQ(use(true), "");
  // Files that they have put there before are not used either.
  ASSERT_EQ(chmod(file.c_str(), 0666), 0);
  expectRefusal("other users may write the file '" + file + "'");
}

// A group that has the user's number is the user's own; others are not.
TEST_F(CacheFolder, FolderThatAGroupMayWrite) {
  if (geteuid() != 0)
    GTEST_SKIP() << "only root can give a folder to any group";
  ASSERT_EQ(chmod(home.c_str(), 0775), 0);
  EXPECT_EQ(use(true), "");
  ASSERT_EQ(chown(home.c_str(), 0, 12345), 0);
  expectRefusal("other users may write the folder '" + home + "'");
}

// A folder of another user is not used either.
TEST_F(CacheFolder, FolderOfSomebodyElse) {
  if (geteuid() != 0)
    GTEST_SKIP() << "only root can give a folder away";
  ASSERT_EQ(chown(home.c_str(), 12345, 12345), 0);
  expectRefusal("the folder '" + home + "' belongs to another user (12345)");
  ASSERT_EQ(chown(home.c_str(), 0, 0), 0);
  EXPECT_EQ(use(true), "");
  ASSERT_EQ(chown(file.c_str(), 12345, 12345), 0);
  expectRefusal("the file '" + file + "' belongs to another user (12345)");
}

// Only the user may access the folder that we make, whatever the umask.
TEST_F(CacheFolder, OwnFolderIsNotForOthers) {
  fs::remove(home);
  const mode_t before = umask(0);
  EXPECT_EQ(use(true), "");
  umask(before);
  EXPECT_EQ(fs::status(home).permissions(), fs::perms(0755));
  EXPECT_EQ(use(true), "");
}

// Only a few files that were put aside are kept, and the last is among them.
TEST_F(CacheFolder, FewFilesArePutAside) {
  for (int n = 0; n < 3 * kMaxPutAside; ++n) {
    std::ofstream(file) << "garbage " << n << std::string(5000, 'g');
    EXPECT_NE(use(true).find("was damaged"), std::string::npos);
  }
  std::vector<int> kept;
  for (const auto &[name, content] : readHome())
    if (name.find(".corrupt-") != name.npos)
      kept.push_back(std::stoi(content.substr(8)));
  std::ranges::sort(kept);
  ASSERT_EQ(kept.size(), size_t(kMaxPutAside));
  EXPECT_EQ(kept.front(), 2 * kMaxPutAside);
  EXPECT_EQ(kept.back(), 3 * kMaxPutAside - 1);
}
