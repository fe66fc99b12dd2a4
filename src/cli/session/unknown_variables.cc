// Variables of the environment that look like settings and are none.
#include <algorithm>

#include "src/base/text.h"
#include "src/cli/session/settings.h"
#include "src/cli/terminal/surroundings.h"
#include "src/cli/text/suggestion.h"

namespace hodei::cli {
namespace {

constexpr std::string_view kPrefix = "HODEI_";

// Read by somebody else: providers, what a job and a microVM find in their environment, tests and scripts.
constexpr std::string_view kFamilies[] = {"HODEI_VM", "HODEI_TEST_"};
constexpr std::string_view kOthers[] = {
    "HODEI_CONFIG",         "HODEI_K8S_NAMESPACE", "HODEI_K8S_KUBECONFIG", "HODEI_FC_ENGINE",    "HODEI_FC_KERNEL_PATH",
    "HODEI_FC_ROOTFS_PATH", "HODEI_FC_USE_JAILER", "HODEI_JOB_ID",         "HODEI_EXECUTION_ID", "HODEI_ATTEMPT",
    "HODEI_EPOCH",          "HODEI_SOCKET",        "HODEI_SOCKET_KEY",     "HODEI_SECRETS",      "HODEI_WORKER",
    "HODEI_WORKER_MARK",    "HODEI_WORKER_OWNER",  "HODEI_WORKER_IMAGE",   "HODEI_ATTACH_FD",    "HODEI_BINARY",
    "HODEI_BUILD_DIR",      "HODEI_SEEDS",         "HODEI_FIRST_SEED",     "HODEI_DRY_RUN",      "HODEI_CHECK"};

bool is_known(std::string_view name) {
  for (const std::string_view family : kFamilies) {
    if (name.starts_with(family)) return true;
  }
  for (const std::string_view other : kOthers) {
    if (name == other) return true;
  }
  for (const Setting& setting : all_settings()) {
    if (name == setting.env) return true;
  }
  return false;
}

}  // namespace

std::vector<std::string> unknown_variables(const Surroundings& surroundings) {
  std::vector<std::string> names;
  for (const Setting& setting : all_settings()) names.emplace_back(setting.env);
  std::vector<std::string> out;
  if (!surroundings.env_names) return out;
  for (const std::string& name : surroundings.env_names()) {
    if (!name.starts_with(kPrefix) || is_known(name)) continue;
    out.push_back(cat("environment ", name, ": no setting has this name", did_you_mean(name, names)));
  }
  std::sort(out.begin(), out.end());
  return out;
}

}  // namespace hodei::cli
