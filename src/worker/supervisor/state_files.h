// The small files of a worker's state folder, each whole or not there at all, and readable for its owner alone.
#pragma once

#include <string>

#include "absl/status/status.h"

namespace hodei::worker {

class StateFiles {
 public:
  explicit StateFiles(std::string folder) : folder_(std::move(folder)) {}

  std::string path(const std::string& name) const { return folder_ + "/" + name; }
  std::string read(const std::string& name) const;  // a line or two, without space at its end; empty: there is none
  absl::Status write(const std::string& name, const std::string& text) const;
  std::string read_bytes(const std::string& name) const;
  absl::Status store_bytes(const std::string& name, const std::string& bytes) const;  // durable when it returns
  void drop(const std::string& name) const;

 private:
  std::string folder_;
};

}  // namespace hodei::worker
