#include "src/worker/output/ring.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "src/base/status.h"

namespace hodei::worker {
namespace {

constexpr uint64_t kMagic = 0x31676e6952646f48;  // "HodRing1"
constexpr size_t kDataAt = 4096;
constexpr uint64_t kAlign = sizeof(RecordHeader);
constexpr int64_t kMaxTime = int64_t{1} << 60;  // nobody means more; the server would refuse it
constexpr size_t kKeepResident = 64 << 10;      // more than this is given back when a ring is recycled

constexpr uint64_t padded(uint64_t length) { return (length + kAlign - 1) / kAlign * kAlign; }

}  // namespace

RingMemory::RingMemory(RingMemory&& other) noexcept
    : fd_(std::move(other.fd_)), map_(std::exchange(other.map_, nullptr)), mapped_(std::exchange(other.mapped_, 0)) {}

RingMemory& RingMemory::operator=(RingMemory&& other) noexcept {
  std::swap(fd_, other.fd_);
  std::swap(map_, other.map_);
  std::swap(mapped_, other.mapped_);
  return *this;
}

RingMemory::~RingMemory() {
  if (map_ != nullptr) munmap(map_, mapped_);
}

absl::StatusOr<RingMemory> RingMemory::create(size_t capacity) {
  RingMemory ring;
  capacity = padded(std::max<size_t>(capacity, 4096));
  ring.fd_ = Fd(memfd_create("hodei-ring", MFD_CLOEXEC));
  if (!ring.fd_.is_open()) return absl::ErrnoToStatus(errno, "memfd_create for an output ring");
  ring.mapped_ = kDataAt + capacity;
  if (ftruncate(ring.fd_.get(), static_cast<off_t>(ring.mapped_)) != 0) {
    return absl::ErrnoToStatus(errno, "sizing an output ring");
  }
  void* map = mmap(nullptr, ring.mapped_, PROT_READ | PROT_WRITE, MAP_SHARED, ring.fd_.get(), 0);
  if (map == MAP_FAILED) return absl::ErrnoToStatus(errno, "mapping an output ring");
  ring.map_ = map;
  ring.header().magic = kMagic;
  ring.header().capacity = capacity;
  return ring;
}

absl::StatusOr<RingMemory> RingMemory::open(Fd fd) {
  RingMemory ring;
  struct stat info {};
  if (fstat(fd.get(), &info) != 0) return absl::ErrnoToStatus(errno, "an output ring");
  ring.mapped_ = static_cast<size_t>(info.st_size);
  if (ring.mapped_ < kDataAt + kAlign) return absl::DataLossError("an output ring is too small");
  void* map = mmap(nullptr, ring.mapped_, PROT_READ | PROT_WRITE, MAP_SHARED, fd.get(), 0);
  if (map == MAP_FAILED) return absl::ErrnoToStatus(errno, "mapping an output ring");
  ring.map_ = map;
  ring.fd_ = std::move(fd);
  const RingHeader& header = ring.header();
  if (header.magic != kMagic || header.capacity % kAlign != 0 || header.capacity + kDataAt != ring.mapped_) {
    return absl::DataLossError("this memory is not an output ring");
  }
  return ring;
}

char* RingMemory::data() const { return static_cast<char*>(map_) + kDataAt; }

void RingMemory::recycle() {
  const uint64_t used = std::min<uint64_t>(header().head.load(), capacity());
  if (used > kKeepResident) {
    fallocate(fd_.get(), FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, kDataAt, static_cast<off_t>(capacity()));
  }
  header().head.store(0);
  header().tail.store(0);
  header().starved.store(0);
  for (MaskMark& mark : header().masked) mark.automaton = 0;
}

std::pair<char*, size_t> RingWriter::room() {
  RingHeader& ring = memory_->header();
  const uint64_t capacity = memory_->capacity();
  while (true) {
    const uint64_t head = ring.head.load(std::memory_order_relaxed);
    const uint64_t used = head - ring.tail.load();  // ordered with `starved`
    const uint64_t to_end = capacity - head % capacity;
    const uint64_t free = capacity - used;
    if (to_end == kAlign && free >= kAlign) {
      auto* skip = reinterpret_cast<RecordHeader*>(memory_->data() + head % capacity);
      *skip = {.offset = log_bytes_, .time_us = 0, .length = 0, .stream = OutputStream::Skip, .unused = 0};
      ring.head.store(head + kAlign, std::memory_order_release);
      continue;
    }
    const uint64_t contiguous = std::min(free, to_end);
    if (contiguous >= 2 * kAlign) return {memory_->data() + head % capacity + kAlign, contiguous - kAlign};
    if (ring.starved.load() == 1) return {nullptr, 0};
    // Say so first, then look again: a reader that freed something in between has not seen the flag.
    ring.starved.store(1);
  }
}

void RingWriter::publish(OutputStream stream, WallTime now, size_t length) {
  RingHeader& ring = memory_->header();
  const uint64_t head = ring.head.load(std::memory_order_relaxed);
  auto* record = reinterpret_cast<RecordHeader*>(memory_->data() + head % memory_->capacity());
  *record = {
      .offset = log_bytes_, .time_us = now.us, .length = static_cast<uint32_t>(length), .stream = stream, .unused = 0};
  log_bytes_ += length;
  ring.starved.store(0, std::memory_order_relaxed);
  ring.head.store(head + kAlign + padded(length), std::memory_order_release);
}

RingWriter::Fill RingWriter::fill_from(int pipe, OutputStream stream, WallTime now, size_t most) {
  const auto [place, size] = room();
  if (place == nullptr) return Fill::Full;
  const ssize_t got = read(pipe, place, std::min({size, most, size_t{1} << 20}));
  if (got > 0) {
    publish(stream, now, static_cast<size_t>(got));
    return Fill::More;
  }
  if (got < 0 && errno == EINTR) return Fill::More;
  return got < 0 && errno == EAGAIN ? Fill::Drained : Fill::Closed;
}

bool RingWriter::append(OutputStream stream, WallTime now, std::string_view bytes) {
  if (free() < padded(bytes.size()) + 4 * kAlign) return false;  // two records and a skip, at worst
  while (!bytes.empty()) {
    const auto [place, size] = room();
    const size_t part = std::min(size, bytes.size());
    std::memcpy(place, bytes.data(), part);
    publish(stream, now, part);
    bytes.remove_prefix(part);
  }
  return true;
}

uint64_t RingReader::size_of(const RecordHeader& record) { return kAlign + padded(record.length); }

const RecordHeader* RingReader::record_at(uint64_t position) const {
  const uint64_t head = memory_->header().head.load(std::memory_order_acquire);
  const uint64_t capacity = memory_->capacity();
  if (position >= head || head - position > capacity || position % kAlign != 0) return nullptr;
  const auto* record = reinterpret_cast<const RecordHeader*>(memory_->data() + position % capacity);
  const bool fits = record->length <= capacity && position % capacity + size_of(*record) <= capacity &&
                    position + size_of(*record) <= head;
  return fits ? record : nullptr;
}

std::optional<RingReader::Chunk> RingReader::peek() {
  const RecordHeader* record = record_at(cursor_);
  while (record != nullptr && record->stream == OutputStream::Skip) {
    cursor_ += kAlign;
    record = record_at(cursor_);
  }
  if (record == nullptr) return std::nullopt;
  return Chunk{.offset = record->offset,
               .time = {std::clamp(record->time_us, -kMaxTime, kMaxTime)},
               .stream = record->stream,
               .bytes = {reinterpret_cast<const char*>(record + 1), record->length}};
}

void RingReader::next() {
  if (const RecordHeader* record = record_at(cursor_)) cursor_ += size_of(*record);
}

bool RingReader::free_until(uint64_t offset) {
  RingHeader& ring = memory_->header();
  uint64_t tail = ring.tail.load(std::memory_order_relaxed);
  const uint64_t before = tail;
  for (const RecordHeader* record = record_at(tail); record != nullptr; record = record_at(tail)) {
    const bool skip = record->stream == OutputStream::Skip;
    if (!skip && record->offset + record->length > offset) break;
    tail += skip ? kAlign : size_of(*record);
  }
  if (tail == before) return false;
  ring.tail.store(tail);
  cursor_ = std::max(cursor_, tail);
  return ring.starved.load() == 1;
}

}  // namespace hodei::worker
