// A limit of processes for enclosures that have none of their own: a folder of the v1 hierarchy `pids` beside each.
//
// Machines that still mount the v1 controllers have `pids` there, and the trees in a hierarchy without controllers. A
// process enters by writing to `tasks`, not to `cgroup.procs`: moving a single thread takes no lock that all forks of
// the machine wait for.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>

#include "src/base/status.h"
#include "src/worker/limits/enclosure.h"
#include "src/worker/limits/process_limit.h"
#include "src/worker/system/fd.h"
#include "src/worker/system/small_files.h"

namespace hodei::worker {
namespace {

namespace fs = std::filesystem;

class LimitedEnclosure final : public Enclosure {
 public:
  LimitedEnclosure(std::unique_ptr<Enclosure> plain, std::string folder, Fd tasks, uint64_t most)
      : plain_(std::move(plain)),
        folder_(std::move(folder)),
        tasks_(std::move(tasks)),
        processes_(folder_ + "/pids.max", most) {}
  ~LimitedEnclosure() override { rmdir(folder_.c_str()); }

  int limit_file() const override { return processes_.is_limited() ? tasks_.get() : -1; }
  absl::Status limit_processes(int64_t most) override { return processes_.set(most); }
  std::string cgroup() const override { return plain_->cgroup(); }

  void assign(ExecutionId execution) override { plain_->assign(execution); }
  void entered(pid_t pid) override { plain_->entered(pid); }
  void main_ended() override { plain_->main_ended(); }
  int birth_cgroup() const override { return plain_->birth_cgroup(); }
  int join_file() const override { return plain_->join_file(); }
  void terminate() override { plain_->terminate(); }
  void kill() override { plain_->kill(); }
  bool is_empty() override { return plain_->is_empty(); }
  bool is_spent() const override { return plain_->is_spent(); }

 private:
  std::unique_ptr<Enclosure> plain_;
  std::string folder_;
  Fd tasks_;
  ProcessLimit processes_;
};

class LimitedEnclosures final : public Enclosures {
 public:
  LimitedEnclosures(std::unique_ptr<Enclosures> plain, std::string folder, uint64_t most)
      : plain_(std::move(plain)), folder_(std::move(folder)), most_(most) {}

  absl::StatusOr<int> kill_leftovers() override {
    ASSIGN_OR_RETURN(const int met, plain_->kill_leftovers());
    remove_folders();
    return met;
  }
  absl::StatusOr<std::unique_ptr<Enclosure>> make() override {
    ASSIGN_OR_RETURN(std::unique_ptr<Enclosure> plain, plain_->make());
    std::string folder = cat(folder_, "/", next_++);
    if (mkdir(folder.c_str(), 0755) != 0 && errno != EEXIST) return absl::ErrnoToStatus(errno, "mkdir " + folder);
    Fd tasks(open((folder + "/tasks").c_str(), O_WRONLY | O_CLOEXEC));
    if (!tasks.is_open()) return absl::ErrnoToStatus(errno, "opening the tasks of " + folder);
    return std::make_unique<LimitedEnclosure>(std::move(plain), std::move(folder), std::move(tasks), most_);
  }
  std::string describe() const override { return plain_->describe(); }
  std::string cgroup() const override { return plain_->cgroup(); }
  bool limits_processes() const override { return true; }
  bool holds_all() const override { return plain_->holds_all(); }
  std::set<std::string> controllers() const override { return plain_->controllers(); }
  void remove_all() override {
    plain_->remove_all();
    remove_folders();
    rmdir(folder_.c_str());
  }

 private:
  // Those that are still in use (a process that nobody has reaped) stay for the next start.
  void remove_folders() {
    std::error_code ignored;
    for (fs::directory_iterator it(folder_, ignored), end; !ignored && it != end; it.increment(ignored)) {
      if (it->is_directory(ignored)) rmdir(it->path().c_str());
    }
  }

  std::unique_ptr<Enclosures> plain_;
  const std::string folder_;
  const uint64_t most_;
  int next_ = 0;
};

}  // namespace

absl::Status ProcessLimit::set(int64_t most) {
  wanted_ = most > 0 ? static_cast<uint64_t>(most) : default_;
  if (file_.empty() || written_ == wanted_) return absl::OkStatus();
  if (!write_file(file_, wanted_ == 0 ? std::string("max") : std::to_string(wanted_))) {
    return absl::ErrnoToStatus(errno, "limiting the processes in " + file_);
  }
  written_ = wanted_;
  return absl::OkStatus();
}

std::unique_ptr<Enclosures> make_limited(const EnclosureOptions& options, std::unique_ptr<Enclosures>& plain) {
  const std::string hierarchy = options.cgroup_root + "/pids";
  // Written to by name below; a plain folder of that name is no hierarchy.
  if (access((hierarchy + "/tasks").c_str(), W_OK) != 0) return nullptr;
  const std::string folder = cat(hierarchy, "/hodei/", options.mark);
  std::error_code failed;
  fs::create_directories(folder, failed);
  if (failed || access((folder + "/pids.max").c_str(), W_OK) != 0) return nullptr;
  return std::make_unique<LimitedEnclosures>(std::move(plain), folder, options.most_processes);
}

}  // namespace hodei::worker
