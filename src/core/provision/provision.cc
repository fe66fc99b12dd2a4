#include "src/core/provision/provision.h"

#include <algorithm>
#include <cmath>

#include "src/base/codec.h"
#include "src/base/finite.h"
#include "src/base/ids.h"
#include "src/base/status.h"
#include "src/core/fleet/worker.h"

namespace hodei::core {
namespace {

constexpr double kMillionth = 1e6;

void put_labels(Encoder& out, const Labels& labels) {
  out.u64(labels.size());
  for (const auto& [key, value] : labels) out.text(key).text(value);
}

Labels get_labels(Decoder& in) {
  Labels out;
  for (uint64_t n = in.count(); n > 0 && in.ok(); --n) {
    std::string key(in.text());
    out[std::move(key)] = in.text();
  }
  return out;
}

absl::Status check_pairs(std::string_view field, const Labels& pairs) {
  if (pairs.size() > 100) return bad_field(field, "must have at most 100 entries, not ", pairs.size());
  for (const auto& [key, value] : pairs) {
    if (key.empty() || key.size() > 200 || value.size() > 4096) {
      return bad_field(field, "names must have 1 to 200 characters and values at most 4096");
    }
  }
  return absl::OkStatus();
}

absl::Status check_text(std::string_view field, std::string_view text) {
  constexpr size_t kMost = 500;
  if (text.size() <= kMost) return absl::OkStatus();
  return bad_field(field, "must have at most ", kMost, " characters, not ", text.size());
}

absl::Status check_size(std::string_view fields, const std::string& encoded) {
  if (encoded.size() <= kMaxSettingBytes) return absl::OkStatus();
  return bad_field(fields, "take ", encoded.size(), " bytes; at most ", kMaxSettingBytes,
                   " are allowed; use fewer or shorter ones");
}

}  // namespace

std::string encode(const ProviderRow& r) {
  Encoder out;
  out.text(r.name).text(r.type);
  put_labels(out, r.options);
  out.u64(static_cast<uint64_t>(r.mode)).u64(r.max_workers).i64(r.preference).i64(std::llround(r.cost * kMillionth));
  put_labels(out, r.labels);
  out.text(r.server_address).u64(r.built_in).u64(r.guessed).u64(r.max_jobs);
  return out.take();
}

ProviderRow decode_provider(std::string_view bytes) {
  Decoder in(bytes);
  ProviderRow r;
  r.name = in.text();
  r.type = in.text();
  r.options = get_labels(in);
  r.mode = static_cast<ProviderMode>(in.u64());
  r.max_workers = static_cast<uint32_t>(in.u64());
  r.preference = in.i64();
  r.cost = bounded(static_cast<double>(in.i64()) / kMillionth, 0, kMaxCost, 0);
  r.labels = get_labels(in);
  r.server_address = in.text();
  r.built_in = in.u64() != 0;
  if (in.done()) return r;  // rows of older versions end here
  r.guessed = in.u64() != 0;
  r.max_jobs = static_cast<uint32_t>(in.u64());
  return r;
}

std::string encode(const PoolRow& r) {
  Encoder out;
  out.text(r.name).text(r.provider).text(r.image).u64(r.min).u64(r.max).u64(r.spare).i64(r.idle.count()).u64(r.one_job);
  out.u64(r.slots).i64(r.size.cpu_milli).i64(r.size.memory_mb).i64(r.size.storage_mb).i64(r.size.gpus);
  put_labels(out, r.labels);
  out.text(r.ns).u64(r.reuse);
  return out.take();
}

PoolRow decode_pool(std::string_view bytes) {
  Decoder in(bytes);
  PoolRow r;
  r.name = in.text();
  r.provider = in.text();
  r.image = in.text();
  r.min = static_cast<uint32_t>(in.u64());
  r.max = static_cast<uint32_t>(in.u64());
  r.spare = static_cast<uint32_t>(in.u64());
  r.idle = Duration(in.i64());
  r.one_job = in.u64() != 0;
  r.slots = static_cast<uint32_t>(in.u64());
  r.size = {in.i64(), in.i64(), in.i64(), in.i64()};
  r.labels = get_labels(in);
  if (in.done()) return r;  // rows of older versions end here
  r.ns = in.text();
  r.reuse = in.u64() != 0;
  return r;
}

absl::Status validate(const ProviderRow& r) {
  RETURN_IF_ERROR(check_name("name", r.name));
  RETURN_IF_ERROR(check_name("type", r.type));
  RETURN_IF_ERROR(check_pairs("options", r.options));
  RETURN_IF_ERROR(check_pairs("labels", r.labels));
  if (r.max_workers > kMaxPoolWorkers) {
    return bad_field("max_workers", "must be at most ", kMaxPoolWorkers, ", not ", r.max_workers);
  }
  RETURN_IF_ERROR(check_within("cost", r.cost, 0, kMaxCost));
  RETURN_IF_ERROR(check_text("server_address", r.server_address));
  return check_size("options and labels", encode(r));
}

absl::Status validate(const PoolRow& r) {
  RETURN_IF_ERROR(check_name("name", r.name));
  if (!r.provider.empty()) RETURN_IF_ERROR(check_name("provider", r.provider));
  RETURN_IF_ERROR(check_pairs("labels", r.labels));
  if (!r.ns.empty()) RETURN_IF_ERROR(check_name("for_namespace", r.ns));
  if (r.one_job && r.reuse) return bad_field("reuse", "cannot be combined with one_job");
  for (const uint32_t count : {r.min, r.max, r.spare}) {
    if (count > kMaxPoolWorkers)
      return bad_field("min, max, spare", "must be at most ", kMaxPoolWorkers, ", not ", count);
  }
  if (r.max > 0 && r.min > r.max) return bad_field("min", "is ", r.min, ", more than max, which is ", r.max);
  if (r.slots == 0 || r.slots > 10'000) return bad_field("slots", "must be between 1 and 10000, not ", r.slots);
  if (r.one_job && r.slots != 1) return bad_field("slots", "must be 1 in a pool of one-job workers, not ", r.slots);
  if (r.idle < Duration(0) || r.idle > std::chrono::hours(24 * 366))
    return bad_field("idle_ms", "must be between 0 and one year");
  RETURN_IF_ERROR(check_amounts("size", r.size));
  RETURN_IF_ERROR(check_text("image", r.image));
  return check_size("labels", encode(r));
}

std::string_view name(ProviderMode mode) {
  switch (mode) {
    case ProviderMode::Enabled: return "enabled";
    case ProviderMode::Maintenance: return "maintenance";
    case ProviderMode::Disabled: return "disabled";
  }
  return "?";
}

std::string_view name(HealthState state) {
  switch (state) {
    case HealthState::Unknown: return "unknown";
    case HealthState::Healthy: return "healthy";
    case HealthState::Degraded: return "degraded";
    case HealthState::Unhealthy: return "unhealthy";
  }
  return "?";
}

std::string_view name(ProviderState state) {
  switch (state) {
    case ProviderState::Starting: return "Starting";
    case ProviderState::Active: return "Active";
    case ProviderState::Unhealthy: return "Unhealthy";
    case ProviderState::Overloaded: return "Overloaded";
    case ProviderState::Maintenance: return "Maintenance";
    case ProviderState::Disabled: return "Disabled";
  }
  return "?";
}

uint32_t LiveProvider::room() const {
  uint32_t most = UINT32_MAX;
  if (facts.max_workers > 0) most = std::min(most, facts.max_workers);
  if (row.max_workers > 0) most = std::min(most, row.max_workers);
  return most == UINT32_MAX ? most : most - std::min(most, workers);
}

ProviderState LiveProvider::state() const {
  if (row.mode == ProviderMode::Disabled) return ProviderState::Disabled;
  if (row.mode == ProviderMode::Maintenance) return ProviderState::Maintenance;
  if (!seen || health == HealthState::Unknown) return ProviderState::Starting;
  if (unhealthy_in_a_row >= kUnhealthyAfter) return ProviderState::Unhealthy;
  // One bad check of a provider that was never well is enough.
  if (health == HealthState::Unhealthy && created == 0) return ProviderState::Unhealthy;
  if (room() == 0 || has_enough_jobs()) return ProviderState::Overloaded;
  return ProviderState::Active;
}

}  // namespace hodei::core
