#include "src/server/loop_assembly.h"

namespace hodei::server {

LoopAssembly::LoopAssembly(Storage& storage, const Ends& ends, const Clock& clock, const core::EngineConfig& engine)
    : carrier_(ends.connections.links, ends.connections.events, ends.logs, *storage.readers().loop),
      measured_store_(storage.store(), clock, ends.metrics),
      measured_outlet_(carrier_, ends.metrics),
      core_(measured_store_, clock, measured_outlet_, ends.connections.heartbeats, engine),
      loop_(core_, clock) {
  core_.set_retention_clock(&storage.retention_clock());
}

}  // namespace hodei::server
