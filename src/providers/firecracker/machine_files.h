// The files of the machines: one folder for each, named after its worker. The folder is created first and removed last,
// so that everything of a machine can be found through it, whenever the server ended.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "src/providers/provider.h"

namespace hodei::providers::firecracker {

class MachineFiles {
 public:
  explicit MachineFiles(std::string folder) : folder_(std::move(folder)) {}

  const std::string& folder() const { return folder_; }
  std::string folder_of(const std::string& worker) const { return folder_ + "/" + worker; }
  bool has(const std::string& worker) const;
  std::vector<std::string> workers() const;
  absl::Status make(const std::string& worker) const;
  absl::Status remove(const std::string& worker) const;

  // Ended, Starting or Running, by its process and by what is on its console.
  WorkerStatus status(const std::string& worker) const;
  std::string log(const std::string& worker, size_t tail) const;

 private:
  std::string folder_;
};

// What the guest said last on its console, and what Firecracker said besides, apart: "its console ends with: …;
// firecracker says: …". Empty: neither said anything. `folder` is the machine's.
std::string last_output(const std::string& folder);

// Only one call at a time works on one worker.
bool is_worker_id(const std::string& worker);

}  // namespace hodei::providers::firecracker
