#include "src/worker/supervisor/execution_ledger.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <new>
#include <utility>

#include "src/base/status.h"
#include "src/worker/system/fd.h"

namespace hodei::worker {
namespace {

constexpr char kLedgerKind[8] = {'h', 'o', 'd', 'e', 'i', 'x', '0', '1'};
constexpr size_t kLedgerMarkBytes = 64;

struct LedgerHeader {
  char kind[8] = {};
  char mark[kLedgerMarkBytes] = {};
  std::atomic<int64_t> last_sign = 0;
  uint32_t room = 0;
  std::atomic<uint32_t> had_no_room = 0;
};

size_t bytes_for(size_t room) { return sizeof(LedgerHeader) + room * sizeof(LedgerRecord); }

LedgerRecord* first_record(void* memory) {
  return reinterpret_cast<LedgerRecord*>(static_cast<char*>(memory) + sizeof(LedgerHeader));
}

int64_t in_ticks(int64_t us) {
  static const int64_t per_second = std::max<int64_t>(sysconf(_SC_CLK_TCK), 1);
  return us / 1000 * per_second / 1000;
}

int64_t ticks_now() { return in_ticks(SystemClock().now().mono.us); }

uint64_t inode_of(int fd) {
  struct stat info {};
  return fstat(fd, &info) == 0 ? info.st_ino : 0;
}

std::string all_bytes_of(const std::string& path) {
  const Fd fd(open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_CLOEXEC));
  struct stat info {};
  if (!fd.is_open() || fstat(fd.get(), &info) != 0 || !S_ISREG(info.st_mode)) return {};
  std::string bytes(static_cast<size_t>(info.st_size), 0);
  const ssize_t got = ::read(fd.get(), bytes.data(), bytes.size());
  bytes.resize(static_cast<size_t>(std::max<ssize_t>(got, 0)));
  return bytes;
}

}  // namespace

absl::StatusOr<ExecutionLedger> ExecutionLedger::make(const std::string& path, const std::string& mark, size_t room) {
  const std::string fresh = path + ".new";
  const size_t bytes = bytes_for(room);
  const Fd fd(open(fresh.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0600));
  if (!fd.is_open()) return absl::ErrnoToStatus(errno, "opening " + fresh);
  // All of it now: a page that the disk has no room for would end us when we write to it.
  if (const int failed = posix_fallocate(fd.get(), 0, static_cast<off_t>(bytes)); failed != 0) {
    return absl::ErrnoToStatus(failed, "making room for " + fresh);
  }
  void* const memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd.get(), 0);
  if (memory == MAP_FAILED) return absl::ErrnoToStatus(errno, "mapping " + fresh);
  ExecutionLedger ledger(memory, bytes, room);
  auto* header = new (memory) LedgerHeader;
  std::copy(std::begin(kLedgerKind), std::end(kLedgerKind), header->kind);
  mark.copy(header->mark, kLedgerMarkBytes);
  header->room = static_cast<uint32_t>(room);
  header->last_sign = ticks_now();
  if (rename(fresh.c_str(), path.c_str()) != 0) return absl::ErrnoToStatus(errno, "renaming " + fresh);
  return ledger;
}

Leftovers ExecutionLedger::read(const std::string& path, const std::string& mark) {
  const std::string bytes = all_bytes_of(path);
  Leftovers out;
  // Copied into place, not read in place: the text need not lie where the numbers may.
  alignas(LedgerHeader) char header_bytes[sizeof(LedgerHeader)];
  if (bytes.size() < sizeof(LedgerHeader)) return out;
  std::memcpy(header_bytes, bytes.data(), sizeof(LedgerHeader));
  const auto& header = *reinterpret_cast<const LedgerHeader*>(header_bytes);
  if (!std::equal(std::begin(kLedgerKind), std::end(kLedgerKind), header.kind)) return out;
  const std::string_view whose(header.mark, strnlen(header.mark, kLedgerMarkBytes));
  if (whose != std::string_view(mark).substr(0, kLedgerMarkBytes) || bytes.size() < bytes_for(header.room)) return out;
  out.last_sign = header.last_sign;
  out.is_complete = header.had_no_room == 0;
  for (size_t i = 0; i < header.room; ++i) {
    alignas(LedgerRecord) char record_bytes[sizeof(LedgerRecord)];
    std::memcpy(record_bytes, bytes.data() + bytes_for(i), sizeof(LedgerRecord));
    const auto& record = *reinterpret_cast<const LedgerRecord*>(record_bytes);
    if (record.main > 1) {
      out.executions.push_back({record.main, record.not_before, record.not_after, record.out, record.err});
    }
  }
  return out;
}

ExecutionLedger::ExecutionLedger(void* memory, size_t bytes, size_t room) : memory_(memory), bytes_(bytes) {
  for (size_t i = room; i-- > 0;) free_.push_back(new (first_record(memory) + i) LedgerRecord);
}

ExecutionLedger::ExecutionLedger(ExecutionLedger&& other) noexcept
    : memory_(std::exchange(other.memory_, nullptr)), bytes_(other.bytes_), free_(std::move(other.free_)) {}

ExecutionLedger::~ExecutionLedger() {
  if (memory_ != nullptr) munmap(memory_, bytes_);
}

LedgerRecord* ExecutionLedger::take() {
  if (free_.empty()) {
    static_cast<LedgerHeader*>(memory_)->had_no_room = 1;
    return nullptr;
  }
  LedgerRecord* record = free_.back();
  free_.pop_back();
  return record;
}

void ExecutionLedger::give_back(LedgerRecord* record) {
  if (record == nullptr) return;
  record->main = 0;
  free_.push_back(record);
}

void ExecutionLedger::alive(MonoTime now) { static_cast<LedgerHeader*>(memory_)->last_sign = in_ticks(now.us); }

void begin_record(LedgerRecord& record, int out, int err) {
  record.out = inode_of(out);
  record.err = inode_of(err);
  record.not_after = 0;
  record.not_before = ticks_now();
}

void end_record(LedgerRecord& record) { record.not_after = ticks_now(); }

}  // namespace hodei::worker
