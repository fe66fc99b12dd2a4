// The private folders of executions: `<state>/work/<n>/` with the job's working folder `cwd` and files such as its
// script beside it. Pooled: a folder that the job did not touch is reused as it is, any other is removed and made anew.
//
// A job owns what is in here, and may have put a link, a mount or anything else in the place of a folder. So every step
// starts at the descriptor of `work`, which no job can exchange, and follows no link.
#pragma once

#include <sys/stat.h>

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "src/worker/system/fd.h"

namespace hodei::worker {

class WorkFolder {
 public:
  const std::string& path() const { return path_; }
  const std::string& cwd() const { return cwd_; }
  void note_files() { has_files_ = true; }
  // A tmpfs with secrets that goes when this folder is cleaned; it may lie in another one.
  void note_secrets(std::string tmpfs) { secrets_ = std::move(tmpfs); }

  // Cheap: two stats. False also when in doubt.
  bool is_untouched() const;
  // Makes it anew. Slow for a large tree: not for the loop's thread.
  absl::Status clean();

 private:
  friend class WorkFolders;
  WorkFolder(std::shared_ptr<const Fd> all, const std::string& all_path, std::string name)
      : all_(std::move(all)), name_(std::move(name)), path_(all_path + "/" + name_), cwd_(path_ + "/cwd") {}

  absl::Status make();

  std::shared_ptr<const Fd> all_;  // the folder of all of them
  std::string name_;
  std::string path_;
  std::string cwd_;
  bool has_files_ = false;
  std::string secrets_;
  struct stat path_seal_ {};  // both as they were when they were made
  struct stat cwd_seal_ {};
};

// The folder of all working folders of a worker.
class WorkFolders {
 public:
  // Removes what is there, and makes an empty one.
  static absl::StatusOr<WorkFolders> make(std::string path);
  absl::StatusOr<std::unique_ptr<WorkFolder>> next();

 private:
  WorkFolders(std::string path, Fd folder)
      : path_(std::move(path)), folder_(std::make_shared<const Fd>(std::move(folder))) {}

  std::string path_;
  std::shared_ptr<const Fd> folder_;
  uint64_t made_ = 0;
};

}  // namespace hodei::worker
