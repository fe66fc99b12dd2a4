#include "src/cli/worker/worker_lookup.h"

#include "src/base/status.h"
#include "src/cli/session/session.h"

namespace hodei::cli {
namespace {

absl::Status ambiguous(const std::string& typed, const std::vector<std::string>& ids, std::string_view what_to_do) {
  constexpr size_t kShown = 10;
  std::string all;
  for (size_t i = 0; i < ids.size() && i < kShown; ++i) all += (all.empty() ? "" : ", ") + ids[i];
  if (ids.size() > kShown) all += cat(" and ", ids.size() - kShown, " more");
  return absl::InvalidArgumentError(cat("worker '", typed, "' could be any of ", all, "\n", what_to_do));
}

}  // namespace

absl::StatusOr<std::string> find_worker(Session& session, const std::string& typed) {
  v1::ListWorkersRequest request;
  request.set_include_terminated(true);
  ASSIGN_OR_RETURN(const v1::ListWorkersResponse answer, session.client().list_workers(request));
  // Several workers may have one name; those that are there come before those that have left.
  std::vector<std::string> there, gone, beginning;
  for (const v1::Worker& worker : answer.workers()) {
    const std::string& id = worker.info().id();
    if (id == typed) return id;
    if (worker.info().name() == typed) (worker.state() == v1::Worker::Terminated ? gone : there).push_back(id);
    if (!typed.empty() && id.starts_with(typed)) beginning.push_back(id);
  }
  const std::vector<std::string>& named = there.empty() ? gone : there;
  if (named.size() == 1) return named[0];
  if (named.size() > 1) return ambiguous(typed, named, "several have this name; use an id");
  if (beginning.size() == 1) return beginning[0];
  if (beginning.size() > 1) return ambiguous(typed, beginning, "type more of the id");
  return absl::NotFoundError(
      cat("worker '", typed, "' does not exist\nlist all workers with `hodei worker list --all`"));
}

}  // namespace hodei::cli
