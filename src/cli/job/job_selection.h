// Which jobs a command is about, by flags: shared by `job list`, `cancel`, `retry`, `delete` and `wait`.
#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "hodei/v1/job_service.pb.h"

namespace CLI {
class App;
}

namespace hodei::cli {

struct Session;

// Jobs that one call of a command changes or waits for, or that are sorted by something that the server has no order
// for; more are refused.
inline constexpr size_t kMostSelected = 10'000;

struct SelectionFlags {
  std::vector<std::string> states, labels;
  std::string name, worker, since, until;

  // Nothing was chosen: all jobs are meant.
  bool empty() const;
};

void add_selection_flags(CLI::App& command, SelectionFlags& flags);

absl::StatusOr<v1::ListJobsRequest> make_list_request(Session& session, const SelectionFlags& flags);

// All jobs that match, page by page; RESOURCE_EXHAUSTED when there are more than kMostSelected.
absl::StatusOr<std::vector<v1::Job>> list_selected(Session& session, v1::ListJobsRequest request);

// Every state as people write it.
std::vector<std::string> state_names();

}  // namespace hodei::cli
