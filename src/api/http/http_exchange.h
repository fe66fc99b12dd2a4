// One request and its answer: finds the route, asks the filters, gets the body, calls the handler, sends what it
// answers. It lives on the strand of its connection, which has one at a time: pipelined requests are answered in order.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "src/api/http/answer_sender.h"
#include "src/api/http/deadline.h"
#include "src/api/http/wire.h"

namespace hodei::api {

class HttpExchange : public std::enable_shared_from_this<HttpExchange> {
 public:
  using Next = AnswerSender::Next;
  using Done = std::function<void(Next)>;

  HttpExchange(const Wire& wire, Done done);

  // The head of the request has been read. `may_go_on`: the connection can take another request after this one.
  void start(bool may_go_on);
  // The host stops: a stream is cut; another answer may be finished, but is the last one.
  void begin_stop();
  // Nobody will hear the answer: tells the handler. `done` is not called.
  void cancel();

  // For the body source of the handler.
  void read_body(BodySource::Take take);

 private:
  enum class Phase : uint8_t { Reading, Waiting, Answering, Over };
  using Outcome = RequestFeed::Outcome;
  using Enter = std::function<void(std::function<void(HttpExchange&)>)>;

  Enter entrance();
  std::optional<HttpResponse> find_route(const RequestHead& head);
  std::optional<HttpResponse> admit(const RequestHead& head);
  void collect_body();
  void on_collected(Outcome outcome, std::string piece);
  void next_piece(RequestFeed::Then then);
  void on_piece(Outcome outcome, std::string piece);
  void call_handler();
  std::optional<HttpResponse> attempt(const std::function<std::optional<HttpResponse>()>& work) const;
  void watch();
  void await_answer();
  void on_answer(HttpAnswer given);
  void answer(HttpResponse response);
  HttpResponse not_allowed() const;
  void end(Next next);

  const Wire& wire_;
  Done done_;  // null: over
  Deadline deadline_;
  AnswerSender sender_;
  Phase phase_ = Phase::Reading;
  const Route* route_ = nullptr;
  HttpRequest request_;
  Share body_share_;                // of what bodies may take in memory
  bool expects_continue_ = false;   // the client waits for a word before it sends the body
  std::weak_ptr<AnswerSlot> slot_;  // the responders keep it
  BodySource::Take take_;           // who waits for a piece of the body
};

}  // namespace hodei::api
