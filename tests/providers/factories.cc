#include "tests/providers/factories.h"

#include "src/providers/custom/custom_provider.h"
#include "src/providers/process/process_provider.h"
#include "src/providers/docker/docker_provider.h"
#include "src/providers/docker/docker_provider.h"
#include "src/providers/kubernetes/kubernetes_provider.h"
#include "src/providers/process/process_provider.h"

namespace hodei::providers {
namespace {

struct Entry {
  const char* type;
  Factory make;
};

// One line per provider.
constexpr Entry kFactories[] = {
    {"process", make_process_provider},
    {"custom", make_custom_provider},
    {"ec2", make_custom_provider},
    {"azurevm", make_custom_provider},
    {"cloudrun", make_custom_provider},
    {"lambda", make_custom_provider},
    {"docker", make_docker_provider},
    {"docker", make_docker_provider},
    {"kubernetes", make_kubernetes_provider},
    {"process", make_process_provider},
};

}  // namespace

Factory factory_of(const std::string& type) {
  for (const Entry& entry : kFactories) {
    if (type == entry.type) return entry.make;
  }
  return nullptr;
}

std::vector<std::string> known_types() {
  std::vector<std::string> out;
  for (const Entry& entry : kFactories) {
    if (entry.make != nullptr) out.emplace_back(entry.type);
  }
  return out;
}

}  // namespace hodei::providers
