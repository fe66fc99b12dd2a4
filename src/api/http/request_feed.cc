#include "src/api/http/request_feed.h"

#include <algorithm>
#include <boost/asio/error.hpp>
#include <utility>

namespace hodei::api {
namespace {

constexpr size_t kReadBytes = 8 << 10;
constexpr size_t kMostLingered = 1 << 20;  // of what a client sends after its last answer

}  // namespace

bool BlockPatience::arrived(size_t bytes, MonoTime now) {
  left_ -= now - waiting_since_;
  waiting_since_ = now;
  bytes_ += bytes;
  if (bytes_ < kBlockBytes) return false;
  bytes_ = 0;
  left_ = whole_;
  return true;
}

RequestFeed::RequestFeed(ByteStream& stream, const HttpLimits& limits)
    : stream_(stream), limits_(limits), deadline_(stream.executor()), reader_(limits), arriving_(kReadBytes) {}

void RequestFeed::want(Want what, Then then) {
  want_ = what;
  then_ = std::move(then);
  deadline_.clear();
}

void RequestFeed::await_head(Then then) {
  want(Want::Head, std::move(then));
  reader_.start_next();
  has_begun_ = reader_.has_bytes();
  patience_.emplace(limits_.body);
  set_deadline(has_begun_ ? limits_.header : limits_.idle);
  step();
}

void RequestFeed::await_piece(Then then) {
  want(Want::Body, std::move(then));
  patience_->begin(clock_.now().mono);
  set_deadline(patience_->left());
  step();
}

void RequestFeed::watch(Then then) {
  want(Want::Watch, std::move(then));
  step();
}

void RequestFeed::linger(Then then) {
  want(Want::Linger, std::move(then));
  set_deadline(limits_.linger);
  step();
}

void RequestFeed::stop() { want(Want::Nothing, nullptr); }

void RequestFeed::step() {
  switch (want_) {
    case Want::Nothing: return;
    case Want::Head: return step_head();
    case Want::Body: return step_body();
    case Want::Watch: return has_ended() ? finish(ended_) : read_on();
    case Want::Linger: return step_linger();
  }
}

void RequestFeed::step_head() {
  const RequestReader::Step step = reader_.read_head();
  if (step == RequestReader::Step::Ready) return finish(Outcome::Ready);
  if (step == RequestReader::Step::Refused) return finish(Outcome::Refused);
  if (has_ended()) return finish(ended_);
  read_on();
}

void RequestFeed::step_body() {
  std::string piece;
  switch (reader_.read_body(piece)) {
    case RequestReader::Step::Ready: return finish(Outcome::Ready, std::move(piece));
    case RequestReader::Step::End: return finish(Outcome::End);
    case RequestReader::Step::Refused: return finish(Outcome::Refused);
    case RequestReader::Step::NeedMore: break;
  }
  // A body that breaks off will never be whole, even if the client still listens.
  if (has_ended()) return finish(Outcome::Lost);
  read_on();
}

void RequestFeed::step_linger() {
  reader_.discard();
  if (has_ended() || lingered_ > kMostLingered) return finish(Outcome::Gone);
  read_on();
}

void RequestFeed::read_on() {
  const size_t most = std::min(arriving_.size(), reader_.room());
  if (is_reading_ || most == 0) return;
  is_reading_ = true;
  stream_.read_some({arriving_.data(), most}, [this, alive = owner_.lock()](boost::system::error_code error,
                                                                            size_t size) { on_read(error, size); });
}

void RequestFeed::on_read(boost::system::error_code error, size_t size) {
  is_reading_ = false;
  if (error) ended_ = error == boost::asio::error::eof ? Outcome::Gone : Outcome::Lost;
  reader_.append({arriving_.data(), size});
  if (want_ == Want::Linger) lingered_ += size;
  if (want_ == Want::Head && !has_begun_ && size > 0) {
    has_begun_ = true;
    set_deadline(limits_.header);
  }
  if (want_ == Want::Body && patience_->arrived(size, clock_.now().mono)) set_deadline(patience_->left());
  step();
}

void RequestFeed::set_deadline(Duration limit) {
  deadline_.set(std::max(limit, Duration::zero()), [this, alive = owner_.lock()] { on_late(); });
}

void RequestFeed::on_late() {
  if (want_ == Want::Linger || (want_ == Want::Head && !has_begun_)) return finish(Outcome::Gone);
  is_late_ = true;
  late_ = {408, want_ == Want::Head ? "the header did not arrive in time\n" : "the body did not arrive in time\n"};
  finish(Outcome::Refused);
}

void RequestFeed::finish(Outcome outcome, std::string piece) {
  want_ = Want::Nothing;
  deadline_.clear();
  const Then then = std::exchange(then_, nullptr);
  then(outcome, std::move(piece));
}

}  // namespace hodei::api
