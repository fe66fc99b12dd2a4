// The commands of providers, pools and the workers that providers create, and their answers.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "src/base/ids.h"
#include "src/base/time.h"
#include "src/core/provision/provision.h"
#include "src/core/rows/row.h"

namespace hodei::core {

struct PutProvider {
  ProviderRow row;
  bool is_new = false;
};  // is_new: the name must not exist
struct DropProvider {
  std::string name;
};
struct PutPool {
  PoolRow row;
};
struct DropPool {
  std::string name;
};

struct ProviderSeen {  // the result of a health check
  std::string name;
  ProviderFacts facts;
  HealthState health = HealthState::Unknown;
  std::string reason;
};

// Why a worker could not be created. Shape: this provider cannot create one of this shape. Room: it has no room now.
// Trouble: a fault of the provider. Hopeless: no provider could, because something the job needs, such as its image,
// does not exist.
enum class MakingFailure : uint8_t { Shape = 1, Room, Trouble, Hopeless };

struct WorkerMade {
  WorkerId worker;
  std::string handle;
};  // the provider has accepted the request
struct WorkerRuns {
  WorkerId worker;
};  // it runs: the time limit for its registration begins
struct WorkerHeldUp {
  WorkerId worker;
  std::string reason;
};  // why it cannot start yet; empty: it can now
struct WorkerFailed {
  WorkerId worker;
  MakingFailure kind{};
  std::string reason;
};  // it could not be created, or it ended by itself
struct WorkerDestroyed {
  WorkerId worker;
};  // nothing of it is left

// The workers a provider has for this installation. Those the engine does not know are destroyed.
struct Inventory {
  struct One {
    WorkerId worker;
    std::string handle;
  };
  std::string provider;
  std::vector<One> workers;
};

struct DescribeProviders {
  std::string name;
};  // empty: all
struct DescribePools {};

// A provider that could create a worker for a waiting job, or why it cannot.
struct ProviderCandidate {
  std::string name;
  bool fits = false;
  bool chosen = false;
  std::string reason;
  Duration startup{0};
};

struct ProviderView {
  LiveProvider provider;
  ProviderState state{};
  std::vector<WorkerId> workers;  // not Terminated
};
struct ProviderViews {
  std::vector<ProviderView> providers;
};

struct PoolView {
  PoolRow row;
  uint32_t workers = 0, starting = 0, busy = 0;
  int64_t waiting = 0;  // jobs
};
struct PoolViews {
  std::vector<PoolView> pools;
};

using ProvisionCommands = TypeList<PutProvider, DropProvider, PutPool, DropPool, ProviderSeen, WorkerMade, WorkerRuns,
                                   WorkerHeldUp, WorkerFailed, WorkerDestroyed, Inventory>;
using ProvisionQuestions = TypeList<DescribeProviders, DescribePools>;
using ProvisionAnswers = TypeList<ProviderViews, PoolViews>;

}  // namespace hodei::core
