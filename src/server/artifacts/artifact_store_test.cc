#include "src/server/artifacts/artifact_store.h"

#include <filesystem>
#include <fstream>

#include "gtest/gtest.h"
#include "src/base/text.h"

namespace hodei::server::artifact_store_test {
namespace {

namespace fs = std::filesystem;

class HandClock final : public Clock {
 public:
  Now now() const override { return {WallTime{us}, MonoTime{us}}; }
  int64_t us = 1'000'000'000;
};

class ArtifactStoreTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = testing::TempDir() + "/artifacts.XXXXXX";
    folder_ = mkdtemp(name.data());
    open();
  }
  void TearDown() override {
    store_.reset();
    fs::remove_all(folder_);
  }
  void open(ArtifactLimits limits = {.max_age = 1h, .max_bytes = 1000}) {
    store_.reset();
    store_ = *ArtifactStore::open(folder_, limits, clock_);
  }
  absl::Status put(const std::string& name, const std::string& content, Duration expires = Duration(0)) {
    auto upload = store_->begin({"ns", name}, expires);
    if (!upload.ok()) return upload.status();
    for (const char c : content) {
      if (absl::Status added = (*upload)->append({&c, 1}); !added.ok()) return added;
    }
    return (*upload)->finish().status();
  }
  std::string get(const std::string& name) {
    const auto content = store_->content({"ns", name});
    return content.ok() ? *(*content)->read(0, 10'000) : std::string(content.status().message());
  }
  static int64_t open_descriptors() {
    return std::distance(fs::directory_iterator("/proc/self/fd"), fs::directory_iterator());
  }
  int64_t files() const { return std::distance(fs::directory_iterator(folder_ + "/files"), fs::directory_iterator()); }

  HandClock clock_;
  std::string folder_;
  std::unique_ptr<ArtifactStore> store_;
};

TEST_F(ArtifactStoreTest, GivesBackWhatWasStoredAlsoAfterARestart) {
  ASSERT_TRUE(put("a/b.txt", "hello").ok());
  EXPECT_EQ(get("a/b.txt"), "hello");
  open();
  EXPECT_EQ(get("a/b.txt"), "hello");
  const auto info = store_->stat({"ns", "a/b.txt"});
  EXPECT_EQ(info->size, 5);
  EXPECT_EQ(info->sha256, "2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824");
  EXPECT_FALSE(store_->stat({"other", "a/b.txt"}).ok());
}

TEST_F(ArtifactStoreTest, AReaderKeepsWhatItOpenedWhileTheNameIsGivenAway) {
  ASSERT_TRUE(put("x", "old").ok());
  const auto reader = store_->content({"ns", "x"});
  ASSERT_TRUE(put("x", "newer").ok());
  EXPECT_EQ(*(*reader)->read(0, 100), "old");
  EXPECT_EQ(get("x"), "newer");
  EXPECT_EQ(files(), 1);
  EXPECT_EQ(store_->used_bytes(), 5);
}

TEST_F(ArtifactStoreTest, AnUploadThatIsNotFinishedLeavesNothing) {
  const int64_t descriptors = open_descriptors();
  {
    auto upload = store_->begin({"ns", "x"}, Duration(0));
    ASSERT_TRUE((*upload)->append("half").ok());
    EXPECT_EQ(store_->used_bytes(), 4);
  }
  EXPECT_EQ(files(), 0);
  EXPECT_EQ(open_descriptors(), descriptors);
  EXPECT_EQ(store_->used_bytes(), 0);
  EXPECT_FALSE(store_->stat({"ns", "x"}).ok());
}

TEST_F(ArtifactStoreTest, RemovesWhatACrashLeftAtTheNextStart) {
  ASSERT_TRUE(put("x", "content").ok());
  std::ofstream(folder_ + "/files/left-by-a-crash") << "half";
  open();
  EXPECT_EQ(files(), 1);
  EXPECT_EQ(get("x"), "content");
}

TEST_F(ArtifactStoreTest, RefusesMoreThanItMayHold) {
  ASSERT_TRUE(put("x", std::string(600, 'x')).ok());
  EXPECT_TRUE(absl::IsResourceExhausted(put("y", std::string(401, 'y'))));
  EXPECT_EQ(store_->used_bytes(), 600);
  EXPECT_TRUE(put("y", std::string(400, 'y')).ok());
  ASSERT_TRUE(store_->remove({"ns", "x"}).ok());
  EXPECT_EQ(store_->used_bytes(), 400);
  EXPECT_EQ(files(), 1);
}

TEST_F(ArtifactStoreTest, SweepsWhatHasExpired) {
  ASSERT_TRUE(put("short", "1", 10s).ok());
  ASSERT_TRUE(put("usual", "2").ok());
  clock_.us += Duration(11s).count();
  EXPECT_FALSE(store_->stat({"ns", "short"}).ok()) << "not shown any more, swept or not";
  EXPECT_EQ(store_->list("ns", "", "", 10).value().size(), 1u) << "nor listed";
  EXPECT_EQ(*store_->sweep(), 1);
  EXPECT_EQ(get("usual"), "2");
  clock_.us += Duration(1h).count();
  EXPECT_EQ(*store_->sweep(), 1);
  EXPECT_EQ(files(), 0);
  EXPECT_FALSE(put("long", "3", 2h).ok()) << "longer than the server keeps anything";
}

TEST_F(ArtifactStoreTest, LeavesTheReserveOfTheDiskAlone) {
  open({.max_age = 1h, .max_bytes = 1000, .disk_reserve = INT64_MAX / 2});
  const absl::Status refused = put("a", "1");
  EXPECT_TRUE(absl::IsUnavailable(refused)) << "worth another try: " << refused;
  EXPECT_EQ(files(), 0);
  open({.max_age = 1h, .max_bytes = 1000, .disk_reserve = 1});
  EXPECT_TRUE(put("a", "1").ok());
}

TEST_F(ArtifactStoreTest, ASweepRemovesAPartOfWhatIsThere) {
  for (int i = 0; i < 200; ++i) ASSERT_TRUE(put(cat("a", i), "x").ok());
  clock_.us += Duration(1h).count() * 24 * 730;  // a clock that is two years ahead
  EXPECT_EQ(*store_->sweep(), 20);
  EXPECT_EQ(files(), 180);
  const absl::Status told = store_->stat({"ns", "a199"}).status();
  EXPECT_NE(told.message().find("has expired"), std::string::npos) << told;
  int sweeps = 1;
  for (; files() > 0 && sweeps < 100; ++sweeps) ASSERT_TRUE(store_->sweep().ok());
  EXPECT_GT(sweeps, 5);
}

TEST_F(ArtifactStoreTest, ListsByPrefixPageByPage) {
  for (const char* name : {"b/1", "a/1", "a/2", "a/3", "c"}) ASSERT_TRUE(put(name, "x").ok());
  const auto names = [&](const std::string& prefix, const std::string& after, size_t most) {
    std::string out;
    const std::vector<ArtifactInfo> listed = store_->list("ns", prefix, after, most).value();
    for (const ArtifactInfo& info : listed) out += info.key.name + " ";
    return out;
  };
  EXPECT_EQ(names("", "", 10), "a/1 a/2 a/3 b/1 c ");
  EXPECT_EQ(names("a/", "", 2), "a/1 a/2 ");
  EXPECT_EQ(names("a/", "a/2", 2), "a/3 ");
}

TEST_F(ArtifactStoreTest, RefusesNamesThatCouldMeanAPath) {
  for (const std::string& name :
       {std::string(), std::string("../x"), std::string("a/../b"), std::string("/a"), std::string("a/"),
        std::string("a b"), std::string("a\0b", 3), std::string(501, 'a')}) {
    EXPECT_TRUE(absl::IsInvalidArgument(put(name, "x"))) << name;
  }
  EXPECT_TRUE(put(std::string(500, 'a'), "x").ok());
}

}  // namespace
}  // namespace hodei::server::artifact_store_test
