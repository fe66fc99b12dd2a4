// The private folders of executions: `<state>/work/<n>/` with the job's working folder `cwd` and files such as its
// script beside it. Pooled: a folder that the job did not touch is reused as it is, any other is emptied first.
#pragma once

#include <sys/stat.h>

#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace hodei::worker {

class WorkFolder {
 public:
  static absl::StatusOr<std::unique_ptr<WorkFolder>> make(std::string path);

  const std::string& path() const { return path_; }
  const std::string& cwd() const { return cwd_; }
  void note_files() { has_files_ = true; }
  // A tmpfs with secrets that goes when this folder is emptied; it may lie in another one.
  void note_secrets(std::string tmpfs) { secrets_ = std::move(tmpfs); }

  // Cheap: one stat. False also when in doubt.
  bool is_untouched() const;
  // Empties it. Slow for a large tree: not for the loop's thread.
  absl::Status clean();

 private:
  explicit WorkFolder(std::string path) : path_(std::move(path)), cwd_(path_ + "/cwd") {}

  std::string path_;
  std::string cwd_;
  bool has_files_ = false;
  std::string secrets_;
  timespec seal_{};     // its change time when it was last emptied
};

}  // namespace hodei::worker
