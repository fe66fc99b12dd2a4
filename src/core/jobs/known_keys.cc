#include "src/core/jobs/known_keys.h"

#include <map>
#include <string>

#include "src/base/codec.h"
#include "src/base/status.h"

namespace hodei::core {

absl::Status KnownKeys::check(std::span<const NewJob> jobs) const {
  RETURN_IF_ERROR(check_forgotten(jobs));
  return check_fingerprints(jobs);
}

// A key that the engine has forgotten may belong to a job all the same. The store was asked before the command came in;
// whatever was stored after that must still be remembered here.
absl::Status KnownKeys::check_forgotten(std::span<const NewJob> jobs) const {
  const JobId forgotten = keys_.forgotten();
  if (forgotten == JobId{}) return absl::OkStatus();
  for (const NewJob& job : jobs) {
    if (!job.idempotency || job.key_owner || job.key_asked_before > forgotten || keys_.find(*job.idempotency)) continue;
    return absl::UnavailableError("idempotency_key: too many new keys arrived at once to check this one; try again");
  }
  return absl::OkStatus();
}

// A key stands for one request: with another spec it is somebody's mistake, and answering with the first job would hide
// it. The payload names that job, so that whoever can read its spec can say what differs.
absl::Status KnownKeys::check_fingerprints(std::span<const NewJob> jobs) const {
  std::map<Hash128, uint64_t> here;  // of keys that this command uses
  for (size_t i = 0; i < jobs.size(); ++i) {
    const NewJob& job = jobs[i];
    if (!job.idempotency || job.fingerprint == 0 || job.allow_other_spec) continue;
    std::optional<KeyOwner> owner = keys_.find(*job.idempotency);
    if (!owner) owner = job.key_owner;
    const std::string field = jobs.size() == 1 ? "idempotency_key" : cat("specs[", i, "].idempotency_key");
    if (!owner) {
      const auto [first, is_new] = here.try_emplace(*job.idempotency, job.fingerprint);
      if (is_new || first->second == job.fingerprint) continue;
      return absl::AlreadyExistsError(cat(field, ": the same key occurs twice in this request, with different specs"));
    }
    if (owner->fingerprint == 0 || owner->fingerprint == job.fingerprint) continue;
    absl::Status status = absl::AlreadyExistsError(cat(field, ": this key belongs to job ", short_id(owner->job),
                                                       ", which has a different spec; use a new key for a new job"));
    status.SetPayload(kKeyConflict.data(), absl::Cord(cat(short_id(owner->job), " ", i)));
    return status;
  }
  return absl::OkStatus();
}

std::optional<JobId> KnownKeys::owner(const NewJob& job) const {
  if (!job.idempotency) return std::nullopt;
  if (const std::optional<KeyOwner> known = keys_.find(*job.idempotency)) return known->job;
  if (job.key_owner) return job.key_owner->job;
  return std::nullopt;
}

void KnownKeys::put(const NewJob& job, JobId id, Turn& turn) const {
  if (!job.idempotency) return;
  turn.write(Put<IdempotencyRow>(
      IdempotencyRow{*job.idempotency, id, turn.steady() + config_.idempotency_life, job.fingerprint}));
}

void KnownKeys::fold(const Put<IdempotencyRow>& write) {
  keys_.put(write.row->key, {write.row->job, write.row->expires, write.row->fingerprint});
}

void KnownKeys::sweep(Turn& turn) {
  // Not by a clock that people set: a client that asks again a second later must get the same job.
  if (turn.mono() < loaded_ + config_.idempotency_grace) return;
  const std::optional<WallTime> oldest = keys_.first_end();
  if (oldest && *oldest < turn.steady()) turn.write(ExpireIdempotency{turn.steady()});
}

uint64_t KnownKeys::digest() const {
  uint64_t sum = 0;
  for (const auto& [key, row] : keys_.all()) {
    Encoder out;
    out.u64(key.high).u64(key.low).u64(number(row.job)).i64(row.expires.us).u64(row.fingerprint);
    sum += hash64(out.bytes());
  }
  return sum;
}

}  // namespace hodei::core
