// The agent's side of artifacts. The Session knows nothing of them: for it an execution whose inputs are being fetched
// has not started yet, and one whose outputs are being sent has not ended yet. So heartbeats list it, Hello lists it, a
// cancel reaches it, and exactly one end is told. Only the supervisor's records survive this process: an execution that
// was still preparing is in none of them, the next Hello does not list it, and the server gives it to somebody again.
#include <filesystem>

#include "hodei/v1/job.pb.h"
#include "src/base/folder_tree.h"
#include "src/base/status.h"
#include "src/worker/agent.h"
#include "src/worker/journal.h"
#include "src/worker/shortage.h"
#include "src/worker/state_folder.h"

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

}  // namespace

std::string Agent::stage_of(ExecutionId execution) const {
  return cat(stage_folder(attach_->options.state_dir), "/", to_string(execution));
}

bool Agent::stage(protocol::Start& start, const RunOrder& order, Keepsake keepsake) {
  v1::JobSpec spec;
  if (!start.program.impossible.empty() || !spec.ParseFromString(order.spec)) return false;
  if (spec.inputs().empty() && spec.outputs().empty()) return false;
  const ExecutionId execution = order.execution;
  keepsake.folder = stage_of(execution);
  keepsake.sandboxed = spec.has_sandbox();
  for (const v1::Artifact& output : spec.outputs()) keepsake.outputs.push_back(output.SerializeAsString());
  Porter::Load load{.execution = execution, .folder = keepsake.folder, .files_allowed = !keepsake.sandboxed};
  for (const v1::Artifact& input : spec.inputs()) load.artifacts.push_back(read_artifact(input.SerializeAsString()));
  start.program.folder = keepsake.folder;
  kept_[execution] = std::move(keepsake);
  staged_[execution] = Staged{.start = std::move(start)};
  porter_.fetch(std::move(load));
  return true;
}

bool Agent::hold_back(const Exit& exit) {
  const auto kept = kept_.find(exit.execution);
  if (kept == kept_.end() || kept->second.outputs.empty() || exit.outcome != Outcome::Succeeded) return false;
  staged_[exit.execution] = Staged{.phase = Staged::Phase::Waiting, .exit = exit};
  if (session_.online()) begin_sending();
  return true;
}

void Agent::recall_end(Held& held) {
  const auto kept = kept_.find(held.execution);
  if (!held.ended || kept == kept_.end()) return;
  if (!kept->second.outputs_failed.empty()) {
    held.exit = artifact_error(held.exit, absl::UnknownError(kept->second.outputs_failed));
  } else if (hold_back(held.exit)) {
    held.ended = false;
  }
}

void Agent::begin_sending() {
  for (auto& [execution, staged] : staged_) {
    if (staged.phase != Staged::Phase::Waiting) continue;
    staged.phase = Staged::Phase::Sending;
    const Keepsake& kept = kept_.at(execution);
    porter_.send({.execution = execution,
                  .folder = kept.folder,
                  .artifacts = read_all(kept.outputs),
                  .files_allowed = !kept.sandboxed});
  }
}

void Agent::hear_porter(Now now) {
  end_staged_without_lease(now);
  for (const Porter::Done& done : porter_.take()) {
    const auto it = staged_.find(done.execution);
    if (it == staged_.end()) continue;
    if (it->second.phase == Staged::Phase::Preparing) {
      inputs_are_there(done.execution, done.result, now);
    } else {
      outputs_are_sent(done.execution, done.result);
    }
  }
}

void Agent::inputs_are_there(ExecutionId execution, const absl::Status& result, Now now) {
  protocol::Start start = std::move(staged_.at(execution).start);
  staged_.erase(execution);
  if (!result.ok()) {
    pump_.ended(execution, 0);
    Exit exit = is_shortage(result) ? not_started_here(std::string(result.message())) : artifact_error({}, result);
    exit.execution = execution;
    exit.ended = now.wall;
    return session_.exited(exit);
  }
  Keepsake& kept = kept_.at(execution);
  kept.prepared = now.wall;
  start.keepsake = encode(kept);
  order_start(std::move(start));
}

void Agent::outputs_are_sent(ExecutionId execution, const absl::Status& result) {
  Exit exit = std::move(staged_.at(execution).exit);
  staged_.erase(execution);
  if (!result.ok()) exit = artifact_error(std::move(exit), result);
  // The next agent is not to send them again, nor to come to another end.
  Keepsake& kept = kept_.at(execution);
  kept.outputs.clear();
  kept.outputs_failed = std::string(result.message());
  supervisor_.put(protocol::Keep{execution, encode(kept)});
  session_.exited(exit);
}

bool Agent::end_staged(ExecutionId execution, KillReason why, Now now) {
  const auto it = staged_.find(execution);
  if (it == staged_.end()) return false;
  porter_.drop(execution);
  Exit exit = std::move(it->second.exit);
  staged_.erase(it);
  exit.execution = execution;
  judge(exit, why);
  if (!exit.ended.is_set()) exit.ended = now.wall;
  if (!exit.started.is_set()) pump_.ended(execution, 0);
  session_.exited(exit);
  return true;
}

// What the supervisor does for those that run: another copy may start elsewhere.
void Agent::end_staged_without_lease(Now now) {
  if (!lease_until_.is_set() || now.mono < lease_until_) return;
  const KillReason why = session_.stopping() ? KillReason::Stopping : KillReason::LeaseExpired;
  while (!staged_.empty()) end_staged(staged_.begin()->first, why, now);
}

void Agent::end_preparing(Now now) {
  std::vector<ExecutionId> preparing;
  for (const auto& [execution, staged] : staged_) {
    if (staged.phase == Staged::Phase::Preparing) preparing.push_back(execution);
  }
  for (const ExecutionId execution : preparing) end_staged(execution, KillReason::Stopping, now);
}

// Of an agent that died while it prepared: nobody else knows of them.
void Agent::remove_leftover_folders() {
  std::set<std::string> wanted;
  for (const auto& [execution, kept] : kept_) wanted.insert(kept.folder);
  std::error_code failed;
  for (fs::directory_iterator it(stage_folder(attach_->options.state_dir), failed), end; !failed && it != end;
       it.increment(failed)) {
    if (!wanted.contains(it->path().string())) remove_tree(it->path().string()).IgnoreError();
  }
}

}  // namespace hodei::worker
