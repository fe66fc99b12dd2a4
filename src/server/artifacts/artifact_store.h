// The server's own store of artifacts: files in a folder, and an index that says which name shows which file.
//
//   <folder>/index.db     the index, in SQLite
//   <folder>/files/<id>   the contents, each written once and then never changed
//
// A content is durable before its name shows it, and the name changes in one step. A file that no name shows is removed
// at the next start: that is all that a crash leaves behind. Used by many threads.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "src/base/sha256.h"
#include "src/base/time.h"
#include "src/store/sqlite/connection.h"

namespace hodei::server {

struct ArtifactLimits {
  Duration max_age = 168h;                // of those that name no expiry; also the longest that may be asked for
  int64_t max_bytes = int64_t{10} << 30;  // of all together
  // Room on the disk that is left for others: contents that would use it are refused with UNAVAILABLE, and workers
  // wait.
  int64_t disk_reserve = 0;
};

inline constexpr size_t kMaxArtifactName = 500;

struct ArtifactKey {
  std::string ns;
  std::string name;
};

struct ArtifactInfo {
  ArtifactKey key;
  int64_t size = 0;
  std::string sha256;
  WallTime created;
  WallTime expires;
};

// [A-Za-z0-9._/-]{1,500}, without `..`, and not beginning or ending with a slash.
absl::Status check_artifact_name(const std::string& name);

class ArtifactStore {
 public:
  static absl::StatusOr<std::unique_ptr<ArtifactStore>> open(const std::string& folder, ArtifactLimits limits,
                                                             const Clock& clock);

  // A content on its way in. Dropped without a trace unless finished.
  class Upload {
   public:
    ~Upload();
    absl::Status append(std::string_view piece);
    absl::StatusOr<ArtifactInfo> finish();
    int64_t size() const { return info_.size; }

   private:
    friend class ArtifactStore;
    Upload(ArtifactStore& store, ArtifactInfo info, std::string file, int fd);
    ArtifactStore& store_;
    ArtifactInfo info_;
    const std::string file_;
    int fd_;
    Sha256 sum_;
    int64_t unsynced_ = 0;
    bool kept_ = false;
  };
  // What a name shows now; stays readable when the name is given to another content.
  class Content {
   public:
    Content(ArtifactInfo info, int fd) : info_(std::move(info)), fd_(fd) {}
    Content(const Content&) = delete;
    Content& operator=(const Content&) = delete;
    ~Content();
    const ArtifactInfo& info() const { return info_; }
    absl::StatusOr<std::string> read(int64_t offset, size_t most) const;  // empty at the end

   private:
    const ArtifactInfo info_;
    const int fd_;
  };

  // `expires_in` 0: the store's own age.
  absl::StatusOr<std::unique_ptr<Upload>> begin(const ArtifactKey& key, Duration expires_in);
  absl::StatusOr<std::unique_ptr<Content>> content(const ArtifactKey& key);
  absl::StatusOr<ArtifactInfo> stat(const ArtifactKey& key);
  absl::StatusOr<std::vector<ArtifactInfo>> list(const std::string& ns, const std::string& prefix,
                                                 const std::string& after, size_t most);
  absl::Status remove(const ArtifactKey& key);
  // Removes what has expired, the oldest first; at most a tenth of what is there, or kLeastSwept, so that a clock that
  // is wrong does not cost everything at once. Gives how many.
  static constexpr int64_t kSweptShare = 10;
  static constexpr int64_t kLeastSwept = 16;
  absl::StatusOr<int> sweep();
  int64_t used_bytes();

 private:
  struct Row {
    ArtifactInfo info;
    std::string file;
  };
  absl::StatusOr<std::vector<Row>> expired_rows();  // with mutex_ held
  ArtifactStore(std::string folder, ArtifactLimits limits, const Clock& clock, store::Connection db)
      : folder_(std::move(folder)), limits_(limits), clock_(clock), db_(std::move(db)) {}
  absl::Status prepare();
  absl::Status remove_strangers();
  absl::StatusOr<Row> find(const ArtifactKey& key);  // with mutex_ held
  absl::StatusOr<ArtifactInfo> keep(const Upload& upload);
  absl::Status check_disk(int64_t bytes) const;
  absl::Status reserve(int64_t bytes);
  void give_back(int64_t bytes);
  std::string path_of(const std::string& file) const { return folder_ + "/files/" + file; }

  const std::string folder_;
  const ArtifactLimits limits_;
  const Clock& clock_;
  std::mutex mutex_;  // guards what follows
  store::Connection db_;
  int64_t used_ = 0;  // shown by names, or on the way in
};

}  // namespace hodei::server
