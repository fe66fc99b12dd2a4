#include "tests/sim/shares.h"

namespace hodei::sim {

void Shares::committed(const core::Write& write, MonoTime decided) {
  decided_ = decided;
  if (const auto* put = std::get_if<core::PutJob>(&write)) {
    move(*put->job, core::is_active(put->job->state));
    if (core::is_active(put->job->state)) active_[put->job->id] = put->job;
  } else if (const auto* end = std::get_if<core::FinishJob>(&write)) {
    move(*end->job, false);
  } else if (const auto* limit = std::get_if<core::Put<core::KeyLimitRow>>(&write)) {
    keys_[core::key_of(*limit->row)].limit = limit->row->limit;
  } else if (const auto* unused = std::get_if<core::Erase<core::KeyLimitRow>>(&write)) {
    keys_[unused->key].limit = 0;
  } else if (const auto* tenant = std::get_if<core::Put<core::TenantRow>>(&write)) {
    quotas_[tenant->row->ns] = *tenant->row;
  } else if (const auto* usual = std::get_if<core::Erase<core::TenantRow>>(&write)) {
    quotas_.erase(usual->key);
  } else if (const auto* rule = std::get_if<core::Put<core::KeyRule>>(&write)) {
    set(*rule->row);
  } else if (const auto* gone = std::get_if<core::Erase<core::KeyRule>>(&write)) {
    if (const auto key = keys_.find(gone->key); key != keys_.end()) key->second.rule.reset();
  }
}

void Shares::set(const core::KeyRule& rule) {
  Key& key = keys_[core::key_of(rule)];
  key.rule = rule;
  key.starts.clear();
}

void Shares::move(const core::JobHead& job, bool active) {
  const auto before = active_.find(job.id);
  const bool was_active = before != active_.end();
  if (was_active == active) return;
  Used& used = used_[job.ns.str()];
  used.running += active ? 1 : -1;
  if (active) {
    used.amounts += job.shape->needs;
  } else {
    used.amounts -= job.shape->needs;
    active_.erase(before);
  }
  if (!job.concurrency_key.empty()) keys_[{job.ns.str(), job.concurrency_key}].held += active ? 1 : -1;
  if (active) dispatched(job);
}

void Shares::dispatched(const core::JobHead& job) {
  const Used& used = used_[job.ns.str()];
  const auto check = [&](const char* quota, int64_t most, int64_t now, int64_t more) {
    if (most > 0 && more > 0 && now > most)
      world_.broken(cat("tenant ", job.ns.str(), ": ", quota, " is ", most, ", not ", now));
  };
  if (const auto row = quotas_.find(job.ns.str()); row != quotas_.end()) {
    check("max_running", row->second.max_running, used.running, 1);
    check("max_cpu", row->second.max_cpu_milli, used.amounts.cpu_milli, job.shape->needs.cpu_milli);
    check("max_memory", row->second.max_memory_mb, used.amounts.memory_mb, job.shape->needs.memory_mb);
  }
  if (job.concurrency_key.empty()) return;
  const Name name(job.ns.str(), job.concurrency_key);
  Key& key = keys_[name];
  const bool is_set = key.rule && key.rule->limit;
  const int64_t most = is_set ? *key.rule->limit : key.limit;
  if ((most > 0 || !is_set) && key.held > most) {
    world_.broken(cat("key ", name.second, ": ", key.held, " are dispatched, the limit is ", most));
  }
  check_rate(name, key);
}

void Shares::check_rate(const Name& name, Key& key) {
  if (!key.rule || key.rule->rate == 0) return;
  const MonoTime now = decided_;
  key.starts.push_back(now);
  for (size_t i = 0; i < key.starts.size(); ++i) {
    const double window = static_cast<double>((now - key.starts[i]).count()) / 1e6;
    const double most = static_cast<double>(key.rule->burst) + key.rule->rate * window + 1e-3;
    if (static_cast<double>(key.starts.size() - i) > most) {
      return world_.broken(
          cat("key ", name.second, ": ", key.starts.size() - i, " starts in ", window, " s, at most ", most));
    }
  }
}

}  // namespace hodei::sim
