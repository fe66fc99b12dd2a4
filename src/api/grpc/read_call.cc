#include "src/api/grpc/read_call.h"

#include <atomic>
#include <memory>

#include "src/api/grpc/translate.h"

namespace hodei::api {
namespace {

class ReadCall final : public grpc::ServerUnaryReactor {
 public:
  void OnCancel() override { *cancelled_ = true; }
  void OnDone() override { delete this; }
  std::shared_ptr<std::atomic<bool>> cancelled() const { return cancelled_; }

 private:
  const std::shared_ptr<std::atomic<bool>> cancelled_ = std::make_shared<std::atomic<bool>>(false);
};

grpc::ServerUnaryReactor* start_read(server::Server& server, server::ReadPool& pool,
                                     const grpc::CallbackServerContext& c, server::ReadPool::Lane lane, ReadWork work,
                                     AfterRead after) {
  auto* call = new ReadCall;  // its own owner; alive until it is finished
  const server::ReadPool::Asker who{c.peer(), lane};
  const absl::Status taken =
      pool.post(who, [&server, call, work = std::move(work), after = std::move(after), cancelled = call->cancelled()] {
        store::ReadLimit limit;
        limit.is_cancelled = [cancelled] { return cancelled->load(); };
        const MonoTime end = server.clock().now().mono + kReadTime;
        limit.is_out_of_time = [&server, end] { return server.clock().now().mono >= end; };
        const absl::Status done = *cancelled ? absl::CancelledError("the caller has gone away") : work(limit);
        if (done.ok() && after) return after(call);
        call->Finish(to_grpc(done));
      });
  if (!taken.ok()) call->Finish(to_grpc(taken));
  return call;
}

}  // namespace

grpc::ServerUnaryReactor* read(server::Server& server, server::ReadPool& pool, const grpc::CallbackServerContext& c,
                               server::ReadPool::Lane lane, ReadWork work) {
  return start_read(server, pool, c, lane, std::move(work), nullptr);
}

grpc::ServerUnaryReactor* read(server::Server& server, const grpc::CallbackServerContext& c,
                               server::ReadPool::Lane lane, ReadWork work) {
  return start_read(server, server.reads(), c, lane, std::move(work), nullptr);
}

grpc::ServerUnaryReactor* read(server::Server& server, const grpc::CallbackServerContext& c,
                               server::ReadPool::Lane lane, ReadWork work, AfterRead after) {
  return start_read(server, server.reads(), c, lane, std::move(work), std::move(after));
}

void read_then_finish(server::Server& server, grpc::ServerUnaryReactor* reactor, std::function<absl::Status()> work) {
  const absl::Status taken =
      server.reads().post({.lane = kQuick}, [reactor, work = std::move(work)] { reactor->Finish(to_grpc(work())); });
  if (!taken.ok()) reactor->Finish(to_grpc(taken));
}

}  // namespace hodei::api
