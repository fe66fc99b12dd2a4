// Between protobuf and the plain structs inside. Protobuf stops here.
#pragma once

#include "absl/status/statusor.h"
#include "grpcpp/support/status.h"
#include "hodei/v1/job.pb.h"
#include "hodei/v1/scheduler_service.pb.h"
#include "hodei/v1/worker_service.pb.h"
#include "src/base/finite.h"
#include "src/core/commands.h"
#include "src/core/job/spec.h"
#include "src/store/store.h"

namespace hodei::api {

// What does not fit into the small enums inside must not come out as another value of theirs: 255 is none of them.
template <class Enum>
Enum checked_enum(int value) {
  return static_cast<Enum>(value < 0 || value > 255 ? 255 : value);
}

grpc::Status to_grpc(const absl::Status& status);

core::JobSpec from_proto(const v1::JobSpec& spec);
// What `core::validate` cannot see any more, because amounts are whole numbers there.
absl::Status check_fractions(const v1::JobSpec& spec);
// Requests name cores in thousandths, or, as older callers do, as a fraction.
inline int64_t milli_of(int64_t milli, double cores) { return milli != 0 ? milli : milli_cores(cores); }
core::Amounts from_proto(const v1::Capacity& capacity);
void to_proto(const core::Amounts& in, v1::Capacity* out);
absl::StatusOr<core::WorkerInfo> from_proto(const v1::WorkerInfo& info);
std::vector<core::Taint> from_proto(const google::protobuf::RepeatedPtrField<v1::Taint>& taints);
core::ResultReport from_proto(const v1::JobResult& result, ExecutionId execution);

void set_time(WallTime t, google::protobuf::Timestamp* out);
WallTime from_proto(const google::protobuf::Timestamp& t);
// With `detail`: the spec too. History and executions: job_detail.h.
void to_proto(const store::JobView& view, bool detail, v1::Job* out);
void to_proto(const core::Execution& execution, JobId job, v1::Execution* out);
void to_proto(const core::Transition& transition, JobId job, v1::Transition* out);
void submission_to_proto(const core::JobHead& job, v1::Transition* out);  // its first transition
void to_proto(const core::WorkerView& view, v1::Worker* out);
void to_proto(const core::Score& score, v1::Score* out);
void to_proto(const core::Explanation& explanation, v1::SchedulingDecision* out);
void to_proto(const core::Execution& execution, JobId job, v1::SchedulingDecision* out);
void to_proto(const core::SchedulerConfig& config, v1::SchedulerConfig* out);

inline v1::Job::State to_proto(core::JobState s) { return static_cast<v1::Job::State>(s); }

}  // namespace hodei::api
