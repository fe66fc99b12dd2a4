#include "src/base/folder_tree.h"

#include <fcntl.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <functional>

#include "gtest/gtest.h"
#include "src/base/text.h"

namespace hodei {
namespace {

namespace fs = std::filesystem;

// A folder `in` to remove, and beside it something precious that has to stay.
class FolderTreeTest : public testing::Test {
 protected:
  void SetUp() override {
    char name[] = "/tmp/hodei-tree-XXXXXX";
    top_ = mkdtemp(name);
    in_ = top_ + "/in";
    fs::create_directories(top_ + "/outside/folder");
    std::ofstream(top_ + "/outside/precious") << "untouched";
    fs::create_directory(in_);
    parent_ = open(top_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    stat((top_ + "/outside").c_str(), &before_);
  }
  void TearDown() override {
    struct stat after {};
    ASSERT_EQ(stat((top_ + "/outside").c_str(), &after), 0);
    EXPECT_EQ(after.st_mode, before_.st_mode);
    EXPECT_EQ(after.st_uid, before_.st_uid);
    EXPECT_TRUE(fs::exists(top_ + "/outside/precious"));
    EXPECT_TRUE(fs::exists(top_ + "/outside/folder"));
    close(parent_);
    fs::remove_all(top_);
  }
  // What a process without privileges answers; the folder is its own.
  bool as_nobody(const std::function<bool()>& act) {
    const pid_t child = fork();
    if (child == 0) {
      const bool is_nobody = setresgid(65534, 65534, 65534) == 0 && setresuid(65534, 65534, 65534) == 0;
      _exit(is_nobody && act() ? 0 : 1);
    }
    int status = 0;
    waitpid(child, &status, 0);
    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
  }

  std::string top_, in_;
  int parent_ = -1;
  struct stat before_ {};
};

TEST_F(FolderTreeTest, RemovesEverythingAndFollowsNoLink) {
  fs::create_directories(in_ + "/a/b/c");
  std::ofstream(in_ + "/a/b/c/file") << "x";
  fs::create_symlink(top_ + "/outside", in_ + "/a/link");
  fs::create_symlink("../outside/precious", in_ + "/file");
  mkfifo((in_ + "/pipe").c_str(), 0600);
  EXPECT_TRUE(remove_tree(parent_, "in").ok());
  EXPECT_FALSE(fs::exists(fs::symlink_status(in_)));
  EXPECT_TRUE(remove_tree(parent_, "in").ok()) << "nothing is there";
}

TEST_F(FolderTreeTest, ALinkInPlaceOfTheFolderIsRemovedItself) {
  fs::remove(in_);
  fs::create_symlink(top_ + "/outside", in_);
  EXPECT_TRUE(remove_tree(parent_, "in").ok());
  EXPECT_FALSE(fs::exists(fs::symlink_status(in_)));
  fs::create_symlink(top_ + "/outside", in_);
  EXPECT_TRUE(remove_tree(in_).ok());
  EXPECT_FALSE(fs::exists(fs::symlink_status(in_)));
  EXPECT_FALSE(remove_tree(top_ + "/..").ok());
}

TEST_F(FolderTreeTest, RemovesWideAndDeepTrees) {
  for (int i = 0; i < 150; ++i) fs::create_directories(cat(in_, "/wide/", i, "/x"));
  for (int i = 0; i < 500; ++i) std::ofstream(cat(in_, "/wide/file", i)) << "x";
  // Deeper than any path can say, and than there may be descriptors.
  int here = open(in_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  for (int i = 0; i < 1500; ++i) {
    ASSERT_EQ(mkdirat(here, "deep", 0700), 0);
    const int below = openat(here, "deep", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    close(here);
    here = below;
  }
  close(here);
  const absl::Status removed = remove_tree(parent_, "in");
  EXPECT_TRUE(removed.ok()) << removed;
  EXPECT_FALSE(fs::exists(in_));
}

TEST_F(FolderTreeTest, RemovesFoldersWithoutRights) {
  if (geteuid() != 0) GTEST_SKIP() << "needs root to become somebody else";
  fs::create_directories(in_ + "/own/none/below");
  std::ofstream(in_ + "/own/none/below/file") << "x";
  ASSERT_TRUE(give_tree(parent_, "in", 65534, 65534).ok());
  chmod((in_ + "/own/none/below").c_str(), 0);
  chmod((in_ + "/own/none").c_str(), 0500);
  chmod(top_.c_str(), 0755);
  EXPECT_TRUE(as_nobody([&] { return remove_tree(in_ + "/own").ok(); }));
  EXPECT_FALSE(fs::exists(in_ + "/own"));
}

TEST_F(FolderTreeTest, DetachesMountsAndEmptiesNone) {
  fs::create_directories(in_ + "/mounted");
  std::ofstream(in_ + "/file") << "x";
  if (mount((top_ + "/outside").c_str(), (in_ + "/mounted").c_str(), nullptr, MS_BIND, nullptr) != 0 ||
      mount((top_ + "/outside/precious").c_str(), (in_ + "/file").c_str(), nullptr, MS_BIND, nullptr) != 0) {
    umount2((in_ + "/mounted").c_str(), MNT_DETACH);
    GTEST_SKIP() << "may not mount here";
  }
  const absl::Status removed = remove_tree(parent_, "in");
  EXPECT_TRUE(removed.ok()) << removed;
  EXPECT_FALSE(fs::exists(in_));
}

TEST_F(FolderTreeTest, AMountInPlaceOfTheFolderIsDetached) {
  if (mount((top_ + "/outside").c_str(), in_.c_str(), nullptr, MS_BIND, nullptr) != 0)
    GTEST_SKIP() << "may not mount here";
  EXPECT_EQ(open_folder(parent_, "in"), -1);
  const absl::Status removed = remove_tree(parent_, "in");
  EXPECT_TRUE(removed.ok()) << removed;
  EXPECT_FALSE(fs::exists(in_));
}

TEST_F(FolderTreeTest, GivesLinksAwayAndNotTheirTargets) {
  if (geteuid() != 0) GTEST_SKIP() << "only root can give files away";
  fs::create_directories(in_ + "/a");
  std::ofstream(in_ + "/a/file") << "x";
  fs::create_symlink(top_ + "/outside", in_ + "/a/link");
  fs::create_symlink(top_ + "/outside/precious", in_ + "/link");
  ASSERT_TRUE(give_tree(parent_, "in", 65534, 65534).ok());
  struct stat info {};
  for (const char* name : {"/a", "/a/file", "/a/link", "/link", ""}) {
    ASSERT_EQ(lstat((in_ + name).c_str(), &info), 0);
    EXPECT_EQ(info.st_uid, 65534u) << name;
  }
  for (const char* name : {"/outside", "/outside/precious", "/outside/folder"}) {
    ASSERT_EQ(lstat((top_ + name).c_str(), &info), 0);
    EXPECT_EQ(info.st_uid, geteuid()) << name;
  }
}

}  // namespace
}  // namespace hodei
