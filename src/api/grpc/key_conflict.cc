#include "src/api/grpc/key_conflict.h"

#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>
#include <google/protobuf/util/message_differencer.h>

#include <algorithm>
#include <charconv>

#include "src/base/clip.h"
#include "src/base/hash.h"
#include "src/base/status.h"

namespace hodei::api {
namespace {

constexpr size_t kMaxDifferences = 1000;  // characters of them in one message

v1::JobSpec comparable(v1::JobSpec spec) {
  spec.clear_idempotency_key();
  spec.clear_traceparent();
  spec.clear_takes_stdin();  // whether the caller had a terminal
  for (v1::Secret& secret : *spec.mutable_secrets()) {
    secret.clear_value();
    secret.clear_sealed();
  }
  return spec;
}

v1::JobSpec spec_in(const core::SpecRow& row) {
  v1::JobSpec spec;
  spec.ParseFromString(row.bytes);
  return spec;
}

// "env["A"]: "1" -> "2"; timeout_ms: 5 -> 6"
std::string differences(const core::SpecRow& first, const core::SpecRow& now) {
  std::string lines;
  google::protobuf::util::MessageDifferencer differ;
  differ.ReportDifferencesToString(&lines);
  differ.Compare(comparable(spec_in(first)), comparable(spec_in(now)));
  while (!lines.empty() && lines.back() == '\n') lines.pop_back();
  std::string out;
  for (const char c : lines) out += c == '\n' ? std::string("; ") : std::string(1, c);
  return std::string(clip(out, kMaxDifferences));
}

absl::Status explain_conflict(store::Reader& reader, const WantedSpecs& wanted, const absl::Status& refused) {
  const std::string payload(*refused.GetPayload(core::kKeyConflict.data()));
  const size_t space = payload.find(' ');
  size_t index = wanted.size();
  std::from_chars(payload.data() + space + 1, payload.data() + payload.size(), index);
  const absl::StatusOr<JobId> job = parse_job_id(payload.substr(0, space));
  if (!job.ok() || index >= wanted.size()) return refused;
  const auto rows = reader.specs({*job});
  const std::string message(refused.message());
  const std::string way_out = "; or set allow_other_spec to get that job anyway";
  if (!rows.ok()) return absl::AlreadyExistsError(cat(message, way_out));
  if (rows->empty()) return absl::AlreadyExistsError(cat(message, ". That job has been deleted"));
  return absl::AlreadyExistsError(
      cat(message, way_out, ". It differs (then -> now): ", differences(*rows->front(), *wanted[index])));
}

}  // namespace

uint64_t fingerprint_of(const v1::JobSpec& spec) {
  std::string bytes;
  {
    google::protobuf::io::StringOutputStream stream(&bytes);
    google::protobuf::io::CodedOutputStream coded(&stream);
    coded.SetSerializationDeterministic(true);  // maps in the order of their keys
    comparable(spec).SerializeToCodedStream(&coded);
  }
  return std::max<uint64_t>(hash64(bytes), 1);
}

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
