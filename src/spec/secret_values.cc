#include "src/spec/secret_values.h"

#include "src/base/status.h"

namespace hodei::spec {

absl::Status refuse_values(const v1::JobSpec& spec) {
  for (int i = 0; i < spec.secrets_size(); ++i) {
    const v1::Secret& secret = spec.secrets(i);
    if (secret.value().empty() && secret.sealed().empty()) continue;
    return bad_field(cat("secrets[", i, "].value"),
                     "a template must not contain values; store the value with `hodei secret set ", secret.name(), "`");
  }
  return absl::OkStatus();
}

void hide_secrets(v1::JobSpec& spec) {
  for (v1::Secret& secret : *spec.mutable_secrets()) {
    secret.clear_value();
    secret.clear_sealed();
  }
}

}  // namespace hodei::spec
