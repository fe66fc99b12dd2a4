#include "src/server/logs/log_hub.h"

#include "src/base/journal.h"
#include "src/base/status.h"

namespace hodei::server {

LogHub::LogHub(store::NumberedLogStore& store, JobEnds job_ends, const Clock& clock, LogHubLimits limits,
               const Clock* retention)
    : store_(store),
      job_ends_(std::move(job_ends)),
      clock_(clock),
      retention_(retention == nullptr ? clock : *retention),
      limits_(limits),
      inbox_(limits.inbox_bytes),
      live_(std::make_shared<LiveLogs>(limits)) {}

LogHub::~LogHub() { stop(); }

void LogHub::start() {
  thread_ = std::thread([this] { run(); });
}

void LogHub::stop() {
  inbox_.stop();
  if (thread_.joinable()) thread_.join();
  wake_all(live_->stop());
}

void LogHub::tick() {
  if (!is_stuck_) wake_all(live_->give_up(clock_.now().mono));
  inbox_.tick();
}

absl::StatusOr<bool> LogHub::offer(const std::shared_ptr<LogSource>& source, std::vector<store::LogPiece>& pieces) {
  for (const store::LogPiece& piece : pieces) RETURN_IF_ERROR(store::check_piece(piece));
  return inbox_.offer(source, pieces);
}

void LogHub::execution_lost(ExecutionId execution) { inbox_.end_log(execution); }

void LogHub::execution_ended(ExecutionId execution, int64_t log_bytes) {
  wake_all(live_->printed(execution.job, {{execution.number, log_bytes}}));
}

void LogHub::job_finished(JobId job, uint32_t last_execution) {
  const Now now = clock_.now();
  wake_all(live_->finish(job, last_execution, now.mono + limits_.end_grace, now.mono));
}

// A group that cannot be written is kept and tried again at every tick: workers are held back meanwhile, and go on by
// themselves when there is room on the disk again.
void LogHub::run() {
  Group group;
  for (;;) {
    const bool is_stuck = !group.items.empty();
    LogInbox::Wake wake = inbox_.wait(!is_stuck, limits_.group_bytes);
    if (wake.stopping) return;
    if (!is_stuck) {
      group.items = std::move(wake.items);
      prepare(group);
    }
    if (!group.items.empty() && write(group)) tell(std::exchange(group, {}));
    if (wake.ticked) expire_if_due();
  }
}

store::LogTail LogHub::tail_of(ExecutionId execution) const {
  if (const std::optional<store::LogTail> live = live_->tail(execution)) return *live;
  const store::LogExtent extent = store_.extent(execution);
  return {.next_offset = extent.next_offset, .next_line = extent.entries, .ended = extent.ended};
}

// Cuts off what is known already, as the store will, so that the same bytes are published that are written.
void LogHub::prepare(Group& group) {
  absl::flat_hash_map<ExecutionId, store::LogTail> tails;
  for (InboxItem& item : group.items) {
    store::LogPiece& piece = item.piece;
    const auto [it, is_new] = tails.try_emplace(piece.execution);
    store::LogTail& tail = it->second;
    if (is_new) tail = tail_of(piece.execution);
    if (item.source == nullptr) piece.offset = tail.next_offset;
    group.inbox_bytes += item.bytes;
    const int64_t piece_end = piece.offset + static_cast<int64_t>(piece.data.size());
    if (item.source != nullptr) group.acks.push_back({item.source, {piece.execution, piece_end}});
    if (tail.ended && item.source != nullptr && piece_end > tail.next_offset) ++after_end_;
    const std::optional<store::NewPart> part = store::new_part(piece, tail);
    if (!part) continue;
    group.first_lines.push_back(part->first_line);
    group.begins.push_back(tail.next_offset);
    tail = store::after(*part);
    if (part->data.size() == piece.data.size()) {
      piece.lost = part->lost;
      group.pieces.push_back(std::move(piece));
    } else {
      group.pieces.push_back(store::to_piece(*part));
    }
  }
}

bool LogHub::write(Group& group) {
  const absl::Status written = store_.append(group.pieces);
  note_stuck(written);
  if (!written.ok()) {
    ++failed_appends_;
    return false;
  }
  ++appends_;
  appended_pieces_ += static_cast<int64_t>(group.pieces.size());
  for (const store::LogPiece& piece : group.pieces) {
    appended_lines_ += static_cast<int64_t>(piece.lines.size());
    appended_bytes_ += static_cast<int64_t>(piece.data.size());
  }
  return true;
}

void LogHub::note_stuck(const absl::Status& written) {
  if (is_stuck_.exchange(!written.ok()) == !written.ok()) return;
  if (written.ok()) {
    journal(Level::Info, "server", "job output is being written again");
  } else {
    journal(Level::Warn, "server",
            "job output cannot be written and is waiting at the workers: ", std::string(written.message()));
  }
}

void LogHub::tell(Group group) {
  std::vector<std::shared_ptr<const LivePiece>> pieces;
  pieces.reserve(group.pieces.size());
  for (size_t i = 0; i < group.pieces.size(); ++i) {
    pieces.push_back(std::make_shared<LivePiece>(
        LivePiece{.piece = std::move(group.pieces[i]), .first_line = group.first_lines[i], .begins = group.begins[i]}));
  }
  const Waiters waiters = live_->publish(std::move(pieces));

  // One call per source, one position per execution.
  absl::flat_hash_map<LogSource*, absl::flat_hash_map<ExecutionId, int64_t>> positions;
  for (const auto& [source, ack] : group.acks) {
    int64_t& position = positions[source.get()][ack.execution];
    position = std::max(position, ack.durable_offset);
  }
  for (const auto& [source, of_source] : positions) {
    std::vector<LogAck> acks;
    for (const auto& [execution, offset] : of_source) acks.push_back({execution, offset});
    source->acknowledged(acks);
  }
  for (const std::shared_ptr<LogSource>& source : inbox_.release(group.inbox_bytes)) source->room();
  wake_all(waiters);
}

void LogHub::expire_if_due() {
  const Now now = clock_.now();
  if (now.mono < next_expire_) return;
  next_expire_ = now.mono + limits_.expire_every;
  // A failure leaves old segments for the next time.
  store_.expire(limits_.retention, retention_.now().wall).status().IgnoreError();
}

absl::StatusOr<JobEnd> LogHub::end_of(JobId job) const {
  ASSIGN_OR_RETURN(const std::optional<JobEnd> end, job_ends_(job));
  if (!end) return absl::NotFoundError(cat("job ", short_id(job), " does not exist"));
  return *end;
}

MonoTime LogHub::give_up_at(const JobEnd& end) const {
  const Now now = clock_.now();
  const Duration since = std::max(now.wall - end.finished_at, Duration(0));
  return now.mono + std::max(limits_.end_grace - since, Duration(0));
}

// Whether output that is not here will not come any more.
bool LogHub::is_late(const JobEnd& end) const {
  return end.finished && !is_stuck_ && give_up_at(end) <= clock_.now().mono;
}

absl::StatusOr<std::shared_ptr<Subscription>> LogHub::subscribe(const SubscribeRequest& request,
                                                                std::function<void()> ready) {
  if (request.from_offset < 0) return bad_field("from_offset", "must not be negative");
  if (request.from_offset > 0 && request.execution == 0) return bad_field("from_offset", "requires `execution`");
  if (request.tail < 0) return bad_field("tail", "must not be negative");
  if (request.from_offset > 0 && (request.tail > 0 || request.since.is_set())) {
    return bad_field("from_offset", "cannot be combined with `tail` or `since`");
  }
  auto out = std::make_shared<Subscription>(request, std::move(ready), live_, store_, limits_);
  ASSIGN_OR_RETURN(const std::optional<LogStart> start, find_start(store_, request));
  if (start) out->begin_at(*start);
  ASSIGN_OR_RETURN(const JobEnd end, end_of(request.job));
  wake_all(live_->printed(request.job, end.printed));
  if (end.finished) {
    wake_all(live_->finish(request.job, end.last_execution, give_up_at(end), clock_.now().mono));
  }
  return out;
}

absl::StatusOr<int64_t> LogHub::clear(JobId job) {
  ASSIGN_OR_RETURN(const JobEnd end, end_of(job));
  if (!end.finished) {
    return absl::FailedPreconditionError(
        cat("job ", short_id(job), " has not finished; cancel it or wait for it to end"));
  }
  ASSIGN_OR_RETURN(const int64_t bytes, store_.clear(job));
  wake_all(live_->forget(job));
  return bytes;
}

LogHubStats LogHub::stats() const {
  return {.inbox_bytes = inbox_.bytes(),
          .buffered_bytes = live_->buffered_bytes(),
          .subscribers = live_->subscribers(),
          .appended_pieces = appended_pieces_,
          .appended_lines = appended_lines_,
          .appended_bytes = appended_bytes_,
          .appends = appends_,
          .failed_appends = failed_appends_,
          .after_end = after_end_,
          .is_stuck = is_stuck_};
}

}  // namespace hodei::server
