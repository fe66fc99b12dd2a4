#include "src/cli/job/job_lookup.h"

#include "src/base/ids.h"
#include "src/base/printable.h"
#include "src/base/status.h"
#include "src/cli/job/job_view.h"
#include "src/cli/session/session.h"

namespace hodei::cli {
namespace {

constexpr int kShownCandidates = 5;

std::string candidates(const std::vector<v1::Job>& jobs, WallTime now) {
  std::string out;
  for (const v1::Job& job : jobs) {
    out += cat(out.empty() ? "" : ", ", job.short_id(), " (", v1::Job::State_Name(job.state()), ", ",
               age(job.created_at(), now), " old)");
  }
  return out;
}

absl::StatusOr<std::string> find_by_name(Session& session, const std::string& name, SameName same_name) {
  v1::ListJobsRequest request;
  request.set_namespace_(session.name_space());
  request.set_name(name);
  request.set_page_size(kShownCandidates + 1);
  std::vector<v1::Job> found;
  do {
    ASSIGN_OR_RETURN(v1::ListJobsResponse page, session.client().list_jobs(request));
    for (v1::Job& job : *page.mutable_jobs()) {
      if (job.name() == name) found.push_back(std::move(job));
    }
    request.set_page_token(page.next_page_token());
  } while (found.size() <= kShownCandidates && !request.page_token().empty());
  if (found.empty()) {
    return absl::NotFoundError(cat("no job has the id or the name '", printable(name.substr(0, 60)),
                                   "'\n`hodei job list` shows ids (j1f3k) and names"));
  }
  if (found.size() == 1) return found[0].short_id();
  const bool more = found.size() > kShownCandidates;
  const std::string count = more ? cat("more than ", kShownCandidates) : cat(found.size());
  if (same_name == SameName::TakesNewest) {
    session.note(cat(found[0].short_id(), " is the newest of ", count, " jobs called ", printable(name)));
    return found[0].short_id();
  }
  if (more) found.resize(kShownCandidates);
  return absl::InvalidArgumentError(cat(count, " jobs are called ", printable(name), ": ",
                                        candidates(found, session.io.clock->now().wall), more ? ", …" : "",
                                        "\nuse the id of one"));
}

absl::Status check_namespace(Session& session, const std::string& id) {
  const std::string wanted = session.name_space();
  if (wanted.empty()) return absl::OkStatus();
  ASSIGN_OR_RETURN(const v1::Job job, session.client().get_job(id));
  if (job.namespace_() == wanted || job.namespace_().empty()) return absl::OkStatus();
  return absl::NotFoundError(cat("job ", id, " is in namespace ", job.namespace_(), ", not in ", wanted,
                                 "\n-n and --namespace choose the namespace"));
}

// `jack`, `java8` and `jq.1` have the form of ids and may be names.
absl::StatusOr<bool> is_there(Session& session, const std::string& id) {
  v1::GetJobRequest request;
  request.set_job_id(id);
  request.set_execution_page_size(1);
  const absl::Status known = session.client().get_job(request).status();
  if (known.ok() || absl::IsNotFound(known)) return known.ok();
  return known;
}

}  // namespace

absl::StatusOr<FoundJob> find_job(Session& session, const std::string& typed, SameName same_name) {
  if (typed.empty()) return bad_field("job", "must not be empty; give an id or a name");
  FoundJob out{typed, 0};
  bool by_id = parse_job_id(typed).ok();
  if (const absl::StatusOr<ExecutionId> execution = parse_execution_id(typed); execution.ok()) {
    out = {short_id(execution->job), static_cast<int32_t>(execution->number)};
    by_id = true;
  }
  if (by_id) {
    ASSIGN_OR_RETURN(by_id, is_there(session, out.id));
  }
  if (!by_id) {
    const bool looks_like_id = out.execution != 0 || parse_job_id(typed).ok();
    absl::StatusOr<std::string> named = find_by_name(session, typed, same_name);
    if (absl::IsNotFound(named.status()) && looks_like_id) {
      return absl::NotFoundError(
          cat("job ", out.id, " does not exist, and no job has this name", "\n`hodei job list` shows ids and names"));
    }
    RETURN_IF_ERROR(named.status());
    return FoundJob{*std::move(named), 0};  // looked for in the namespace
  }
  RETURN_IF_ERROR(check_namespace(session, out.id));
  return out;
}

absl::StatusOr<std::string> find_job_id(Session& session, const std::string& typed, SameName same_name) {
  ASSIGN_OR_RETURN(FoundJob job, find_job(session, typed, same_name));
  return std::move(job.id);
}

}  // namespace hodei::cli
