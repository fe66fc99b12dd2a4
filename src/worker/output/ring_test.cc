#include "src/worker/output/ring.h"

#include <fcntl.h>
#include <sys/wait.h>

#include "gtest/gtest.h"

namespace hodei::worker::ring_test {
namespace {

std::string read_everything(RingReader& reader) {
  std::string all;
  while (const auto chunk = reader.peek()) {
    all += chunk->bytes;
    reader.next();
  }
  return all;
}

TEST(Ring, GivesBackWhatWasWrittenWithStreamTimeAndOffset) {
  RingMemory memory = RingMemory::create(4096).value();
  RingWriter writer(&memory);
  ASSERT_TRUE(writer.append(OutputStream::Stdout, WallTime{10}, "hello\n"));
  ASSERT_TRUE(writer.append(OutputStream::Stderr, WallTime{11}, "oh\n"));
  RingReader reader(&memory);
  auto first = reader.peek();
  ASSERT_TRUE(first);
  EXPECT_EQ(first->bytes, "hello\n");
  EXPECT_EQ(first->offset, 0u);
  EXPECT_EQ(first->time, WallTime{10});
  reader.next();
  auto second = reader.peek();
  ASSERT_TRUE(second);
  EXPECT_EQ(second->stream, OutputStream::Stderr);
  EXPECT_EQ(second->offset, 6u);
  reader.next();
  EXPECT_FALSE(reader.peek());
}

TEST(Ring, WrapsAroundManyTimesWithoutLosingAByte) {
  RingMemory memory = RingMemory::create(4096).value();
  RingWriter writer(&memory);
  RingReader reader(&memory);
  std::string written, got;
  for (int i = 0; i < 5000; ++i) {
    const std::string line(static_cast<size_t>(1 + i * 7 % 300), static_cast<char>('a' + i % 26));
    while (!writer.append(OutputStream::Stdout, WallTime{i}, line)) {
      got += read_everything(reader);
      reader.free_until(got.size());
    }
    written += line;
  }
  got += read_everything(reader);
  EXPECT_EQ(got, written);
}

TEST(Ring, AFullRingSaysSoAndTheReaderLearnsThatTheWriterWaits) {
  RingMemory memory = RingMemory::create(4096).value();
  RingWriter writer(&memory);
  RingReader reader(&memory);
  ASSERT_TRUE(writer.append(OutputStream::Stdout, {}, std::string(2000, 'a')));
  ASSERT_TRUE(writer.append(OutputStream::Stdout, {}, std::string(1000, 'b')));
  int pipe_ends[2];
  ASSERT_EQ(pipe2(pipe_ends, O_NONBLOCK | O_CLOEXEC), 0);
  const Fd in(pipe_ends[0]), out(pipe_ends[1]);
  ASSERT_EQ(write(out.get(), std::string(3000, 'c').data(), 3000), 3000);
  EXPECT_EQ(writer.fill_from(in.get(), OutputStream::Stdout, {}), RingWriter::Fill::More);
  EXPECT_EQ(writer.fill_from(in.get(), OutputStream::Stdout, {}), RingWriter::Fill::Full);
  EXPECT_FALSE(reader.free_until(1999)) << "a record is freed as a whole";
  EXPECT_TRUE(reader.free_until(2000));
  EXPECT_EQ(writer.fill_from(in.get(), OutputStream::Stdout, {}), RingWriter::Fill::More);
}

TEST(Ring, ANewReaderGoesOnAtTheFirstByteThatWasNotFreed) {
  RingMemory memory = RingMemory::create(4096).value();
  RingWriter writer(&memory);
  for (const char* text : {"one\n", "two\n", "three\n"}) ASSERT_TRUE(writer.append(OutputStream::Stdout, {}, text));
  {
    RingReader first(&memory);
    EXPECT_EQ(read_everything(first), "one\ntwo\nthree\n");
    first.free_until(4);
  }
  RingMemory mapped_again = RingMemory::open(Fd(dup(memory.fd()))).value();
  RingReader second(&mapped_again);
  EXPECT_EQ(second.peek()->offset, 4u);
  EXPECT_EQ(read_everything(second), "two\nthree\n");
}

TEST(Ring, CarriesBytesBetweenTwoProcesses) {
  RingMemory memory = RingMemory::create(8192).value();
  constexpr int kLines = 20'000;
  const pid_t child = fork();
  if (child == 0) {
    RingWriter writer(&memory);
    for (int i = 0; i < kLines;) {
      if (writer.append(OutputStream::Stdout, {}, std::to_string(i) + "\n")) ++i;
    }
    _exit(0);
  }
  std::string got, expected;
  for (int i = 0; i < kLines; ++i) expected += std::to_string(i) + "\n";
  RingReader reader(&memory);
  const auto deadline = std::chrono::steady_clock::now() + 20s;
  while (got.size() < expected.size() && std::chrono::steady_clock::now() < deadline) {
    got += read_everything(reader);
    reader.free_until(got.size());
  }
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_EQ(got, expected);
}

TEST(Ring, MemoryThatIsNoRingIsRefused) {
  char name[] = "/tmp/hodei-ring-XXXXXX";
  Fd file(mkstemp(name));
  unlink(name);
  ASSERT_EQ(ftruncate(file.get(), 8192), 0);
  EXPECT_FALSE(RingMemory::open(std::move(file)).ok());
}

TEST(Ring, ARecordWithAnImpossibleTimeKeepsItsBytes) {
  RingMemory memory = RingMemory::create(4096).value();
  RingWriter(&memory).append(OutputStream::Stdout, {INT64_MIN}, "text");
  RingReader reader(&memory);
  EXPECT_EQ(reader.peek()->bytes, "text");
  EXPECT_GT(reader.peek()->time.us, INT64_MIN / 2);
}

TEST(Ring, ARecycledRingStartsAtZero) {
  RingMemory memory = RingMemory::create(1 << 20).value();
  {
    RingWriter writer(&memory);
    ASSERT_TRUE(writer.append(OutputStream::Stdout, {}, std::string(500'000, 'x')));
  }
  memory.recycle();
  RingWriter writer(&memory);
  ASSERT_TRUE(writer.append(OutputStream::Stdout, {}, "fresh"));
  RingReader reader(&memory);
  EXPECT_EQ(reader.peek()->offset, 0u);
  EXPECT_EQ(reader.peek()->bytes, "fresh");
}

}  // namespace
}  // namespace hodei::worker::ring_test
