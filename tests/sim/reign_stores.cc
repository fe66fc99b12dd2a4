#include "tests/sim/reign_stores.h"

#include "src/base/status.h"
#include "tests/sim/reign.h"

namespace hodei::sim {

absl::StatusOr<store::Epoch> FlakyStore::new_epoch() { return reign_.node().shared().store.new_epoch(); }

absl::StatusOr<store::Epoch> FlakyStore::epoch() {
  if (reign_.node().store_is_away()) return absl::UnavailableError("simulated outage");
  return reign_.node().shared().store.epoch();
}

absl::StatusOr<store::BatchNo> FlakyStore::last_batch() { return reign_.node().shared().store.last_batch(); }

absl::Status FlakyStore::load(const store::LoadVisitor& visit) { return reign_.node().shared().store.load(visit); }

absl::Status FlakyStore::commit(const core::Writes& writes, store::Epoch epoch, store::BatchNo batch) {
  ServerNode& node = reign_.node();
  World& world = reign_.world();
  const ServerFaults& faults = node.shared().faults;
  const MonoTime decided = world.now().mono;
  node.wait_for_disk(node.commit_time());
  // Or somebody pulled the cord while it waited.
  const bool crash = node.is_crashing() || world.chance(faults.crash_in_commit);
  const bool fails = world.chance(faults.commit_fails) || node.store_is_away();
  const bool applied = (!crash && !fails) || world.chance(0.5);
  if (applied) {
    const absl::Status done = node.shared().store.commit(writes, epoch, batch);
    if (!done.ok()) {
      // Refused because another server leads; for no other reason.
      if (!absl::IsAborted(done) || epoch == node.shared().lease.epoch)
        world.broken(cat("commit refused: ", std::string(done.message())));
      return crash ? absl::UnavailableError("simulated") : done;
    }
    ++node.shared().commits;
    reign_.checker().leaders().wrote(reign_.server(), epoch);
    reign_.checker().committed(writes, decided);
  }
  if (crash) {
    world.trace(reign_.server(), " crashes in commit ", static_cast<uint64_t>(batch),
                applied ? " (applied)" : " (not applied)");
    node.crash_soon();
  } else if (fails) {
    world.trace("commit ", static_cast<uint64_t>(batch), " fails", applied ? " (applied)" : " (not applied)");
  }
  if (crash || fails) return absl::UnavailableError("simulated");
  // A process that stands still learns later that it was stored; another one may lead by then.
  if (node.is_paused()) node.wait_for_disk(Duration(0));
  return node.is_crashing() ? absl::UnavailableError("simulated") : absl::OkStatus();
}

absl::Status FlakyLogStore::append(const std::vector<store::LogPiece>& pieces) {
  Shared& shared = node_.shared();
  const bool fails = node_.log_disk_is_full() || shared.world.chance(shared.faults.append_fails);
  if (!fails || shared.world.chance(0.5)) {
    if (const absl::Status done = shared.logs.append(pieces); !done.ok()) return done;
  }
  return fails ? absl::ResourceExhaustedError("simulated") : absl::OkStatus();
}

absl::StatusOr<store::NumberedPiece> FlakyLogStore::read_numbered(ExecutionId e, int64_t from, size_t max) const {
  return node_.shared().logs.read_numbered(e, from, max);
}
absl::StatusOr<int64_t> FlakyLogStore::offset_of_line(ExecutionId execution, int64_t line) const {
  return node_.shared().logs.offset_of_line(execution, line);
}
store::LogExtent FlakyLogStore::extent(ExecutionId execution) const { return node_.shared().logs.extent(execution); }
std::vector<uint32_t> FlakyLogStore::executions(JobId job) const { return node_.shared().logs.executions(job); }
absl::StatusOr<int64_t> FlakyLogStore::clear(JobId job) { return node_.shared().logs.clear(job); }
absl::StatusOr<int64_t> FlakyLogStore::expire(const store::LogRetention&, WallTime) { return 0; }

store::MemoryStore& WatchedReader::beside_the_loop(const char* what) {
  if (reign_.node().on_loop()) reign_.world().broken(cat("the loop stands still while somebody reads ", what));
  return reign_.node().shared().store;
}

absl::StatusOr<store::JobView> WatchedReader::job(JobId id) { return beside_the_loop("a job").job(id); }
absl::StatusOr<store::JobPage> WatchedReader::jobs(const store::JobQuery& query, const store::ReadLimit& limit) {
  return beside_the_loop("a list of jobs").jobs(query, limit);
}
absl::StatusOr<std::vector<core::ArchivedExecution>> WatchedReader::archived_executions(
    const store::ArchiveQuery& query) {
  return beside_the_loop("old executions").archived_executions(query);
}
absl::StatusOr<std::vector<store::PrintedBytes>> WatchedReader::printed(JobId job) {
  return beside_the_loop("how much was printed").printed(job);
}
absl::StatusOr<std::vector<store::FinishedJob>> WatchedReader::finished(JobId above, size_t limit) {
  return beside_the_loop("finished jobs").finished(above, limit);
}
absl::StatusOr<std::vector<store::FinishedJob>> WatchedReader::oldest_finished(const std::string& ns, size_t limit) {
  return beside_the_loop("old jobs").oldest_finished(ns, limit);
}
absl::StatusOr<std::map<std::string, int64_t>> WatchedReader::finished_counts() {
  return beside_the_loop("counts of jobs").finished_counts();
}
absl::StatusOr<std::vector<std::shared_ptr<const core::SpecRow>>> WatchedReader::specs(const std::vector<JobId>& ids) {
  return beside_the_loop("specs").specs(ids);
}
absl::StatusOr<store::AuditPage> WatchedReader::audit(const store::AuditQuery& query, const store::ReadLimit& limit) {
  return beside_the_loop("the audit trail").audit(query, limit);
}
absl::StatusOr<std::vector<std::optional<core::KeyOwner>>> WatchedReader::key_owners(const std::vector<Hash128>& keys) {
  return beside_the_loop("keys").key_owners(keys);
}
absl::Status WatchedReader::rows(const store::RowQuery& query, const std::function<void(core::RowIn&)>& visit) {
  return beside_the_loop("rows").rows(query, visit);
}

}  // namespace hodei::sim
