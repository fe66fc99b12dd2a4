#include "src/main/built_in_providers.h"

#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <optional>

#include "src/server/provisioning/factories.h"

namespace hodei {
namespace {

namespace fs = std::filesystem;

bool is_there(const fs::path& path) {
  std::error_code error;
  return fs::exists(path, error);
}

std::string env_or(const char* name, const char* otherwise) {
  const char* value = std::getenv(name);
  return value == nullptr || *value == '\0' ? otherwise : value;
}

bool has_docker() {
  const std::string host = env_or("DOCKER_HOST", "unix:///var/run/docker.sock");
  return host.starts_with("unix://") && access(host.substr(7).c_str(), R_OK | W_OK) == 0;
}

bool in_path(const std::string& program) {
  const std::string path = env_or("PATH", "");
  for (size_t start = 0; start <= path.size();) {
    const size_t end = std::min(path.find(':', start), path.size());
    if (end > start && access((path.substr(start, end - start) + "/" + program).c_str(), X_OK) == 0) return true;
    start = end + 1;
  }
  return false;
}

bool has_microvms() {
  return is_there(env_or("HODEI_FC_KERNEL_PATH", "/var/lib/hodei/vmlinux")) &&
         (in_path("firecracker") || in_path("qemu-system-x86_64"));
}

}  // namespace

std::vector<core::ProviderRow> built_in_providers(const cli::ServerOptions& options, bool is_dev) {
  std::vector<core::ProviderRow> out;
  const auto add = [&](const char* type, std::optional<bool> asked, bool seems_to_work) {
    if (!asked.value_or(seems_to_work) || !server::has_provider_type(type)) return;
    core::ProviderRow row;
    row.name = row.type = type;
    row.built_in = true;
    row.guessed = !asked.has_value();
    out.push_back(std::move(row));
  };
  add("process", options.process_enabled, is_dev);
  add("docker", options.docker_enabled, is_dev && has_docker());
  add("kubernetes", options.k8s_enabled, false);
  add("firecracker", options.fc_enabled, is_dev && has_microvms());
  return out;
}

std::string find_worker_binary() {
  std::error_code error;
  const fs::path self = fs::read_symlink("/proc/self/exe", error);
  const fs::path worker = self.parent_path() / "hodei-worker";
  return !error && access(worker.c_str(), X_OK) == 0 ? worker.string() : std::string();
}

}  // namespace hodei
