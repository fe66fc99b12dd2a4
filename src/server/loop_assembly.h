// The loop with all that its turns go through: the store on one side, the carrier on the other, both measured.
#pragma once

#include "src/core/config.h"
#include "src/server/carrier.h"
#include "src/server/connections.h"
#include "src/server/loop.h"
#include "src/server/metrics/measured.h"
#include "src/server/storage.h"

namespace hodei::server {

class LoopAssembly {
 public:
  // Where what the loop decides goes to, and who measures it. They outlive the assembly.
  struct Ends {
    Connections& connections;
    LogEnds& logs;
    ServerMetrics& metrics;
  };
  LoopAssembly(Storage& storage, const Ends& ends, const Clock& clock, const core::EngineConfig& engine);

  // Before start(): takes the store and loads it.
  absl::Status take_over() { return core_.take_over(); }
  void start() { loop_.start(); }
  // Nobody's silence counts any more.
  void stop_time() { core_.stop_time(); }
  void stop() { loop_.stop(); }

  Loop& loop() { return loop_; }
  Carrier& carrier() { return carrier_; }

 private:
  Carrier carrier_;
  MeasuredStore measured_store_;
  MeasuredOutlet measured_outlet_;
  LoopCore core_;
  Loop loop_;
};

}  // namespace hodei::server
