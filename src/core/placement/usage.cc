#include "src/core/placement/usage.h"

namespace hodei::core {

void Usage::count_job(const JobHead& head, int sign) {
  if (!head.concurrency_key.empty()) keys_.at(head.ns.str(), head.concurrency_key).jobs += sign;
}

void Usage::count_execution(const JobHead& head, int sign) {
  if (!head.concurrency_key.empty()) keys_.at(head.ns.str(), head.concurrency_key).held += sign;
  Tenant& tenant = *roster_.tenants.at(head.ns);
  tenant.running += sign;
  if (sign > 0) {
    tenant.used += head.shape->needs;
  } else {
    tenant.used -= head.shape->needs;
    roster_.tenants.rest_if_idle(&tenant);
  }
}

bool Usage::key_in_use(const JobHead& head) const {
  const KeyState* key = keys_.find(head.ns.str(), head.concurrency_key);
  return key != nullptr && key->jobs > 0;
}

}  // namespace hodei::core
