// Finds jobs by what people type: a short or full id, the id of an execution (j2e.1), or a name.
#pragma once

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace hodei::cli {

struct Session;

// Several jobs may have one name. What only looks takes the newest and says so; what changes something asks which.
enum class SameName { TakesNewest, IsRefused };

struct FoundJob {
  std::string id;         // short or full
  int32_t execution = 0;  // of an execution's id; 0: the job was named
};

// Checks that the job is in the namespace that was asked for, if one was.
absl::StatusOr<FoundJob> find_job(Session& session, const std::string& typed, SameName same_name);

// The same for what needs the job only.
absl::StatusOr<std::string> find_job_id(Session& session, const std::string& typed, SameName same_name);

}  // namespace hodei::cli
