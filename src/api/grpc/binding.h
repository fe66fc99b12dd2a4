// Binds the calls of a service to gRPC: reads the lines of the table and makes a handler for each. A service whose
// calls are all in the table needs no generated class (TableService). One with calls that are bound by hand is a
// subclass of the generated class (Bound): they keep the generated method, which the subclass overrides.
#pragma once

#include <deque>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "google/protobuf/descriptor.h"
#include "grpcpp/grpcpp.h"
#include "grpcpp/impl/service_type.h"
#include "src/api/calls/all_calls.h"
#include "src/api/calls/call.h"
#include "src/api/calls/line.h"
#include "src/api/calls/pump.h"
#include "src/api/grpc/metadata.h"
#include "src/api/grpc/status.h"
#include "src/base/status.h"

namespace hodei::api {

// A unary call whose caller is heard when he goes away before the answer.
class CancellableCall final : public grpc::ServerUnaryReactor {
 public:
  void OnCancel() override { cancellation_->cancel(); }
  void OnDone() override { delete this; }
  const std::shared_ptr<Cancellation>& cancellation() const { return cancellation_; }

 private:
  const std::shared_ptr<Cancellation> cancellation_ = std::make_shared<Cancellation>();
};

// A source on its way to a client. Its own owner.
template <class Message>
class SourceStream final : public grpc::ServerWriteReactor<Message> {
 public:
  explicit SourceStream(const TransportPorts& ports)
      : pump_(std::make_shared<Pump<Message>>(ports,
                                              typename Pump<Message>::Sink{
                                                  [this](const Message& message) { this->StartWrite(&message); },
                                                  [this](const absl::Status& status) { this->Finish(to_grpc(status)); },
                                              })) {}

  void start(SourceOr<Message> source) { pump_->start(std::move(source)); }
  void OnWriteDone(bool ok) override { pump_->written(ok); }
  void OnCancel() override { pump_->cancel(); }
  void OnDone() override {
    pump_->close();
    delete this;
  }

 private:
  const std::shared_ptr<Pump<Message>> pump_;
};

// A call that the loop answers in a moment needs nobody who listens for its cancellation.
inline bool hears_cancel(const CallLine& line) { return line.by != By::Loop || line.waits == Waits::Yes; }

// At an address for workers only, the rest does not exist.
inline bool is_for(const CallLine& line, Callers callers) {
  if (callers == Callers::All) return true;
  return line.who == Who::Worker || line.who == Who::OperatorOrWorker || line.who == Who::TokenHolder;
}

inline const google::protobuf::ServiceDescriptor& described(std::string_view service) {
  return *google::protobuf::DescriptorPool::generated_pool()->FindServiceByName(std::string(service));
}

// What both kinds of services have. `Base` is a grpc::Service with put(line, handler).
template <class Base>
class BoundTo : public Base {
 public:
  template <class... Args>
  BoundTo(const TransportPorts& transport, Callers callers, Args&&... args)
      : Base(std::forward<Args>(args)...), transport_(transport), callers_(callers) {}

  // The calls outlive the service.
  template <class Service>
  void bind(const AllCalls& calls) {
    Binder<typename Service::Ports> binder{*this, calls.of<Service>()};
    Service::lines(binder);
  }

 protected:
  CallFacts facts(const grpc::CallbackServerContext& context) const {
    return facts_of(context, callers_, transport_.clock);
  }

  const TransportPorts transport_;
  const Callers callers_;

 private:
  using Context = grpc::CallbackServerContext;

  template <class Ports>
  struct Binder {
    BoundTo& service;
    const Ports& ports;

    template <class Request, class Response>
    void unary(const CallLine& line, void (*function)(const Ports&, const Call&, const Request&, Answer<Response>)) {
      if (!is_for(line, service.callers_)) return;
      const bool hears = hears_cancel(line);
      service.put(line, new grpc::internal::CallbackUnaryHandler<Request, Response>(
                            [&bound = service, &p = ports, function, hears](Context* context, const Request* in,
                                                                            Response* out) {
                              Call call = make_call(bound.facts(*context), *in);
                              return start(p, function, hears, std::move(call), context, *in, out);
                            }));
    }

    template <class Request, class Response>
    void source(const CallLine& line, SourceOr<Response> (*function)(const Ports&, const Call&, const Request&)) {
      if (!is_for(line, service.callers_)) return;
      service.put(line, new grpc::internal::CallbackServerStreamingHandler<Request, Response>(
                            [&bound = service, &p = ports, function](Context* context, const Request* in) {
                              auto* stream = new SourceStream<Response>(bound.transport_);
                              stream->start(function(p, make_call(bound.facts(*context), *in), *in));
                              return stream;
                            }));
    }

    void by_hand(const CallLine& line) { service.keep(line); }

   private:
    template <class Request, class Response>
    static grpc::ServerUnaryReactor* start(const Ports& p,
                                           void (*function)(const Ports&, const Call&, const Request&,
                                                            Answer<Response>),
                                           bool hears, Call call, Context* context, const Request& in, Response* out) {
      grpc::ServerUnaryReactor* reactor = nullptr;
      if (hears) {
        auto* cancellable = new CancellableCall;  // its own owner
        call.cancellation = cancellable->cancellation();
        reactor = cancellable;
      } else {
        reactor = context->DefaultReactor();
      }
      function(p, call, in, {out, [reactor](const absl::Status& status) { reactor->Finish(to_grpc(status)); }});
      return reactor;
    }
  };
};

// `Generated` is the generated class of a service, such as v1::JobExecutionService.
template <class Generated>
class GeneratedMethods : public Generated::CallbackService {
 protected:
  // The generated services number their methods as the proto file does.
  void put(const CallLine& line, grpc::internal::MethodHandler* handler) {
    const auto* method = described(Generated::service_full_name()).FindMethodByName(std::string(line.name));
    this->MarkMethodCallback(method->index(), handler);
  }
  void keep(const CallLine&) {}
};

template <class Generated>
using Bound = BoundTo<GeneratedMethods<Generated>>;

// The methods that the table has, and no others.
class TableMethods : public grpc::Service {
 public:
  explicit TableMethods(std::string_view service) : service_(service) {}

 protected:
  void put(const CallLine& line, grpc::internal::MethodHandler* handler) {
    using Method = grpc::internal::RpcMethod;
    const auto* method = described(service_).FindMethodByName(std::string(line.name));
    const std::string& name = names_.emplace_back(cat("/", service_, "/", line.name));
    AddMethod(new grpc::internal::RpcServiceMethod(
        name.c_str(), method->server_streaming() ? Method::SERVER_STREAMING : Method::NORMAL_RPC, nullptr));
    MarkMethodCallback(static_cast<int>(names_.size()) - 1, handler);
  }
  // Nobody would answer it.
  void keep(const CallLine& line) {
    abort_loudly(cat(service_, ".", line.name, " is bound by hand: its service needs a class in services.h"), __FILE__,
                 __LINE__);
  }

 private:
  const std::string_view service_;
  std::deque<std::string> names_;  // gRPC keeps pointers to them
};

using TableService = BoundTo<TableMethods>;

}  // namespace hodei::api
