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
    {"provider", rejects_provider, "a worker of that provider joining"},
    {"image", rejects_image, "a worker made from that image joining"},
    {"pool", rejects_pool, "a worker of that pool joining"},
    {"capabilities", rejects_capabilities, "a worker with those capabilities joining"},
    {"labels", rejects_labels, "a worker with fitting labels joining"},
    {"taints", rejects_taints, "a toleration in the job, or an untainted worker joining"},
    {"architecture", rejects_architecture, "a worker of that architecture joining"},
    {"isolation", rejects_isolation, "a worker with stronger isolation joining"},
    {"size", rejects_size, "a larger worker joining, or a smaller request"},
    {"limits", rejects_limits, "a worker that can hold its limits joining"},
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
