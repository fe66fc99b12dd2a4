// A ring of output as the next agent finds it: any memory behind a good header is read without leaving it, comes to an
// end, and what is sent of it adds up.
#include <unistd.h>

#include <cstring>

#include "src/worker/output/log_pump.h"
#include "src/worker/output/ring.h"
#include "tests/fuzz/fuzz.h"

using namespace hodei;
using namespace hodei::worker;

static constexpr size_t kCapacity = 4096;

// Positions and records are the input's; the rest of the header only when it begins with an odd byte.
static absl::StatusOr<RingMemory> memory_of(std::string_view input) {
  absl::StatusOr<RingMemory> fresh = RingMemory::create(kCapacity);
  REQUIRE(fresh.ok(), fuzz::words(fresh.status()));
  RingHeader& header = fresh->header();
  Fd fd(dup(fresh->fd()));
  uint64_t words[3] = {};
  std::memcpy(words, input.data(), std::min(input.size(), sizeof(words)));
  input.remove_prefix(std::min(input.size(), sizeof(words)));
  std::memcpy(fresh->data(), input.data(), std::min(input.size(), kCapacity));
  header.tail.store(words[1]);
  header.head.store(words[1] + words[2] % (2 * kCapacity));
  if (words[0] % 2 == 1) header.capacity = words[0];
  return RingMemory::open(std::move(fd));
}

static void pumped(RingMemory& ring) {
  LogPump pump({}, [] {});
  const ExecutionId execution{JobId{1}, 1};
  pump.add(execution, &ring);
  pump.ended(execution, 100'000);
  Now now{{1'800'000'000'000'000}, {1'000'000'000}};
  for (int i = 0; i < 1000; ++i) {
    pump.look(now);
    const std::vector<LogPart> parts = pump.take(now);
    for (const LogPart& part : parts) {
      size_t sum = 0;
      for (const Line& line : part.lines) sum += line.length;
      REQUIRE(sum == part.data.size() && part.data.size() <= kCapacity, sum, " of ", part.data.size());
      pump.acked(execution, part.offset + part.data.size());
    }
    if (parts.empty()) break;
    now = {now.wall + 1s, now.mono + 1s};
  }
}

FUZZ_TARGET(input) {
  absl::StatusOr<RingMemory> ring = memory_of(input);
  if (!ring.ok()) return;
  RingReader reader(&*ring);
  size_t records = 0;
  while (const std::optional<RingReader::Chunk> chunk = reader.peek()) {
    REQUIRE(chunk->bytes.data() >= ring->data(), "");
    REQUIRE(chunk->bytes.data() + chunk->bytes.size() <= ring->data() + kCapacity, chunk->bytes.size());
    REQUIRE(++records <= kCapacity / sizeof(RecordHeader), "it goes round for ever");
    reader.next();
  }
  pumped(*ring);
  reader.free_until(UINT64_MAX);
}
