// Handles a submission whose idempotency key was used before. It compares the two specs, and explains the conflict when
// they differ or when the job of the key has been deleted.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "src/core/answers.h"
#include "src/store/store.h"

namespace hodei::api {

// The specs of a submission, in its order.
using WantedSpecs = std::vector<std::shared_ptr<const core::SpecRow>>;

// Whether the store has something to say about this answer. Nearly always not.
bool concerns_keys(const absl::StatusOr<core::Reply>& reply);

// Reads. A refused key: the same error, with both specs where they differ. A key whose job is gone: ALREADY_EXISTS for
// a single job; of several, which have been stored together, `note` tells it.
absl::Status explain_keys(store::Reader& reader, const WantedSpecs& wanted, const absl::StatusOr<core::Reply>& reply,
                          std::string* note);

}  // namespace hodei::api
