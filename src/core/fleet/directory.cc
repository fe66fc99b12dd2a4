#include "src/core/fleet/directory.h"

#include "src/base/status.h"

namespace hodei::core {
namespace {

WorkerView view_of(const LiveWorker& w, const Turn& turn) {
  WorkerView view;
  view.record = w.record;
  view.state = w.shown_state();
  view.connected = w.connected;
  view.unhealthy = w.unhealthy;
  view.unfit = w.unfit;
  view.stopped = w.record->stopped && w.state != WorkerState::Terminated;
  if (w.paused) view.paused_until = turn.wall() + (w.paused_until - turn.mono());
  view.executions = {w.executions.begin(), w.executions.end()};
  view.cpu_load = w.cpu_load;
  view.memory_used_mb = w.memory_used_mb;
  view.dropped_logs = w.dropped_logs;
  view.succeeded = w.succeeded;
  view.failed = w.failed;
  view.last_seen = w.last_seen_wall;
  return view;
}

}  // namespace

Answer Directory::decide(const DescribeWorkers& q, Turn& turn) const {
  WorkerViews out;
  for (const auto& [id, worker] : workers_.all()) {
    if (id.str() == q.prefix && !q.prefix.empty()) return WorkerViews{{view_of(*worker, turn)}};
    if (id.str().starts_with(q.prefix)) out.workers.push_back(view_of(*worker, turn));
  }
  if (!q.exact) return out;
  if (out.workers.empty())
    return absl::NotFoundError(cat("worker '", q.prefix, "' is not registered; see `hodei worker list`"));
  if (out.workers.size() > 1) {
    // Those that are gone do not make a name ambiguous.
    std::erase_if(out.workers, [](const WorkerView& view) { return view.state == WorkerState::Terminated; });
    if (out.workers.size() == 1) return out;
    if (out.workers.empty()) {
      return absl::NotFoundError(
          cat("worker '", q.prefix, "' matches several workers, all of them gone; give more of the id"));
    }
    return absl::InvalidArgumentError(
        cat("worker_id: '", q.prefix, "' matches ", out.workers.size(), " workers; give more of the id"));
  }
  return out;
}

Answer Directory::decide(const FindSession& q, Turn&) const {
  LiveWorker* worker = workers_.of_session(q.session);
  if (worker == nullptr || worker->state == WorkerState::Terminated) {
    return absl::UnauthenticatedError("hodei-session: not the session id of a registered worker");
  }
  return Registered{worker->id()};
}

}  // namespace hodei::core
