// The settings of the engine that do not change while it runs.
#pragma once

#include <cstddef>

#include "src/base/time.h"

namespace hodei::core {

// Limits of what is kept in memory. What is already stored is loaded in any case.
struct MemoryLimits {
  size_t idempotency_keys = 1'000'000;  // the newest; older ones are in the store only
};

struct EngineConfig {
  Duration unhealthy_after = 30s;  // without a heartbeat, a worker gets no new work
  Duration lost_after = 45s;       // without a heartbeat, its executions are lost
  Duration otp_life = std::chrono::minutes(5);
  Duration idempotency_life = std::chrono::hours(24);
  Duration idempotency_grace = std::chrono::minutes(10);        // after a start, when the wall clock may be wrong
  Duration forget_worker_after = std::chrono::hours(24);        // of silence, if it has no executions
  Duration forget_stopped_after = std::chrono::hours(30 * 24);  // likewise, if it announced that it stops
  Duration sweep = 1s;
  size_t max_live_jobs = 10'000'000;
  size_t max_job_bytes = size_t{8} << 30;        // memory used by live jobs
  size_t max_judgement_bytes = size_t{1} << 30;  // grows with classes of workers times shapes of jobs
  size_t max_workers = 100'000;
  size_t max_worker_bytes = size_t{1} << 30;  // memory used by workers
  size_t max_templates = 10'000;
  size_t max_secrets = 1'000;  // per namespace
  size_t max_all_secrets = 100'000;
  size_t max_otps = 20'000;  // neither used nor expired
  MemoryLimits memory;
  Duration registration_limit = 60s;                 // for a created worker, from when it runs
  Duration making_limit = std::chrono::minutes(11);  // until it runs; an image may have to be pulled first
  // How long a job waits for a worker that no provider can create, such as one from an image that does not exist. 0:
  // forever.
  Duration unmakable_limit = std::chrono::minutes(5);
  Duration leaving_limit = 30s;  // for a worker that was told to leave and still has output to send
  Duration idle_limit = 10s;     // a created worker without work leaves after this; a pool may have its own limit
  Duration audit_life = std::chrono::hours(365 * 24);
};

}  // namespace hodei::core
