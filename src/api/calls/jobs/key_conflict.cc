#include "src/api/calls/jobs/key_conflict.h"

#include <algorithm>
#include <charconv>

#include "src/base/status.h"
#include "src/spec/fingerprint.h"

namespace hodei::api {
namespace {

absl::Status explain_conflict(store::Reader& reader, const WantedSpecs& wanted, const absl::Status& refused) {
  const std::string payload(*refused.GetPayload(core::kKeyConflict.data()));
  const size_t space = payload.find(' ');
  size_t index = wanted.size();
  std::from_chars(payload.data() + space + 1, payload.data() + payload.size(), index);
  const absl::StatusOr<JobId> job = parse_job_id(payload.substr(0, space));
  if (!job.ok() || index >= wanted.size()) return refused;
  const auto rows = reader.specs({*job});
  const std::string message(refused.message());
  const std::string way_out = "; or set allow_other_spec (--allow-other-spec) to get that job anyway";
  if (!rows.ok()) return absl::AlreadyExistsError(cat(message, way_out));
  if (rows->empty()) return absl::AlreadyExistsError(cat(message, ". That job has been deleted"));
  return absl::AlreadyExistsError(cat(
      message, way_out, ". It differs (then -> now): ", spec::differences(rows->front()->bytes, wanted[index]->bytes)));
}

}  // namespace

bool concerns_keys(const absl::StatusOr<core::Reply>& reply) {
  if (!reply.ok()) return reply.status().GetPayload(core::kKeyConflict.data()).has_value();
  const std::vector<core::Submitted::One>& jobs = std::get<core::Submitted>(*reply).jobs;
  return std::any_of(jobs.begin(), jobs.end(), [](const core::Submitted::One& one) { return one.existing; });
}

absl::Status explain_keys(store::Reader& reader, const WantedSpecs& wanted, const absl::StatusOr<core::Reply>& reply,
                          std::string* note) {
  if (!reply.ok()) return explain_conflict(reader, wanted, reply.status());
  const std::vector<core::Submitted::One>& jobs = std::get<core::Submitted>(*reply).jobs;
  std::vector<JobId> known;
  for (const core::Submitted::One& one : jobs) {
    if (one.existing) known.push_back(one.job);
  }
  ASSIGN_OR_RETURN(const auto rows, reader.specs(known));
  for (const JobId job : known) {
    if (std::any_of(rows.begin(), rows.end(), [job](const auto& row) { return row->job == job; })) continue;
    const std::string gone =
        cat("idempotency_key: this key belongs to job ", short_id(job), ", which has been deleted");
    if (jobs.size() == 1) return absl::AlreadyExistsError(cat(gone, "; use a new key for a new job"));
    *note += cat(note->empty() ? "" : "; ", gone);
  }
  return absl::OkStatus();
}

}  // namespace hodei::api
