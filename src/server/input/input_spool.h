// The standard input of one job, on its way from a client to the worker: a file that grows as the client sends.
//
// All of it is kept as long as it fits into the limit, so that the job can be started again. What comes beyond that
// takes the place of what the job has been given already; from then on the beginning is gone, and the job cannot be
// started again.
//
// Used by many threads; what touches the disk says so.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "src/base/ids.h"
#include "src/base/time.h"
#include "src/server/input/input_file.h"
#include "src/server/input/input_listeners.h"
#include "src/server/input/input_state.h"

namespace hodei::server {

class InputSpool {
 public:
  enum class Put : uint8_t { Stored, Full, Replaced, Closed };  // Full: some of it may be; come again when told of news
  struct Position {
    int64_t size = 0;    // durable
    bool whole = false;  // the end is durable too
    bool broken = false;
    bool closed = false;     // nobody reads more of it
    bool abandoned = false;  // its client was away for too long, or could not read the rest
  };
  struct Piece {
    std::string data;
    bool end = false;     // of the input, behind data
    bool broken = false;  // no more comes, and it is not whole
  };

  // A new one, or what is found in the folder.
  InputSpool(std::shared_ptr<InputStoreFacts> store, JobId job, MonoTime now);
  static std::shared_ptr<InputSpool> found(std::shared_ptr<InputStoreFacts> store, JobId job, std::string_view name,
                                           MonoTime now);
  InputSpool(const InputSpool&) = delete;
  InputSpool& operator=(const InputSpool&) = delete;

  // `news` is called when something has changed, from any thread, with no lock held.
  uint64_t listen(std::function<void()> news);
  void unlisten(uint64_t listener);  // with nobody left, the file is closed
  void tell_news() { listeners_.tell(); }
  Position position() const;

  // The client's side. A new call of the same client takes the place of the one before; while a client is connected,
  // another one gets 0.
  uint64_t attach_sender(const std::string& client = {});
  void detach_sender(uint64_t sender, MonoTime now);
  absl::StatusOr<Put> put(uint64_t sender, int64_t offset, std::string_view data, bool end);  // writes to the disk
  void break_off();  // the client cannot read the rest, or it was away for too long
  bool is_abandoned(MonoTime now) const;

  // The worker's side: an execution begins at an offset, which must still be there. What an earlier one says after that
  // counts for nothing: it must not make room of what this one has not read.
  absl::StatusOr<uint64_t> begin(int64_t offset);
  absl::StatusOr<Piece> read(int64_t offset, size_t most);  // reads from the disk
  bool has_more_at(int64_t offset) const;                   // bytes, or the end
  void taken(uint64_t taker, int64_t offset);               // the job has been given all before
  void closed_by_job(uint64_t taker);

  // Why the job cannot be started (again) with this input; empty: it can.
  std::string trouble() const;
  // The same before it is started: if it can, what an earlier execution still says makes no room of it from now on.
  std::string prepare_start();

  // The job has ended: nobody reads or sends any more, and the file goes. Removes it from the disk.
  void remove();

 private:
  absl::StatusOr<int64_t> make_room(int64_t wanted);  // with disk_mutex_ held; how much there is, up to that

  const std::shared_ptr<InputStoreFacts> store_;
  InputListeners listeners_;
  std::mutex disk_mutex_;     // one thread at a time writes; taken before mutex_
  InputFile file_;            // open while somebody listens
  mutable std::mutex mutex_;  // guards state_; the name and size in it change with disk_mutex_ held too
  InputState state_;
};

}  // namespace hodei::server
