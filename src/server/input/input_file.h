// The file of one job's standard input.
//
// Its name says how the input stands, so that a restarted server knows: <job>.open or <job>.whole (its end is there),
// with .cut behind it once the beginning is gone. One thread at a time may open, write, rename or cut it; an open file
// may be read meanwhile.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "src/base/ids.h"
#include "src/base/time.h"

namespace hodei::server {

struct InputLimits {
  int64_t per_job = int64_t{64} << 20;           // bytes of one job's input that are kept
  int64_t total = int64_t{1} << 30;              // bytes of all jobs together
  Duration patience = std::chrono::minutes(10);  // how long the client of an unfinished input may be away
  uint64_t disk_reserve = 0;                     // bytes of the disk that are left free
};

// What all inputs of a server share.
struct InputStoreFacts {
  std::string folder;
  InputLimits limits;
  std::atomic<int64_t> used{0};  // bytes of all inputs
};

// What the name of a file says.
struct InputName {
  bool whole = false;
  bool cut = false;
};
InputName input_name_from(std::string_view file);

class InputFile {
 public:
  static constexpr int64_t kPage = 4096;  // only whole pages are cut off

  InputFile(std::shared_ptr<InputStoreFacts> store, JobId job) : store_(std::move(store)), job_(job) {}
  ~InputFile() { close(); }
  InputFile(const InputFile&) = delete;
  InputFile& operator=(const InputFile&) = delete;

  struct Extent {
    int64_t size = 0;
    int64_t base = 0;  // what lies before it was cut off
  };
  absl::StatusOr<Extent> measure(InputName name) const;

  // `is_new`: its name is made durable too. Does nothing when it is open.
  absl::Status open(InputName name, bool is_new);
  void close();
  absl::Status rename(InputName from, InputName to);
  void remove(InputName name);

  // It must be open. What was written is durable when this returns.
  absl::Status write(std::string_view data, int64_t offset);
  absl::StatusOr<std::string> read(int64_t offset, size_t bytes) const;
  absl::Status cut(int64_t from, int64_t to);

  // What runs must still be recorded when the disk is full, so input waits before that.
  bool is_disk_full(uint64_t more) const;

 private:
  std::string path(InputName name) const;
  absl::Status sync_folder() const;

  const std::shared_ptr<InputStoreFacts> store_;
  const JobId job_;
  int fd_ = -1;
};

}  // namespace hodei::server
