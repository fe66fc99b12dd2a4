#include "src/server/loop_assembly.h"

namespace hodei::server {

LoopAssembly::LoopAssembly(Storage& storage, const Ends& ends, const Clock& clock, const core::EngineConfig& engine)
    : carrier_(ends.connections.links, ends.connections.events, ends.logs),
      filler_(*storage.readers().orders, ends.durable_offset),
      orders_(filler_),
      journal_(*storage.readers().lookups, ends.reads),
      measured_store_(storage.store(), clock, ends.metrics),
      measured_outlet_(carrier_, ends.metrics),
      leadership_(storage.store()),
      tenure_(measured_store_, leadership_, clock, engine),
      core_(tenure_, clock, measured_outlet_, ends.connections.heartbeats),
      loop_(core_, clock) {
  carrier_.set_journal(&journal_);
  tenure_.set_retention_clock(&storage.retention_clock());
}

absl::Status LoopAssembly::take_over(const std::string& address) {
  tenure_.set_address(address);
  return core_.take_over();
}

void LoopAssembly::start() {
  orders_.start();
  loop_.start();
}

void LoopAssembly::stop() {
  loop_.stop();
  orders_.stop();
}

}  // namespace hodei::server
