#include "src/cli/job/limit_flags.h"

#include <CLI/CLI.hpp>

#include "src/base/status.h"
#include "src/cli/flags/repeatable.h"
#include "src/cli/text/quantities.h"
#include "src/cli/text/suggestion.h"

namespace hodei::cli {
namespace {

constexpr int64_t kMostPids = 4'194'304;
constexpr int64_t kMostIoWeight = 1000;

template <class T>
absl::StatusOr<T> naming_flag(std::string_view flag, absl::StatusOr<T> value) {
  if (value.ok()) return value;
  return absl::Status(value.status().code(), cat(flag, ": ", std::string(value.status().message())));
}

std::vector<std::string> split_at_commas(const std::string& text) {
  std::vector<std::string> words;
  for (size_t begin = 0; begin <= text.size();) {
    const size_t end = std::min(text.find(',', begin), text.size());
    words.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return words;
}

absl::Status allow(const std::string& word, v1::Sandbox& sandbox) {
  if (word == "network") {
    sandbox.set_allow_network(true);
  } else if (word == "root") {
    sandbox.set_writable_root(true);
  } else if (word == "tmp") {
    sandbox.set_shared_tmp(true);
  } else if (word == "syscalls") {
    sandbox.set_allow_all_syscalls(true);
  } else {
    return bad_field("--sandbox-allow", "'", word, "' is not one of network, root, tmp, syscalls",
                     did_you_mean(word, {"network", "root", "tmp", "syscalls"}));
  }
  return absl::OkStatus();
}

absl::Status set_amounts(const LimitFlags& flags, v1::JobSpec& spec) {
  if (!flags.cpu.empty()) {
    ASSIGN_OR_RETURN(const int64_t milli, naming_flag("--cpu (resources.cpu_cores)", parse_cores(flags.cpu)));
    spec.mutable_resources()->set_cpu_cores(static_cast<double>(milli) / 1000);
  }
  if (!flags.memory.empty()) {
    ASSIGN_OR_RETURN(const int64_t mb, naming_flag("--memory (resources.memory_mb)", parse_megabytes(flags.memory)));
    spec.mutable_resources()->set_memory_mb(mb);
  }
  if (!flags.storage.empty()) {
    ASSIGN_OR_RETURN(const int64_t mb, naming_flag("--storage (resources.storage_mb)", parse_megabytes(flags.storage)));
    spec.mutable_resources()->set_storage_mb(mb);
  }
  if (!flags.pids.empty()) {
    ASSIGN_OR_RETURN(const int64_t n, naming_flag("--pids (resources.pids)", parse_count(flags.pids, 0, kMostPids)));
    spec.mutable_resources()->set_pids(n);
  }
  if (!flags.io_weight.empty()) {
    ASSIGN_OR_RETURN(const int64_t n,
                     naming_flag("--io-weight (resources.io_weight)", parse_count(flags.io_weight, 1, kMostIoWeight)));
    spec.mutable_resources()->set_io_weight(static_cast<int32_t>(n));
  }
  return absl::OkStatus();
}

}  // namespace

void add_limit_flags(CLI::App& command, LimitFlags& f) {
  command.add_option("--cpu", f.cpu, "CPU cores to reserve, and the limit: 0.5, 500m, 2")->type_name("CORES");
  command.add_option("--memory", f.memory, "memory to reserve, and the limit: 512Mi, 2Gi")->type_name("SIZE");
  command.add_option("--pids", f.pids, "maximum number of processes and threads")->type_name("N");
  command.add_option("--io-weight", f.io_weight, "share of disk time relative to other jobs, 1 to 1000 (default 100)")
      ->type_name("N");
  command.add_option("--storage", f.storage, "maximum size of its working folder: 512Mi, 1Gi")->type_name("SIZE");
  command.add_flag(
      "--sandbox", f.sandbox,
      "run it in a sandbox: unprivileged user, read-only root, private /tmp, no network, fewer system calls");
  command.add_option("--sandbox-user", f.sandbox_user, "user in the sandbox, a name or a number (default nobody)")
      ->type_name("USER");
  repeatable(command, "--sandbox-allow", f.sandbox_allow,
             "parts of the sandbox to switch off: network, root, tmp, syscalls")
      ->type_name("WHAT");
}

absl::Status set_limits(const LimitFlags& flags, v1::JobSpec& spec) {
  RETURN_IF_ERROR(set_amounts(flags, spec));
  // A flag that describes the sandbox also turns it on.
  if (flags.sandbox || !flags.sandbox_user.empty() || !flags.sandbox_allow.empty()) spec.mutable_sandbox();
  if (!flags.sandbox_user.empty()) spec.mutable_sandbox()->set_user(flags.sandbox_user);
  for (const std::string& list : flags.sandbox_allow) {
    for (const std::string& word : split_at_commas(list)) RETURN_IF_ERROR(allow(word, *spec.mutable_sandbox()));
  }
  return absl::OkStatus();
}

}  // namespace hodei::cli
