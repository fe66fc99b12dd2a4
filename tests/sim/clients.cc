#include "tests/sim/clients.h"

#include "src/core/jobs/spec.h"
#include "tests/sim/traits.h"

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
    case 0:
      command = core::SetTenant{ns, 0.5 * static_cast<double>(world_.below(8) + 1), some(1, 4), {}, {}, {}};
      break;
    case 1: command = core::SetTenant{ns, {}, {}, some(8000, 8000), {}, some(10, 20)}; break;
    case 2: command = core::SetLimit{"default", key, static_cast<int64_t>(world_.below(3) + 1), {}, {}}; break;
    case 3:
      command = core::SetLimit{"default",
                               key,
                               {},
                               0.1 * static_cast<double>(world_.below(30) + 2),
                               static_cast<int64_t>(world_.below(3) + 1)};
      break;
    default: command = core::DropLimit{"default", key}; break;
  }
  // Whether it was heard does not matter: what is committed counts.
  call(std::move(command), [](absl::StatusOr<core::Reply>) {});
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
  if (draw(4) == 0) spec.cpu_milli = (static_cast<int64_t>(draw(8)) + 1) * 1000;
  Traits traits;
  traits.grace = draw(2) == 0 ? Duration(0) : Duration(2s);
  if (draw(6) == 0) traits.timeout = draw(2) == 0 ? 5s : 12s;
  traits.endless = draw(12) == 0;
  spec.timeout_ms = traits.timeout.count() / 1000;
  if (draw(5) == 0) spec.secrets = {"db"};
  if (draw(3) == 0) spec.labels["app"] = cat(draw(3));
  if (draw(8) == 0) {
    // Only preferred: a job that must run beside one that never comes would wait for ever.
    spec.shape.affinity.push_back({{"app", core::LabelOperator::In, {cat(draw(3))}}, draw(2) == 0, false});
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
  job.spec->correlation_id = cat(key);
  job.spec->bytes = encode(traits);
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
    world_.after(world_.between(Duration(0), over), [this, c] { call(c, [](absl::StatusOr<core::Reply>) {}); });
  }
  for (uint64_t n = world_.below(8); n > 0; --n) {
    core::TaintWorker c{WorkerId(cat("w", world_.below(workers))), {}};
    if (world_.chance(0.7)) c.taints = {{"sim", "", static_cast<core::TaintEffect>(1 + world_.below(3))}};
    world_.after(world_.between(Duration(0), over), [this, c] { call(c, [](absl::StatusOr<core::Reply>) {}); });
  }
  // In the end everybody may work again, also when a taint took its time to arrive.
  for (uint64_t i = 0; i < workers; ++i) untaint(WorkerId(cat("w", i)), over + 1min);
}

void Clients::untaint(const WorkerId& worker, Duration when) {
  world_.after(when, [this, worker] {
    call(core::TaintWorker{worker, {}}, [this, worker](absl::StatusOr<core::Reply> reply) {
      if (!reply.ok()) untaint(worker, 1s);  // also when it is away: its taints come back with it
    });
  });
}

void Clients::plan_secrets(int changes, Duration over) {
  for (const char* name : {"db", "api"}) {
    world_.after(world_.between(Duration(0), over / 2), [this, name, changes] { store_secret(name, changes); });
  }
}

void Clients::store_secret(const std::string& name, int times) {
  if (times == 0) return;
  core::PutStoredSecret command;
  command.row.ns = "default";
  command.row.name = name;
  command.row.sealed = cat("sealed ", world_.random());
  call(command, [this, name, times](absl::StatusOr<core::Reply> reply) {
    if (reply.ok()) checker_.secret_stored(name, std::get<core::SecretPut>(*reply).revision);
    world_.after(world_.between(10ms, 20s), [this, name, times] { store_secret(name, times - 1); });
  });
}

void Clients::submit(uint64_t key, int jobs) {
  submitting_.insert(key);
  core::Submit command;
  for (int i = 0; i < jobs; ++i) command.jobs.push_back(make_job(key + static_cast<uint64_t>(i)));
  call(command, [this, key, jobs](absl::StatusOr<core::Reply> reply) {
    if (!reply.ok()) {
      world_.trace("a client is refused: ", std::string(reply.status().message()));
      world_.after(world_.between(10ms, 2s), [this, key, jobs] { submit(key, jobs); });
      return;
    }
    submitting_.erase(key);
    const std::vector<core::Submitted::One>& told = std::get<core::Submitted>(*reply).jobs;
    for (size_t i = 0; i < told.size(); ++i) {
      const JobId job = told[i].job;
      const uint64_t its_key = key + i;
      world_.trace("a client hears of ", short_id(job));
      checker_.lives().told_job(cat(its_key), job);
      followers_.told(job);
      const Traits traits = decode_traits(make_job(its_key).spec->bytes);
      // What ends only when somebody ends it is given some time.
      const bool must_end = traits.endless && traits.timeout == Duration(0);
      if (must_end || world_.chance(0.1)) {
        world_.after(world_.between(Duration(0), must_end ? 60s : 20s), [this, job] { cancel(job); });
      }
    }
    // A client that does not trust its own memory asks twice; it must get the same jobs.
    if (world_.chance(0.05))
      world_.after(world_.chance(0.5) ? Duration(0) : world_.between(1s, 60s),
                   [this, key, jobs] { submit(key, jobs); });
  });
}

void Clients::cancel(JobId job) {
  checker_.lives().cancel_sent(job);
  call(core::Cancel{job, "sim"}, [this, job](absl::StatusOr<core::Reply> reply) {
    if (reply.ok()) return checker_.lives().cancel_taken(job, std::get<core::CancelTaken>(*reply).state);
    if (!absl::IsUnavailable(reply.status())) return checker_.lives().cancel_refused(job, reply.status());
    world_.after(world_.between(10ms, 2s), [this, job] { cancel(job); });
  });
}

}  // namespace hodei::sim
