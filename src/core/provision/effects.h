// What providers must do once a batch is durable.
#pragma once

#include <string>

#include "src/base/ids.h"
#include "src/core/fleet/worker.h"
#include "src/core/rows/row.h"

namespace hodei::core {

// Create the worker that `record` describes. The provisioner also creates its token.
struct CreateWorker {
  WorkerRecordPtr record;
};
// Destroy the worker and everything that was created for it.
struct DestroyWorker {
  std::string provider;
  WorkerId worker;
  std::string handle;
};
// Read the list of providers again and start or stop adapters to match.
struct ProvidersChanged {};

using ProvisionEffects = TypeList<CreateWorker, DestroyWorker, ProvidersChanged>;

}  // namespace hodei::core
