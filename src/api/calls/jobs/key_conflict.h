// Idempotency keys that come again: whether the spec is the same, and what to say when it is not, or when the job that
// the key made has been deleted.
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
