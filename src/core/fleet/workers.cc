#include "src/core/fleet/workers.h"

#include <optional>
#include <utility>

#include "src/base/clip.h"
#include "src/base/codec.h"
#include "src/base/status.h"

namespace hodei::core {
namespace {

constexpr size_t kMaxEndReason = 1000;  // characters

void add_to(Encoder& out, const LiveWorker& w) {
  const WorkerRecord& r = *w.record;
  out.text(encode(r.info)).u64(static_cast<uint64_t>(r.state)).u64(r.session.high).u64(r.session.low);
  out.u64(r.used_otp.high).u64(r.used_otp.low).text(r.incarnation).u64(r.stopped).i64(r.registered.us);
  out.u64(static_cast<uint64_t>(w.state)).u64(w.executions.size());
  for (const ExecutionId& e : w.executions) out.u64(number(e.job)).u64(e.number);
  out.i64(w.used.cpu_milli).i64(w.used.memory_mb).i64(w.used.storage_mb).i64(w.used.gpus);
}

}  // namespace

LiveWorker* Workers::find(const WorkerId& id) const {
  const auto it = all_.find(id);
  return it == all_.end() ? nullptr : it->second.get();
}

LiveWorker* Workers::of_session(const Hash128& session) const {
  const auto it = sessions_.find(session);
  return it == sessions_.end() ? nullptr : find(it->second);
}

void Workers::fold(const Put<WorkerRecord>& write) {
  const WorkerRecordPtr& record = write.row;
  std::unique_ptr<LiveWorker>& slot = all_[record->info.id];
  if (slot == nullptr) slot = std::make_unique<LiveWorker>();
  LiveWorker& worker = *slot;
  const WorkerRecordPtr before = worker.record;
  if (before != nullptr) {
    sessions_.erase(before->session);
    bytes_ -= bytes_of(*before);
  }
  bytes_ += bytes_of(*record);
  // One that is still being made has none.
  if (record->session != Hash128{}) sessions_[record->session] = record->info.id;
  const bool busy = record->state == WorkerState::Ready && !worker.executions.empty();
  worker.state = busy ? WorkerState::Busy : record->state;
  // Nothing can be placed on it before it has said what it is, nor when it is gone.
  const bool is_listed = record->state != WorkerState::Creating && record->state != WorkerState::Terminated;
  ports_.room->record(worker, record, is_listed);
  ports_.makers->count(before.get(), record.get(), worker.executions.size());
}

void Workers::fold(const Erase<WorkerRecord>& write) {
  const auto it = all_.find(write.key);
  if (it == all_.end()) return;
  LiveWorker& worker = *it->second;
  HODEI_CHECK(worker.executions.empty());
  ports_.room->remove(worker);
  ports_.makers->count(worker.record.get(), nullptr, 0);
  bytes_ -= bytes_of(*worker.record);
  sessions_.erase(worker.record->session);
  all_.erase(it);
}

uint64_t Workers::digest() const {
  uint64_t sum = 0;
  for (const auto& [id, worker] : all_) {
    Encoder out;
    add_to(out, *worker);
    sum += hash64(out.bytes());
  }
  return sum;
}

void Workers::move(LiveWorker& worker, WorkerEvent event, Turn& turn) const {
  const std::optional<WorkerState> to = next(worker.state, event);
  if (!to) return;
  auto record = std::make_shared<WorkerRecord>(*worker.record);
  record->state = *to == WorkerState::Busy ? WorkerState::Ready : *to;
  turn.write(Put<WorkerRecord>{record});
}

void Workers::set_stopped(LiveWorker& worker, bool stopped, Turn& turn) const {
  if (worker.record->stopped == stopped) return;
  auto record = std::make_shared<WorkerRecord>(*worker.record);
  record->stopped = stopped;
  turn.write(Put<WorkerRecord>{record});
  if (stopped) ports_.makers->look_again();  // what waited for it may need a worker of its own
}

void Workers::note_end(LiveWorker& worker, const std::string& reason, Turn& turn) const {
  if (!worker.record->info.end_reason.empty() || reason.empty()) return;
  auto record = std::make_shared<WorkerRecord>(*worker.record);
  record->info.end_reason = std::string(clip(reason, kMaxEndReason));
  turn.write(Put<WorkerRecord>{record});
}

void Workers::end(LiveWorker& worker, WorkerEvent event, const std::string& reason, Turn& turn) const {
  move(worker, event, turn);
  auto record = std::make_shared<WorkerRecord>(*worker.record);
  record->info.ended = turn.wall();
  if (record->info.end_reason.empty()) record->info.end_reason = std::string(clip(reason, kMaxEndReason));
  record->state = WorkerState::Terminated;
  // One that only took too long to connect may still come, with the session that it was given.
  if (event != WorkerEvent::Expire) record->session = Hash128{};
  turn.write(Put<WorkerRecord>{record});
  worker.last_seen = turn.mono();
}

// Workers that left are still listed for a while; they do not keep others out.
void Workers::forget_one_terminated(Turn& turn) const {
  for (const auto& [id, worker] : all_) {
    if (worker->state != WorkerState::Terminated || !worker->executions.empty()) continue;
    turn.write(Erase<WorkerRecord>{WorkerId(id)});
    return;
  }
}

void Workers::drop_stream(LiveWorker& worker, const std::string& why, Turn& turn) const {
  turn.tell(DropStream{worker.id(), worker.stream, why});
  worker.connected = false;
  worker.stream = 0;
  ports_.room->refresh(worker);
}

}  // namespace hodei::core
