#include "src/api/calls/artifacts/artifact_access.h"

#include <algorithm>

#include "hodei/v1/job.pb.h"
#include "src/api/calls/session.h"
#include "src/api/calls/workers/execution_facts.h"
#include "src/base/status.h"
#include "src/spec/submission.h"

namespace hodei::api {
namespace {

bool names_file(const v1::JobSpec& spec, ArtifactUse use, const std::string& name) {
  const auto& files = use == ArtifactUse::Fetch ? spec.inputs() : spec.outputs();
  const std::string url = cat("hodei:", name);
  return std::any_of(files.begin(), files.end(), [&](const v1::Artifact& file) { return file.url() == url; });
}

absl::Status check_worker(const ExecutionFacts& facts, ExecutionId execution, const WorkerId& worker, ArtifactUse use,
                          const std::string& name) {
  RETURN_IF_ERROR(check_owner(facts, execution, worker));
  if (!facts.is_current) {
    return absl::FailedPreconditionError(cat("execution_id: ", to_string(execution),
                                             " has ended or now belongs to another worker; "
                                             "its files are closed"));
  }
  v1::JobSpec spec;
  if (!spec.ParseFromString(facts.spec) || !names_file(spec, use, name)) {
    return absl::PermissionDeniedError(cat("name: '", name, "' is not an ",
                                           use == ArtifactUse::Fetch ? "input" : "output", " of job ",
                                           short_id(execution.job)));
  }
  return absl::OkStatus();
}

}  // namespace

void find_caller(const ArtifactPorts& p, const Call& call, std::function<void(absl::StatusOr<ArtifactCaller>)> found) {
  if (!call.session) return found(ArtifactCaller{.worker = {}, .callers = call.callers});
  find_worker(p.sessions, call, [callers = call.callers, found = std::move(found)](absl::StatusOr<WorkerId> worker) {
    if (!worker.ok()) return found(worker.status());
    found(ArtifactCaller{*std::move(worker), callers});
  });
}

absl::StatusOr<server::ArtifactKey> artifact_key(const v1::ArtifactName& name) {
  if (!name.execution_id().empty())
    return bad_field("execution_id", "is only for Upload and Download; set the namespace instead");
  server::ArtifactKey key{.name = name.name()};
  RETURN_IF_ERROR(server::check_artifact_name(key.name));
  ASSIGN_OR_RETURN(key.ns, spec::namespace_of(name.namespace_()));
  return key;
}

absl::StatusOr<server::ArtifactKey> allowed_key(const ArtifactPorts& p, const ArtifactCaller& caller, ArtifactUse use,
                                                const v1::ArtifactName& name) {
  if (name.execution_id().empty()) {
    if (caller.callers == Callers::All) return artifact_key(name);
    p.sessions.refused.count(server::Claim::Artifact);
    return absl::PermissionDeniedError("execution_id: required on this address, which accepts worker calls only");
  }
  RETURN_IF_ERROR(server::check_artifact_name(name.name()));
  if (caller.worker.empty()) {
    p.sessions.refused.count(server::Claim::Session);
    return needs_session();
  }
  ASSIGN_OR_RETURN(const ExecutionId execution, parse_execution_id(name.execution_id()));
  ASSIGN_OR_RETURN(const ExecutionFacts facts, find_execution(p.lookups, execution));
  if (const absl::Status own = check_worker(facts, execution, caller.worker, use, name.name()); !own.ok()) {
    p.sessions.refused.count(server::Claim::Artifact);
    return own;
  }
  return server::ArtifactKey{.ns = facts.ns, .name = name.name()};
}

}  // namespace hodei::api
