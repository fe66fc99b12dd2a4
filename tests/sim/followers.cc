#include "tests/sim/followers.h"

namespace hodei::sim {
namespace {

// After the last fault and the job's end: the worker comes back, its output arrives or is given up, and some.
constexpr Duration kHearsWithin = 200s;

}  // namespace

void Followers::told(JobId job) {
  if (!jobs_.insert(job).second) return;
  if (world_.chance(0.4)) {
    const uint64_t id = next_++;
    watches_[id].job = job;
    watch(id);
  }
  if (world_.chance(0.4)) {
    const uint64_t id = next_++;
    readings_[id].job = job;
    readings_[id].is_slow = world_.chance(0.2);
    read(id);
  }
  if (world_.chance(0.1)) look_up(job, 3);
}

void Followers::read_all() {
  for (const JobId job : jobs_) {
    const uint64_t id = next_++;
    readings_[id].job = job;
    read(id);
  }
}

void Followers::reign_ended(uint64_t life) {
  for (auto& [id, watch] : watches_) {
    if (watch.life == life) watch_later(id);
  }
  for (auto& [id, reading] : readings_) {
    if (reading.life == life) read_later(id);
  }
}

// ---- The end of a job

void Followers::watch_later(uint64_t id) {
  watches_.at(id).life = 0;
  world_.after(world_.between(10ms, 2s), [this, id] { watch(id); });
}

void Followers::watch(uint64_t id) {
  Watch& watch = watches_.at(id);
  Reign* leader = servers_.leader();
  if (leader == nullptr || leader->is_paused()) return watch_later(id);
  watch.life = leader->life();
  // Before the store is asked: what happens meanwhile is told.
  watch.number = leader->events().watch_job(
      watch.job, [this, id, life = watch.life](const std::shared_ptr<const server::JobEvent>& event) {
        const auto it = watches_.find(id);
        if (it == watches_.end() || it->second.life != life || !core::is_terminal(event->job->state)) return;
        if (!checker_.lives().has_ended(event->job->id))
          world_.broken(cat("a follower hears that ", short_id(event->job->id), " has ended, which it has not"));
        watches_.erase(it);
      });
  servers_.read([this, id, life = watch.life](Reign* reign) {
    const auto it = watches_.find(id);
    if (it == watches_.end() || it->second.life != life || reign == nullptr || reign->life() != life) return;
    const absl::StatusOr<store::JobView> view = reign->reader().job(it->second.job);
    if (!view.ok()) return world_.broken(cat("I1: ", short_id(it->second.job), " was acknowledged and is not found"));
    if (!core::is_terminal(view->head.state)) return;
    reign->events().unwatch(it->second.number);
    watches_.erase(it);
  });
}

// ---- Its output

void Followers::read_later(uint64_t id) {
  Reading& reading = readings_.at(id);
  reading.life = 0;
  ++reading.round;
  reading.output = nullptr;
  reading.received = {};
  world_.after(world_.between(10ms, 2s), [this, id] { read(id); });
}

void Followers::read(uint64_t id) {
  Reading& reading = readings_.at(id);
  Reign* leader = servers_.leader();
  if (leader == nullptr || leader->is_paused()) return read_later(id);
  reading.life = leader->life();
  const uint64_t round = ++reading.round;
  servers_.read([this, id, round](Reign* reign) {
    const auto it = readings_.find(id);
    if (it == readings_.end() || it->second.round != round) return;
    if (reign == nullptr || reign->life() != it->second.life) return read_later(id);
    // It is only told that there may be more: reading happens elsewhere, a moment later.
    absl::StatusOr<std::shared_ptr<server::Subscription>> output = reign->hub().subscribe(
        {.job = it->second.job},
        [this, id, round] { world_.after(world_.between(10us, 5ms), [this, id, round] { pull(id, round); }); });
    if (!output.ok()) return world_.broken(cat("I6: a reader is refused: ", output.status().ToString()));
    it->second.output = *std::move(output);
    pull(id, round);
  });
}

void Followers::pull(uint64_t id, uint64_t round) {
  const auto it = readings_.find(id);
  if (it == readings_.end() || it->second.round != round || it->second.output == nullptr) return;
  Reading& reading = it->second;
  Reign* reign = servers_.reign(reading.life);
  if (reign == nullptr) return read_later(id);
  if (reign->is_paused()) return reign->when_running([this, id, round] { pull(id, round); });
  server::LogChunk chunk;
  switch (reading.output->next(chunk)) {
    case server::Subscription::Next::Wait: return;
    case server::Subscription::Next::Chunk:
      checker_.outputs().got(reading.received, chunk);
      world_.after(reading.is_slow ? world_.between(10ms, 5s) : world_.between(20us, 2ms),
                   [this, id, round] { pull(id, round); });
      return;
    case server::Subscription::Next::Closed: break;
  }
  if (!reading.output->status().ok()) return read_later(id);
  checker_.outputs().read_to_end(reading.job, reading.received);
  readings_.erase(it);
}

// ---- A job that was acknowledged is found, however long that takes

void Followers::look_up(JobId job, int times) {
  servers_.read([this, job, times](Reign* reign) {
    if (reign != nullptr && absl::IsNotFound(reign->reader().job(job).status()))
      world_.broken(cat("I1: ", short_id(job), " was acknowledged and is not found"));
    if (times > 1) world_.after(world_.between(1s, 60s), [this, job, times] { look_up(job, times - 1); });
  });
}

void Followers::check_overdue(JobId job, const char* who) const {
  const std::optional<Duration> ended = checker_.lives().ended_at(job);
  if (!ended || world_.elapsed() < std::max(*ended, trouble_ends_) + kHearsWithin) return;
  world_.broken(cat(who, " of ", short_id(job), " still waits, and the job has ended"));
}

void Followers::check_overdue() const {
  for (const auto& [id, watch] : watches_) check_overdue(watch.job, "a follower");
  for (const auto& [id, reading] : readings_) check_overdue(reading.job, "a reader");
}

}  // namespace hodei::sim
