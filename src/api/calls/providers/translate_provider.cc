#include "src/api/calls/providers/translate_provider.h"

#include <algorithm>
#include <cctype>

#include "src/api/calls/translate.h"
#include "src/base/finite.h"
#include "src/base/status.h"

namespace hodei::api {
namespace {

constexpr std::string_view kMask = "***";

std::string lower(std::string text) {
  for (char& c : text) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return text;
}

absl::StatusOr<uint32_t> count_of(std::string_view field, int32_t value) {
  if (value < 0) return bad_field(field, "must not be negative, not ", value);
  return static_cast<uint32_t>(value);
}

absl::StatusOr<core::ProviderMode> mode_of(v1::ProviderConfig::Mode mode) {
  if (mode == v1::ProviderConfig::MODE_UNSPECIFIED) return core::ProviderMode::Enabled;
  if (!v1::ProviderConfig::Mode_IsValid(mode)) return bad_field("mode", "must be enabled, maintenance or disabled");
  return static_cast<core::ProviderMode>(mode);
}

// A client that reads a provider and writes it back must not store the mask.
absl::Status check_unmasked(const core::Labels& options) {
  for (const auto& [key, value] : options) {
    if (value == kMask && looks_secret(key)) {
      return bad_field(cat("options.", key),
                       "is ***, which stands for a hidden value; leave it out to keep the value, or set a new one");
    }
  }
  return absl::OkStatus();
}

void merge(const google::protobuf::Map<std::string, std::string>& from, core::Labels& into) {
  for (const auto& [key, value] : from) {
    if (value.empty())
      into.erase(key);
    else
      into[key] = value;
  }
}

void fill_config(const core::ProviderRow& row, v1::ProviderConfig* out) {
  out->set_name(row.name);
  out->set_type(row.type);
  for (const auto& [key, value] : row.options)
    (*out->mutable_options())[key] = looks_secret(key) ? std::string(kMask) : value;
  out->set_mode(static_cast<v1::ProviderConfig::Mode>(row.mode));
  out->set_max_workers(static_cast<int>(row.max_workers));
  out->set_max_concurrent_jobs(static_cast<int>(row.max_jobs));
  out->set_preference(row.preference);
  out->set_cost(row.cost);
  for (const auto& [key, value] : row.labels) (*out->mutable_labels())[key] = value;
  out->set_server_address(row.server_address);
}

}  // namespace

// What names a place (a file, a path, the name of a key) says nothing that must be hidden.
bool looks_secret(std::string_view option) {
  const std::string word = lower(std::string(option));
  for (const char* place : {"_file", "_path", "_name", "_id", "-file", "-path", "-name", "-id"}) {
    if (word.ends_with(place)) return false;
  }
  for (const char* secret : {"token", "password", "passwd", "secret", "credential", "private", "auth", "key"}) {
    if (word.find(secret) != std::string::npos) return true;
  }
  return false;
}

absl::StatusOr<core::ProviderRow> from_proto(const v1::ProviderConfig& in) {
  core::ProviderRow out;
  out.name = in.name();
  out.type = lower(in.type());
  out.options = {in.options().begin(), in.options().end()};
  RETURN_IF_ERROR(check_unmasked(out.options));
  ASSIGN_OR_RETURN(out.mode, mode_of(in.mode()));
  ASSIGN_OR_RETURN(out.max_workers, count_of("max_workers", in.max_workers()));
  ASSIGN_OR_RETURN(out.max_jobs, count_of("max_concurrent_jobs", in.max_concurrent_jobs()));
  out.preference = in.preference();
  out.cost = in.cost();
  out.labels = {in.labels().begin(), in.labels().end()};
  out.server_address = in.server_address();
  RETURN_IF_ERROR(core::validate(out));
  return out;
}

absl::StatusOr<core::ProviderRow> changed(core::ProviderRow row, const v1::UpdateProviderRequest& in) {
  RETURN_IF_ERROR(check_unmasked({in.options().begin(), in.options().end()}));
  if (in.has_mode()) {
    ASSIGN_OR_RETURN(row.mode, mode_of(in.mode()));
  }
  if (in.has_max_workers()) {
    ASSIGN_OR_RETURN(row.max_workers, count_of("max_workers", in.max_workers()));
  }
  if (in.has_max_concurrent_jobs()) {
    ASSIGN_OR_RETURN(row.max_jobs, count_of("max_concurrent_jobs", in.max_concurrent_jobs()));
  }
  if (in.has_preference()) row.preference = in.preference();
  if (in.has_cost()) row.cost = in.cost();
  if (in.has_server_address()) row.server_address = in.server_address();
  merge(in.options(), row.options);
  merge(in.labels(), row.labels);
  RETURN_IF_ERROR(core::validate(row));
  return row;
}

absl::StatusOr<core::PoolRow> from_proto(const v1::Pool& in) {
  core::PoolRow out;
  out.name = in.name();
  out.provider = in.provider();
  out.image = in.image();
  ASSIGN_OR_RETURN(out.min, count_of("min", in.min()));
  ASSIGN_OR_RETURN(out.max, count_of("max", in.max()));
  ASSIGN_OR_RETURN(out.spare, count_of("spare", in.spare()));
  ASSIGN_OR_RETURN(out.slots, count_of("slots", in.slots()));
  if (out.slots == 0) out.slots = 1;
  if (in.has_idle_ms()) {
    if (in.idle_ms() < 0 || in.idle_ms() > INT64_MAX / 1000)
      return bad_field("idle_ms", "must be between 0 and one year");
    out.idle = std::chrono::milliseconds(in.idle_ms());
  }
  out.one_job = in.one_job();
  out.reuse = in.reuse();
  out.ns = in.for_namespace();
  RETURN_IF_ERROR(check_within("size.cpu_cores", in.size().cpu_cores(), 0, kMostCores));
  out.size = from_proto(in.size());
  out.labels = {in.labels().begin(), in.labels().end()};
  RETURN_IF_ERROR(core::validate(out));
  return out;
}

void to_proto(const providers::Health& health, WallTime checked, v1::ProviderHealth* out) {
  out->set_state(static_cast<v1::ProviderHealth::State>(health.state));
  out->set_reason(health.reason);
  if (checked.is_set()) set_time(checked, out->mutable_checked_at());
}

void to_proto(const core::ProviderView& view, Now now, v1::Provider* out) {
  const core::LiveProvider& in = view.provider;
  fill_config(in.row, out->mutable_config());
  out->set_state(static_cast<v1::Provider::State>(view.state));
  to_proto(providers::Health{static_cast<providers::HealthState>(in.health), in.health_reason}, in.checked,
           out->mutable_health());
  to_proto(in.facts.largest, out->mutable_largest_worker());
  out->set_supports_gpu(in.facts.gpu);
  out->set_supports_images(in.facts.images);
  for (const std::string& one : in.facts.architectures) out->add_architectures(one);
  if (in.seen) out->set_isolation(static_cast<v1::Constraints::Isolation>(in.facts.isolation));
  out->set_max_workers(static_cast<int>(in.facts.max_workers));
  out->set_startup_ms(in.expected_startup().count() / 1000);
  for (const WorkerId& worker : view.workers) out->add_workers(worker.str());
  out->set_created(static_cast<int64_t>(in.created));
  out->set_failed(static_cast<int64_t>(in.failed));
  out->set_failures_in_a_row(static_cast<int>(in.failures_in_a_row));
  out->set_last_failure(in.last_failure);
  if (in.not_before > now.mono && in.not_before != kNever)
    set_time(now.wall + (in.not_before - now.mono), out->mutable_not_before());
  out->set_built_in(in.row.built_in);
  for (const std::string& one : in.facts.runtimes) out->add_supported_runtimes(one);
  out->set_max_concurrent_jobs(static_cast<int>(in.row.max_jobs));
  out->set_current_jobs(static_cast<int>(in.jobs));
}

void to_proto(const core::PoolView& view, v1::Pool* out) {
  const core::PoolRow& row = view.row;
  out->set_name(row.name);
  out->set_provider(row.provider);
  out->set_image(row.image);
  out->set_min(static_cast<int>(row.min));
  out->set_max(static_cast<int>(row.max));
  out->set_spare(static_cast<int>(row.spare));
  out->set_idle_ms(row.idle.count() / 1000);
  out->set_one_job(row.one_job);
  out->set_reuse(row.reuse);
  out->set_for_namespace(row.ns);
  out->set_slots(static_cast<int>(row.slots));
  to_proto(row.size, out->mutable_size());
  for (const auto& [key, value] : row.labels) (*out->mutable_labels())[key] = value;
  out->set_workers(static_cast<int>(view.workers));
  out->set_starting(static_cast<int>(view.starting));
  out->set_busy(static_cast<int>(view.busy));
  out->set_waiting_jobs(view.waiting);
}

}  // namespace hodei::api
