// Translates between protobuf messages and the plain structs of the core. No other folder inside sees protobuf.
#pragma once

#include "absl/status/statusor.h"
#include "hodei/v1/job.pb.h"
#include "hodei/v1/scheduler_service.pb.h"
#include "hodei/v1/worker_service.pb.h"
#include "src/core/commands.h"
#include "src/spec/job_spec.h"
#include "src/spec/timestamp.h"
#include "src/store/store.h"

namespace hodei::api {

using spec::checked_enum;
using spec::from_proto;
using spec::milli_of;
using spec::set_time;

core::Amounts from_proto(const v1::Capacity& capacity);
void to_proto(const core::Amounts& in, v1::Capacity* out);
absl::StatusOr<core::WorkerInfo> from_proto(const v1::WorkerInfo& info);
std::vector<core::Taint> from_proto(const google::protobuf::RepeatedPtrField<v1::Taint>& taints);
core::ResultReport from_proto(const v1::JobResult& result, ExecutionId execution);

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
