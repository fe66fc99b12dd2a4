#include "src/server/input/input_spool.h"

#include <algorithm>
#include <utility>

#include "src/base/status.h"

namespace hodei::server {

InputSpool::InputSpool(std::shared_ptr<InputStoreFacts> store, JobId job, MonoTime now)
    : store_(store), file_(std::move(store), job) {
  state_.last_seen = now;
}

std::shared_ptr<InputSpool> InputSpool::found(std::shared_ptr<InputStoreFacts> store, JobId job, std::string_view name,
                                              MonoTime now) {
  auto spool = std::make_shared<InputSpool>(std::move(store), job, now);
  InputState& state = spool->state_;
  state.name = input_name_from(name);
  const absl::StatusOr<InputFile::Extent> extent = spool->file_.measure(state.name);
  if (!extent.ok()) return nullptr;
  state.size = extent->size;
  state.base = extent->base;
  spool->store_->used += state.size - state.base;
  return spool;
}

uint64_t InputSpool::listen(std::function<void()> news) { return listeners_.add(std::move(news)); }

void InputSpool::unlisten(uint64_t listener) {
  // Whoever works on the file listens as well, so nobody is waited for here. Who comes while the file is being closed
  // opens it again, once disk_mutex_ is free.
  const std::unique_lock disk(disk_mutex_, std::try_to_lock);
  if (listeners_.remove(listener) && disk.owns_lock()) file_.close();
}

InputSpool::Position InputSpool::position() const {
  const std::lock_guard lock(mutex_);
  return {.size = state_.size,
          .whole = state_.has_end(),
          .broken = state_.broken,
          .closed = state_.over || state_.is_abandoned(),
          .abandoned = state_.is_abandoned()};
}

uint64_t InputSpool::attach_sender(const std::string& client) {
  const std::lock_guard lock(mutex_);
  if (state_.sender != 0 && client != state_.client) return 0;
  state_.client = client;
  return state_.sender = state_.next++;
}

void InputSpool::detach_sender(uint64_t sender, MonoTime now) {
  const std::lock_guard lock(mutex_);
  if (state_.sender != sender) return;
  state_.sender = 0;
  state_.last_seen = now;
}

bool InputSpool::is_abandoned(MonoTime now) const {
  const std::lock_guard lock(mutex_);
  const bool is_open = !state_.has_end() && !state_.broken && !state_.over;
  return state_.sender == 0 && is_open && now - state_.last_seen > store_->limits.patience;
}

// An input of which nothing ever came is empty, not broken: the job may not want any.
void InputSpool::break_off() {
  {
    const std::lock_guard lock(mutex_);
    if (state_.name.whole || state_.over) return;
    (state_.size == 0 ? state_.left_empty : state_.broken) = true;
  }
  tell_news();
}

// The job has been given what lies before `taken`, and will not be started again: that makes room.
absl::StatusOr<int64_t> InputSpool::make_room(int64_t wanted) {
  int64_t from = 0, to = 0;
  {
    const std::lock_guard lock(mutex_);
    const int64_t room = state_.room(store_->limits.per_job);
    from = state_.base;
    to = (state_.job_closed ? state_.size : state_.taken) / InputFile::kPage * InputFile::kPage;
    if (room >= wanted) return wanted;
    if (to <= from) return std::max<int64_t>(0, room);
  }
  const InputName cut{.whole = state_.name.whole, .cut = true};
  if (!state_.name.cut) RETURN_IF_ERROR(file_.rename(state_.name, cut));
  RETURN_IF_ERROR(file_.cut(from, to));
  store_->used -= to - from;
  const std::lock_guard lock(mutex_);
  state_.name = cut;
  state_.base = to;
  return std::clamp<int64_t>(state_.room(store_->limits.per_job), 0, wanted);
}

absl::StatusOr<InputSpool::Put> InputSpool::put(uint64_t sender, int64_t offset, std::string_view data, bool end) {
  const std::lock_guard disk(disk_mutex_);
  int64_t at = 0;
  bool job_closed = false;
  {
    const std::lock_guard lock(mutex_);
    if (sender != state_.sender) return Put::Replaced;
    if (state_.over || state_.is_abandoned()) return Put::Closed;
    if (state_.name.whole) return Put::Stored;
    if (offset < 0 || offset > state_.size) {
      return bad_field("offset", "is ", offset, ", but the input is stored up to ", state_.size,
                       "; send it without a gap");
    }
    data.remove_prefix(static_cast<size_t>(std::min<int64_t>(state_.size - offset, static_cast<int64_t>(data.size()))));
    at = state_.size;
    job_closed = state_.job_closed;
  }
  RETURN_IF_ERROR(file_.open(state_.name, at == 0));
  const auto wanted = static_cast<int64_t>(data.size());
  if (wanted > 0 && file_.is_disk_full(data.size())) {
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
  if (const absl::Status written = file_.write(data, at); !written.ok()) {
    store_->used -= bytes;
    return written;
  }
  const bool ends = end && fits;
  const InputName whole{.whole = true, .cut = state_.name.cut};
  if (ends) RETURN_IF_ERROR(file_.rename(state_.name, whole));
  {
    const std::lock_guard lock(mutex_);
    state_.size += bytes;
    if (ends) state_.name = whole;
  }
  if (bytes > 0 || ends) tell_news();
  if (fits) return Put::Stored;
  // A job that has closed its input is not started again with more than is kept: the rest is of no use to anybody.
  return job_closed ? Put::Closed : Put::Full;
}

absl::StatusOr<uint64_t> InputSpool::begin(int64_t offset) {
  const std::lock_guard lock(mutex_);
  if (state_.over) return absl::FailedPreconditionError("the job has ended");
  if (offset < state_.base || offset > state_.size) {
    return absl::OutOfRangeError(
        cat("offset: the input is stored from ", state_.base, " to ", state_.size, ", not at ", offset));
  }
  return state_.begin_taking(offset);
}

bool InputSpool::has_more_at(int64_t offset) const {
  const std::lock_guard lock(mutex_);
  return offset < state_.size || state_.has_end() || state_.broken;
}

absl::StatusOr<InputSpool::Piece> InputSpool::read(int64_t offset, size_t most) {
  Piece piece;
  bool all = false;
  {
    const std::lock_guard lock(mutex_);
    const int64_t there = std::max<int64_t>(0, state_.size - offset);
    most = static_cast<size_t>(std::min<int64_t>(static_cast<int64_t>(most), there));
    all = static_cast<int64_t>(most) == there;
    piece.end = all && state_.has_end();
    piece.broken = all && state_.broken;
  }
  if (most == 0) return piece;
  {
    const std::lock_guard disk(disk_mutex_);
    RETURN_IF_ERROR(file_.open(state_.name, state_.size == 0));
  }
  ASSIGN_OR_RETURN(piece.data, file_.read(offset, most));
  return piece;
}

void InputSpool::taken(uint64_t taker, int64_t offset) {
  {
    const std::lock_guard lock(mutex_);
    if (taker != state_.taker) return;
    state_.taken = std::max(state_.taken, std::min(offset, state_.size));
  }
  tell_news();
}

void InputSpool::closed_by_job(uint64_t taker) {
  {
    const std::lock_guard lock(mutex_);
    if (taker != state_.taker) return;
    state_.job_closed = true;
  }
  tell_news();
}

std::string InputSpool::trouble() const {
  const std::lock_guard lock(mutex_);
  return state_.trouble(store_->limits.per_job);
}

std::string InputSpool::prepare_start() {
  const std::lock_guard lock(mutex_);
  std::string trouble = state_.trouble(store_->limits.per_job);
  if (trouble.empty()) state_.begin_taking(0);
  return trouble;
}

void InputSpool::remove() {
  {
    const std::lock_guard disk(disk_mutex_);
    const std::lock_guard lock(mutex_);
    if (state_.over) return;
    state_.over = true;
    file_.remove(state_.name);
    store_->used -= state_.size - state_.base;
  }
  tell_news();
}

}  // namespace hodei::server
