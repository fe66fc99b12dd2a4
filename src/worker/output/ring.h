// The output of one execution on its way from the supervisor to the agent: a ring of records in shared memory.
//
// One writer (the supervisor) moves `head`, one reader (the agent) moves `tail`. What lies between survives the death
// of the agent: the next one goes on at `tail`, which only moves when the server has the bytes. A full ring is not an
// error: the writer stops reading the job's pipes until there is room, or leaves out what does not fit and goes over
// its offsets.
//
// A record is a 32-byte header and its bytes, padded to 32. It never wraps: where only a header fits before the end of
// the memory, a skip record fills the place.
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>
#include <string_view>

#include "absl/status/statusor.h"
#include "src/base/time.h"
#include "src/worker/system/fd.h"

namespace hodei::worker {

enum class OutputStream : uint32_t { Stdout = 0, Stderr = 1, Skip = 2 };

// How far the agent has masked this output, so that its successor goes on from there. Two of them, written in turn: one
// is whole at any moment.
struct MaskMark {
  std::atomic<uint64_t> offset;  // everything before it was looked at
  uint64_t automaton;            // fingerprint of what was looked for; 0: nothing was marked
  uint32_t unused[2];
};

inline constexpr size_t kMaskStates = 3;  // of one stream

struct RingHeader {
  uint64_t magic;
  uint64_t capacity;
  alignas(64) std::atomic<uint64_t> head;     // bytes ever written, skips and headers included
  alignas(64) std::atomic<uint64_t> tail;     // bytes ever freed
  alignas(64) std::atomic<uint32_t> starved;  // the writer waits for room
  alignas(64) MaskMark masked[2];             // the agent's own
  uint32_t mask_states[2][2][kMaskStates];    // of each mark, for each stream
};

struct RecordHeader {
  uint64_t offset;  // of the first byte, in all output of the execution
  int64_t time_us;  // wall clock
  uint32_t length;
  OutputStream stream;
  uint64_t unused;
};
static_assert(sizeof(RecordHeader) == 32);

// The memory itself. The supervisor makes it and hands out the descriptor; both map it.
class RingMemory {
 public:
  RingMemory() = default;
  RingMemory(RingMemory&& other) noexcept;
  RingMemory& operator=(RingMemory&& other) noexcept;
  ~RingMemory();

  static absl::StatusOr<RingMemory> create(size_t capacity);
  static absl::StatusOr<RingMemory> open(Fd fd);  // checks that it is a ring

  int fd() const { return fd_.get(); }
  void close_fd() { fd_.reset(); }  // the mapping stays
  RingHeader& header() const { return *static_cast<RingHeader*>(map_); }
  char* data() const;
  size_t capacity() const { return header().capacity; }
  // Empties it for the next execution and gives large memory back to the system.
  void recycle();

 private:
  Fd fd_;
  void* map_ = nullptr;
  size_t mapped_ = 0;
};

class RingWriter {
 public:
  explicit RingWriter(RingMemory* memory) : memory_(memory) {}

  enum class Fill : uint8_t { More, Drained, Closed, Full };
  // Reads once from the pipe straight into the ring. More: call again; Drained: nothing there now; Closed: end of file.
  // After Full the header says `starved`, and the reader tells when it has freed something.
  Fill fill_from(int pipe, OutputStream stream, WallTime now, size_t most = SIZE_MAX);
  bool append(OutputStream stream, WallTime now, std::string_view bytes);  // false: no room; nothing was written
  void skip(uint64_t bytes) { log_bytes_ += bytes; }                       // the reader finds a hole of that size

  uint64_t log_bytes() const { return log_bytes_; }
  uint64_t capacity() const { return memory_->capacity(); }
  uint64_t free() const { return capacity() - (memory_->header().head.load() - memory_->header().tail.load()); }

 private:
  // Where the next record's bytes go; empty: full.
  std::pair<char*, size_t> room();
  void publish(OutputStream stream, WallTime now, size_t length);

  RingMemory* memory_;
  uint64_t log_bytes_ = 0;
};

class RingReader {
 public:
  explicit RingReader(RingMemory* memory) : memory_(memory) { rewind(); }

  struct Chunk {
    uint64_t offset;
    WallTime time;
    OutputStream stream;
    std::string_view bytes;
  };
  // The record at the cursor; none: everything was read (or the memory is invalid).
  std::optional<Chunk> peek();
  void next();
  void rewind() { cursor_ = memory_->header().tail.load(std::memory_order_relaxed); }
  bool has_more() const { return head() != cursor_; }
  uint64_t head() const { return memory_->header().head.load(std::memory_order_acquire); }
  uint64_t unread() const { return head() - cursor_; }
  bool all_freed() const { return head() == memory_->header().tail.load(std::memory_order_relaxed); }
  uint64_t cursor() const { return cursor_; }
  bool is_behind() const {
    return cursor_ < memory_->header().tail.load(std::memory_order_relaxed);
  }                                                 // of what was freed
  void seek(uint64_t cursor) { cursor_ = cursor; }  // to where cursor() once was

  // Frees every record that lies wholly before `offset`. True: the writer waits for room and must be woken.
  bool free_until(uint64_t offset);

 private:
  const RecordHeader* record_at(uint64_t position) const;
  static uint64_t size_of(const RecordHeader& record);

  RingMemory* memory_;
  uint64_t cursor_ = 0;
};

}  // namespace hodei::worker
