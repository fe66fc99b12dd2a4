// WorkerAgentService: the calls about workers, and their lines of the table.
#pragma once

#include <mutex>
#include <string_view>

#include "hodei/v1/worker_service.pb.h"
#include "src/api/calls/call.h"
#include "src/api/calls/line.h"
#include "src/api/calls/ports.h"
#include "src/api/calls/server_ports.h"

namespace hodei::api {

// Versions of the worker protocol that this server speaks.
inline constexpr uint32_t kProtocolMin = 1;
inline constexpr uint32_t kProtocolMax = 1;

// Refused registrations that the audit trail takes in a minute.
inline constexpr int kMaxRefusalsPerMinute = 60;

// Whoever knocks all night must not fill the disk: after so many in a minute, refusals are not recorded.
class RefusalLimit {
 public:
  bool has_room(MonoTime now);

 private:
  std::mutex mutex_;  // guards the two below
  MonoTime minute_began_{0};
  int refusals_ = 0;
};

struct WorkerPorts {
  Commands& commands;
  server::RefusedClaims& refused;
  const Clock& clock;
  Duration lease;  // of a worker
  RefusalLimit& refusals;
};

void register_worker(const WorkerPorts& p, const Call& call, const v1::RegisterRequest& in,
                     Answer<v1::RegisterResponse> answer);
void update_worker_status(const WorkerPorts& p, const Call& call, const v1::UpdateWorkerStatusRequest& in,
                          Answer<v1::UpdateWorkerStatusResponse> answer);
void unregister_worker(const WorkerPorts& p, const Call& call, const v1::UnregisterWorkerRequest& in,
                       Answer<v1::UnregisterWorkerResponse> answer);
void remove_worker(const WorkerPorts& p, const Call& call, const v1::RemoveWorkerRequest& in,
                   Answer<v1::RemoveWorkerResponse> answer);
void list_workers(const WorkerPorts& p, const Call& call, const v1::ListWorkersRequest& in,
                  Answer<v1::ListWorkersResponse> answer);
void get_worker(const WorkerPorts& p, const Call& call, const v1::GetWorkerRequest& in, Answer<v1::Worker> answer);
void drain_worker(const WorkerPorts& p, const Call& call, const v1::DrainWorkerRequest& in,
                  Answer<v1::DrainWorkerResponse> answer);
void undrain_worker(const WorkerPorts& p, const Call& call, const v1::UndrainWorkerRequest& in,
                    Answer<v1::Worker> answer);
void taint_worker(const WorkerPorts& p, const Call& call, const v1::TaintWorkerRequest& in, Answer<v1::Worker> answer);
void create_otp(const WorkerPorts& p, const Call& call, const v1::CreateOtpRequest& in,
                Answer<v1::CreateOtpResponse> answer);

struct WorkerCalls {
  static constexpr std::string_view service = "hodei.v1.WorkerAgentService";
  using Ports = WorkerPorts;
  static Ports ports(const ServerPorts& s) { return {s.commands, s.refused, s.clock, s.lease, s.refusals}; }
  template <class Visitor>
  static void lines(Visitor& v) {
    using enum Http;
    v.unary({"Register", Who::TokenHolder, By::Loop, Post, "/api/v1/workers:register", Audited::Yes}, register_worker);
    v.by_hand({"WorkerStream", Who::Worker, By::Loop});
    v.unary({"UpdateWorkerStatus", Who::Worker, By::Loop, Post, "/api/v1/workers:heartbeat"}, update_worker_status);
    v.unary({"UnregisterWorker", Who::Worker, By::Loop, Post, "/api/v1/workers:unregister", Audited::Yes},
            unregister_worker);
    v.unary({"RemoveWorker", Who::Admin, By::Loop, Delete, "/api/v1/workers/{worker_id}", Audited::Yes}, remove_worker);
    v.unary({"ListWorkers", Who::Admin, By::Loop, Get, "/api/v1/workers"}, list_workers);
    v.unary({"GetWorker", Who::Admin, By::Loop, Get, "/api/v1/workers/{worker_id}"}, get_worker);
    v.unary({"DrainWorker", Who::Admin, By::Loop, Post, "/api/v1/workers/{worker_id}:drain", Audited::Yes},
            drain_worker);
    v.unary({"UndrainWorker", Who::Admin, By::Loop, Post, "/api/v1/workers/{worker_id}:undrain", Audited::Yes},
            undrain_worker);
    v.unary({"TaintWorker", Who::Admin, By::Loop, Put, "/api/v1/workers/{worker_id}/taints", Audited::Yes},
            taint_worker);
    v.unary({"CreateOtp", Who::Admin, By::Loop, Post, "/api/v1/workers:token", Audited::Yes}, create_otp);
  }
};

}  // namespace hodei::api
