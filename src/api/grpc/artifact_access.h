// Whose files a call may touch.
#pragma once

#include <string>

#include "absl/status/statusor.h"
#include "src/api/grpc/artifact_streams.h"
#include "src/base/ids.h"

namespace hodei::api {

enum class ArtifactUse : uint8_t { Fetch = 1, Store };

// Who calls: the worker whose session came with the call; empty: nobody's session did.
struct ArtifactCaller {
  WorkerId worker;
  Callers callers = Callers::All;
};

// The file that a caller means, or why it may not have it. Reads from the disk.
absl::StatusOr<server::ArtifactKey> allowed_key(server::Server& server, const ArtifactCaller& caller, ArtifactUse use,
                                                const v1::ArtifactName& name);

}  // namespace hodei::api
