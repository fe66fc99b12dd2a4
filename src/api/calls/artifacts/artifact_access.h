// Decides which artifacts a call may read or write.
//
// A worker names the execution for which it calls. The execution must belong to this worker and must not have ended,
// and the spec of its job must name the artifact: an input may be downloaded, an output may be uploaded.
#pragma once

#include <functional>

#include "absl/status/statusor.h"
#include "src/api/calls/artifacts/artifact_calls.h"
#include "src/base/ids.h"

namespace hodei::api {

enum class ArtifactUse : uint8_t { Fetch = 1, Store };

// Who calls: the worker whose session came with the call; empty: nobody's session did.
struct ArtifactCaller {
  WorkerId worker;
  Callers callers = Callers::All;
};

// Asks the loop whose session came with the call, if one did. `found` is called from any thread, or at once.
void find_caller(const ArtifactPorts& p, const Call& call, std::function<void(absl::StatusOr<ArtifactCaller>)> found);

// What a person means by a name. Only Upload and Download take an execution.
absl::StatusOr<server::ArtifactKey> artifact_key(const v1::ArtifactName& name);

// The file that a caller means, or why it may not have it. Reads from the disk.
absl::StatusOr<server::ArtifactKey> allowed_key(const ArtifactPorts& p, const ArtifactCaller& caller, ArtifactUse use,
                                                const v1::ArtifactName& name);

}  // namespace hodei::api
