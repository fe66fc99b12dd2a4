// Small values packed into one column.
#include <bit>

#include "src/base/codec.h"
#include "src/base/finite.h"
#include "src/store/rows.h"

namespace hodei::store {

using core::JobHead;
using core::Labels;
using core::SchedulerConfig;

std::string pack(const Labels& labels) {
  Encoder out;
  for (const auto& [key, value] : labels) out.text(key).text(value);
  return out.take();
}

Labels unpack_labels(std::string_view bytes) {
  Labels labels;
  Decoder in(bytes);
  while (!in.done()) {
    std::string key(in.text());
    std::string value(in.text());
    if (in.ok()) labels.emplace_hint(labels.end(), std::move(key), std::move(value));
  }
  return labels;
}

int64_t label_hash(const std::string& key, const std::string& value) {
  return static_cast<int64_t>(hash64(Encoder().text(key).text(value).bytes()));
}

std::string pack(const SchedulerConfig& config) {
  Encoder out;
  out.u64(static_cast<uint64_t>(config.strategy));
  for (double part : {config.capacity, config.load, config.affinity, config.zone, config.history, config.threshold}) {
    out.u64(std::bit_cast<uint64_t>(part));
  }
  out.u64(static_cast<uint64_t>(config.packing)).u64(config.preemption).i64(config.reserve_after.count());
  return out.take();
}

SchedulerConfig unpack_scheduler(std::string_view bytes) {
  Decoder in(bytes);
  SchedulerConfig config;
  config.strategy = static_cast<core::Strategy>(in.u64());
  for (double* part :
       {&config.capacity, &config.load, &config.affinity, &config.zone, &config.history, &config.threshold}) {
    *part = bounded(std::bit_cast<double>(in.u64()), 0, core::kMaxScoreWeight, *part);
  }
  if (in.done()) return config;  // of an older version: what came later is as it is by default
  config.packing = static_cast<core::Packing>(in.u64());
  config.preemption = in.u64() != 0;
  config.reserve_after = Duration(in.i64());
  return config;
}

// New fields go to the end and read as zero in older rows.
std::string pack_details(const JobHead& job) {
  Encoder out;
  out.u64(static_cast<uint64_t>(job.priority))
      .u64(job.allow_retry)
      .u64(job.cancel_requested)
      .u64(job.timeout_requested)
      .u64(job.executions)
      .u64(job.attempts)
      .u64(job.max_attempts)
      .u64(job.lost_dispatches)
      .i64(job.timeout.count())
      .i64(job.grace.count())
      .i64(job.backoff.initial.count())
      .i64(job.backoff.max.count())
      .u64(std::bit_cast<uint64_t>(job.backoff.factor))
      .i64(job.created.us)
      .i64(job.not_before.us)
      .text(job.concurrency_key)
      .text(job.worker.str())
      .text(job.secrets == nullptr ? std::string_view() : *job.secrets)
      .u64(static_cast<uint64_t>(job.requeue))
      .text(job.labels == nullptr ? std::string() : pack(*job.labels));
  // Most jobs have no owner, and what is missing at the end reads as zero.
  if (job.owner.is_set()) out.u64(static_cast<uint64_t>(job.owner.module)).u64(job.owner.id);
  return out.take();
}

void unpack_details(std::string_view bytes, JobHead& job) {
  Decoder in(bytes);
  job.priority = static_cast<core::Priority>(in.u64());
  job.allow_retry = in.u64() != 0;
  job.cancel_requested = in.u64() != 0;
  job.timeout_requested = in.u64() != 0;
  job.executions = static_cast<uint32_t>(in.u64());
  job.attempts = static_cast<uint32_t>(in.u64());
  job.max_attempts = static_cast<uint32_t>(in.u64());
  job.lost_dispatches = static_cast<uint32_t>(in.u64());
  job.timeout = Duration(in.i64());
  job.grace = Duration(in.i64());
  job.backoff.initial = Duration(in.i64());
  job.backoff.max = Duration(in.i64());
  job.backoff.factor = bounded(std::bit_cast<double>(in.u64()), 1, core::kMaxBackoffFactor, job.backoff.factor);
  job.created.us = in.i64();
  job.not_before.us = in.i64();
  job.concurrency_key = in.text();
  job.worker = WorkerId(std::string(in.text()));
  if (const std::string_view secrets = in.text(); !secrets.empty())
    job.secrets = std::make_shared<const std::string>(secrets);
  job.requeue = static_cast<core::Requeue>(in.u64());
  if (const std::string_view labels = in.text(); !labels.empty())
    job.labels = std::make_shared<const Labels>(unpack_labels(labels));
  job.owner.module = static_cast<core::OwnerModule>(in.u64());
  job.owner.id = in.u64();
}

}  // namespace hodei::store
