#include <charconv>

#include "src/core/placement/rules/architecture.h"
#include "src/core/placement/rules/capabilities.h"
#include "src/core/placement/rules/image.h"
#include "src/core/placement/rules/isolation.h"
#include "src/core/placement/rules/labels.h"
#include "src/core/placement/rules/limits.h"
#include "src/core/placement/rules/pool.h"
#include "src/core/placement/rules/provider.h"
#include "src/core/placement/rules/rule.h"
#include "src/core/placement/rules/size.h"
#include "src/core/placement/rules/taints.h"

namespace hodei::core {
namespace {

// Cheapest and most telling first: the first that rejects is the one that people are shown.
constexpr Rule kRules[] = {
    {"provider", rejects_provider, "a worker from that provider"},
    {"image", rejects_image, "a worker created from that image"},
    {"pool", rejects_pool, "a worker in that pool"},
    {"capabilities", rejects_capabilities, "a worker with those capabilities"},
    {"labels", rejects_labels, "a worker with matching labels"},
    {"taints", rejects_taints, "a toleration in the job, or a worker without that taint"},
    {"architecture", rejects_architecture, "a worker with that architecture"},
    {"isolation", rejects_isolation, "a worker with stronger isolation"},
    {"size", rejects_size, "a larger worker, or a smaller request"},
    {"limits", rejects_limits, "a worker that can enforce its limits"},
};

}  // namespace

std::span<const Rule> rules() { return kRules; }

std::optional<Rejection> first_rejection(const Shape& shape, const WorkerInfo& worker) {
  for (const Rule& rule : kRules) {
    if (std::optional<std::string> reason = rule.rejects(shape, worker)) return Rejection{&rule, std::move(*reason)};
  }
  return std::nullopt;
}

std::optional<int64_t> whole_number(std::string_view text) {
  int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || text.empty()) return std::nullopt;
  return value;
}

}  // namespace hodei::core
