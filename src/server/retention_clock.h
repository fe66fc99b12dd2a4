// The clock by which stored things grow old: output of jobs, artifacts, metrics, tokens, keys, the audit trail.
//
// It follows the wall clock, but only as fast as time really passes: between half and twice the speed of the boot-time
// clock, never backwards. So a wall clock that is two years ahead for a while, or at a start of the server, deletes
// nothing, and one that was wrong and is set right is caught up with. How far it is survives a restart; of a time
// without the server in which the machine was restarted too, at most a day counts at once.
#pragma once

#include <memory>
#include <mutex>
#include <string>

#include "src/base/time.h"

namespace hodei::server {

class RetentionClock final : public Clock {
 public:
  // The most that a restart of the machine may make things older at once.
  static constexpr Duration kMaxGap = 24h;

  // `folder` is the data folder; `boot` names the machine's current start (see this_boot()).
  RetentionClock(std::string folder, const Clock& clock, std::string boot);

  // `mono` is the clock's own, `wall` the time of retention.
  Now now() const override;
  // Remembers how far it is. A failure costs at most kMaxGap after the next start of the machine.
  void save() const;

  static std::string this_boot();

 private:
  struct Reading {
    WallTime time;  // of retention
    MonoTime at;    // when it was that
  };
  std::string path() const { return folder_ + "/retention_clock"; }
  Reading resume() const;
  static WallTime advanced(const Reading& from, Now to);

  const std::string folder_;
  const Clock& clock_;
  const std::string boot_;
  mutable std::mutex mutex_;
  mutable Reading reading_;
};

}  // namespace hodei::server
