// Stored secrets and the audit trail. The engine sees sealed bytes only.
#include "src/base/status.h"
#include "src/core/engine.h"

namespace hodei::core {

void Engine::record(AuditRow row, Now now, Turn& turn) {
  row.number = state_.next_audit();
  row.at = now.wall;
  write(PutAudit{std::move(row)}, turn);
}

void Engine::record_act(const std::string& principal, Act act, Now now, Turn& turn) {
  if (principal.empty()) return;
  record({.ns = std::move(act.ns),
          .principal = principal,
          .action = std::string(act.action),
          .subject = std::move(act.subject),
          .detail = std::move(act.detail)},
         now, turn);
}

Engine::Answer Engine::on(const PutStoredSecret& c, Now now, Turn& turn) {
  const State::StoredFacts* before = state_.secret(c.row.ns, c.row.name);
  if (before == nullptr && state_.secret_count(c.row.ns) >= config_.max_secrets) {
    return absl::ResourceExhaustedError(cat("namespace '", c.row.ns, "' has ", config_.max_secrets,
                                            " secrets, which is the limit; delete one with `hodei secret rm`"));
  }
  if (before == nullptr && state_.secret_count() >= config_.max_all_secrets) {
    return absl::ResourceExhaustedError(cat("there are ", config_.max_all_secrets,
                                            " secrets in all namespaces, which is the "
                                            "limit; delete one with `hodei secret rm`"));
  }
  SecretRow row = c.row;
  row.revision = before == nullptr ? 1 : before->revision + 1;
  row.updated = now.wall;
  const SecretPut answer{row.revision, row.updated};
  record({.ns = row.ns,
          .principal = c.principal,
          .action = "secret.set",
          .subject = row.name,
          .detail = cat("revision ", row.revision, c.detail.empty() ? "" : "; ", c.detail)},
         now, turn);
  write(PutSecret{std::move(row)}, turn);
  return answer;
}

Engine::Answer Engine::on(const DropStoredSecret& c, Now now, Turn& turn) {
  if (state_.secret(c.ns, c.name) == nullptr) {
    return absl::NotFoundError(
        cat("there is no secret '", c.name, "' in namespace '", c.ns, "'; see `hodei secret list`"));
  }
  record({.ns = c.ns, .principal = c.principal, .action = "secret.deleted", .subject = c.name}, now, turn);
  write(DeleteSecret{c.ns, c.name}, turn);
  return Done{};
}

Engine::Answer Engine::on(const RecordAudit& c, Now now, Turn& turn) {
  record(c.row, now, turn);
  return Done{};
}

// In the same batch as the dispatch: effects leave after the commit, so no secret is on its way before this is durable.
void Engine::record_delivery(const JobHead& job, const WorkerId& worker, Now now, Turn& turn) {
  record({.ns = job.ns.str(),
          .principal = cat("worker ", worker.str()),
          .action = "secret.delivered",
          .subject = to_string(job.current()),
          .detail = *job.secrets},
         now, turn);
}

void Engine::sweep_audit(Now now, Turn& turn) {
  if (now.mono < next_audit_sweep_) return;
  next_audit_sweep_ = now.mono + kAuditSweep;
  if (config_.audit_life <= Duration(0) || state_.next_audit() == 1) return;
  // Rows are stamped with the wall clock. They are old when both clocks say so: it may be ahead for a while, and the
  // steady one, if it was made in that while, for years after it.
  write(ExpireAudit{std::min(steady_wall(now), now.wall) - config_.audit_life}, turn);
}

}  // namespace hodei::core
