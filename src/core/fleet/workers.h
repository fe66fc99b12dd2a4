// The table of workers: their records, and what is known of them from their streams.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>

#include "src/core/fleet/ports.h"
#include "src/core/fleet/rows.h"

namespace hodei::core {

class Workers {
 public:
  using All = std::map<WorkerId, std::unique_ptr<LiveWorker>>;

  explicit Workers(const FleetPorts& ports) : ports_(ports) {}

  // Null if there is none.
  LiveWorker* find(const WorkerId& id) const;
  LiveWorker* of_session(const Hash128& session) const;
  const All& all() const { return all_; }
  size_t bytes() const { return bytes_; }

  // Changes of a worker's record.
  void move(LiveWorker& worker, WorkerEvent event, Turn& turn) const;
  void set_stopped(LiveWorker& worker, bool stopped, Turn& turn) const;
  void note_end(LiveWorker& worker, const std::string& reason, Turn& turn) const;  // the first reason counts
  // The worker has left. Its record stays for a while, with the reason.
  void end(LiveWorker& worker, WorkerEvent event, const std::string& reason, Turn& turn) const;
  // Workers that left are still listed for a while; they do not keep others out.
  void forget_one_terminated(Turn& turn) const;

  void drop_stream(LiveWorker& worker, const std::string& why, Turn& turn) const;

  void fold(const Put<WorkerRecord>& write);
  void fold(const Erase<WorkerRecord>& write);
  uint64_t digest() const;

 private:
  const FleetPorts& ports_;
  All all_;
  std::map<Hash128, WorkerId> sessions_;
  size_t bytes_ = 0;
};

}  // namespace hodei::core
