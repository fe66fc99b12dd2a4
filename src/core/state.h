// Everything the engine keeps in memory. It changes only by folding writes, the same ones that are committed; indexes
// (queue, rooms, keys) are derived from them. The engine sets the few volatile facts about workers directly; they are
// not part of the digest.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <set>

#include "absl/container/btree_map.h"
#include "src/core/job/footprint.h"
#include "src/core/job/idempotency.h"
#include "src/core/placement/keys.h"
#include "src/core/placement/roster.h"
#include "src/core/provision/provision.h"
#include "src/core/writes.h"

namespace hodei::core {

struct LiveJob {
  enum class Where : uint8_t { WithWorker, InLane, Parked, Delayed };
  JobPtr head;
  Lane* lane = nullptr;  // while InLane or Parked
  Where where = Where::WithWorker;
  size_t bytes = 0;  // of the footprint, without what it shares
};

// Limits of what is kept in memory. What is already stored is loaded in any case.
struct MemoryLimits {
  size_t idempotency_keys = 1'000'000;  // the newest; older ones are in the store only
};

class State {
 public:
  explicit State(const MemoryLimits& limits = {}) : roster_(&scheduler_), idempotency_(limits.idempotency_keys) {}

  void fold(const Write& write);

  const LiveJob* job(JobId id) const;
  LiveWorker* worker(const WorkerId& id);
  LiveWorker* worker_of_session(const Hash128& session);

  // Move a Pending job whose backoff is over or whose key has room to its lane (queue), or one whose key is full to
  // that key (park).
  void queue(JobId id);
  void park(JobId id);

  std::map<std::string, LiveProvider, std::less<>>& providers() { return providers_; }
  const std::map<std::string, LiveProvider, std::less<>>& providers() const { return providers_; }
  const std::map<std::string, PoolRow, std::less<>>& pools() const { return pools_; }
  const SchedulerConfig& scheduler() const { return scheduler_; }
  uint64_t next_job() const { return next_job_; }
  Roster& roster() { return roster_; }
  const Roster& roster() const { return roster_; }
  ConcurrencyKeys& keys() { return keys_; }
  const ConcurrencyKeys& keys() const { return keys_; }
  const std::set<std::pair<WallTime, JobId>>& delayed() const { return delayed_; }
  const std::map<WorkerId, std::unique_ptr<LiveWorker>>& workers() const { return workers_; }
  const absl::btree_map<JobId, LiveJob>& jobs() const { return jobs_; }
  const OtpRow* otp(const Hash128& token) const;
  // Facts about a stored template or secret; its bytes are in the store only.
  struct StoredFacts {
    int64_t revision = 0;
    WallTime updated;
    uint64_t hash = 0;
  };
  const StoredFacts* job_template(const std::string& ns, const std::string& name) const;
  const StoredFacts* secret(const std::string& ns, const std::string& name) const;
  size_t secret_count(const std::string& ns) const;
  size_t secret_count() const { return secrets_.size(); }
  uint64_t next_audit() const { return next_audit_; }
  size_t template_count() const { return templates_.size(); }
  const std::map<Hash128, OtpRow>& otps() const { return otps_; }
  const IdempotencyKeys& idempotency() const { return idempotency_; }
  std::optional<KeyOwner> idempotent(const Hash128& key) const { return idempotency_.find(key); }
  // Memory used by live jobs and by workers, in bytes.
  size_t job_bytes() const { return footprint_.bytes(); }
  size_t worker_bytes() const { return worker_bytes_; }
  bool has_key(const std::string& ns, const std::string& key) const;
  bool key_in_use(const std::string& ns, const std::string& key) const;
  size_t setting_count(SettingKind kind) const;
  int64_t count(JobState state) const { return counts_[static_cast<size_t>(state)]; }
  int64_t parked() const { return parked_; }
  const std::map<std::string, int64_t>& waiting_by_namespace() const { return waiting_by_namespace_; }
  int64_t waiting_in_class(Priority p) const { return waiting_[static_cast<size_t>(p) - 1]; }

  uint64_t digest() const;

 private:
  void put(const JobPtr& job);
  void leave_queue(LiveJob& live);
  void detach(LiveJob& live);  // removes the effects of the old head on workers, keys and queue
  void attach(LiveJob& live);
  void count_waiting(const JobHead& head, int64_t sign);
  void forget_key_job(const JobHead& head);
  void occupy(const JobHead& head, int sign);
  void put_worker(const WorkerRecordPtr& record);
  void count_made(const WorkerRecord& record, int sign);
  void delete_worker(const WorkerId& id);

  void put_setting(const SettingRow& row);
  void put_provider(ProviderRow row);
  void count_jobs(const LiveWorker& worker, int sign);  // for its provider
  void delete_setting(SettingKind kind, const std::string& name);

  SchedulerConfig scheduler_;
  uint64_t next_job_ = 1;
  Roster roster_;
  ConcurrencyKeys keys_;
  absl::btree_map<JobId, LiveJob> jobs_;
  std::map<WorkerId, std::unique_ptr<LiveWorker>> workers_;
  std::map<Hash128, WorkerId> sessions_;
  std::set<std::pair<WallTime, JobId>> delayed_;
  std::map<std::pair<std::string, std::string>, StoredFacts> templates_;
  std::map<std::pair<std::string, std::string>, StoredFacts> secrets_;
  uint64_t next_audit_ = 1;
  std::map<std::pair<SettingKind, std::string>, uint64_t> settings_;  // hashes of their bytes
  std::map<std::string, LiveProvider, std::less<>> providers_;
  std::map<std::string, PoolRow, std::less<>> pools_;
  std::map<Hash128, OtpRow> otps_;
  IdempotencyKeys idempotency_;
  Footprint footprint_;
  size_t worker_bytes_ = 0;
  int64_t counts_[8] = {};
  int64_t waiting_[kPriorities] = {};
  std::map<std::string, int64_t> waiting_by_namespace_;
  int64_t parked_ = 0;
};

}  // namespace hodei::core
