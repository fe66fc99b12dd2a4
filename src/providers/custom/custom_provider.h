// Workers that a user's own program makes: on rented machines, in somebody's cloud, over ssh. The types custom, lambda,
// azurevm, ec2 and cloudrun are all this.
//
// The program is called with a verb (create, status, destroy, logs, health, list), reads a JSON object and prints one:
// docs/providers/custom.md describes them. Options: program, timeout, timeout.VERB, max_workers, isolation, images,
// startup, architectures, and config.* for the program itself.
#pragma once

#include "src/providers/provider.h"

namespace hodei::providers {

absl::StatusOr<std::unique_ptr<Provider>> make_custom_provider(const ProviderConfig& config,
                                                               const Installation& installation);

}  // namespace hodei::providers
