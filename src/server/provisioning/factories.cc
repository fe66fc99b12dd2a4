#include "src/server/provisioning/factories.h"

#include <algorithm>
#include <string_view>

#include "src/base/status.h"
#include "src/providers/baremetal/bare_metal_provider.h"
#include "src/providers/custom/custom_provider.h"
#include "src/providers/docker/docker_provider.h"
#include "src/providers/firecracker/firecracker_provider.h"
#include "src/providers/kubernetes/kubernetes_provider.h"
#include "src/providers/process/process_provider.h"

namespace hodei::server {
namespace {

using Make = absl::StatusOr<std::unique_ptr<providers::Provider>> (*)(const providers::ProviderConfig&,
                                                                      const providers::Installation&);

struct Factory {
  std::string_view type;
  Make make;
};

// One line each; what starts with the same program keeps its own type.
constexpr Factory kFactories[] = {
    {"process", providers::make_process_provider},       {"docker", providers::make_docker_provider},
    {"kubernetes", providers::make_kubernetes_provider}, {"firecracker", providers::make_firecracker_provider},
    {"baremetal", providers::make_bare_metal_provider},  {"ec2", providers::make_custom_provider},
    {"azurevm", providers::make_custom_provider},        {"cloudrun", providers::make_custom_provider},
    {"lambda", providers::make_custom_provider},         {"custom", providers::make_custom_provider},
};

const Factory* find(const std::string& type) {
  const Factory* found =
      std::find_if(std::begin(kFactories), std::end(kFactories), [&](const Factory& f) { return f.type == type; });
  return found == std::end(kFactories) ? nullptr : found;
}

}  // namespace

bool has_provider_type(const std::string& type) { return find(type) != nullptr; }

std::vector<std::string> provider_types() {
  std::vector<std::string> out;
  for (const Factory& f : kFactories) out.emplace_back(f.type);
  return out;
}

absl::StatusOr<std::unique_ptr<providers::Provider>> make_provider(const providers::ProviderConfig& config,
                                                                   const providers::Installation& installation) {
  if (const Factory* factory = find(config.type)) return factory->make(config, installation);
  std::string all;
  for (const std::string& type : provider_types()) all += (all.empty() ? "" : ", ") + type;
  return bad_field("type", "'", config.type, "' is not one of ", all);
}

}  // namespace hodei::server
