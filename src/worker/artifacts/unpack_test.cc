#include "src/worker/artifacts/unpack.h"

#include <archive.h>
#include <archive_entry.h>
#include <fcntl.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>

#include "gtest/gtest.h"
#include "src/base/text.h"

namespace hodei::worker::unpack_test {
namespace {

namespace fs = std::filesystem;

struct Entry {
  std::string name;
  mode_t type = AE_IFREG;
  std::string content = {};  // of a file, or where a link leads
  bool hard_link = false;
  mode_t permissions = 0644;
};

// A folder to unpack into, with something beside it that no archive may touch.
class UnpackTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = testing::TempDir() + "/unpack.XXXXXX";
    top_ = mkdtemp(name.data());
    fs::create_directories(top_ + "/in/side");
    fs::create_directories(top_ + "/outside");
    std::ofstream(top_ + "/outside/precious") << "untouched";
    before_ = outside();
  }
  void TearDown() override {
    EXPECT_EQ(outside(), before_) << "something was written outside";
    fs::remove_all(top_);
  }

  // Everything outside of the folder: names, sizes, links, contents.
  std::string outside() const {
    std::set<std::string> lines;
    for (const auto& each : fs::recursive_directory_iterator(top_)) {
      const std::string path = each.path().string();
      if (path.starts_with(top_ + "/in/") || path.ends_with("archive")) continue;
      struct stat info {};
      lstat(path.c_str(), &info);
      lines.insert(fmt::format("{} {:o} {} {}", path, info.st_mode, S_ISDIR(info.st_mode) ? 0 : info.st_nlink,
                               S_ISREG(info.st_mode) ? read(path) : ""));
    }
    std::string all;
    for (const std::string& line : lines) all += line + "\n";
    return all;
  }
  static std::string read(const std::string& path) {
    std::ifstream file(path);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  std::string inside(const std::string& path) const { return cat(top_, "/in/", path); }

  void pack(const std::vector<Entry>& entries, bool zip = false) {
    archive* out = archive_write_new();
    zip ? archive_write_set_format_zip(out) : archive_write_set_format_pax_restricted(out);
    if (!zip) archive_write_add_filter_gzip(out);
    archive_write_open_filename(out, (top_ + "/archive").c_str());
    for (const Entry& each : entries) {
      archive_entry* entry = archive_entry_new();
      archive_entry_set_pathname(entry, each.name.c_str());
      archive_entry_set_filetype(entry, each.type);
      archive_entry_set_perm(entry, each.permissions);
      if (each.hard_link) {
        archive_entry_set_hardlink(entry, each.content.c_str());
      } else if (each.type == AE_IFLNK) {
        archive_entry_set_symlink(entry, each.content.c_str());
      } else if (each.type == AE_IFREG) {
        archive_entry_set_size(entry, static_cast<la_int64_t>(each.content.size()));
      } else {
        archive_entry_set_rdevmajor(entry, 1);
        archive_entry_set_rdevminor(entry, 3);
      }
      EXPECT_EQ(archive_write_header(out, entry), ARCHIVE_OK) << archive_error_string(out);
      if (each.type == AE_IFREG && !each.hard_link) archive_write_data(out, each.content.data(), each.content.size());
      archive_entry_free(entry);
    }
    archive_write_free(out);
  }

  absl::Status unpack_it(UnpackLimits limits = {.bytes = 1 << 20}) {
    const Fd file(open((top_ + "/archive").c_str(), O_RDONLY));
    const auto folder = ConfinedFolder::open(top_ + "/in");
    return unpack(file.get(), *folder, "side", limits);
  }

  std::string top_;
  std::string before_;
};

TEST_F(UnpackTest, MakesFilesFoldersAndLinksThatStayInside) {
  for (const bool zip : {false, true}) {
    pack({{"a/", AE_IFDIR},
          {"a/file", AE_IFREG, "hello", false, 0755},
          {"./b/c/deep", AE_IFREG, "deep"},
          {"link", AE_IFLNK, "a/file"}},
         zip);
    ASSERT_TRUE(unpack_it().ok()) << unpack_it();
    EXPECT_EQ(read(inside("side/a/file")), "hello");
    EXPECT_EQ(read(inside("side/link")), "hello");
    EXPECT_EQ(read(inside("side/b/c/deep")), "deep");
    EXPECT_EQ(fs::status(inside("side/a/file")).permissions() & fs::perms::owner_exec, fs::perms::owner_exec);
    fs::remove_all(inside("side"));
  }
  pack({{"one", AE_IFREG, "x"}, {"two", AE_IFREG, "one", true}});
  ASSERT_TRUE(unpack_it().ok()) << unpack_it();
  EXPECT_EQ(read(inside("side/two")), "x");
}

TEST_F(UnpackTest, NeverSetsTheUserId) {
  pack({{"tool", AE_IFREG, "x", false, 06755}});
  ASSERT_TRUE(unpack_it().ok());
  struct stat info {};
  ASSERT_EQ(stat(inside("side/tool").c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 07777, 0755u);
}

TEST_F(UnpackTest, RefusesAllThatWouldReachOutside) {
  const std::string out = top_ + "/outside";
  const std::vector<std::vector<Entry>> corpus = {
      {{"../climbed", AE_IFREG, "x"}},
      {{"a/../../../outside/climbed", AE_IFREG, "x"}},
      {{out + "/absolute", AE_IFREG, "x"}},
      {{"../outside/folder/", AE_IFDIR}},
      {{"link", AE_IFLNK, out}, {"link/through", AE_IFREG, "x"}},
      {{"link", AE_IFLNK, "../../outside"}, {"link/through", AE_IFREG, "x"}},
      {{"link", AE_IFLNK, "../../outside/precious"}, {"link", AE_IFREG, "overwritten"}},
      {{"a/b", AE_IFLNK, "../../../outside"}},
      {{"hard", AE_IFREG, out + "/precious", true}, {"hard", AE_IFREG, "overwritten"}},
      {{"hard", AE_IFREG, "../../outside/precious", true}, {"hard", AE_IFREG, "overwritten"}},
      {{"null", AE_IFCHR}},
      {{"disk", AE_IFBLK}},
      {{"pipe", AE_IFIFO}},
  };
  for (size_t i = 0; i < corpus.size(); ++i) {
    pack(corpus[i]);
    EXPECT_FALSE(unpack_it().ok()) << "archive " << i;
    EXPECT_EQ(outside(), before_) << "archive " << i;
  }
}

TEST_F(UnpackTest, RefusesLinksThatLeadOutThroughOtherLinks) {
  const std::vector<std::vector<Entry>> corpus = {
      // `d/up` is the folder itself, so `d/up/..` is the one above it, in whatever order the two come.
      {{"d/", AE_IFDIR}, {"d/up", AE_IFLNK, ".."}, {"x", AE_IFLNK, "d/up/../../outside/precious"}},
      {{"x", AE_IFLNK, "d/up/../../outside"}, {"d/up", AE_IFLNK, ".."}},
      {{"a/b/c", AE_IFLNK, "../.."}, {"x", AE_IFLNK, "a/b/c/../../outside"}},
      // A chain of three.
      {{"a/one", AE_IFLNK, ".."}, {"two", AE_IFLNK, "a/one"}, {"x", AE_IFLNK, "two/../../outside/precious"}},
      // The name before `..` never comes, or is a link, or a file: another archive could bring what leads out.
      {{"x", AE_IFLNK, "later/../../outside"}},
      {{"x", AE_IFLNK, "later/../near"}},
      {{"file", AE_IFREG, "x"}, {"x", AE_IFLNK, "file/../near"}},
  };
  for (size_t i = 0; i < corpus.size(); ++i) {
    pack(corpus[i]);
    const absl::Status refused = unpack_it();
    EXPECT_TRUE(absl::IsFailedPrecondition(refused)) << "archive " << i << ": " << refused;
    EXPECT_NE(std::string(refused.message()).find("leads out"), std::string::npos) << refused;
    fs::remove_all(inside("side"));
    fs::create_directories(inside("side"));
  }
}

TEST_F(UnpackTest, NeitherALinkNorAFileOfALaterArchiveMakesAnEarlierLinkLeadOut) {
  // Each is harmless alone. Together `x/up` would be `side/..` if a real folder could become a link.
  pack({{"d/e/", AE_IFDIR}, {"x", AE_IFLNK, "d/e/../f"}});
  ASSERT_TRUE(unpack_it().ok()) << unpack_it();
  pack({{"d/e", AE_IFLNK, "../.."}});
  EXPECT_FALSE(unpack_it().ok()) << "a folder is not replaced by a link";
  pack({{"d", AE_IFLNK, "."}});
  EXPECT_FALSE(unpack_it().ok()) << "a folder is not replaced by a link";
}

TEST_F(UnpackTest, KeepsLinksThatGoUpAndDownInside) {
  pack({{"lib/v1/so", AE_IFREG, "code"},
        {"lib/so", AE_IFLNK, "v1/so"},
        {"bin/tool", AE_IFLNK, "../lib/so"},
        {"bin/odd", AE_IFLNK, "../lib/v1/../v1/so"},
        {"chain", AE_IFLNK, "bin/tool"},
        {"dangling", AE_IFLNK, "not/here"}});
  ASSERT_TRUE(unpack_it().ok()) << unpack_it();
  for (const char* name : {"side/lib/so", "side/bin/tool", "side/bin/odd", "side/chain"})
    EXPECT_EQ(read(inside(name)), "code");
}

TEST_F(UnpackTest, HardLinksAreOnlyMadeToFiles) {
  pack({{"link", AE_IFLNK, "file"}, {"file", AE_IFREG, "x"}, {"hard", AE_IFREG, "link", true}});
  EXPECT_FALSE(unpack_it().ok()) << "to a symbolic link";
  pack({{"d/", AE_IFDIR},
        {"through", AE_IFLNK, "d"},
        {"d/file", AE_IFREG, "x"},
        {"hard", AE_IFREG, "through/file", true}});
  EXPECT_FALSE(unpack_it().ok()) << "contains a symbolic link";
}

TEST_F(UnpackTest, WritesThroughNoLinkThatIsAlreadyThere) {
  const std::string out = top_ + "/outside";
  pack({{"sub/through", AE_IFREG, "x"}});
  fs::remove_all(inside("side"));
  fs::create_directories(inside("side"));
  fs::create_symlink(out, inside("side/sub"));
  EXPECT_FALSE(unpack_it().ok());

  // A link in the place of the file itself is replaced, not followed.
  pack({{"file", AE_IFREG, "mine"}});
  fs::create_symlink(out + "/precious", inside("side/file"));
  EXPECT_TRUE(unpack_it().ok());
  EXPECT_FALSE(fs::is_symlink(inside("side/file")));
  fs::remove_all(inside("side"));
  fs::create_symlink(out, inside("side"));
  EXPECT_FALSE(unpack_it().ok()) << "the folder itself is a link";
}

TEST_F(UnpackTest, StopsABombAtTheLimit) {
  pack({{"first", AE_IFREG, std::string(600'000, '\0')}, {"second", AE_IFREG, std::string(600'000, '\0')}});
  EXPECT_LT(fs::file_size(top_ + "/archive"), 20'000u);
  const absl::Status refused = unpack_it({.bytes = 1'000'000});
  EXPECT_TRUE(absl::IsResourceExhausted(refused)) << refused;
  uintmax_t written = 0;
  for (const auto& each : fs::recursive_directory_iterator(inside("side"))) {
    if (each.is_regular_file()) written += each.file_size();
  }
  EXPECT_LE(written, 1'000'000u);
}

TEST_F(UnpackTest, HolesCountTowardsTheLimit) {
  constexpr la_int64_t kSize = 10'000'000;
  archive* out = archive_write_new();
  archive_write_set_format_pax(out);
  archive_write_open_filename(out, (top_ + "/archive").c_str());
  archive_entry* entry = archive_entry_new();
  archive_entry_set_pathname(entry, "sparse");
  archive_entry_set_filetype(entry, AE_IFREG);
  archive_entry_set_perm(entry, 0644);
  archive_entry_set_size(entry, kSize);
  archive_entry_sparse_add_entry(entry, kSize - 1, 1);
  EXPECT_EQ(archive_write_header(out, entry), ARCHIVE_OK) << archive_error_string(out);
  const std::string content(kSize, 'x');
  archive_write_data(out, content.data(), content.size());
  archive_entry_free(entry);
  archive_write_free(out);
  ASSERT_LT(fs::file_size(top_ + "/archive"), 100'000u);
  const absl::Status refused = unpack_it({.bytes = 1'000'000});
  EXPECT_TRUE(absl::IsResourceExhausted(refused)) << refused;
}

TEST_F(UnpackTest, StopsAtTooManyEntries) {
  std::vector<Entry> many;
  for (int i = 0; i < 11; ++i) many.push_back({cat("f", i), AE_IFREG, ""});
  pack(many);
  EXPECT_TRUE(absl::IsResourceExhausted(unpack_it({.bytes = 1000, .entries = 10})));
  EXPECT_TRUE(unpack_it({.bytes = 1000, .entries = 11}).ok());
}

TEST_F(UnpackTest, RefusesWhatIsNoArchive) {
  std::ofstream(top_ + "/archive") << "this is no archive at all";
  EXPECT_FALSE(unpack_it().ok());
}

TEST_F(UnpackTest, OutputsAreRegularFilesReachedWithoutLinks) {
  const auto folder = ConfinedFolder::open(top_ + "/in");
  std::ofstream(inside("side/result")) << "fine";
  EXPECT_TRUE(folder->read_file("side/result").ok());
  fs::create_symlink(top_ + "/outside/precious", inside("side/planted"));
  fs::create_symlink(top_ + "/outside", inside("planted"));
  fs::create_symlink("result", inside("side/near"));
  mkfifo(inside("side/pipe").c_str(), 0600);
  for (const char* path : {"side/planted", "planted/precious", "side/near", "side/pipe", "side", "../outside/precious",
                           "/etc/passwd", ".", ""}) {
    EXPECT_FALSE(folder->read_file(path).ok()) << path;
  }
}

}  // namespace
}  // namespace hodei::worker::unpack_test
