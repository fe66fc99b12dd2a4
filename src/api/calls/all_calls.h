// The calls of all services, once, with what they need. A line in AllServices and an include are all that a new service
// needs outside of its folder: the table, the bindings and the health of services follow from the list.
//
// A service is a struct in its own folder:
//
//   struct NoteCalls {
//     static constexpr std::string_view service = "hodei.v1.NoteService";
//     using Ports = NotePorts;
//     static Ports ports(const ServerPorts& s) { return {s.commands, s.stored}; }
//     template <class Visitor>
//     static void lines(Visitor& v) { … }  // line.h
//   };
#pragma once

#include <tuple>

#include "src/api/calls/admin/admin_calls.h"
#include "src/api/calls/artifacts/artifact_calls.h"
#include "src/api/calls/inputs/input_calls.h"
#include "src/api/calls/jobs/job_calls.h"
#include "src/api/calls/logs/log_calls.h"
#include "src/api/calls/metrics/metrics_calls.h"
#include "src/api/calls/providers/provider_calls.h"
#include "src/api/calls/pump.h"
#include "src/api/calls/scheduler/scheduler_calls.h"
#include "src/api/calls/server_ports.h"
#include "src/api/calls/workers/worker_calls.h"
#include "src/core/rows/row.h"

namespace hodei::api {

using AllServices = core::TypeList<  //
    AdminCalls,                      //
    ArtifactCalls,                   //
    JobCalls,                        //
    InputCalls,                      //
    LogCalls,                        //
    MetricsCalls,                    //
    ProviderCalls,                   //
    SchedulerCalls,                  //
    WorkerCalls                      //
    >;

template <class List>
class PortsOfAll;
template <class... Service>
class PortsOfAll<core::TypeList<Service...>> {
 public:
  explicit PortsOfAll(const ServerPorts& server) : all_(Service::ports(server)...) {}

  template <class One>
  const typename One::Ports& of() const {
    return std::get<typename One::Ports>(all_);
  }

 private:
  std::tuple<typename Service::Ports...> all_;
};

struct AllCalls {
  PortsOfAll<AllServices> ports;
  TransportPorts transport;

  template <class Service>
  const typename Service::Ports& of() const {
    return ports.of<Service>();
  }
};

}  // namespace hodei::api
