// Working folders after jobs that did their worst to them.
#include "src/worker/supervisor/work_folder.h"

#include <fcntl.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <functional>
#include <optional>

#include "gtest/gtest.h"

namespace hodei::worker::work_folder_test {
namespace {

namespace fs = std::filesystem;

class WorkFolderTest : public testing::Test {
 protected:
  void SetUp() override {
    char name[] = "/tmp/hodei-work-XXXXXX";
    top_ = mkdtemp(name);
    fs::create_directory(home_ = top_ + "/home");
    std::ofstream(home_ + "/letter") << "dear";
    chmod(home_.c_str(), 0750);
    folders_.emplace(WorkFolders::make(top_ + "/work").value());
    folder_ = folders_->next().value();
    ASSERT_TRUE(folder_->is_untouched());
  }
  void TearDown() override {
    EXPECT_TRUE(fs::exists(home_ + "/letter"));
    struct stat info {};
    EXPECT_EQ(stat(home_.c_str(), &info), 0);
    EXPECT_EQ(info.st_mode & 07777, 0750u);
    EXPECT_GT(info.st_mtim.tv_sec, 0);
    folder_.reset();
    fs::remove_all(top_);
  }
  // The next job gets an empty folder of its own, whatever the last one did.
  void expect_clean_after(const std::function<void()>& job) {
    job();
    EXPECT_FALSE(folder_->is_untouched());
    const absl::Status cleaned = folder_->clean();
    ASSERT_TRUE(cleaned.ok()) << cleaned;
    EXPECT_TRUE(folder_->is_untouched());
    for (const std::string& each : {folder_->path(), folder_->cwd()}) {
      EXPECT_EQ(fs::symlink_status(each).type(), fs::file_type::directory);
      EXPECT_EQ(fs::canonical(each), each);
    }
    EXPECT_TRUE(fs::is_empty(folder_->cwd()));
    EXPECT_EQ(std::distance(fs::directory_iterator(folder_->path()), fs::directory_iterator()), 1);
    struct stat info {};
    ASSERT_EQ(stat(folder_->cwd().c_str(), &info), 0);
    EXPECT_EQ(info.st_mode & 07777, 0700u);
    EXPECT_EQ(info.st_uid, geteuid());
  }

  std::string top_, home_;
  std::optional<WorkFolders> folders_;
  std::unique_ptr<WorkFolder> folder_;
};

TEST_F(WorkFolderTest, WhatAJobWroteIsGone) {
  expect_clean_after([&] {
    fs::create_directories(folder_->cwd() + "/a/b");
    std::ofstream(folder_->cwd() + "/a/b/c") << "x";
  });
}

TEST_F(WorkFolderTest, ALinkInPlaceOfTheWorkingFolderIsNotFollowed) {
  expect_clean_after([&] {
    fs::remove(folder_->cwd());
    fs::create_symlink(home_, folder_->cwd());
  });
}

TEST_F(WorkFolderTest, ALinkInPlaceOfTheFolderAroundItIsNotFollowed) {
  fs::create_directory(home_ + "/cwd");
  expect_clean_after([&] {
    fs::remove_all(folder_->path());
    fs::create_symlink(home_, folder_->path());
  });
  EXPECT_TRUE(fs::exists(home_ + "/cwd"));
}

TEST_F(WorkFolderTest, AFileInPlaceOfTheWorkingFolderIsRemoved) {
  expect_clean_after([&] {
    fs::remove(folder_->cwd());
    std::ofstream(folder_->cwd()) << "x";
  });
}

TEST_F(WorkFolderTest, AnotherFolderInPlaceOfTheWorkingFolderIsNoticed) {
  expect_clean_after([&] {
    fs::rename(folder_->cwd(), folder_->path() + "/old");
    fs::create_directory(folder_->cwd());
  });
}

TEST_F(WorkFolderTest, AFileBesideTheWorkingFolderIsNoticed) {
  expect_clean_after([&] { std::ofstream(folder_->path() + "/left") << "x"; });
}

TEST_F(WorkFolderTest, OtherRightsAreNoticed) {
  expect_clean_after([&] { chmod(folder_->cwd().c_str(), 0777); });
  expect_clean_after([&] { chmod(folder_->path().c_str(), 0); });
}

TEST_F(WorkFolderTest, TimesThatAreSetBackHideNothing) {
  struct stat before {
  }, now{};
  ASSERT_EQ(stat(folder_->cwd().c_str(), &before), 0);
  expect_clean_after([&] {
    const timespec epoch[2] = {};
    do {  // until the clock of the file system has moved on since the folder was made
      fs::create_directory(folder_->cwd() + "/left");
      fs::remove(folder_->cwd() + "/left");
      utimensat(AT_FDCWD, folder_->cwd().c_str(), epoch, 0);
      ASSERT_EQ(stat(folder_->cwd().c_str(), &now), 0);
    } while (now.st_ctim.tv_sec == before.st_ctim.tv_sec && now.st_ctim.tv_nsec == before.st_ctim.tv_nsec);
  });
}

TEST_F(WorkFolderTest, AccessListsForNewFilesAreGone) {
  // As `setfacl -d -m u:65534:rwx .` writes it: version 2, then entries of tag, rights and id.
  constexpr unsigned char kList[] = {2, 0,   0,   0,   1,   0,   7,  0, 255, 255, 255, 255, 2,   0,  7,
                                     0, 254, 255, 0,   0,   4,   0,  0, 0,   255, 255, 255, 255, 16, 0,
                                     7, 0,   255, 255, 255, 255, 32, 0, 0,   0,   255, 255, 255, 255};
  if (setxattr(folder_->cwd().c_str(), "system.posix_acl_default", kList, sizeof(kList), 0) != 0) {
    GTEST_SKIP() << "this file system has no access lists";
  }
  folder_->note_files();  // the change may be too soon after the folder was made to be seen by its time
  ASSERT_TRUE(folder_->clean().ok());
  EXPECT_EQ(getxattr(folder_->cwd().c_str(), "system.posix_acl_default", nullptr, 0), -1);
}

TEST_F(WorkFolderTest, AMountInPlaceOfTheWorkingFolderIsDetached) {
  if (mount(home_.c_str(), folder_->cwd().c_str(), nullptr, MS_BIND, nullptr) != 0)
    GTEST_SKIP() << "may not mount here";
  expect_clean_after([] {});
  ASSERT_EQ(mount(home_.c_str(), folder_->path().c_str(), nullptr, MS_BIND, nullptr), 0);
  expect_clean_after([] {});
}

TEST_F(WorkFolderTest, WhatAnEarlierSupervisorLeftIsRemovedWithoutFollowingLinks) {
  fs::remove(folder_->cwd());
  fs::create_symlink(home_, folder_->cwd());
  fs::create_symlink(home_, top_ + "/work/7");
  folders_.emplace(WorkFolders::make(top_ + "/work").value());
  EXPECT_TRUE(fs::is_empty(top_ + "/work"));
  fs::remove(top_ + "/work");
  fs::create_symlink(home_, top_ + "/work");
  folders_.emplace(WorkFolders::make(top_ + "/work").value());
  EXPECT_EQ(fs::symlink_status(top_ + "/work").type(), fs::file_type::directory);
}

TEST_F(WorkFolderTest, NoJobIsSentWhereThePathNoLongerLeadsToTheFolder) {
  fs::rename(top_ + "/work", top_ + "/moved");
  fs::create_symlink(home_, top_ + "/work");
  EXPECT_FALSE(folder_->is_untouched());
  EXPECT_FALSE(folder_->clean().ok());
  EXPECT_FALSE(folders_->next().ok());
}

}  // namespace
}  // namespace hodei::worker::work_folder_test
