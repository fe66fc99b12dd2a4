#include "src/providers/worker_environment.h"

#include "src/base/text.h"

namespace hodei::providers {

std::string_view name(Isolation isolation) {
  switch (isolation) {
    case Isolation::Process: return "process";
    case Isolation::Container: return "container";
    case Isolation::Hardware: return "hardware";
  }
  return "?";
}

StringMap worker_environment(const ProviderConfig& provider, const Capabilities& capabilities, const WorkerSpec& spec,
                             const std::string& state_dir) {
  StringMap out = spec.environment;
  out["HODEI_SERVER"] = spec.server_address;
  out["HODEI_TOKEN"] = spec.token;
  out["HODEI_WORKER_ID"] = spec.worker_id;
  out["HODEI_WORKER_PROVIDER"] = provider.name;
  out["HODEI_WORKER_ISOLATION"] = name(capabilities.isolation);
  out["HODEI_STATE_DIR"] = state_dir;
  // Whoever ends a made worker gives it seconds, not half a minute: what it runs is better put back into the queue in
  // time.
  out.try_emplace("HODEI_STOP_GRACE", "0s");
  // Nobody but its server ends a made worker: one whose server was stopped for good ends itself.
  out.try_emplace("HODEI_LEAVE_AFTER", "10m");
  out["HODEI_SLOTS"] = std::to_string(spec.slots);
  if (!spec.image.empty()) out["HODEI_WORKER_IMAGE_NAME"] = spec.image;
  if (!spec.pool.empty()) out["HODEI_POOL"] = spec.pool;
  if (spec.cpu_milli > 0)
    out["HODEI_WORKER_CPU"] = fmt::format("{}.{:03}", spec.cpu_milli / 1000, spec.cpu_milli % 1000);
  if (spec.memory_mb > 0) out["HODEI_WORKER_MEMORY"] = cat(spec.memory_mb, "MiB");
  if (spec.gpus > 0) out["HODEI_WORKER_GPUS"] = std::to_string(spec.gpus);
  std::string labels;
  for (const auto& [key, value] : spec.labels) labels += cat(labels.empty() ? "" : ",", key, "=", value);
  if (!labels.empty()) out["HODEI_LABELS"] = labels;
  return out;
}

}  // namespace hodei::providers
