#include "src/core/provision/scale_down.h"

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "src/base/status.h"
#include "src/core/provision/creation.h"
#include "src/core/provision/maker_reports.h"
#include "src/core/provision/pools.h"
#include "src/core/provision/providers.h"
#include "src/core/provision/setbacks.h"
#include "src/core/provision/withdrawals.h"

namespace hodei::core {
namespace {

constexpr Duration kRefusalMemory = std::chrono::minutes(10);

}  // namespace

void ScaleDown::sweep(Turn& turn) {
  sweep_deadlines(turn);
  sweep_idle(turn);
  context_.withdrawals.sweep_unwanted(turn);
  context_.creation.keep_pools(turn);
  context_.reports.bury_gone(turn);
  context_.withdrawals.fail_unmakable(turn);
  // Remembered a while longer than they hold: the next one in a row holds longer.
  std::erase_if(context_.making.refusals,
                [&turn](const auto& e) { return e.second.until + kRefusalMemory <= turn.mono(); });
  if (!context_.making.wanted.empty()) context_.making.look_again();
}

void ScaleDown::sweep_deadlines(Turn& turn) {
  std::vector<WorkerId> late;
  for (const auto& [id, attempt] : context_.making.attempts) {
    if (attempt.deadline <= turn.mono()) late.push_back(id);
  }
  for (const WorkerId& id : late) {
    LiveWorker* worker = context_.fleet.workers.find(id);
    const bool ran = worker->state == WorkerState::Connecting;
    const bool registered = worker->record->session != Hash128{};
    const Duration limit = ran ? context_.config.registration_limit : context_.config.making_limit;
    const std::string held_up = context_.making.attempts[id].held_up;
    context_.setbacks.give_up(*worker, MakingFailure::Trouble,
                              cat("worker ", id.str(),
                                  registered ? " registered but did not connect within "
                                  : ran      ? " is running but did not register within "
                                             : " did not start within ",
                                  limit.count() / 1'000'000, " s", held_up.empty() ? "" : ": ", held_up),
                              turn);
  }
  std::vector<WorkerId> lingering;
  for (const auto& [id, until] : context_.making.leaving) {
    if (until <= turn.mono()) lingering.push_back(id);
  }
  for (const WorkerId& id : lingering) context_.setbacks.destroy(*context_.fleet.workers.find(id), turn);
}

void ScaleDown::sweep_idle(Turn& turn) {
  std::vector<LiveWorker*> unneeded;
  for (const auto& [id, worker] : context_.fleet.workers.all()) {
    const std::optional<Made>& made = worker->record->info.made;
    if (!made) continue;
    // Silent for longer than its lease, it runs nothing any more; what is left of it goes.
    const bool lost = turn.mono() - worker->last_seen >= context_.config.lost_after && worker->executions.empty();
    if (takes_work(worker->state) && lost) {
      context_.setbacks.give_up(*worker, MakingFailure::Trouble, "silent for longer than its lease", turn);
      continue;
    }
    if (worker->state != WorkerState::Ready || !worker->executions.empty()) {
      context_.making.idle_since.erase(id);
      continue;
    }
    const auto [since, fresh] = context_.making.idle_since.try_emplace(id, turn.mono());
    const auto pool = context_.pools.all().find(made->pool);
    const auto provider = context_.providers.all().find(made->provider);
    const bool unwanted =
        provider == context_.providers.all().end() || provider->second.row.mode == ProviderMode::Disabled;
    const Duration limit = unwanted                             ? Duration(0)
                           : pool == context_.pools.all().end() ? context_.config.idle_limit
                                                                : pool->second.idle;
    if (turn.mono() - since->second >= limit) unneeded.push_back(worker.get());
  }
  for (LiveWorker* worker : unneeded) {
    if (context_.pools.can_spare(*worker)) drain(*worker, "it was no longer needed", turn);
  }
}

void ScaleDown::drain(LiveWorker& worker, const std::string& why, Turn& turn) {
  context_.fleet.workers.note_end(worker, why, turn);
  context_.fleet.workers.move(worker, WorkerEvent::Drain, turn);
  context_.fleet.departures.leave_if_drained(worker, turn);
}

void ScaleDown::retire_if_used(LiveWorker& worker, Turn& turn) {
  const std::optional<Made>& made = worker.record->info.made;
  if (!made || !made->one_job || !worker.executions.empty() || worker.state != WorkerState::Ready) return;
  drain(worker, "it was created for one job", turn);
}

void ScaleDown::left(LiveWorker& worker, Turn& turn) {
  if (!worker.record->info.made) return;
  context_.making.attempts.erase(worker.id());
  context_.making.idle_since.erase(worker.id());
  // Connected, it is given time to send what it still has and to go by itself.
  if (worker.connected) {
    context_.making.leaving[worker.id()] = turn.mono() + context_.config.leaving_limit;
  } else {
    context_.setbacks.destroy(worker, turn);
  }
}

}  // namespace hodei::core
