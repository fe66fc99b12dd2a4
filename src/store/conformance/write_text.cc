#include "src/store/conformance/write_text.h"

#include "fmt/format.h"
#include "src/base/status.h"

namespace hodei::store {
namespace {

using namespace core;

// Readable where it can be, exact always.
std::string in_quotes(std::string_view text) {
  std::string out = "'";
  for (char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    byte >= 0x20 && byte < 0x7f ? out.push_back(c) : static_cast<void>(out += fmt::format("\\x{:02x}", byte));
  }
  return out + "'";
}

std::string text_of(Hash128 h) { return fmt::format("{:016x}{:016x}", h.high, h.low); }

std::string text_of(const Labels& labels) {
  std::string out;
  for (const auto& [key, value] : labels) out += in_quotes(key) + "=" + in_quotes(value) + " ";
  return out;
}

struct Describe {
  std::string operator()(const PutSpec& w) const { return "spec " + to_text(*w.spec); }
  std::string operator()(const PutJob& w) const { return "job " + to_text(*w.job); }
  std::string operator()(const FinishJob& w) const { return "finish " + to_text(*w.job); }
  std::string operator()(const PutExecution& w) const {
    return fmt::format("execution of {}: {}", number(w.job), in_quotes(encode(*w.shelved)));
  }
  std::string operator()(const DropExecutions& w) const {
    return fmt::format("drop executions of {} below {}", number(w.job), w.below);
  }
  std::string operator()(const EraseJob& w) const { return fmt::format("erase {}", number(w.job)); }
  std::string operator()(const PutWorker& w) const {
    const WorkerRecord& r = *w.worker;
    return fmt::format("worker {} state={} session={} otp={} incarnation={} stop={} registered={}",
                       in_quotes(encode(r.info)), name(r.state), text_of(r.session), text_of(r.used_otp),
                       in_quotes(r.incarnation), r.stopped, r.registered.us);
  }
  std::string operator()(const DeleteWorker& w) const { return "delete worker " + in_quotes(w.worker.str()); }
  std::string operator()(const PutOtp& w) const {
    return fmt::format("otp {} for {} until {}", text_of(w.otp.token), in_quotes(w.otp.worker.str()), w.otp.expires.us);
  }
  std::string operator()(const DeleteOtp& w) const { return "delete otp " + text_of(w.token); }
  std::string operator()(const PutTemplate& w) const {
    return fmt::format("template {}/{} revision={} updated={} {}", in_quotes(w.row.ns), in_quotes(w.row.name),
                       w.row.revision, w.row.updated.us, in_quotes(w.row.bytes));
  }
  std::string operator()(const DeleteTemplate& w) const {
    return fmt::format("delete template {}/{}", in_quotes(w.ns), in_quotes(w.name));
  }
  std::string operator()(const PutKeyLimit& w) const {
    return fmt::format("key {}/{} limit={}", in_quotes(w.row.ns), in_quotes(w.row.key), w.row.limit);
  }
  std::string operator()(const DeleteKeyLimit& w) const {
    return fmt::format("delete key {}/{}", in_quotes(w.ns), in_quotes(w.key));
  }
  std::string operator()(const PutIdempotency& w) const {
    return fmt::format("idempotency {} job={} until {} spec={:x}", text_of(w.row.key), number(w.row.job),
                       w.row.expires.us, w.row.fingerprint);
  }
  std::string operator()(const ExpireIdempotency& w) const { return fmt::format("expire before {}", w.before.us); }
  std::string operator()(const DeleteIdempotency& w) const {
    return fmt::format("delete idempotency {} of job={}", text_of(w.key), number(w.job));
  }
  std::string operator()(const PutScheduler& w) const {
    const SchedulerConfig& c = w.config;
    return fmt::format("scheduler {} {} {} {} {} {} {} {} {} {}", static_cast<int>(c.strategy), c.capacity, c.load,
                       c.affinity, c.zone, c.history, c.threshold, static_cast<int>(c.packing), c.preemption,
                       c.reserve_after.count());
  }
  std::string operator()(const PutSetting& w) const {
    return fmt::format("setting {}/{} {}", static_cast<int>(w.row.kind), in_quotes(w.row.name), in_quotes(w.row.bytes));
  }
  std::string operator()(const DeleteSetting& w) const {
    return fmt::format("delete setting {}/{}", static_cast<int>(w.kind), in_quotes(w.name));
  }
  std::string operator()(const PutSecret& w) const {
    return fmt::format("secret {}/{} revision={} updated={} {}", in_quotes(w.row.ns), in_quotes(w.row.name),
                       w.row.revision, w.row.updated.us, in_quotes(w.row.sealed));
  }
  std::string operator()(const DeleteSecret& w) const {
    return fmt::format("delete secret {}/{}", in_quotes(w.ns), in_quotes(w.name));
  }
  std::string operator()(const PutAudit& w) const {
    return fmt::format("audit {} at={} ns={} {} {} {} {}", w.row.number, w.row.at.us, in_quotes(w.row.ns),
                       in_quotes(w.row.principal), in_quotes(w.row.action), in_quotes(w.row.subject),
                       in_quotes(w.row.detail));
  }
  std::string operator()(const ExpireAudit& w) const { return fmt::format("expire audit before {}", w.before.us); }
  std::string operator()(const PutNextJob& w) const { return fmt::format("next job {}", w.next); }
};

}  // namespace

std::string to_text(const JobHead& j) {
  return fmt::format(
      "{} ns={} {} priority={} retry={} secrets={} cancel={} timeout={} requeue={} labels={} executions={} "
      "attempts={}/{} lost={} limits={}/{} "
      "backoff={}/{}/{} created={} not_before={} key={} worker={} shape={} past={}",
      number(j.id), in_quotes(j.ns.str()), name(j.state), static_cast<int>(j.priority), j.allow_retry,
      j.secrets == nullptr ? "none" : in_quotes(*j.secrets), j.cancel_requested, j.timeout_requested,
      static_cast<int>(j.requeue), j.labels == nullptr ? "none" : text_of(*j.labels), j.executions, j.attempts,
      j.max_attempts, j.lost_dispatches, j.timeout.count(), j.grace.count(), j.backoff.initial.count(),
      j.backoff.max.count(), j.backoff.factor, j.created.us, j.not_before.us, in_quotes(j.concurrency_key),
      in_quotes(j.worker.str()), j.shape == nullptr ? "none" : in_quotes(encode(*j.shape)),
      j.past == nullptr ? "none" : in_quotes(encode(*j.past)));
}

std::string to_text(const SpecRow& s) {
  return fmt::format("{} ns={} name={} labels={} correlation={} template={} retry_of={} bytes={}", number(s.job),
                     in_quotes(s.ns), in_quotes(s.name), text_of(s.labels), in_quotes(s.correlation_id),
                     in_quotes(s.template_name), number(s.retry_of), in_quotes(s.bytes));
}

std::string to_text(const Write& write) { return std::visit(Describe{}, write); }

std::string to_text(const JobView& view) {
  return fmt::format("{} | {} | ended={}", to_text(view.head), to_text(view.spec), view.ended.us);
}

std::vector<std::string> load_text(Store& store) {
  std::vector<std::string> out;
  const absl::Status status = store.load([&](const Write& write) { out.push_back(to_text(write)); });
  if (!status.ok()) out.push_back(status.ToString());
  return out;
}

std::vector<std::string> history_text(Reader& reader) {
  std::vector<std::string> out;
  const auto jobs = reader.jobs({.limit = SIZE_MAX});
  if (!jobs.ok()) return {jobs.status().ToString()};
  for (const JobView& listed : jobs->jobs) {
    const auto job = reader.job(listed.head.id);
    out.push_back(job.ok() ? to_text(*job) : job.status().ToString());
    const auto shelf = reader.shelf({.job = listed.head.id, .limit = SIZE_MAX});
    if (!shelf.ok()) out.push_back(shelf.status().ToString());
    for (const ShelvedExecution& one : shelf.value_or(std::vector<ShelvedExecution>()))
      out.push_back(in_quotes(encode(one)));
  }
  return out;
}

}  // namespace hodei::store
