#include "src/server/logs/subscription.h"

#include <utility>

namespace hodei::server {

Subscription::Subscription(const SubscribeRequest& request, std::function<void()> ready, std::shared_ptr<LiveLogs> live,
                           const store::NumberedLogStore& store, const LogHubLimits& limits)
    : request_(request),
      ready_(std::move(ready)),
      live_(std::move(live)),
      store_(store),
      limits_(limits),
      at_{.execution = request.execution, .offset = request.from_offset, .ended = request.execution == 0} {
  live_->enter(request_.job);
}

Subscription::~Subscription() { live_->leave(request_.job); }

Subscription::Next Subscription::next(LogChunk& chunk) {
  while (!closed_) {
    // The glimpse comes before any look into the store: what is published later makes a newer version.
    const Glimpse now = live_->look(request_.job, at_.execution, at_.offset);
    if (now.stopped) return close(absl::UnavailableError("the server is stopping; subscribe again"));
    if (now.cleared) {
      if (std::exchange(told_cleared_, true)) return close(absl::OkStatus());
      return deliver_gap({.reason = kCleared}, at_.offset, chunk);
    }
    if (!at_.ended) {
      const Next more = more_of_this(now, chunk);
      if (more != Next::Wait) return more;
    }
    if (const std::optional<Next> answer = at_the_end(now, chunk)) return *answer;
  }
  return Next::Closed;
}

Subscription::Next Subscription::more_of_this(const Glimpse& now, LogChunk& chunk) {
  if (now.piece != nullptr) {
    allowed_lag_ = limits_.max_behind;
    return deliver(store::cut_for_reader(now.piece->piece, now.piece->first_line, at_.offset, limits_.chunk_bytes),
                   chunk);
  }
  if (now.printed && at_.offset >= *now.printed) return deliver_end(chunk);
  const bool is_at_live_end = now.tail && !now.tail->ended && now.tail->next_offset <= at_.offset;
  if (is_at_live_end) {
    allowed_lag_ = limits_.max_behind;
    return Next::Wait;
  }
  if (fell_behind(now)) {
    const int64_t skipped = now.tail->next_offset - at_.offset;
    return deliver_gap({.bytes = skipped, .reason = kSlowSubscriber}, now.tail->next_offset, chunk);
  }
  absl::StatusOr<store::NumberedPiece> read =
      store_.read_numbered({request_.job, at_.execution}, at_.offset, limits_.chunk_bytes);
  if (!read.ok()) return close(read.status());
  const bool is_empty = read->piece.data.empty() && read->piece.lost == 0 && !read->piece.end;
  return is_empty ? Next::Wait : deliver(*std::move(read), chunk);
}

// Reading a long history is not falling behind: the lag that it began with does not count.
bool Subscription::fell_behind(const Glimpse& now) {
  if (!now.tail) return false;
  const int64_t lag = now.tail->next_offset - at_.offset;
  if (!allowed_lag_) allowed_lag_ = lag + limits_.max_behind;
  return lag > *allowed_lag_;
}

Subscription::Next Subscription::deliver(store::NumberedPiece piece, LogChunk& chunk) {
  chunk = to_chunk(std::move(piece), at_.offset);
  at_.offset = chunk.next_offset;
  at_.ended = chunk.end_of_execution;
  said_something_ = true;
  return Next::Chunk;
}

Subscription::Next Subscription::deliver_gap(LogGap gap, int64_t next_offset, LogChunk& chunk) {
  chunk = {.execution = {request_.job, at_.execution}, .gap = gap, .offset = next_offset, .next_offset = next_offset};
  at_.offset = next_offset;
  said_something_ = true;
  return Next::Chunk;
}

Subscription::Next Subscription::deliver_end(LogChunk& chunk) {
  chunk = {.execution = {request_.job, at_.execution},
           .offset = at_.offset,
           .next_offset = at_.offset,
           .end_of_execution = true};
  at_.ended = true;
  return Next::Chunk;
}

Subscription::Next Subscription::close(absl::Status status) {
  closed_ = true;
  status_ = std::move(status);
  return Next::Closed;
}

std::optional<uint32_t> Subscription::following(const Glimpse& now) const {
  std::optional<uint32_t> out = now.next_execution;
  for (const uint32_t number : store_.executions(request_.job)) {
    if (number > at_.execution) return out ? std::min(*out, number) : number;
  }
  return out;
}

void Subscription::go_to(uint32_t execution) {
  at_ = {.execution = execution};
  allowed_lag_.reset();
}

std::optional<Subscription::Next> Subscription::at_the_end(const Glimpse& now, LogChunk& chunk) {
  const bool one_only = request_.execution != 0;
  if (now.gave_up && !at_.ended && now.printed && *now.printed > at_.offset) {
    const LogGap gap{.bytes = *now.printed - at_.offset, .reason = at_.offset > 0 ? kLost : kExpired};
    at_.ended = true;
    return deliver_gap(gap, *now.printed, chunk);
  }
  const bool done_with_this = at_.ended || !request_.follow;
  if (done_with_this && !one_only) {
    const std::optional<uint32_t> next = following(now);
    // It printed something, and nothing of that is here: it will come, or nothing of it is left.
    const bool is_missing = now.next_printed && now.next_printed->execution < next.value_or(UINT32_MAX);
    if (is_missing && (now.gave_up || now.late)) {
      at_ = {.execution = now.next_printed->execution, .offset = now.next_printed->bytes, .ended = true};
      return deliver_gap({.bytes = now.next_printed->bytes, .reason = kExpired}, at_.offset, chunk);
    }
    if (next && (!is_missing || !request_.follow)) {
      go_to(*next);
      return std::nullopt;
    }
  }
  if (done_with_this && (one_only || !request_.follow)) return close(absl::OkStatus());
  const bool nothing_follows =
      now.finished && (at_.ended ? now.silent_until >= now.last_execution : at_.execution > now.last_execution);
  if (nothing_follows) return close(absl::OkStatus());
  if (now.gave_up) {
    // Said once per execution that has no end; behind the last one the next look closes.
    if (at_.ended) go_to(now.last_execution);
    at_.ended = true;
    return deliver_gap({.reason = said_something_ ? kLost : kExpired}, at_.offset, chunk);
  }
  if (live_->wait(request_.job, now.version, weak_from_this())) return Next::Wait;
  return std::nullopt;
}

}  // namespace hodei::server
