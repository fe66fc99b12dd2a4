#include "tests/providers/factories.h"

#include "src/providers/firecracker/firecracker_provider.h"

namespace hodei::providers {
namespace {

struct Entry {
  const char* type;
  Factory make;
};

// One line per provider.
constexpr Entry kFactories[] = {
    {"firecracker", make_firecracker_provider},
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
