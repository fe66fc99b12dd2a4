#include "src/worker/runners/staged_runner.h"

#include <algorithm>
#include <filesystem>
#include <set>
#include <utility>

#include "hodei/v1/job.pb.h"
#include "src/base/folder_tree.h"
#include "src/base/status.h"
#include "src/worker/core/keeper.h"
#include "src/worker/system/shortage.h"

namespace hodei::worker {
namespace {

namespace fs = std::filesystem;

Exit artifact_error(Exit exit, const absl::Status& why) {
  exit.outcome = Outcome::Failed;
  exit.failure = "artifact_error";
  exit.message = std::string(why.message());
  return exit;
}

std::vector<ArtifactOrder> read_all(const std::vector<std::string>& serialized) {
  std::vector<ArtifactOrder> out;
  for (const std::string& each : serialized) out.push_back(read_artifact(each));
  return out;
}

// Of an agent that died while it prepared: nobody else knows of them.
void remove_leftover_folders(const std::string& folder, const NotesByExecution& notes) {
  std::set<std::string> wanted;
  for (const auto& [execution, known] : notes) wanted.insert(known.folder);
  std::error_code failed;
  for (fs::directory_iterator it(folder, failed), end; !failed && it != end; it.increment(failed)) {
    if (!wanted.contains(it->path().string())) remove_tree(it->path().string()).IgnoreError();
  }
}

}  // namespace

std::vector<int> StagedRunner::ready_fds() const {
  std::vector<int> fds = inner().ready_fds();
  fds.push_back(parts_.transfers.ready_fd());
  return fds;
}

void StagedRunner::start(Launch launch) {
  const ExecutionId execution = launch.order.execution;
  v1::JobSpec spec;
  if (staged_.contains(execution)) return;
  if (!launch.program.impossible.empty() || !spec.ParseFromString(launch.order.spec)) {
    return inner().start(std::move(launch));
  }
  ExecutionNotes* known = parts_.notes.contains(execution) ? &parts_.notes[execution] : nullptr;
  const bool was_staged = known != nullptr && !known->folder.empty();
  if (was_staged || (spec.inputs().empty() && spec.outputs().empty())) return inner().start(std::move(launch));
  ExecutionNotes& notes = parts_.notes[execution];
  notes.folder = cat(parts_.folder, "/", to_string(execution));
  notes.sandboxed = spec.has_sandbox();
  for (const v1::Artifact& output : spec.outputs()) notes.outputs.push_back(output.SerializeAsString());
  Transfers::Load load{.execution = execution, .folder = notes.folder, .files_allowed = !notes.sandboxed};
  for (const v1::Artifact& input : spec.inputs()) load.artifacts.push_back(read_artifact(input.SerializeAsString()));
  launch.program.folder = notes.folder;
  staged_[execution] = Staged{.launch = std::move(launch)};
  parts_.transfers.fetch(std::move(load));
}

void StagedRunner::end(ExecutionId execution, KillReason why, Duration grace, Now now) {
  now_ = now;
  if (!end_staged(execution, why)) inner().end(execution, why, grace, now);
}

void StagedRunner::forget(ExecutionId execution) {
  const auto notes = parts_.notes.find(execution);
  if (notes != parts_.notes.end() && !notes->second.folder.empty()) {
    parts_.transfers.remove(execution, notes->second.folder);
  }
  inner().forget(execution);
}

void StagedRunner::extend_lease(MonoTime until) {
  lease_until_ = until;
  inner().extend_lease(until);
}

void StagedRunner::connected(const ServerAccess& server) {
  connected_ = true;
  parts_.transfers.set_server(ServerStore(server.channel, server.session_id));
  inner().connected(server);
}

void StagedRunner::disconnected() {
  connected_ = false;
  inner().disconnected();
}

void StagedRunner::look(Now now) {
  now_ = now;
  inner().look(now);
  hear_inner();
  for (const Transfers::Done& done : parts_.transfers.take()) {
    const auto it = staged_.find(done.execution);
    if (it == staged_.end()) continue;
    if (it->second.phase == Staged::Phase::Preparing) {
      inputs_are_there(done.execution, done.result);
    } else {
      outputs_are_sent(done.execution, done.result);
    }
  }
}

void StagedRunner::tick(Now now) {
  now_ = now;
  inner().tick(now);
  // What the supervisor does for those that run: another copy may start elsewhere.
  if (lease_until_.is_set() && now.mono >= lease_until_) {
    const KillReason why = stopping_ ? KillReason::Stopping : KillReason::LeaseExpired;
    while (!staged_.empty()) end_staged(staged_.begin()->first, why);
  }
  for (auto& [execution, staged] : staged_) {
    if (!connected_ || staged.phase != Staged::Phase::Waiting) continue;
    staged.phase = Staged::Phase::Sending;
    const ExecutionNotes& notes = parts_.notes.at(execution);
    parts_.transfers.send({.execution = execution,
                           .folder = notes.folder,
                           .artifacts = read_all(notes.outputs),
                           .files_allowed = !notes.sandboxed});
  }
}

MonoTime StagedRunner::next_due() const {
  const MonoTime next = inner().next_due();
  return staged_.empty() || !lease_until_.is_set() ? next : std::min(next, lease_until_);
}

std::vector<run::Event> StagedRunner::take_events() {
  hear_inner();
  return std::exchange(events_, {});
}

void StagedRunner::hear_inner() {
  for (run::Event& event : inner().take_events()) {
    if (auto* ready = std::get_if<run::Ready>(&event)) take_over(*ready);
    if (const auto* ended = std::get_if<run::Ended>(&event); ended != nullptr && hold_back(ended->exit)) continue;
    const bool stops = std::holds_alternative<run::StopAsked>(event);
    events_.push_back(std::move(event));  // first: why comes before what comes of it
    if (!stops) continue;
    stopping_ = true;
    std::vector<ExecutionId> preparing;
    for (const auto& [execution, staged] : staged_) {
      if (staged.phase == Staged::Phase::Preparing) preparing.push_back(execution);
    }
    for (const ExecutionId execution : preparing) end_staged(execution, KillReason::Stopping);
  }
}

// Executions that an earlier agent looked after.
void StagedRunner::take_over(run::Ready& ready) {
  for (run::HeldExecution& each : ready.held) {
    const auto notes = parts_.notes.find(each.held.execution);
    if (!each.held.ended || notes == parts_.notes.end()) continue;
    if (!notes->second.outputs_failed.empty()) {
      each.held.exit = artifact_error(each.held.exit, absl::UnknownError(notes->second.outputs_failed));
    } else if (hold_back(each.held.exit)) {
      each.held.ended = false;
    }
  }
  remove_leftover_folders(parts_.folder, parts_.notes);
}

bool StagedRunner::hold_back(const Exit& exit) {
  const auto notes = parts_.notes.find(exit.execution);
  if (notes == parts_.notes.end() || notes->second.outputs.empty() || exit.outcome != Outcome::Succeeded) return false;
  staged_[exit.execution] = Staged{.phase = Staged::Phase::Waiting, .launch = {}, .exit = exit};
  return true;
}

void StagedRunner::inputs_are_there(ExecutionId execution, const absl::Status& result) {
  Launch launch = std::move(staged_.at(execution).launch);
  staged_.erase(execution);
  if (!result.ok()) {
    Exit exit = is_shortage(result) ? not_started_here(std::string(result.message())) : artifact_error({}, result);
    exit.execution = execution;
    exit.ended = now_.wall;
    events_.emplace_back(run::Ended{std::move(exit)});
    return;
  }
  parts_.notes.at(execution).prepared = now_.wall;
  inner().start(std::move(launch));
}

void StagedRunner::outputs_are_sent(ExecutionId execution, const absl::Status& result) {
  Exit exit = std::move(staged_.at(execution).exit);
  staged_.erase(execution);
  if (!result.ok()) exit = artifact_error(std::move(exit), result);
  // The next agent is not to send them again, nor to come to another end.
  ExecutionNotes& notes = parts_.notes.at(execution);
  notes.outputs.clear();
  notes.outputs_failed = std::string(result.message());
  inner().keep_notes(execution);
  events_.emplace_back(run::Ended{std::move(exit)});
}

bool StagedRunner::end_staged(ExecutionId execution, KillReason why) {
  const auto it = staged_.find(execution);
  if (it == staged_.end()) return false;
  parts_.transfers.drop(execution);
  Exit exit = std::move(it->second.exit);
  staged_.erase(it);
  exit.execution = execution;
  judge(exit, why);
  if (!exit.ended.is_set()) exit.ended = now_.wall;
  events_.emplace_back(run::Ended{std::move(exit)});
  return true;
}

}  // namespace hodei::worker
