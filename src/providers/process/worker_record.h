// The record of a worker for the next server: one small file in the worker's folder.
#pragma once

#include <string>

#include "absl/status/statusor.h"
#include "src/providers/process/process_look.h"

namespace hodei::providers {

struct WorkerRecord {
  std::string boot;     // of the machine, as long as the process can be there
  ProcessName process;  // pid 0: it is about to be started
  std::string ended;    // how, once it is known
};

// The folder of one worker.
//   record           see above
//   worker.log       what the worker prints
//   state/           the worker's own
class WorkerFolder {
 public:
  explicit WorkerFolder(std::string path) : path_(std::move(path)) {}

  std::string state() const { return path_ + "/state"; }
  std::string log() const { return path_ + "/worker.log"; }
  bool exists() const;
  absl::Status make() const;
  absl::Status remove() const;

  // A file that is not there or cannot be understood is a record of nothing: the marks tell.
  WorkerRecord read() const;
  absl::Status write(const WorkerRecord& record) const;  // whole or not at all
  // The mark that the worker chose for itself and its jobs; empty: none yet.
  std::string mark() const;
  absl::StatusOr<std::string> log_tail(size_t lines) const;

 private:
  std::string path_;
};

}  // namespace hodei::providers
