#include "src/server/artifacts/artifact_store.h"

#include <fcntl.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <set>

#include "src/base/random.h"
#include "src/base/sizes.h"
#include "src/base/status.h"

namespace hodei::server {
namespace {

namespace fs = std::filesystem;
using store::InUse;
using store::Statement;

constexpr std::string_view kSchema =
    "CREATE TABLE IF NOT EXISTS artifact (namespace TEXT NOT NULL, name TEXT NOT NULL, file TEXT NOT NULL, "
    "size INTEGER NOT NULL, sha256 TEXT NOT NULL, created_us INTEGER NOT NULL, expires_us INTEGER NOT NULL, "
    "PRIMARY KEY (namespace, name)) WITHOUT ROWID";
constexpr std::string_view kColumns = "namespace, name, size, sha256, created_us, expires_us, file";

ArtifactInfo read_info(Statement& row) {
  ArtifactInfo info;
  info.key.ns = row.text();
  info.key.name = row.text();
  info.size = row.integer();
  info.sha256 = row.text();
  info.created.us = row.integer();
  info.expires.us = row.integer();
  return info;
}

absl::Status sync_folder(const std::string& path) {
  const int fd = open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  const bool synced = fd >= 0 && fsync(fd) == 0;
  const int error = errno;
  if (fd >= 0) close(fd);
  return synced ? absl::OkStatus() : absl::ErrnoToStatus(error, "syncing " + path);
}

absl::Status unknown(const ArtifactKey& key) {
  return absl::NotFoundError(cat("artifact '", key.name, "' does not exist in namespace '", key.ns, "'"));
}

}  // namespace

absl::Status check_artifact_name(const std::string& name) {
  constexpr std::string_view kAllowed = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._/-";
  const bool good = !name.empty() && name.size() <= kMaxArtifactName &&
                    name.find_first_not_of(kAllowed) == std::string::npos && name.find("..") == std::string::npos &&
                    name.front() != '/' && name.back() != '/';
  if (good) return absl::OkStatus();
  return bad_field("name", "must have 1 to ", kMaxArtifactName,
                   " of the characters A-Z a-z 0-9 . _ / -, without '..' and without a slash at either end");
}

absl::StatusOr<std::unique_ptr<ArtifactStore>> ArtifactStore::open(const std::string& folder, ArtifactLimits limits,
                                                                   const Clock& clock) {
  std::error_code failed;
  fs::create_directories(folder + "/files", failed);
  if (failed) return absl::InternalError(cat("making ", folder, "/files: ", failed.message()));
  ASSIGN_OR_RETURN(store::Connection db, store::Connection::open({.path = folder + "/index.db"}));
  std::unique_ptr<ArtifactStore> opened(new ArtifactStore(folder, limits, clock, std::move(db)));
  RETURN_IF_ERROR(opened->prepare());
  return opened;
}

absl::Status ArtifactStore::prepare() {
  RETURN_IF_ERROR(db_.run("PRAGMA journal_mode = WAL"));
  RETURN_IF_ERROR(db_.run("PRAGMA synchronous = FULL"));
  RETURN_IF_ERROR(db_.run(std::string(kSchema)));
  RETURN_IF_ERROR(remove_strangers());
  ASSIGN_OR_RETURN(used_, db_.ask_integer("SELECT coalesce(sum(size), 0) FROM artifact"));
  return absl::OkStatus();
}

// Files that no name shows: of uploads that a crash cut off, or contents that were replaced right before it.
absl::Status ArtifactStore::remove_strangers() {
  std::set<std::string> shown;
  ASSIGN_OR_RETURN(Statement rows, db_.prepare("SELECT file FROM artifact"));
  while (true) {
    ASSIGN_OR_RETURN(const bool more, rows.step());
    if (!more) break;
    shown.emplace(rows.text());
  }
  std::error_code failed;
  for (fs::directory_iterator it(folder_ + "/files", failed), end; !failed && it != end; it.increment(failed)) {
    std::error_code ignored;
    if (!shown.contains(it->path().filename().string())) fs::remove(it->path(), ignored);
  }
  return failed ? absl::InternalError(cat("reading ", folder_, "/files: ", failed.message())) : absl::OkStatus();
}

absl::StatusOr<std::unique_ptr<ArtifactStore::Upload>> ArtifactStore::begin(const ArtifactKey& key,
                                                                            Duration expires_in) {
  RETURN_IF_ERROR(check_artifact_name(key.name));
  if (expires_in < Duration::zero() || expires_in > limits_.max_age) {
    return bad_field("expires_in_ms", "must be between 0 and ", limits_.max_age.count() / 1000,
                     ", the server's artifact_retention_age");
  }
  const WallTime now = clock_.now().wall;
  ArtifactInfo info{.key = key, .created = now};
  info.expires = now + (expires_in > Duration::zero() ? expires_in : limits_.max_age);
  const std::string file = random_uuid();
  const int fd = ::open(path_of(file).c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (fd < 0) return absl::ErrnoToStatus(errno, "making " + path_of(file));
  return std::unique_ptr<Upload>(new Upload(*this, std::move(info), file, fd));
}

absl::StatusOr<ArtifactStore::Row> ArtifactStore::find(const ArtifactKey& key) {
  ASSIGN_OR_RETURN(Statement rows,
                   db_.prepare(cat("SELECT ", kColumns, " FROM artifact WHERE namespace = ? AND name = ?")));
  rows.text(key.ns);
  rows.text(key.name);
  ASSIGN_OR_RETURN(const bool found, rows.step());
  if (!found) return unknown(key);
  Row row{.info = read_info(rows)};
  row.file = rows.text();
  if (row.info.expires <= clock_.now().wall) {
    return absl::NotFoundError(cat("artifact '", key.name, "' in namespace '", key.ns, "' has expired"));
  }
  return row;
}

absl::StatusOr<std::unique_ptr<ArtifactStore::Content>> ArtifactStore::content(const ArtifactKey& key) {
  const std::lock_guard lock(mutex_);
  ASSIGN_OR_RETURN(Row row, find(key));
  const int fd = ::open(path_of(row.file).c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return absl::DataLossError(cat("the content of artifact '", key.name, "' cannot be opened"));
  return std::make_unique<Content>(std::move(row.info), fd);
}

absl::StatusOr<ArtifactInfo> ArtifactStore::stat(const ArtifactKey& key) {
  const std::lock_guard lock(mutex_);
  ASSIGN_OR_RETURN(Row row, find(key));
  return row.info;
}

absl::StatusOr<std::vector<ArtifactInfo>> ArtifactStore::list(const std::string& ns, const std::string& prefix,
                                                              const std::string& after, size_t most) {
  const std::lock_guard lock(mutex_);
  ASSIGN_OR_RETURN(Statement rows,
                   db_.prepare(cat("SELECT ", kColumns,
                                   " FROM artifact WHERE namespace = ? AND name > ? "
                                   "AND substr(name, 1, ?) = ? AND expires_us > ? ORDER BY name LIMIT ?")));
  rows.text(ns);
  rows.text(after);
  rows.integer(static_cast<int64_t>(prefix.size()));
  rows.text(prefix);
  rows.integer(clock_.now().wall.us);
  rows.integer(static_cast<int64_t>(most));
  std::vector<ArtifactInfo> out;
  while (true) {
    ASSIGN_OR_RETURN(const bool more, rows.step());
    if (!more) return out;
    out.push_back(read_info(rows));
  }
}

absl::Status ArtifactStore::remove(const ArtifactKey& key) {
  const std::lock_guard lock(mutex_);
  ASSIGN_OR_RETURN(const Row row, find(key));
  ASSIGN_OR_RETURN(Statement removal, db_.prepare("DELETE FROM artifact WHERE namespace = ? AND name = ?"));
  removal.text(key.ns);
  removal.text(key.name);
  RETURN_IF_ERROR(removal.run().status());
  unlink(path_of(row.file).c_str());
  used_ -= row.info.size;
  return absl::OkStatus();
}

absl::StatusOr<std::vector<ArtifactStore::Row>> ArtifactStore::expired_rows() {
  ASSIGN_OR_RETURN(const int64_t count, db_.ask_integer("SELECT count(*) FROM artifact"));
  ASSIGN_OR_RETURN(Statement rows, db_.prepare(cat("SELECT ", kColumns,
                                                   " FROM artifact WHERE expires_us <= ? ORDER BY "
                                                   "expires_us LIMIT ?")));
  rows.integer(clock_.now().wall.us);
  rows.integer(std::max(count / kSweptShare, kLeastSwept));
  std::vector<Row> out;
  while (true) {
    ASSIGN_OR_RETURN(const bool more, rows.step());
    if (!more) return out;
    Row row{.info = read_info(rows)};
    row.file = rows.text();
    out.push_back(std::move(row));
  }
}

absl::StatusOr<int> ArtifactStore::sweep() {
  const std::lock_guard lock(mutex_);
  ASSIGN_OR_RETURN(const std::vector<Row> expired, expired_rows());
  for (const Row& row : expired) {
    ASSIGN_OR_RETURN(Statement removal, db_.prepare("DELETE FROM artifact WHERE namespace = ? AND name = ?"));
    removal.text(row.info.key.ns);
    removal.text(row.info.key.name);
    RETURN_IF_ERROR(removal.run().status());
    unlink(path_of(row.file).c_str());
    used_ -= row.info.size;
  }
  return static_cast<int>(expired.size());
}

int64_t ArtifactStore::used_bytes() {
  const std::lock_guard lock(mutex_);
  return used_;
}

absl::Status ArtifactStore::check_disk(int64_t bytes) const {
  struct statvfs disk {};
  if (limits_.disk_reserve == 0 || ::statvfs(folder_.c_str(), &disk) != 0) return absl::OkStatus();
  const auto room = static_cast<int64_t>(uint64_t{disk.f_bavail} * disk.f_frsize);
  if (room - bytes >= limits_.disk_reserve) return absl::OkStatus();
  return absl::UnavailableError(cat("the disk of the server's data folder is nearly full (",
                                    size_text(limits_.disk_reserve),
                                    " are reserved for its own records); free some space and try again"));
}

absl::Status ArtifactStore::reserve(int64_t bytes) {
  RETURN_IF_ERROR(check_disk(bytes));
  const std::lock_guard lock(mutex_);
  if (used_ + bytes > limits_.max_bytes) {
    return absl::ResourceExhaustedError(
        cat("the artifact store is full (artifact_store_size is ", limits_.max_bytes,
            " bytes): remove some with `hodei artifact rm`, or let them expire sooner"));
  }
  used_ += bytes;
  return absl::OkStatus();
}

void ArtifactStore::give_back(int64_t bytes) {
  const std::lock_guard lock(mutex_);
  used_ -= bytes;
}

absl::StatusOr<ArtifactInfo> ArtifactStore::keep(const Upload& upload) {
  RETURN_IF_ERROR(sync_folder(folder_ + "/files"));
  const std::lock_guard lock(mutex_);
  const ArtifactInfo& info = upload.info_;
  // Also one that has expired but was not swept yet.
  std::string replaced;
  int64_t replaced_size = 0;
  {
    ASSIGN_OR_RETURN(Statement old, db_.prepare("SELECT file, size FROM artifact WHERE namespace = ? AND name = ?"));
    old.text(info.key.ns);
    old.text(info.key.name);
    ASSIGN_OR_RETURN(const bool found, old.step());
    if (found) {
      replaced = old.text();
      replaced_size = old.integer();
    }
  }
  ASSIGN_OR_RETURN(Statement row,
                   db_.prepare(cat("INSERT OR REPLACE INTO artifact (", kColumns, ") VALUES (?, ?, ?, ?, ?, ?, ?)")));
  row.text(info.key.ns);
  row.text(info.key.name);
  row.integer(info.size);
  row.text(info.sha256);
  row.integer(info.created.us);
  row.integer(info.expires.us);
  row.text(upload.file_);
  RETURN_IF_ERROR(row.run().status());
  if (!replaced.empty()) unlink(path_of(replaced).c_str());
  used_ -= replaced_size;
  return info;
}

}  // namespace hodei::server
