#include <algorithm>

#include "src/api/calls/translate.h"
#include "src/base/clip.h"
#include "src/base/finite.h"
#include "src/base/status.h"

namespace hodei::api {

std::vector<core::Taint> from_proto(const google::protobuf::RepeatedPtrField<v1::Taint>& taints) {
  std::vector<core::Taint> out;
  for (const v1::Taint& t : taints) {
    const auto effect = t.effect() == v1::Taint::EFFECT_UNSPECIFIED ? v1::Taint::NoSchedule : t.effect();
    out.push_back({t.key(), t.value(), checked_enum<core::TaintEffect>(effect)});
  }
  return out;
}

core::Amounts from_proto(const v1::Capacity& c) {
  return {milli_of(c.cpu_milli(), c.cpu_cores()), c.memory_mb(), c.storage_mb(), c.gpus()};
}

void to_proto(const core::Amounts& in, v1::Capacity* out) {
  out->set_cpu_milli(in.cpu_milli);
  out->set_cpu_cores(static_cast<double>(in.cpu_milli) / 1000);
  out->set_memory_mb(in.memory_mb);
  out->set_storage_mb(in.storage_mb);
  out->set_gpus(static_cast<int>(in.gpus));
}

namespace {

struct LackName {
  std::string_view word;
  uint32_t ability;
};

constexpr LackName kLackNames[] = {
    {"cpu_limit", core::kLimitCpu},         {"memory_limit", core::kLimitMemory}, {"own_cpu_limit", core::kOwnCpu},
    {"own_memory_limit", core::kOwnMemory}, {"sandbox", core::kSandbox},          {"secret_files", core::kSecretFiles},
};

}  // namespace

absl::StatusOr<core::WorkerInfo> from_proto(const v1::WorkerInfo& in) {
  core::WorkerInfo out;
  out.id = WorkerId(in.id());
  out.name = in.name();
  out.version = in.version();
  out.hostname = in.hostname();
  out.ip = in.ip();
  out.os = in.os();
  out.architecture = in.architecture();
  const v1::Capacity& c = in.capacity();
  RETURN_IF_ERROR(check_within("info.capacity.cpu_cores", c.cpu_cores(), 0, kMostCores));
  out.capacity = from_proto(c);
  if (in.slots() <= 0) return bad_field("info.slots", "must be at least 1, not ", in.slots());
  out.slots = static_cast<uint32_t>(in.slots());
  out.capabilities = {in.capabilities().begin(), in.capabilities().end()};
  std::sort(out.capabilities.begin(), out.capabilities.end());
  out.labels = {in.labels().begin(), in.labels().end()};
  out.taints = from_proto(in.taints());
  out.provider = in.provider().empty() ? "manual" : in.provider();
  out.isolation = in.isolation() == v1::Constraints::ISOLATION_UNSPECIFIED
                      ? core::Isolation::Process
                      : checked_enum<core::Isolation>(in.isolation());
  out.image = in.image();
  for (const LackName& lack : kLackNames) {
    if (std::find(in.lacks().begin(), in.lacks().end(), lack.word) != in.lacks().end()) out.lacks |= lack.ability;
  }
  return out;
}

namespace {

constexpr size_t kMaxResultOutputs = 64;
constexpr size_t kMaxResultOutputBytes = 128 << 10;  // with keys and a margin: a worker counts 64 KiB of values
constexpr size_t kMaxFailure = 200;

RunFacts facts_from(const v1::JobResult& in) {
  RunFacts facts;
  facts.prepared.us = in.prepared_us();
  facts.usage = {.cpu_ms = in.usage().cpu_ms(),
                 .max_memory_kb = in.usage().max_memory_kb(),
                 .io_read_bytes = in.usage().io_read_bytes(),
                 .io_write_bytes = in.usage().io_write_bytes()};
  facts.dropped_bytes = in.dropped_bytes();
  facts.dropped_lines = in.dropped_lines();
  // Workers keep to these limits; what exceeds them is cut off.
  size_t bytes = 0;
  for (const std::string& name : in.secrets()) {
    if (facts.secrets.size() < core::kMaxSecrets && name.size() <= core::kMaxNameLength) facts.secrets.push_back(name);
  }
  for (const auto& [key, value] : in.outputs()) {
    bytes += key.size() + value.size();
    if (facts.outputs.size() < kMaxResultOutputs && bytes <= kMaxResultOutputBytes) facts.outputs[key] = value;
  }
  return facts;
}

}  // namespace

core::ResultReport from_proto(const v1::JobResult& in, ExecutionId execution) {
  core::ResultReport out;
  out.execution = execution;
  out.outcome = in.outcome() == v1::JobResult::OUTCOME_UNSPECIFIED ? core::Outcome::Failed
                                                                   : checked_enum<core::Outcome>(in.outcome());
  if (out.outcome == core::Outcome::Succeeded) {
    out.exit_code = 0;
  } else if (in.started_us() != 0 || in.exit_code() != 0) {
    out.exit_code = in.exit_code();  // what never started has none: its 0 only means that the field is not set
  }
  out.signal = in.signal();
  out.failure = std::string(clip(in.failure(), kMaxFailure));
  out.message = in.message();
  out.started.us = in.started_us();
  out.ended.us = in.ended_us();
  out.facts = facts_from(in);
  if (in.has_log_bytes()) out.log_bytes = std::max<int64_t>(in.log_bytes(), 0);
  return out;
}

void to_proto(const core::WorkerView& view, v1::Worker* out) {
  const core::WorkerInfo& in = view.record->info;
  v1::WorkerInfo* info = out->mutable_info();
  info->set_id(in.id.str());
  info->set_name(in.name);
  info->set_version(in.version);
  info->set_hostname(in.hostname);
  info->set_ip(in.ip);
  info->set_os(in.os);
  info->set_architecture(in.architecture);
  to_proto(in.capacity, info->mutable_capacity());
  info->set_slots(static_cast<int>(in.slots));
  for (const std::string& c : in.capabilities) info->add_capabilities(c);
  for (const auto& [key, value] : in.labels) (*info->mutable_labels())[key] = value;
  for (const core::Taint& t : in.taints) {
    v1::Taint* taint = info->add_taints();
    taint->set_key(t.key);
    taint->set_value(t.value);
    taint->set_effect(static_cast<v1::Taint::Effect>(t.effect));
  }
  info->set_provider(in.provider);
  info->set_isolation(static_cast<v1::Constraints::Isolation>(in.isolation));
  for (const LackName& lack : kLackNames) {
    if ((in.lacks & lack.ability) != 0) info->add_lacks(std::string(lack.word));
  }
  info->set_image(in.image);
  out->set_state(static_cast<v1::Worker::State>(view.state));
  out->set_connected(view.connected);
  out->set_unhealthy(view.unhealthy);
  out->set_stopped(view.stopped);
  if (view.paused_until.is_set()) set_time(view.paused_until, out->mutable_paused_until());
  if (view.unhealthy) out->set_unhealthy_reason("silent for longer than its lease");
  out->set_status(view.unfit);
  if (!view.unfit.empty()) {
    out->set_unhealthy(true);
    if (!view.unhealthy) out->set_unhealthy_reason(view.unfit);
  }
  if (in.ended.is_set()) set_time(in.ended, out->mutable_ended_at());
  out->set_end_reason(in.end_reason);
  for (const ExecutionId& e : view.executions) out->add_executions(to_string(e));
  out->set_cpu_load(view.cpu_load);
  out->set_memory_used_mb(view.memory_used_mb);
  if (view.record->registered.is_set()) set_time(view.record->registered, out->mutable_registered_at());
  if (view.last_seen.is_set()) set_time(view.last_seen, out->mutable_last_seen_at());
  out->set_succeeded(view.succeeded);
  out->set_failed(view.failed);
  out->set_dropped_logs(view.dropped_logs);
  if (in.made) {
    out->set_pool(in.made->pool);
    out->set_provider_ref(in.made->handle);
    out->set_serves_namespace(in.made->ns);
    out->set_one_job(in.made->one_job);
    if (in.made->for_job != 0) out->set_made_for(short_id(JobId{in.made->for_job}));
  } else if (const auto pool = in.labels.find("pool"); pool != in.labels.end()) {
    out->set_pool(pool->second);
  }
}

void to_proto(const core::Score& score, v1::Score* out) {
  out->set_total(score.total());
  out->set_capacity(score.capacity);
  out->set_load(score.load);
  out->set_affinity(score.affinity);
  out->set_zone(score.zone);
  out->set_history(score.history);
}

namespace {

void add_decision(const core::Decision& decision, v1::SchedulingDecision* out) {
  out->set_placed(true);
  out->set_worker_id(decision.winner.str());
  to_proto(decision.score, out->mutable_score());
  out->set_considered(static_cast<int>(decision.considered));
  for (const core::RuleCount& r : decision.rejected) (*out->mutable_rejected())[r.rule] = static_cast<int>(r.workers);
}

}  // namespace

void to_proto(const core::Explanation& e, v1::SchedulingDecision* out) {
  if (e.job != JobId{}) {
    out->set_job_id(public_id(e.job));
    out->set_short_id(short_id(e.job));
  }
  if (e.at.is_set()) set_time(e.at, out->mutable_at());
  const bool waiting = e.state == core::JobState::Pending;
  if (e.decision && !waiting) {
    add_decision(*e.decision, out);
    if (e.execution != 0) out->set_execution_id(to_string(ExecutionId{e.job, e.execution}));
    return;
  }
  out->set_considered(static_cast<int>(e.candidates.size()));
  for (const core::RuleCount& r : e.rejected) (*out->mutable_rejected())[r.rule] = static_cast<int>(r.workers);
  for (const core::Candidate& c : e.candidates) {
    v1::Candidate* candidate = out->add_candidates();
    candidate->set_worker_id(c.worker.str());
    candidate->set_fits(c.fits);
    candidate->set_rule(c.rule);
    candidate->set_reason(c.reason);
    if (c.fits) to_proto(c.score, candidate->mutable_score());
  }
  out->set_waiting_for(e.waiting_for);
  out->set_unblock(e.unblock);
  out->set_jobs_ahead(e.jobs_ahead);
  out->set_provisioning(e.provisioning);
  for (const core::ProviderCandidate& c : e.providers) {
    v1::ProviderCandidate* candidate = out->add_providers();
    candidate->set_name(c.name);
    candidate->set_fits(c.fits);
    candidate->set_chosen(c.chosen);
    candidate->set_reason(c.reason);
    candidate->set_startup_ms(c.startup.count() / 1000);
  }
}

void to_proto(const core::Execution& execution, JobId job, v1::SchedulingDecision* out) {
  out->set_job_id(public_id(job));
  out->set_short_id(short_id(job));
  out->set_execution_id(to_string(ExecutionId{job, execution.number}));
  set_time(execution.scheduled, out->mutable_at());
  add_decision(execution.decision, out);
}

void to_proto(const core::SchedulerConfig& config, v1::SchedulerConfig* out) {
  out->set_strategy(static_cast<v1::SchedulerConfig::Strategy>(config.strategy));
  out->set_weight_capacity(config.capacity);
  out->set_weight_load(config.load);
  out->set_weight_affinity(config.affinity);
  out->set_weight_zone(config.zone);
  out->set_weight_history(config.history);
  out->set_threshold(config.threshold);
  out->set_packing(static_cast<v1::SchedulerConfig::Packing>(config.packing));
  out->set_preemption(config.preemption);
  out->set_reserve_after_ms(config.reserve_after.count() / 1000);
}

}  // namespace hodei::api
