// Binds the calls of a service to gRPC: reads the lines of the table and puts a handler for each in the place of the
// generated one. Calls that are bound by hand keep the generated method, which a subclass overrides.
#pragma once

#include <memory>
#include <string>
#include <utility>

#include "google/protobuf/descriptor.h"
#include "grpcpp/grpcpp.h"
#include "src/api/calls/call.h"
#include "src/api/calls/line.h"
#include "src/api/calls/pump.h"
#include "src/api/grpc/metadata.h"
#include "src/api/grpc/status.h"

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

// `Generated` is the generated class of a service, such as v1::JobExecutionService.
template <class Generated>
class Bound : public Generated::CallbackService {
 public:
  Bound(const TransportPorts& transport, Callers callers) : transport_(transport), callers_(callers) {}

  // `lines` shows them to a visitor. `ports` outlive the service.
  template <class Ports, class Lines>
  void bind(const Ports& ports, Lines lines) {
    Binder<Ports> binder{*this, ports};
    lines(binder);
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
    Bound& service;
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

    void by_hand(const CallLine&) {}

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

  // The generated services number their methods as the proto file does.
  void put(const CallLine& line, grpc::internal::MethodHandler* handler) {
    const google::protobuf::ServiceDescriptor* service =
        google::protobuf::DescriptorPool::generated_pool()->FindServiceByName(Generated::service_full_name());
    this->MarkMethodCallback(service->FindMethodByName(std::string(line.name))->index(), handler);
  }
};

}  // namespace hodei::api
