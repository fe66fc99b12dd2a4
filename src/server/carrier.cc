#include "src/server/carrier.h"

#include <algorithm>

#include "src/base/journal.h"
#include "src/base/status.h"
#include "src/base/trace.h"

namespace hodei::server {

void Carrier::carry_out(const core::Turn& turn, store::Epoch epoch) {
  for (const core::Write& write : turn.writes) {
    if (const auto* put = std::get_if<core::PutSpec>(&write)) specs_.put(put->spec);
    if (const auto* put = std::get_if<core::Put<core::WorkerRecord>>(&write); put != nullptr && maker_ != nullptr)
      tell_maker(*put->row);
  }
  Messages messages;
  for (const core::Effect& effect : turn.effects) add(effect, messages);
  fill_specs(messages);
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
          for (const ExecutionId& held : e.held) welcome.logs.push_back({held, logs_.durable_offset(held)});
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
          if (journal_wants(Level::Debug)) tell_journal(*e.job, e.first);
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

// One line for each step of a job, with the trace that it belongs to. Reads from the disk at worst, and only for
// whoever wants to see everything.
void Carrier::tell_journal(const core::JobHead& job, size_t first) {
  std::shared_ptr<const core::SpecRow> spec = specs_.find(job.id);
  if (spec == nullptr) {
    const auto rows = reader_.specs({job.id});
    if (rows.ok() && !rows->empty()) spec = rows->front();
  }
  const std::string trace = spec == nullptr ? "unknown" : trace_text(trace_of(job.id, spec->bytes).trace);
  const std::string about = cat("job=", short_id(job.id), " trace=", trace);
  if (first == 0)
    journal(Level::Debug, "server", about, " state=", core::name(core::JobState::Pending), " reason=submitted");
  const size_t count = core::transition_count(job);
  for (size_t i = std::max<size_t>(first, 1); i < count; ++i) {
    const core::Transition* t = core::find_transition(job, i);
    if (t == nullptr) continue;
    journal(Level::Debug, "server", about, " state=", core::name(t->to), " execution=", t->execution,
            " reason=", t->reason);
  }
}

void Carrier::fill_specs(Messages& messages) {
  std::vector<JobId> missing;
  for (const auto& [stream, message] : messages) {
    for (const ToWorker::Run& run : message.run) {
      if (run.spec == nullptr) missing.push_back(run.execution.job);
    }
  }
  if (missing.empty()) return;
  const auto rows = reader_.specs(missing);
  absl::flat_hash_map<JobId, std::shared_ptr<const core::SpecRow>> found;
  if (rows.ok()) {
    for (const auto& row : *rows) found[row->job] = row;
  }
  for (auto& [stream, message] : messages) {
    for (ToWorker::Run& run : message.run) {
      if (run.spec == nullptr) run.spec = found[run.execution.job];
    }
    // An order that cannot be sent: the stream starts over, and the hello gives the executions back.
    const bool broken =
        std::any_of(message.run.begin(), message.run.end(), [](const auto& run) { return run.spec == nullptr; });
    if (!broken) continue;
    message.run.clear();
    links_.close(stream, "the server could not read the job's spec");
  }
}

}  // namespace hodei::server
