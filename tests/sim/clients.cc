#include "tests/sim/clients.h"

#include "src/core/job/spec.h"

namespace hodei::sim {

void Clients::plan(int submissions, Duration over) {
  for (int i = 0; i < submissions; ++i) {
    const int jobs = world_.chance(0.2) ? static_cast<int>(world_.below(6)) + 2 : 1;
    world_.after(world_.between(Duration(0), over), [this, jobs] { submit(world_.random(), jobs); });
  }
}

void Clients::plan_settings(int changes, Duration over) {
  for (int i = 0; i < changes; ++i) {
    world_.after(world_.between(Duration(0), over), [this] { change_setting(); });
  }
}

void Clients::change_setting() {
  const std::string ns = world_.chance(0.7) ? "default" : "other";
  const std::string key = cat("key", world_.below(3));
  const auto some = [this](uint64_t low, uint64_t most) {
    return std::optional<int64_t>(world_.chance(0.2) ? 0 : static_cast<int64_t>(low + world_.below(most)));
  };
  core::Command command;
  switch (world_.below(5)) {
    case 0: command = core::SetTenant{ns, 0.5 * static_cast<double>(world_.below(8) + 1), some(1, 4), {}, {}, {}}; break;
    case 1: command = core::SetTenant{ns, {}, {}, some(8000, 8000), {}, some(10, 20)}; break;
    case 2: command = core::SetLimit{"default", key, static_cast<int64_t>(world_.below(3) + 1), {}, {}}; break;
    case 3:
      command = core::SetLimit{"default", key, {}, 0.1 * static_cast<double>(world_.below(30) + 2),
                               static_cast<int64_t>(world_.below(3) + 1)};
      break;
    default: command = core::DropLimit{"default", key}; break;
  }
  // Whether it was heard does not matter: what is committed counts.
  server_.call(std::move(command), [](absl::StatusOr<core::Reply>) {});
}

core::NewJob Clients::make_job(uint64_t key) {
  core::JobSpec spec;
  spec.command = core::ShellCommand{"true", {}};
  uint64_t r = mix64(key);
  const auto draw = [&r](uint64_t n) {
    r = mix64(r);
    return r % n;
  };
  spec.max_attempts = static_cast<int64_t>(draw(4)) + 1;
  spec.priority = static_cast<int>(draw(5));
  spec.backoff_initial_ms = 200;
  spec.backoff_max_ms = 5'000;
  spec.allow_retry = draw(8) != 0;
  if (draw(4) == 0) spec.cpu_cores = static_cast<double>(draw(8)) + 1;
  if (draw(6) == 0) spec.timeout_ms = 5'000;
  if (draw(3) == 0) spec.labels["app"] = cat(draw(3));
  if (draw(8) == 0) {
    // Only preferred: a job that must run beside one that never comes would wait for ever.
    spec.shape.company.push_back({{"app", core::LabelOperator::In, {cat(draw(3))}}, draw(2) == 0, false});
  }
  if (draw(3) == 0) {
    spec.concurrency_key = cat("key", draw(3));
    spec.concurrency_limit = static_cast<int64_t>(draw(2)) + 1;
  }
  if (!provider_.empty() && draw(3) == 0) spec.shape.provider = provider_;
  core::NewJob job;
  job.head = core::head_of(spec);
  job.head.ns = Namespace(draw(3) == 0 ? "other" : "default");
  job.key_limit = spec.concurrency_limit;
  // Keys belong to a namespace; the checker counts by name.
  if (!job.head.concurrency_key.empty()) job.head.ns = Namespace("default");
  job.spec = std::make_shared<core::SpecRow>();
  job.spec->ns = job.head.ns.str();
  job.spec->name = "sim";
  job.idempotency = hash128(cat(key));
  return job;
}

void Clients::plan_scheduling(uint64_t workers, Duration over) {
  if (!world_.chance(0.5)) return;
  for (uint64_t n = 1 + world_.below(5); n > 0; --n) {
    core::ConfigureScheduler c;
    c.strategy = static_cast<core::Strategy>(1 + world_.below(5));
    c.packing = static_cast<core::Packing>(1 + world_.below(2));
    c.preemption = world_.chance(0.7);
    c.reserve_after = world_.between(1s, 40s);
    world_.after(world_.between(Duration(0), over), [this, c] { server_.call(c, [](absl::StatusOr<core::Reply>) {}); });
  }
  for (uint64_t n = world_.below(8); n > 0; --n) {
    core::TaintWorker c{WorkerId(cat("w", world_.below(workers))), {}};
    if (world_.chance(0.7)) c.taints = {{"sim", "", static_cast<core::TaintEffect>(1 + world_.below(3))}};
    world_.after(world_.between(Duration(0), over), [this, c] { server_.call(c, [](absl::StatusOr<core::Reply>) {}); });
  }
  // In the end everybody may work again, also when a taint took its time to arrive.
  for (uint64_t i = 0; i < workers; ++i) untaint(WorkerId(cat("w", i)), over + 1min);
}

void Clients::untaint(const WorkerId& worker, Duration when) {
  world_.after(when, [this, worker] {
    server_.call(core::TaintWorker{worker, {}}, [this, worker](absl::StatusOr<core::Reply> reply) {
      if (!reply.ok()) untaint(worker, 1s);   // also when it is away: its taints come back with it
    });
  });
}

void Clients::submit(uint64_t key, int jobs) {
  core::Submit command;
  for (int i = 0; i < jobs; ++i) command.jobs.push_back(make_job(key + static_cast<uint64_t>(i)));
  server_.call(command, [this, key, jobs](absl::StatusOr<core::Reply> reply) {
    if (!reply.ok()) {
      world_.trace("a client is refused: ", std::string(reply.status().message()));
      world_.after(world_.between(10ms, 2s), [this, key, jobs] { submit(key, jobs); });
      return;
    }
    for (const core::Submitted::One& one : std::get<core::Submitted>(*reply).jobs) {
      world_.trace("a client hears of ", short_id(one.job));
      checker_.acknowledged(one.job);
      if (world_.chance(0.1)) {
        world_.after(world_.between(Duration(0), 20s), [this, job = one.job] { cancel(job); });
      }
    }
    // A client that does not trust its own memory asks twice; it must get the same jobs.
    if (world_.chance(0.05)) submit(key, jobs);
  });
}

void Clients::cancel(JobId job) {
  server_.call(core::Cancel{job, "sim"}, [this, job](absl::StatusOr<core::Reply> reply) {
    if (!reply.ok() && absl::IsUnavailable(reply.status())) {
      world_.after(world_.between(10ms, 2s), [this, job] { cancel(job); });
    } else if (reply.ok()) {
      checker_.cancel_acknowledged(job);
    }
  });
}

}  // namespace hodei::sim
