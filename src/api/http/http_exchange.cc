#include "src/api/http/http_exchange.h"

#include <exception>
#include <utility>

#include "src/base/journal.h"
#include "src/base/status.h"

namespace hodei::api {
namespace {

constexpr size_t kMostHints = 8;  // paths named in a 404

std::string joined(const std::vector<std::string>& words, size_t most = SIZE_MAX) {
  std::string out;
  for (size_t i = 0; i < std::min(most, words.size()); ++i) out += cat(i == 0 ? "" : ", ", words[i]);
  return out;
}

HttpResponse not_found(const Router& router) {
  const std::string hints = joined(router.plain_paths(), kMostHints);
  return {404, hints.empty() ? "not found\n" : cat("not found; try ", hints, "\n")};
}

HttpResponse only_allowed(bool is_question, const std::vector<std::string>& allowed) {
  HttpResponse out{is_question ? 204 : 405, is_question ? "" : "method not allowed on this path\n"};
  out.headers.add("Allow", joined(allowed));
  return out;
}

absl::Status body_failure(const Refusal& why) {
  const std::string text = cat("the body of the request: ", why.message.substr(0, why.message.size() - 1));
  if (why.status == 413) return absl::ResourceExhaustedError(text);
  if (why.status == 408) return absl::DeadlineExceededError(text);
  return absl::InvalidArgumentError(text);
}

// Someone who waits for a piece of a body. If the exchange ends before it comes, they are told so.
class Taker {
 public:
  explicit Taker(BodySource::Take take) : take_(std::move(take)) {}
  ~Taker() {
    if (take_) take_(absl::CancelledError("the request is over"));
  }
  Taker(const Taker&) = delete;
  Taker& operator=(const Taker&) = delete;
  BodySource::Take take() { return std::exchange(take_, nullptr); }

 private:
  BodySource::Take take_;
};

// The handler's end of a body that is still arriving.
class ArrivingBody final : public BodySource {
 public:
  using Enter = std::function<void(std::function<void(HttpExchange&)>)>;
  explicit ArrivingBody(Enter enter) : enter_(std::move(enter)) {}
  void read(Take take) override {
    enter_([taker = std::make_shared<Taker>(std::move(take))](HttpExchange& exchange) {
      exchange.read_body(taker->take());
    });
  }

 private:
  Enter enter_;
};

}  // namespace

HttpExchange::HttpExchange(const Wire& wire, Done done)
    : wire_(wire),
      done_(std::move(done)),
      deadline_(wire.stream.executor()),
      sender_(wire),
      body_share_(wire.service.admission.bodies) {}

// Leads other threads to this exchange, as long as it is there. It may be kept for as long as somebody likes.
HttpExchange::Enter HttpExchange::entrance() {
  return [gate = wire_.gate, owner = wire_.owner, weak = weak_from_this()](std::function<void(HttpExchange&)> work) {
    gate->post([owner, weak, work = std::move(work)] {
      const std::shared_ptr<void> alive = owner.lock();
      const std::shared_ptr<HttpExchange> self = weak.lock();
      if (alive && self) work(*self);
    });
  };
}

void HttpExchange::start(bool may_go_on) {
  const RequestHead& head = wire_.feed.reader().head();
  sender_.follow(head, may_go_on);
  expects_continue_ = head.expects_continue;
  request_.method = head.method;
  request_.headers = head.headers;
  request_.peer = wire_.peer;
  std::optional<HttpResponse> refusal = find_route(head);
  if (!refusal) refusal = admit(head);
  if (refusal) return answer(*std::move(refusal));
  if (route_->options.body == RouteOptions::Body::Whole) return collect_body();
  request_.body_source = std::make_shared<ArrivingBody>(entrance());
  call_handler();
}

std::optional<HttpResponse> HttpExchange::find_route(const RequestHead& head) {
  absl::StatusOr<Target> target = parse_target(head.target);
  if (!target.ok()) return HttpResponse{400, cat(std::string(target.status().message()), "\n")};
  const bool is_question = head.method == "OPTIONS";
  if (target->is_whole_server()) {
    if (is_question) return only_allowed(true, wire_.service.router.methods());
    return HttpResponse{400, "only OPTIONS has the target '*'\n"};
  }
  std::variant<RouteMatch, NoRoute> found = wire_.service.router.find(head.method, target->segments);
  if (const auto* none = std::get_if<NoRoute>(&found)) {
    return none->allowed.empty() ? not_found(wire_.service.router) : only_allowed(is_question, none->allowed);
  }
  auto& match = std::get<RouteMatch>(found);
  route_ = match.route;
  request_.route = route_->pattern.text;
  request_.path = std::move(target->path);
  request_.parameters = std::move(match.parameters);
  request_.query = std::move(target->query);
  return std::nullopt;
}

std::optional<HttpResponse> HttpExchange::admit(const RequestHead& head) {
  const uint64_t most = route_->options.body_bytes.value_or(wire_.service.limits.body_bytes);
  if (head.content_length.value_or(0) > most) return HttpResponse{413, "the body is too large\n"};
  wire_.feed.reader().limit_body(most);
  for (const HttpFilter& filter : wire_.service.filters) {
    if (std::optional<HttpResponse> refusal = attempt([&] { return filter(request_); })) return refusal;
  }
  return std::nullopt;
}

void HttpExchange::next_piece(RequestFeed::Then then) {
  if (!std::exchange(expects_continue_, false)) return wire_.feed.await_piece(std::move(then));
  wire_.writer.write(std::string(kContinue), {}, [self = shared_from_this(), then = std::move(then)](bool taken) {
    if (self->phase_ == Phase::Over) return;
    taken ? self->wire_.feed.await_piece(then) : self->end(Next::Cut);
  });
}

void HttpExchange::collect_body() {
  next_piece([self = shared_from_this()](Outcome outcome, std::string piece) {
    self->on_collected(outcome, std::move(piece));
  });
}

void HttpExchange::on_collected(Outcome outcome, std::string piece) {
  switch (outcome) {
    case Outcome::Ready:
      if (!body_share_.grow(piece.size())) return answer(overloaded("too many bodies are being received"));
      request_.body += piece;
      return collect_body();
    case Outcome::End: return call_handler();
    case Outcome::Refused: return answer({wire_.feed.refusal().status, wire_.feed.refusal().message});
    case Outcome::Gone:
    case Outcome::Lost: return end(Next::Cut);
  }
}

void HttpExchange::call_handler() {
  phase_ = Phase::Waiting;
  const auto slot = std::make_shared<AnswerSlot>([enter = entrance()](HttpAnswer answer) {
    enter([given = std::make_shared<GivenAnswer>(std::move(answer))](HttpExchange& exchange) {
      exchange.on_answer(given->take());
    });
  });
  slot_ = slot;
  await_answer();
  if (wire_.feed.reader().is_complete()) watch();
  if (phase_ == Phase::Over) return;
  std::optional<HttpResponse> failure = attempt([&]() -> std::optional<HttpResponse> {
    route_->handler(std::move(request_), Responder(slot));
    return std::nullopt;
  });
  if (failure) Responder(slot).send(*std::move(failure));
}

// Calls a function of a handler or filter. An exception of theirs is the end of this request, not of the server.
std::optional<HttpResponse> HttpExchange::attempt(const std::function<std::optional<HttpResponse>()>& work) const {
  try {
    return work();
  } catch (const std::exception& error) {
    journal(Level::Error, "http", route_->method, " ", route_->pattern.text, ": ", error.what());
    return HttpResponse{500, "internal error; see the server's log\n"};
  }
}

// The handler is to answer, or to ask for more of the body.
void HttpExchange::await_answer() {
  const Duration limit = route_->options.answer.value_or(wire_.service.limits.answer);
  if (limit == Duration::zero()) return;
  deadline_.set(limit, [self = shared_from_this(), alive = wire_.owner.lock()] {
    if (self->phase_ != Phase::Waiting) return;
    if (const auto slot = self->slot_.lock()) slot->cancel();
    self->answer({503, "no answer in time; try again in a moment\n"});
  });
}

void HttpExchange::watch() {
  wire_.feed.watch([self = shared_from_this()](Outcome outcome, const std::string&) {
    if (const auto slot = self->slot_.lock()) slot->cancel();
    // A client that has only closed its side may still want a whole answer; of a stream it has had enough.
    if (outcome == Outcome::Lost || self->sender_.is_streaming()) self->end(Next::Cut);
  });
}

void HttpExchange::read_body(BodySource::Take take) {
  if (phase_ != Phase::Waiting && !sender_.is_streaming())
    return take(absl::CancelledError("the request was answered"));
  if (take_) return take(absl::FailedPreconditionError("the body is already being read"));
  if (wire_.feed.reader().is_complete()) return take(std::string());
  take_ = std::move(take);
  deadline_.clear();
  next_piece(
      [self = shared_from_this()](Outcome outcome, std::string piece) { self->on_piece(outcome, std::move(piece)); });
}

void HttpExchange::on_piece(Outcome outcome, std::string piece) {
  const BodySource::Take take = std::exchange(take_, nullptr);
  if (phase_ == Phase::Waiting) await_answer();
  switch (outcome) {
    case Outcome::Ready:
      if (wire_.feed.reader().is_complete()) watch();
      return take(std::move(piece));
    case Outcome::End: watch(); return take(std::string());
    case Outcome::Refused: return take(body_failure(wire_.feed.refusal()));
    case Outcome::Gone:
    case Outcome::Lost:
      take(absl::UnavailableError("the client closed the connection before the end of the body"));
      return end(Next::Cut);
  }
}

void HttpExchange::on_answer(HttpAnswer given) {
  auto* stream = std::get_if<HttpStream>(&given);
  if (stream == nullptr) {
    if (phase_ == Phase::Waiting) answer(*attempt([&] { return std::get<MakeResponse>(given)(); }));
    return;
  }
  const bool is_allowed = stream->source && is_sound({stream->status, stream->content_type, stream->headers});
  if (phase_ != Phase::Waiting || !is_allowed) {
    if (stream->source) stream->source->cancel();
    if (phase_ == Phase::Waiting) answer(not_allowed());
    return;
  }
  phase_ = Phase::Answering;
  deadline_.clear();
  sender_.stream(std::move(*stream), [self = shared_from_this()](Next next) { self->end(next); });
  // The client may have closed its side while the handler was at work.
  if (sender_.is_streaming() && wire_.feed.has_ended()) end(Next::Cut);
}

void HttpExchange::answer(HttpResponse response) {
  phase_ = Phase::Answering;
  deadline_.clear();
  if (!is_sound({response.status, response.content_type, response.headers})) response = not_allowed();
  sender_.send(std::move(response), [self = shared_from_this()](Next next) { self->end(next); });
}

HttpResponse HttpExchange::not_allowed() const {
  journal(Level::Error, "http", route_->method, " ", route_->pattern.text,
          ": the handler answered with a status or a header that is not allowed");
  return {500, "internal error; see the server's log\n"};
}

void HttpExchange::begin_stop() {
  if (sender_.is_streaming()) end(Next::Cut);
}

void HttpExchange::cancel() {
  phase_ = Phase::Over;
  done_ = nullptr;
  deadline_.clear();
  wire_.feed.stop();
  if (const auto slot = slot_.lock()) slot->cancel();
  sender_.cancel();
  if (const BodySource::Take take = std::exchange(take_, nullptr)) take(absl::CancelledError("the request is over"));
}

void HttpExchange::end(Next next) {
  const std::shared_ptr<HttpExchange> self = shared_from_this();
  const Done done = std::exchange(done_, nullptr);
  cancel();
  if (done) done(next);
}

}  // namespace hodei::api
