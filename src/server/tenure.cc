#include "src/server/tenure.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "src/base/status.h"

namespace hodei::server {
namespace {

// For whoever follows a job. Orders and messages to workers are none: their streams are closed when memory has been
// loaded again, and their hello says what they hold.
bool is_news(const core::Effect& effect) {
  return std::holds_alternative<core::JobMoved>(effect) || std::holds_alternative<core::JobProgressed>(effect) ||
         std::holds_alternative<core::ExecutionLost>(effect);
}

// Whether a commit that failed so may have been applied all the same.
bool is_unknown(const absl::Status& failed) {
  return !absl::IsAborted(failed) && !absl::IsResourceExhausted(failed) && !absl::IsFailedPrecondition(failed);
}

}  // namespace

absl::StatusOr<std::unique_ptr<core::Engine>> Tenure::load() {
  RETURN_IF_ERROR(term_.renew());
  ASSIGN_OR_RETURN(const store::BatchNo last, store_.last_batch());
  auto fresh = std::make_unique<core::Engine>(config_);
  RETURN_IF_ERROR(store_.load([&](const core::Write& write) { fresh->restore(write); }));
  fresh->restored(clock_.now(),
                  retention_clock_ == nullptr ? std::nullopt : std::optional(retention_clock_->now().wall));
  const uint64_t before = std::exchange(batch_, static_cast<uint64_t>(last));
  core::Turn unsettled = std::exchange(unsettled_, {});
  // Nobody but the holder of this epoch commits, so the batch behind the last one is that of the failed commit.
  if (!unsettled.writes.empty() && batch_ == before + 1) {
    missed_ = std::move(unsettled);
  }
  return fresh;
}

absl::Status Tenure::check_term() const {
  if (term_.is_valid()) return absl::OkStatus();
  return absl::UnavailableError("the term of this server has run out, and it could not renew it yet");
}

absl::Status Tenure::commit(const core::Turn& turn) {
  if (term_.is_lost()) return absl::AbortedError("this server has lost its term; another one may lead now");
  const absl::Status done = store_.commit(turn.writes, term_.epoch(), store::BatchNo{batch_ + 1});
  if (done.ok()) {
    ++batch_;
    ++commits_;
    return done;
  }
  if (absl::IsAborted(done)) term_.lose();
  if (!is_unknown(done)) return done;
  unsettled_.writes = turn.writes;
  unsettled_.effects.clear();
  std::copy_if(turn.effects.begin(), turn.effects.end(), std::back_inserter(unsettled_.effects), is_news);
  return done;
}

}  // namespace hodei::server
