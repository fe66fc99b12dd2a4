// Pipes into a ring, by the rules of a job: what is kept and what is dropped add up to what was written, byte for byte.
#include "src/worker/output/output_reader.h"

#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <memory>
#include <random>

#include "gtest/gtest.h"

namespace hodei::worker::output_reader_test {
namespace {

constexpr Now kStart{.wall = {1'700'000'000'000'000}, .mono = {5'000'000}};

class OutputOfAJob : public testing::Test {
 protected:
  void open(OutputRules rules, size_t ring = 16 << 10) {
    memory_ = RingMemory::create(ring).value();
    ring_.emplace(&memory_);
    output_ = std::make_unique<OutputReader>(&memory_, rules, kStart.mono);
    Fd ends[2];
    for (int i = 0; i < 2; ++i) {
      int pair[2];
      ASSERT_EQ(pipe2(pair, O_NONBLOCK | O_CLOEXEC), 0);
      ends[i] = Fd(pair[0]);
      job_[i] = Fd(pair[1]);
    }
    output_->open(std::move(ends[0]), std::move(ends[1]));
  }

  // As much as the pipe takes.
  size_t print(std::string_view text, OutputStream stream = OutputStream::Stdout) {
    const ssize_t wrote = write(job_[static_cast<size_t>(stream)].get(), text.data(), text.size());
    const size_t count = wrote > 0 ? static_cast<size_t>(wrote) : 0;
    written_ += text.substr(0, count);
    return count;
  }
  void read(OutputStream stream = OutputStream::Stdout) { output_->readable(stream, now_); }
  // The agent takes everything out of the ring and compares it with what was printed at that place.
  void take_all() {
    while (const auto chunk = ring_->peek()) {
      ASSERT_LE(chunk->offset + chunk->bytes.size(), written_.size());
      ASSERT_EQ(written_.compare(chunk->offset, chunk->bytes.size(), chunk->bytes), 0) << "at " << chunk->offset;
      received_ += chunk->bytes.size();
      received_lines_ += static_cast<uint64_t>(std::count(chunk->bytes.begin(), chunk->bytes.end(), '\n'));
      ring_->next();
    }
    ring_->free_until(UINT64_MAX);
  }
  void expect_all_accounted_for() {
    EXPECT_EQ(output_->written(), written_.size());
    EXPECT_EQ(received_ + output_->dropped_bytes(), written_.size());
    EXPECT_EQ(received_lines_ + output_->dropped_lines(),
              static_cast<uint64_t>(std::count(written_.begin(), written_.end(), '\n')));
  }

  RingMemory memory_;
  std::optional<RingReader> ring_;
  std::unique_ptr<OutputReader> output_;
  Fd job_[2];
  Now now_ = kStart;
  std::string written_;  // to stdout only, where a test compares
  uint64_t received_ = 0, received_lines_ = 0;
};

TEST_F(OutputOfAJob, IsCountedExactlyWhenItIsDroppedAtRandomPlaces) {
  const auto seed = std::random_device()();
  SCOPED_TRACE(testing::Message() << "seed " << seed);
  std::mt19937 random(seed);
  open({.drop = true});
  for (int i = 0; i < 3000; ++i) {
    std::string text(random() % 9000, 'x');
    for (char& c : text) c = random() % 30 == 0 ? '\n' : static_cast<char>(random());
    print(text);
    if (random() % 2 == 0) read();
    if (random() % 7 == 0) take_all();
    ASSERT_FALSE(output_->is_blocked()) << "under drop a job never waits";
  }
  output_->drain_rest(now_);
  take_all();
  EXPECT_GT(output_->dropped_bytes(), 0u);
  EXPECT_GT(received_, 0u);
  expect_all_accounted_for();
}

TEST_F(OutputOfAJob, WaitsUnderBlockAndLosesNothing) {
  open({});
  const std::string line(999, 'l');
  for (int i = 0; i < 1000; ++i) {
    print(line);
    read();
    if (output_->is_blocked()) {
      take_all();
      output_->room_was_made(now_);
    }
  }
  while (output_->drain_rest(now_) || output_->is_blocked()) take_all();
  take_all();
  EXPECT_EQ(output_->dropped_bytes(), 0u);
  EXPECT_EQ(received_, written_.size());
}

TEST_F(OutputOfAJob, MakesFewLargeGapsWhenTheRingStaysFull) {
  open({.drop = true}, 64 << 10);
  uint64_t gaps = 0, expected = 0;
  for (int i = 0; i < 2000; ++i) {
    for (int twice = 0; twice < 2; ++twice) {
      print(std::string(1000, 'g'));
      read();
    }
    // The agent frees one record at a time: less than what would make it worth keeping again.
    const auto chunk = ring_->peek();
    if (!chunk) continue;
    gaps += chunk->offset != expected;
    expected = chunk->offset + chunk->bytes.size();
    ring_->next();
    if (i % 2 == 0) ring_->free_until(expected);
  }
  EXPECT_GT(output_->dropped_bytes(), 0u);
  EXPECT_LE(gaps, 200u);
}

TEST_F(OutputOfAJob, StopsBeingKeptAtItsSizeAndIsCountedFromThere) {
  open({.max_bytes = 5000});
  for (int i = 0; i < 500; ++i) {
    print("0123456789\n0123456789\n0123456789\n");
    read();
    take_all();
  }
  EXPECT_EQ(received_, 5000u);
  EXPECT_FALSE(output_->is_blocked()) << "a size that is reached never makes the job wait";
  expect_all_accounted_for();
}

TEST_F(OutputOfAJob, CountsBothStreamsTowardsItsSize) {
  open({.max_bytes = 10});
  print("12345678");
  read();
  ASSERT_EQ(::write(job_[1].get(), "abcdefgh", 8), 8);
  read(OutputStream::Stderr);
  EXPECT_EQ(output_->written(), 16u);
  EXPECT_EQ(output_->dropped_bytes(), 6u);
}

TEST_F(OutputOfAJob, IsReadNoFasterThanItsRateWhenItMayNotBeDropped) {
  open({.max_bytes_per_second = 1000}, 64 << 10);
  print(std::string(3000, 'r'));
  read();
  take_all();
  EXPECT_EQ(received_, 1000u) << "the bucket is full at first";
  ASSERT_NE(output_->waits_until(), kNever);
  output_->go_on(now_);
  take_all();
  EXPECT_EQ(received_, 1000u) << "too early";
  now_.mono = output_->waits_until();
  EXPECT_LE(now_.mono, kStart.mono + 1s);
  output_->go_on(now_);
  take_all();
  EXPECT_EQ(received_, 2000u);
  output_->drain_rest(now_);
  take_all();
  EXPECT_EQ(received_, 3000u) << "the job has ended: nobody waits for what is left in the pipe";
  EXPECT_EQ(output_->waits_until(), kNever);
  expect_all_accounted_for();
}

TEST_F(OutputOfAJob, IsDroppedBeyondItsRateWhenItMayBe) {
  open({.drop = true, .max_bytes_per_second = 1000});
  for (int i = 0; i < 100; ++i) {
    print(std::string(999, 'd') + "\n");
    read();
    take_all();
    now_.mono = now_.mono + 100ms;
  }
  expect_all_accounted_for();
  EXPECT_LE(received_, 11'000u);
  EXPECT_GE(received_, 8'000u);
}

TEST_F(OutputOfAJob, EndsWithWhatThePipeHoldsAlsoIfAStrangerGoesOnWriting) {
  open({.drop = true, .max_bytes = 10});
  signal(SIGPIPE, SIG_IGN);
  const auto size = static_cast<size_t>(fcntl(job_[0].get(), F_GETPIPE_SZ));
  while (print(std::string(4096, 's')) > 0) {
  }
  output_->drain_rest(now_);
  EXPECT_EQ(output_->written(), size);
  EXPECT_EQ(print("more"), 0u) << "nobody reads it any more";
  output_->drain_rest(now_);
  EXPECT_EQ(output_->written(), size);
}

}  // namespace
}  // namespace hodei::worker::output_reader_test
