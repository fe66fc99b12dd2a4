// Enclosures made of cgroups, both versions.
#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <iterator>
#include <set>
#include <sstream>

#include "src/base/pause.h"
#include "src/base/status.h"
#include "src/worker/limits/enclosure.h"
#include "src/worker/limits/main_process.h"
#include "src/worker/limits/process_limit.h"
#include "src/worker/system/fd.h"
#include "src/worker/system/small_files.h"

namespace hodei::worker {
namespace {

namespace fs = std::filesystem;

// A job may have made cgroups of its own below the one it was born in.
std::vector<std::string> with_subfolders(const std::string& folder) {
  std::vector<std::string> all{folder};
  std::error_code ignored;
  for (fs::recursive_directory_iterator it(folder, ignored), end; !ignored && it != end; it.increment(ignored)) {
    if (it->is_directory(ignored)) all.push_back(it->path().string());
  }
  return all;
}

std::set<pid_t> pids_below(const std::string& folder) {
  std::set<pid_t> pids;
  for (const std::string& each : with_subfolders(folder)) {
    for (const pid_t pid : pids_listed_in(each + "/cgroup.procs")) pids.insert(pid);
  }
  return pids;
}

void signal_below(const std::string& folder, int signal) {
  for (const pid_t pid : pids_below(folder)) ::kill(pid, signal);
}

// Frozen, a tree cannot have children faster than they are killed; in version 1 the signal acts when it thaws.
void freeze_and_kill(const std::string& folder) {
  const bool v1 = write_file(folder + "/freezer.state", "FROZEN");
  const bool v2 = !v1 && write_file(folder + "/cgroup.freeze", "1");
  signal_below(folder, SIGKILL);
  if (v1) write_file(folder + "/freezer.state", "THAWED");
  if (v2) write_file(folder + "/cgroup.freeze", "0");
}

// SIGTERM once to each: the cgroup's processes, and the main process with its group if it has left.
void terminate_tree(const std::string& folder, const MainProcess& main) {
  const std::set<pid_t> inside = pids_below(folder);
  for (const pid_t pid : inside) ::kill(pid, SIGTERM);
  if (!inside.contains(main.pid())) main.signal(SIGTERM);
}

void remove_below(const std::string& folder) {
  std::vector<std::string> all = with_subfolders(folder);
  for (auto it = all.rbegin(); it != all.rend(); ++it) rmdir(it->c_str());
}

class CgroupV2 final : public Enclosure {
 public:
  CgroupV2(std::string folder, Fd dir, Fd events, ProcessLimit processes, MainProcess main)
      : folder_(std::move(folder)),
        dir_(std::move(dir)),
        events_(std::move(events)),
        processes_(std::move(processes)),
        main_(std::move(main)) {}
  ~CgroupV2() override { remove_below(folder_); }

  std::string cgroup() const override { return folder_; }
  absl::Status limit_processes(int64_t most) override { return processes_.set(most); }
  int birth_cgroup() const override { return dir_.get(); }
  void entered(pid_t main) override { main_.entered(main); }
  void main_ended() override { main_.ended(); }
  void terminate() override { terminate_tree(folder_, main_); }
  void kill() override {
    if (!is_cgroup_empty()) {
      spent_ = true;
      if (!write_file(folder_ + "/cgroup.kill", "1")) signal_below(folder_, SIGKILL);
    }
    main_.kill();
  }
  // Seen on Linux 6.18: every process that is later born (CLONE_INTO_CGROUP) into a cgroup that was once killed dies at
  // once by SIGKILL.
  bool is_spent() const override { return spent_; }
  bool is_empty() override { return is_cgroup_empty() && main_.has_left_nothing(); }

 private:
  bool is_cgroup_empty() const {
    char text[256];
    const ssize_t got = pread(events_.get(), text, sizeof(text), 0);
    return got > 0 && std::string_view(text, static_cast<size_t>(got)).find("populated 0") != std::string_view::npos;
  }

  std::string folder_;
  Fd dir_;
  Fd events_;
  ProcessLimit processes_;
  MainProcess main_;
  bool spent_ = false;
};

class CgroupV1 final : public Enclosure {
 public:
  CgroupV1(std::string folder, Fd join, MainProcess main)
      : folder_(std::move(folder)), join_(std::move(join)), main_(std::move(main)) {}

  std::string cgroup() const override { return folder_; }
  int join_file() const override { return join_.get(); }
  void entered(pid_t main) override { main_.entered(main); }
  void main_ended() override { main_.ended(); }
  void terminate() override { terminate_tree(folder_, main_); }
  void kill() override {
    if (!pids_below(folder_).empty()) freeze_and_kill(folder_);
    main_.kill();
  }
  bool is_empty() override { return pids_below(folder_).empty() && main_.has_left_nothing(); }

 private:
  std::string folder_;
  Fd join_;
  MainProcess main_;
};

class CgroupFolder : public Enclosures {
 public:
  CgroupFolder(std::string folder, std::shared_ptr<Orphans> orphans)
      : folder_(std::move(folder)), orphans_(std::move(orphans)) {}
  ~CgroupFolder() override = default;

  absl::StatusOr<int> kill_leftovers() override {
    const int met = kill_cgroup_tree(folder_);
    for (const std::string& each : with_subfolders(folder_)) {
      if (each != folder_) remove_below(each);
    }
    if (!pids_below(folder_).empty()) return absl::InternalError(cat("processes in ", folder_, " cannot be killed"));
    return met;
  }
  std::string cgroup() const override { return folder_; }
  void remove_all() override { remove_below(folder_); }

 protected:
  absl::StatusOr<std::string> next_folder() {
    std::string folder = cat(folder_, "/", next_++);
    if (mkdir(folder.c_str(), 0755) != 0 && errno != EEXIST) return absl::ErrnoToStatus(errno, "mkdir " + folder);
    return folder;
  }
  MainProcess main_process() const { return MainProcess(orphans_); }
  std::string folder_;

 private:
  std::shared_ptr<Orphans> orphans_;
  int next_ = 0;
};

class CgroupsV2 final : public CgroupFolder {
 public:
  CgroupsV2(std::string folder, const EnclosureOptions& options)
      : CgroupFolder(std::move(folder), orphans_of(options)),
        most_processes_(options.most_processes),
        controllers_(hand_on_controllers()) {}
  std::string describe() const override { return "cgroup v2 at " + folder_; }
  bool limits_processes() const override { return controllers_.contains("pids"); }
  std::set<std::string> controllers() const override { return controllers_; }
  absl::StatusOr<std::unique_ptr<Enclosure>> make() override {
    ASSIGN_OR_RETURN(std::string folder, next_folder());
    Fd dir(open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    Fd events(open((folder + "/cgroup.events").c_str(), O_RDONLY | O_CLOEXEC));
    if (!dir.is_open() || !events.is_open()) return absl::ErrnoToStatus(errno, "opening " + folder);
    ProcessLimit processes(limits_processes() ? folder + "/pids.max" : std::string(), most_processes_);
    return std::make_unique<CgroupV2>(std::move(folder), std::move(dir), std::move(events), std::move(processes),
                                      main_process());
  }

 private:
  // Each folder on the way down hands the controllers on, where that is allowed. Those that reach the executions.
  std::set<std::string> hand_on_controllers() const {
    const fs::path own = folder_;
    for (const fs::path& each : {own.parent_path().parent_path(), own.parent_path(), own}) {
      const std::set<std::string> before = words_in(each / "cgroup.subtree_control");
      for (const char* controller : {"cpu", "memory", "pids", "io"}) {
        // One by one: a single one that is missing would make all of them fail.
        if (!before.contains(controller)) write_file(each / "cgroup.subtree_control", cat("+", controller));
      }
    }
    return words_in(own / "cgroup.subtree_control");
  }
  static std::set<std::string> words_in(const fs::path& path) {
    std::istringstream text(read_file(path));
    return {std::istream_iterator<std::string>(text), {}};
  }
  const uint64_t most_processes_;
  const std::set<std::string> controllers_;
};

class CgroupsV1 final : public CgroupFolder {
 public:
  CgroupsV1(std::string folder, const EnclosureOptions& options)
      : CgroupFolder(std::move(folder), orphans_of(options)) {}
  std::string describe() const override { return "cgroup v1 at " + folder_; }
  absl::StatusOr<std::unique_ptr<Enclosure>> make() override {
    ASSIGN_OR_RETURN(std::string folder, next_folder());
    Fd join(open((folder + "/cgroup.procs").c_str(), O_WRONLY | O_CLOEXEC));
    if (!join.is_open()) return absl::ErrnoToStatus(errno, "opening " + folder);
    return std::make_unique<CgroupV1>(std::move(folder), std::move(join), main_process());
  }
};

template <class Kind>
std::unique_ptr<Enclosures> cgroups_at(const std::string& hierarchy, const std::string& probe,
                                       const EnclosureOptions& options) {
  std::error_code failed;
  const std::string folder = cat(hierarchy, "/hodei/", options.mark);
  fs::create_directories(folder, failed);
  if (failed || access((folder + "/" + probe).c_str(), W_OK) != 0) return nullptr;
  return std::make_unique<Kind>(folder, options);
}

}  // namespace

std::unique_ptr<Enclosures> make_cgroup_v2(const EnclosureOptions& options) {
  for (const std::string& hierarchy : {options.cgroup_root, options.cgroup_root + "/unified"}) {
    if (access((hierarchy + "/cgroup.controllers").c_str(), R_OK) != 0) continue;
    if (auto found = cgroups_at<CgroupsV2>(hierarchy, "cgroup.kill", options)) return found;
  }
  return nullptr;
}

std::unique_ptr<Enclosures> make_cgroup_v1(const EnclosureOptions& options) {
  return cgroups_at<CgroupsV1>(options.cgroup_root + "/freezer", "freezer.state", options);
}

std::unique_ptr<Enclosures> choose_enclosures(const EnclosureOptions& options) {
  std::unique_ptr<Enclosures> chosen;
  if (options.cgroups && !options.only_v1) chosen = make_cgroup_v2(options);
  if (options.cgroups && !chosen) chosen = make_cgroup_v1(options);
  if (!chosen) chosen = make_marked_trees(options);
  if (options.cgroups && !chosen->limits_processes()) {
    if (auto limited = make_limited(options, chosen)) chosen = std::move(limited);
  }
  return chosen;
}

int kill_cgroup_tree(const std::string& folder) {
  std::set<pid_t> met;
  // Each round kills all that are there; a process that dies slowly (core dump, disk) needs more than one look.
  for (int round = 0; round < 500; ++round) {
    const std::set<pid_t> now = pids_below(folder);
    if (now.empty()) break;
    met.insert(now.begin(), now.end());
    freeze_and_kill(folder);  // not cgroup.kill: the folders below may be in use again later
    pause_for(round < 10 ? 1ms : 10ms);
  }
  return static_cast<int>(met.size());
}

}  // namespace hodei::worker
