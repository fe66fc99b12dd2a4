// The error messages that all stores share.
#pragma once

#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "src/base/ids.h"
#include "src/store/batch.h"
#include "src/store/store.h"

namespace hodei::store {

// A write that breaks a rule of the store: an error of the caller, never of the data. Nothing was written.
absl::Status refused(JobId job, std::string_view why);
absl::Status already_stored(JobId job);
absl::Status not_live(const JobChange& change);

// Who may commit, and which batch comes next.
struct Turn {
  Epoch epoch{};
  BatchNo batch{};
};
absl::Status check_turn(const Turn& stored, const Turn& given);

// Of leadership (leadership.h).
absl::Status another_leads(const std::string& address);
absl::Status term_has_ended(Epoch ours, Epoch stored);

absl::Status no_such_job(JobId job);
absl::Status nobody_waits();  // a read was cancelled
absl::Status no_such_secret(const std::string& ns, const std::string& name);
absl::Status no_such_template(const std::string& ns, const std::string& name);

}  // namespace hodei::store
