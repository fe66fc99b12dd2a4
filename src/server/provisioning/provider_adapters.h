// An adapter for every stored provider. One thread applies what is stored and ticks; any thread may ask for an adapter.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "src/server/provisioning/provider_adapter.h"

namespace hodei::server {

// What providers are made with.
struct ProvisionerSetup {
  using Make = std::function<absl::StatusOr<std::unique_ptr<providers::Provider>>(const providers::ProviderConfig&,
                                                                                  const providers::Installation&)>;
  Make make;
  providers::Installation installation;
  OnMaking on_making;  // may be empty; called from any thread
};

class ProviderAdapters {
 public:
  using AdapterPtr = std::shared_ptr<ProviderAdapter>;
  using Rows = std::vector<core::ProviderView>;

  ProviderAdapters(std::shared_ptr<EngineLine> line, const Clock& clock, ProvisionerSetup setup);

  // Where workers find the server unless their provider says otherwise; for adapters that are made later.
  void set_server_address(const std::string& address, OpenWorkerPort open_port);
  // These providers are stored now, and no others.
  void apply(const Rows& rows);
  // Starts what is due; returns when the next thing is, `latest` at the latest.
  MonoTime tick(MonoTime latest);
  // All at once; calls under way get this long.
  void close(Duration patience);

  AdapterPtr find(const std::string& name) const;  // null: there is none
  std::vector<AdapterPtr> all() const;

  // Would this one work? Makes it and forgets it. `done` is called by a thread that may block a little, or at once.
  void check(const core::ProviderRow& row, std::function<void(const absl::Status&)> done);

 private:
  struct Place {
    core::ProviderRow row;
    AdapterPtr adapter;
  };
  void keep(const core::ProviderView& view);
  void drop_those_not_in(const Rows& rows);

  const std::shared_ptr<EngineLine> line_;
  const Clock& clock_;
  const ProvisionerSetup setup_;
  mutable std::mutex mutex_;  // guards what follows
  std::string server_address_;
  OpenWorkerPort open_port_;
  std::map<std::string, Place> places_;
  CallPool checkers_{2, 100};
};

}  // namespace hodei::server
