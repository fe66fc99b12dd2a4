// The loop with all that its turns go through: the store that it leads on one side, the carrier and the writer of
// orders on the other.
#pragma once

#include <string>

#include "src/core/config.h"
#include "src/server/carrier.h"
#include "src/server/connections.h"
#include "src/server/loop.h"
#include "src/server/metrics/measured.h"
#include "src/server/order_writer.h"
#include "src/server/step_journal.h"
#include "src/server/storage.h"
#include "src/store/sqlite/sqlite_leadership.h"

namespace hodei::server {

class LoopAssembly {
 public:
  // Where what the loop decides goes to, and who measures it. They outlive the assembly.
  struct Ends {
    Connections& connections;
    LogEnds& logs;
    OrderFiller::DurableOffset durable_offset;
    ReadPool& reads;
    ServerMetrics& metrics;
  };
  LoopAssembly(Storage& storage, const Ends& ends, const Clock& clock, const core::EngineConfig& engine);

  // Before start(): campaigns for the store and loads it. Others reach this server at `address`.
  absl::Status take_over(const std::string& address);
  void start();
  // Nobody's silence counts any more.
  void stop_time() { core_.stop_time(); }
  void stop();

  Loop& loop() { return loop_; }
  Carrier& carrier() { return carrier_; }
  OrderWriter& orders() { return orders_; }

 private:
  Carrier carrier_;
  OrderFiller filler_;
  OrderWriter orders_;
  StepJournal journal_;
  MeasuredStore measured_store_;
  MeasuredOutlet measured_outlet_;
  store::SqliteLeadership leadership_;
  Tenure tenure_;
  LoopCore core_;
  Loop loop_;
};

}  // namespace hodei::server
