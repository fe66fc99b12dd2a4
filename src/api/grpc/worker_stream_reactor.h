// gRPC's end of a WorkerStream: passes its calls on to the link, which outlives it.
#pragma once

#include <memory>
#include <mutex>
#include <utility>

#include "src/api/grpc/worker_link.h"

namespace hodei::api {

class WorkerStreamReactor final : public grpc::ServerBidiReactor<v1::WorkerMessage, v1::ServerMessage> {
 public:
  explicit WorkerStreamReactor(std::shared_ptr<WorkerStreamLink> link) : link_(std::move(link)) {}
  void OnReadDone(bool ok) override { link_->read_done(ok); }
  void OnWriteDone(bool ok) override { link_->write_done(ok); }
  void OnCancel() override {
    const std::lock_guard lock(link_->mutex_);
    link_->finish(grpc::Status::CANCELLED);
  }
  void OnDone() override {
    link_->done();
    delete this;
  }

 private:
  std::shared_ptr<WorkerStreamLink> link_;
};

}  // namespace hodei::api
