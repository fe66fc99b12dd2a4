// Making workers, and what providers tell of it.
#include "src/core/engine.h"

namespace hodei::core {

Engine::Answer Engine::on(const WorkerMade&, Now, Turn&) { return Done{}; }
Engine::Answer Engine::on(const WorkerRuns&, Now, Turn&) { return Done{}; }
Engine::Answer Engine::on(const WorkerFailed&, Now, Turn&) { return Done{}; }
Engine::Answer Engine::on(const WorkerDestroyed&, Now, Turn&) { return Done{}; }
Engine::Answer Engine::on(const Inventory&, Now, Turn&) { return Done{}; }
void Engine::want(const Lane&) {}
void Engine::provision(Now, Turn&) {}

}  // namespace hodei::core
