#include "src/core/secrets/secrets.h"

#include <utility>

#include "src/base/codec.h"
#include "src/base/hash.h"
#include "src/base/status.h"

namespace hodei::core {

Answer Secrets::decide(const PutStoredSecret& c, Turn& turn) {
  const auto before = all_.find({c.row.ns, c.row.name});
  const bool is_new = before == all_.end();
  if (is_new && count(c.row.ns) >= config_.max_secrets) {
    return absl::ResourceExhaustedError(cat("namespace '", c.row.ns, "' has ", config_.max_secrets,
                                            " secrets, which is the limit; delete one with `hodei secret rm`"));
  }
  if (is_new && all_.size() >= config_.max_all_secrets) {
    return absl::ResourceExhaustedError(cat("there are ", config_.max_all_secrets,
                                            " secrets in all namespaces, which is the "
                                            "limit; delete one with `hodei secret rm`"));
  }
  SecretRow row = c.row;
  row.revision = is_new ? 1 : before->second.revision + 1;
  row.updated = turn.wall();
  const SecretPut answer{row.revision, row.updated};
  audit_.record({.ns = row.ns,
                 .action = "secret.set",
                 .subject = row.name,
                 .detail = cat("revision ", row.revision, c.detail.empty() ? "" : "; ", c.detail)},
                turn);
  turn.write(Put<SecretRow>(std::move(row)));
  return answer;
}

Answer Secrets::decide(const DropStoredSecret& c, Turn& turn) {
  if (!all_.contains({c.ns, c.name})) {
    return absl::NotFoundError(
        cat("there is no secret '", c.name, "' in namespace '", c.ns, "'; see `hodei secret list`"));
  }
  audit_.record({.ns = c.ns, .action = "secret.deleted", .subject = c.name}, turn);
  turn.write(Erase<SecretRow>{{c.ns, c.name}});
  return Done{};
}

void Secrets::fold(const Put<SecretRow>& write) {
  const SecretRow& row = *write.row;
  all_[{row.ns, row.name}] = {row.revision, row.updated, hash64(row.sealed)};
}

size_t Secrets::count(const std::string& ns) const {
  size_t count = 0;
  for (auto it = all_.lower_bound({ns, ""}); it != all_.end() && it->first.first == ns; ++it) ++count;
  return count;
}

uint64_t Secrets::digest() const {
  uint64_t sum = 0;
  for (const auto& [name, secret] : all_) {
    Encoder out;
    out.text(name.first).text(name.second).i64(secret.revision).i64(secret.updated.us).u64(secret.hash);
    sum += hash64(out.bytes());
  }
  return sum;
}

}  // namespace hodei::core
