// Tells what became of the workers of one provider: the journal, the engine, and whoever counts. Used by many threads.
#pragma once

#include <memory>
#include <string>

#include "src/server/provisioning/engine_line.h"
#include "src/server/provisioning/making_event.h"
#include "src/server/provisioning/provider_health.h"

namespace hodei::server {

class MakingReports {
 public:
  MakingReports(std::string name, std::shared_ptr<EngineLine> line, const Clock& clock, OnMaking on_making,
                std::shared_ptr<ProviderHealth> health);

  // `asked` is when the engine asked for the worker.
  void made(const WorkerId& worker, const std::string& handle, MonoTime asked) const;
  void still_there(const WorkerId& worker, const std::string& handle) const;
  void runs(const WorkerId& worker) const;
  void held_up(const WorkerId& worker, const std::string& why) const;  // empty: not any more
  void registered(const WorkerId& worker, MonoTime asked) const;
  void failed(const WorkerId& worker, MonoTime asked, core::MakingFailure kind, const std::string& why) const;
  void ended(const WorkerId& worker, const std::string& why) const;  // one that had registered
  void not_destroyed(const WorkerId& worker, uint32_t tries, const absl::Status& why) const;
  void destroyed(const WorkerId& worker, MonoTime asked) const;

 private:
  void count(MakingEvent::What what, Duration took) const;

  const std::string name_;
  const std::shared_ptr<EngineLine> line_;
  const Clock& clock_;
  const OnMaking on_making_;
  const std::shared_ptr<ProviderHealth> health_;
};

}  // namespace hodei::server
