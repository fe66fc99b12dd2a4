#include "src/server/input/input_spool.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>

#include "src/base/status.h"

namespace hodei::server {
namespace {

constexpr int64_t kPage = 4096;
constexpr int64_t kBlock = 512;  // of st_blocks

absl::Status sync_input_folder(const std::string& folder) {
  const int fd = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  const bool synced = fd >= 0 && fsync(fd) == 0;
  const absl::Status status = synced ? absl::OkStatus() : absl::ErrnoToStatus(errno, "syncing " + folder);
  if (fd >= 0) close(fd);
  return status;
}

// What runs must still be recorded when the disk is full: input waits before that.
bool disk_is_full(const InputStoreFacts& store, uint64_t more) {
  struct statvfs disk {};
  if (store.limits.disk_reserve == 0 || statvfs(store.folder.c_str(), &disk) != 0) return false;
  return uint64_t{disk.f_bavail} * disk.f_frsize < store.limits.disk_reserve + more;
}

absl::Status write_at(int fd, std::string_view data, int64_t offset) {
  while (!data.empty()) {
    const ssize_t wrote = pwrite(fd, data.data(), data.size(), offset);
    if (wrote < 0 && errno == EINTR) continue;
    if (wrote <= 0) return absl::ErrnoToStatus(errno, "storing a job's standard input");
    data.remove_prefix(static_cast<size_t>(wrote));
    offset += wrote;
  }
  if (fdatasync(fd) == 0) return absl::OkStatus();
  return absl::ErrnoToStatus(errno, "syncing a job's standard input");
}

}  // namespace

InputSpool::InputSpool(std::shared_ptr<InputStoreFacts> store, JobId job, MonoTime now)
    : store_(std::move(store)), job_(job), last_seen_(now) {}

std::shared_ptr<InputSpool> InputSpool::found(std::shared_ptr<InputStoreFacts> store, JobId job, std::string_view name,
                                              MonoTime now) {
  auto spool = std::make_shared<InputSpool>(std::move(store), job, now);
  spool->whole_ = name.find(".whole") != std::string_view::npos;
  spool->cut_ = name.ends_with(".cut");
  struct stat info {};
  if (stat(spool->path(spool->whole_, spool->cut_).c_str(), &info) != 0) return nullptr;
  spool->size_ = info.st_size;
  if (spool->cut_) spool->base_ = std::max<int64_t>(0, info.st_size - info.st_blocks * kBlock) / kPage * kPage;
  spool->store_->used += spool->size_ - spool->base_;
  return spool;
}

InputSpool::~InputSpool() {
  if (fd_ >= 0) close(fd_);
}

uint64_t InputSpool::listen(std::function<void()> news) {
  const std::lock_guard lock(mutex_);
  listeners_[next_] = std::move(news);
  return next_++;
}

void InputSpool::unlisten(uint64_t listener) {
  // Whoever works on the file listens as well, so nobody is waited for here.
  const std::unique_lock disk(disk_mutex_, std::try_to_lock);
  const std::lock_guard lock(mutex_);
  listeners_.erase(listener);
  if (listeners_.empty() && disk.owns_lock() && fd_ >= 0) close(std::exchange(fd_, -1));
}

void InputSpool::tell_news() {
  std::map<uint64_t, std::function<void()>> listeners;
  {
    const std::lock_guard lock(mutex_);
    listeners = listeners_;
  }
  for (const auto& [id, news] : listeners) news();
}

InputSpool::Position InputSpool::position() const {
  const std::lock_guard lock(mutex_);
  const bool abandoned = broken_ || left_empty_;
  return {.size = size_, .whole = has_end(), .broken = broken_, .closed = over_ || abandoned, .abandoned = abandoned};
}

uint64_t InputSpool::attach_sender(const std::string& client) {
  const std::lock_guard lock(mutex_);
  if (sender_ != 0 && client != client_) return 0;
  client_ = client;
  return sender_ = next_++;
}

void InputSpool::detach_sender(uint64_t sender, MonoTime now) {
  const std::lock_guard lock(mutex_);
  if (sender_ != sender) return;
  sender_ = 0;
  last_seen_ = now;
}

bool InputSpool::is_abandoned(MonoTime now) const {
  const std::lock_guard lock(mutex_);
  return sender_ == 0 && !has_end() && !broken_ && !over_ && now - last_seen_ > store_->limits.patience;
}

// An input of which nothing ever came is empty, not broken: the job may not want any.
void InputSpool::break_off() {
  {
    const std::lock_guard lock(mutex_);
    if (whole_ || over_) return;
    (size_ == 0 ? left_empty_ : broken_) = true;
  }
  tell_news();
}

std::string InputSpool::path(bool whole, bool cut) const {
  return cat(store_->folder, "/", short_id(job_), whole ? ".whole" : ".open", cut ? ".cut" : "");
}

absl::Status InputSpool::open_file() {
  if (fd_ >= 0) return absl::OkStatus();
  const std::string file = path(whole_, cut_);
  fd_ = ::open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (fd_ < 0) return absl::ErrnoToStatus(errno, "opening " + file);
  return size_ == 0 ? sync_input_folder(store_->folder) : absl::OkStatus();
}

absl::Status InputSpool::rename_to(bool whole, bool cut) {
  if (std::rename(path(whole_, cut_).c_str(), path(whole, cut).c_str()) != 0) {
    return absl::ErrnoToStatus(errno, "noting the state of a job's standard input");
  }
  return sync_input_folder(store_->folder);
}

// The job has been given what lies before taken_, and will not be started again: that makes room.
absl::StatusOr<int64_t> InputSpool::make_room(int64_t wanted) {
  int64_t from = 0, to = 0;
  {
    const std::lock_guard lock(mutex_);
    const int64_t room = store_->limits.per_job - (size_ - base_);
    from = base_;
    to = (job_closed_ ? size_ : taken_) / kPage * kPage;
    if (room >= wanted) return wanted;
    if (to <= from) return std::max<int64_t>(0, room);
  }
  if (!cut_) RETURN_IF_ERROR(rename_to(whole_, true));
  if (fallocate(fd_, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, from, to - from) != 0) {
    return absl::ErrnoToStatus(errno, "standard input: making room for more of it");
  }
  store_->used -= to - from;
  const std::lock_guard lock(mutex_);
  cut_ = true;
  base_ = to;
  return std::clamp<int64_t>(store_->limits.per_job - (size_ - base_), 0, wanted);
}

absl::StatusOr<InputSpool::Put> InputSpool::put(uint64_t sender, int64_t offset, std::string_view data, bool end) {
  const std::lock_guard disk(disk_mutex_);
  int64_t at = 0;
  bool job_closed = false;
  {
    const std::lock_guard lock(mutex_);
    if (sender != sender_) return Put::Replaced;
    if (over_ || broken_ || left_empty_) return Put::Closed;
    if (whole_) return Put::Stored;
    if (offset < 0 || offset > size_) {
      return bad_field("offset", "is ", offset, ", but the input is stored up to ", size_, "; send it without a gap");
    }
    data.remove_prefix(static_cast<size_t>(std::min<int64_t>(size_ - offset, static_cast<int64_t>(data.size()))));
    at = size_;
    job_closed = job_closed_;
  }
  RETURN_IF_ERROR(open_file());
  const auto wanted = static_cast<int64_t>(data.size());
  if (wanted > 0 && disk_is_full(*store_, data.size())) {
    return absl::ResourceExhaustedError("the disk of the server is nearly full");
  }
  ASSIGN_OR_RETURN(const int64_t bytes, make_room(wanted));
  const bool fits = bytes == wanted;
  data = data.substr(0, static_cast<size_t>(bytes));
  if (store_->used.fetch_add(bytes) + bytes > store_->limits.total) {
    store_->used -= bytes;
    return absl::ResourceExhaustedError(cat("the server's space for standard input of jobs is full (",
                                            store_->limits.total, " bytes, stdin_store_size)"));
  }
  if (const absl::Status written = write_at(fd_, data, at); !written.ok()) {
    store_->used -= bytes;
    return written;
  }
  const bool ends = end && fits;
  if (ends) RETURN_IF_ERROR(rename_to(true, cut_));
  {
    const std::lock_guard lock(mutex_);
    size_ += bytes;
    whole_ = whole_ || ends;
  }
  if (bytes > 0 || ends) tell_news();
  if (fits) return Put::Stored;
  // A job that has closed its input is not started again with more than is kept: the rest is of no use to anybody.
  return job_closed ? Put::Closed : Put::Full;
}

absl::StatusOr<uint64_t> InputSpool::begin(int64_t offset) {
  const std::lock_guard lock(mutex_);
  if (over_) return absl::FailedPreconditionError("the job has ended");
  if (offset < base_ || offset > size_) {
    return absl::OutOfRangeError(cat("offset: the input is stored from ", base_, " to ", size_, ", not at ", offset));
  }
  taken_ = offset;
  job_closed_ = false;
  return taker_ = next_++;
}

bool InputSpool::has_more_at(int64_t offset) const {
  const std::lock_guard lock(mutex_);
  return offset < size_ || has_end() || broken_;
}

absl::StatusOr<InputSpool::Piece> InputSpool::read(int64_t offset, size_t most) {
  Piece piece;
  bool all = false;
  {
    const std::lock_guard lock(mutex_);
    const int64_t there = std::max<int64_t>(0, size_ - offset);
    most = static_cast<size_t>(std::min<int64_t>(static_cast<int64_t>(most), there));
    all = static_cast<int64_t>(most) == there;
    piece.end = all && has_end();
    piece.broken = all && broken_;
  }
  if (most == 0) return piece;
  {
    const std::lock_guard disk(disk_mutex_);
    RETURN_IF_ERROR(open_file());
  }
  piece.data.resize(most);
  const ssize_t got = pread(fd_, piece.data.data(), most, offset);
  if (got != static_cast<ssize_t>(most)) return absl::ErrnoToStatus(errno, "reading a job's standard input");
  return piece;
}

void InputSpool::taken(uint64_t taker, int64_t offset) {
  {
    const std::lock_guard lock(mutex_);
    if (taker != taker_) return;
    taken_ = std::max(taken_, std::min(offset, size_));
  }
  tell_news();
}

void InputSpool::closed_by_job(uint64_t taker) {
  {
    const std::lock_guard lock(mutex_);
    if (taker != taker_) return;
    job_closed_ = true;
  }
  tell_news();
}

std::string InputSpool::trouble() const {
  const std::lock_guard lock(mutex_);
  return trouble_in_words();
}

std::string InputSpool::trouble_in_words() const {
  if (cut_) {
    return cat("its standard input is longer than the ", store_->limits.per_job,
               " bytes that are kept (stdin_size), so the beginning is not kept, and the job cannot be started again; "
               "pass it as an "
               "artifact instead");
  }
  if (broken_) {
    return cat("its standard input broke off after ", size_, " bytes: its client has gone away; run it again");
  }
  return {};
}

std::string InputSpool::prepare_start() {
  const std::lock_guard lock(mutex_);
  if (std::string trouble = trouble_in_words(); !trouble.empty()) return trouble;
  taker_ = next_++;
  taken_ = 0;
  job_closed_ = false;
  return {};
}

void InputSpool::remove() {
  {
    const std::lock_guard disk(disk_mutex_);
    const std::lock_guard lock(mutex_);
    if (over_) return;
    over_ = true;
    unlink(path(whole_, cut_).c_str());
    store_->used -= size_ - base_;
  }
  tell_news();
}

}  // namespace hodei::server
