// For the tests of the engine: jobs and workers described in a line, `a_job().attempts(2).key("db", 1)`.
#pragma once

#include <string>
#include <utility>

#include "src/core/commands.h"
#include "src/core/jobs/spec.h"

namespace hodei::core {

struct JobOrder {
  JobSpec spec;
  std::string tenant = "default";

  JobOrder& in(std::string ns) { return tenant = std::move(ns), *this; }
  JobOrder& attempts(int n) { return spec.max_attempts = n, *this; }
  JobOrder& without_retry() { return spec.allow_retry = false, *this; }
  JobOrder& backoff(std::chrono::milliseconds initial, std::chrono::milliseconds max = 300s) {
    return spec.backoff_initial_ms = initial.count(), spec.backoff_max_ms = max.count(), *this;
  }
  JobOrder& timeout(std::chrono::milliseconds t) { return spec.timeout_ms = t.count(), *this; }
  JobOrder& priority(Priority p) { return spec.priority = static_cast<int>(p), *this; }
  JobOrder& key(std::string name, int64_t limit = 0) {
    return spec.concurrency_key = std::move(name), spec.concurrency_limit = limit, *this;
  }
  JobOrder& idempotent(std::string name) { return spec.idempotency_key = std::move(name), *this; }
  JobOrder& secret(std::string name) { return spec.secrets.push_back(std::move(name)), *this; }
  JobOrder& cores(int64_t n) { return milli(n * 1000); }
  JobOrder& milli(int64_t n) { return spec.cpu_milli = n, *this; }
  JobOrder& memory(int64_t mb) { return spec.memory_mb = mb, *this; }
  JobOrder& pool(std::string name) { return spec.shape.pool = std::move(name), *this; }
  JobOrder& image(std::string name) { return spec.shape.image = std::move(name), *this; }
  JobOrder& zone(std::string name) { return spec.shape.preferred_zone = std::move(name), *this; }
  JobOrder& likes_provider(std::string name) { return spec.shape.preferred_provider = std::move(name), *this; }
  JobOrder& wants(LabelRule rule) { return spec.shape.labels.push_back(std::move(rule)), *this; }
  JobOrder& label(const std::string& key, std::string value) { return spec.labels[key] = std::move(value), *this; }
  JobOrder& beside(LabelRule rule, bool required = true) {
    return spec.shape.affinity.push_back({std::move(rule), false, required}), *this;
  }
  JobOrder& away_from(LabelRule rule, bool required = true) {
    return spec.shape.affinity.push_back({std::move(rule), true, required}), *this;
  }
  JobOrder& tolerating(Toleration t) { return spec.shape.tolerations.push_back(std::move(t)), *this; }

  NewJob made() const {
    NewJob job;
    job.head = head_of(spec);
    job.head.ns = Namespace(tenant);
    job.key_limit = spec.concurrency_limit;
    if (!spec.idempotency_key.empty()) job.idempotency = hash128(tenant + '/' + spec.idempotency_key);
    job.spec = std::make_shared<SpecRow>();
    job.spec->ns = tenant;
    job.spec->name = default_name(spec);
    return job;
  }
};

inline JobOrder a_job() {
  JobOrder order;
  order.spec.command = ShellCommand{"true", {}};
  return order;
}

struct WorkerOrder {
  WorkerInfo info;

  WorkerOrder& slots(uint32_t n) { return info.slots = n, *this; }
  WorkerOrder& cores(int64_t n) { return info.capacity.cpu_milli = n * 1000, *this; }
  WorkerOrder& memory(int64_t mb) { return info.capacity.memory_mb = mb, *this; }
  WorkerOrder& label(const std::string& key, std::string value) { return info.labels[key] = std::move(value), *this; }
  WorkerOrder& taint(Taint t) { return info.taints.push_back(std::move(t)), *this; }
  WorkerOrder& image(std::string name) { return info.image = std::move(name), *this; }
  WorkerOrder& provider(std::string name) { return info.provider = std::move(name), *this; }
};

inline WorkerOrder a_worker() {
  WorkerOrder order;
  order.info.architecture = "amd64";
  order.info.capacity = {64'000, 65'536, 1'000'000, 0};
  order.info.capabilities = {"script", "shell"};
  order.info.provider = "manual";
  return order;
}

}  // namespace hodei::core
