#include "src/server/carrier.h"

#include "src/base/journal.h"

namespace hodei::server {

void Carrier::carry_out(const core::Turn& turn, store::Epoch epoch) {
  for (const core::Write& write : turn.writes) {
    if (const auto* put = std::get_if<core::PutSpec>(&write)) specs_.put(put->spec);
    if (const auto* put = std::get_if<core::Put<core::WorkerRecord>>(&write); put != nullptr && maker_ != nullptr)
      tell_maker(*put->row);
  }
  Messages messages;
  for (const core::Effect& effect : turn.effects) add(effect, messages);
  for (auto& [stream, message] : messages) {
    message.epoch = static_cast<uint64_t>(epoch);
    links_.send(stream, std::move(message));
  }
}

void Carrier::tell_maker(const core::WorkerRecord& worker) {
  const bool has_come = worker.session != Hash128{};  // nobody but a worker that registers has one
  if (has_come && worker.info.made) maker_->registered(worker.info.id);
}

void Carrier::add(const core::Effect& effect, Messages& messages) {
  std::visit(
      [&](const auto& e) {
        using E = std::decay_t<decltype(e)>;
        if constexpr (std::is_same_v<E, core::RunExecution>) {
          messages[e.stream].run.push_back({e.execution, e.attempt, specs_.find(e.execution.job), e.has_secrets});
        } else if constexpr (std::is_same_v<E, core::CancelExecution>) {
          messages[e.stream].cancel.push_back({e.execution, e.timed_out, e.grace});
        } else if constexpr (std::is_same_v<E, core::AckResult>) {
          messages[e.stream].results.push_back(e.execution);
        } else if constexpr (std::is_same_v<E, core::WelcomeWorker>) {
          ToWorker::Welcome welcome;
          welcome.unknown = e.unknown;
          for (const ExecutionId& held : e.held) welcome.logs.push_back({held, LogPosition::kUnknown});
          messages[e.stream].welcome = std::move(welcome);
        } else if constexpr (std::is_same_v<E, core::TellDrain>) {
          messages[e.stream].drain = e.reason;
          messages[e.stream].drain_is_over = e.is_over;
        } else if constexpr (std::is_same_v<E, core::NoteStop>) {
          messages[e.stream].stop_noted = true;
        } else if constexpr (std::is_same_v<E, core::TellWorker>) {
          messages[e.stream].words.push_back(e.words);
        } else if constexpr (std::is_same_v<E, core::DropStream>) {
          links_.close(e.stream, e.reason);
        } else if constexpr (std::is_same_v<E, core::JobMoved>) {
          tell_output(*e.job);
          if (journal_ != nullptr && journal_wants(Level::Debug))
            journal_->tell(e.job, e.first, specs_.find(e.job->id));
          if (core::is_terminal(e.job->state)) {
            specs_.drop(e.job->id);
            logs_.job_finished(e.job->id, e.job->executions);
          }
          events_.publish({e.job, e.first, false});
        } else if constexpr (std::is_same_v<E, core::JobProgressed>) {
          events_.publish({e.job, 0, true});
        } else if constexpr (std::is_same_v<E, core::CreateWorker>) {
          if (maker_ != nullptr) maker_->create(e);
        } else if constexpr (std::is_same_v<E, core::DestroyWorker>) {
          if (maker_ != nullptr) maker_->destroy(e);
        } else if constexpr (std::is_same_v<E, core::ProvidersChanged>) {
          if (maker_ != nullptr) maker_->providers_changed();
        } else if constexpr (std::is_same_v<E, core::PrepareJob>) {
          if (preparer_ != nullptr) preparer_->prepare(e);
        } else if constexpr (core::IsNews<E>) {
          journal(Level::Info, "server", e.words());
        } else {
          static_assert(std::is_same_v<E, core::ExecutionLost>, "every effect must be carried out");
          logs_.execution_lost(e.execution);
        }
      },
      effect);
}

void Carrier::tell_output(const core::JobHead& job) {
  if (job.past == nullptr || job.past->executions.empty()) return;
  const core::Execution& newest = job.past->executions.back();
  if (newest.log_bytes) logs_.execution_ended({job.id, newest.number}, *newest.log_bytes);
}

}  // namespace hodei::server
