#include "src/worker/output/output_reader.h"

#include <fcntl.h>
#include <sys/epoll.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

namespace hodei::worker {
namespace {

constexpr int kReadsPerTurn = 8;  // of one pipe, so that a flood does not starve the others
constexpr int kAllReads = 1 << 30;
constexpr size_t kUsualPipe = 64 << 10;  // what a pipe holds unless told otherwise
constexpr int kLargePipe = 1 << 20;
constexpr size_t kDiscardAtOnce = 64 << 10;
constexpr uint64_t kLeastRoom = 256;  // in the ring, for a record worth its header

}  // namespace

void OutputPipe::watch(int epoll, uint64_t key) {
  epoll_ = epoll;
  key_ = key;
  arm();
}

void OutputPipe::arm() {
  if (epoll_ < 0 || !fd.is_open() || watched_ || blocked || waits_until != kNever) return;
  epoll_event event{};
  event.events = EPOLLIN;
  event.data.u64 = key_ + static_cast<uint64_t>(stream);
  watched_ = epoll_ctl(epoll_, EPOLL_CTL_ADD, fd.get(), &event) == 0;
}

void OutputPipe::disarm() {
  if (watched_) epoll_ctl(epoll_, EPOLL_CTL_DEL, fd.get(), nullptr);
  watched_ = false;
}

void OutputPipe::close() {
  disarm();
  fd.reset();
}

OutputReader::OutputReader(RingMemory* ring, const OutputRules& rules, MonoTime start)
    : writer_(ring), limit_(rules, start), drops_(rules.drop) {
  pipes_[1].stream = OutputStream::Stderr;
}

void OutputReader::open(Fd out, Fd err) {
  pipes_[0].fd = std::move(out);
  pipes_[1].fd = std::move(err);
}

void OutputReader::watch(int epoll, uint64_t key) {
  for (OutputPipe& pipe : pipes_) pipe.watch(epoll, key);
}

bool OutputReader::readable(OutputStream stream, Now now) {
  return read_some(pipes_[static_cast<size_t>(stream)], kReadsPerTurn, now);
}

bool OutputReader::room_was_made(Now now) {
  bool news = false;
  for (OutputPipe& pipe : pipes_) {
    if (!pipe.blocked) continue;
    pipe.blocked = false;
    const bool is_rest = pipe.left != UINT64_MAX;
    if (read_some(pipe, is_rest ? kAllReads : kReadsPerTurn, now)) news = true;
    if (!is_rest) pipe.arm();
  }
  return news;
}

bool OutputReader::go_on(Now now) {
  bool news = false;
  for (OutputPipe& pipe : pipes_) {
    if (now.mono < pipe.waits_until) continue;
    pipe.waits_until = kNever;
    if (read_some(pipe, kReadsPerTurn, now)) news = true;
    pipe.arm();
  }
  return news;
}

bool OutputReader::drain_rest(Now now) {
  limit_.ignore_rate();
  bool news = false;
  for (OutputPipe& pipe : pipes_) {
    if (!pipe.fd.is_open()) continue;
    pipe.disarm();
    pipe.waits_until = kNever;
    pipe.blocked = false;
    const int size = fcntl(pipe.fd.get(), F_GETPIPE_SZ);
    pipe.left = size > 0 ? static_cast<uint64_t>(size) : kUsualPipe;
    if (read_some(pipe, kAllReads, now)) news = true;
  }
  return news;
}

void OutputReader::give_up(Now now) {
  gave_up_ = true;
  room_was_made(now);
}

MonoTime OutputReader::waits_until() const { return std::min(pipes_[0].waits_until, pipes_[1].waits_until); }

bool OutputReader::read_some(OutputPipe& pipe, int most_reads, Now now) {
  bool news = false;
  for (int i = 0; i < most_reads && pipe.fd.is_open(); ++i) {
    if (pipe.left == 0) {
      pipe.close();
      break;
    }
    const OutputLimit::Step step = next_step(now.mono);
    if (step.what == OutputLimit::Do::Wait) {
      pipe.waits_until = step.until;
      pipe.disarm();
      break;
    }
    const bool keeps = step.what == OutputLimit::Do::Keep;
    const RingWriter::Fill done = keeps ? keep(pipe, step.most, now.wall) : discard(pipe);
    if (done == RingWriter::Fill::Drained) break;
    if (done == RingWriter::Fill::Closed) {
      pipe.close();
    } else if (done == RingWriter::Fill::Full) {
      pipe.blocked = true;
      pipe.disarm();
      break;
    } else if (keeps) {
      news = true;
    }
  }
  return news;
}

OutputLimit::Step OutputReader::next_step(MonoTime now) {
  if (gave_up_) return {.what = OutputLimit::Do::Discard};
  const OutputLimit::Step step = limit_.next(now);
  const bool gives_way = drops_ && step.what == OutputLimit::Do::Keep && overflows();
  return gives_way ? OutputLimit::Step{.what = OutputLimit::Do::Discard} : step;
}

// Once it is full, a quarter of the ring must be free before anything is kept again: few large gaps, not many small
// ones.
bool OutputReader::overflows() {
  overflowing_ = writer_.free() < (overflowing_ ? writer_.capacity() / 4 : kLeastRoom);
  return overflowing_;
}

RingWriter::Fill OutputReader::keep(OutputPipe& pipe, size_t most, WallTime now) {
  const uint64_t before = writer_.log_bytes();
  const auto limit = static_cast<size_t>(std::min<uint64_t>(most, pipe.left));
  const RingWriter::Fill done = writer_.fill_from(pipe.fd.get(), pipe.stream, now, limit);
  const uint64_t got = writer_.log_bytes() - before;
  limit_.kept(static_cast<size_t>(got));
  if (pipe.left != UINT64_MAX) pipe.left -= got;
  // It was full: the job writes faster than the loop turns. Where this is not allowed, it stays as it is.
  if (got >= kUsualPipe && !std::exchange(pipe.grown, true)) fcntl(pipe.fd.get(), F_SETPIPE_SZ, kLargePipe);
  return done;
}

RingWriter::Fill OutputReader::discard(OutputPipe& pipe) {
  char bytes[kDiscardAtOnce];
  const ssize_t got = read(pipe.fd.get(), bytes, static_cast<size_t>(std::min<uint64_t>(sizeof(bytes), pipe.left)));
  if (got < 0 && errno == EINTR) return RingWriter::Fill::More;
  if (got < 0 && errno == EAGAIN) return RingWriter::Fill::Drained;
  if (got <= 0) return RingWriter::Fill::Closed;
  const auto count = static_cast<uint64_t>(got);
  writer_.skip(count);
  dropped_bytes_ += count;
  dropped_lines_ += static_cast<uint64_t>(std::count(bytes, bytes + got, '\n'));
  if (pipe.left != UINT64_MAX) pipe.left -= count;
  return RingWriter::Fill::More;
}

}  // namespace hodei::worker
