#include "src/cli/provider/provider_view.h"

#include <map>

#include "src/base/text.h"
#include "src/cli/output/table.h"
#include "src/cli/text/quantities.h"

namespace hodei::cli {
namespace {

std::string dash(std::string text) { return text.empty() ? std::string("-") : text; }

template <class List>
std::string joined(const List& list) {
  std::string out;
  for (const std::string& one : list) out += (out.empty() ? "" : ", ") + one;
  return out;
}

template <class Map>
std::string pairs(const Map& map) {
  const std::map<std::string, std::string> sorted(map.begin(), map.end());
  std::string out;
  for (const auto& [key, value] : sorted) out += cat(out.empty() ? "" : ", ", printable(key), "=", printable(value));
  return out;
}

std::string state_of(const v1::Provider& provider) {
  return provider.state() == v1::Provider::STATE_UNSPECIFIED ? std::string("-")
                                                             : v1::Provider::State_Name(provider.state());
}

std::string health_word(const v1::ProviderHealth& health) {
  return health.state() == v1::ProviderHealth::STATE_UNSPECIFIED ? std::string("unknown")
                                                                 : v1::ProviderHealth::State_Name(health.state());
}

Colour health_colour(const v1::ProviderHealth& health) {
  return health.state() == v1::ProviderHealth::Healthy ? Colour::Green : colour_of_state(health_word(health));
}

Colour state_colour(const v1::Provider& provider) {
  if (provider.state() == v1::Provider::Active) return Colour::Green;
  if (provider.state() == v1::Provider::Overloaded || provider.state() == v1::Provider::Maintenance)
    return Colour::Yellow;
  return provider.state() == v1::Provider::Disabled ? Colour::Grey : colour_of_state(state_of(provider));
}

// 3 of 64; the smaller of what it can and what it may.
std::string usage(const v1::Provider& provider) {
  const int can = provider.max_workers(), may = provider.config().max_workers();
  const int most = can > 0 && may > 0 ? std::min(can, may) : std::max(can, may);
  return most > 0 ? cat(provider.workers_size(), "/", most) : cat(provider.workers_size());
}

std::string startup(const v1::Provider& provider) {
  return provider.startup_ms() > 0 ? human_duration(std::chrono::milliseconds(provider.startup_ms()))
                                   : std::string("-");
}

std::string isolation(const v1::Provider& provider) {
  return provider.isolation() == v1::Constraints::ISOLATION_UNSPECIFIED
             ? std::string()
             : v1::Constraints::Isolation_Name(provider.isolation());
}

// What is wrong with it just now, if anything.
std::string note(const v1::Provider& provider) {
  if (!provider.health().reason().empty()) return provider.health().reason();
  return provider.failures_in_a_row() > 0 ? provider.last_failure() : std::string();
}

std::string largest(const v1::Capacity& capacity) {
  std::string out;
  if (capacity.cpu_cores() > 0) out = cat(capacity.cpu_cores(), " cores");
  if (capacity.memory_mb() > 0) out += cat(out.empty() ? "" : ", ", human_bytes(capacity.memory_mb() << 20));
  return out;
}

std::string size_of(const v1::Pool& pool) {
  const std::string size = largest(pool.size());
  return size.empty() ? std::string("as the job needs") : size;
}

// How many executions one worker of the pool runs before it goes.
std::string jobs_each(const v1::Pool& pool) {
  if (pool.one_job()) return "one";
  return pool.reuse() ? "many" : "many (microVM: one)";
}

}  // namespace

std::string provider_table(const v1::ListProvidersResponse& providers, const ViewOptions& options) {
  std::vector<std::string> headers = {"NAME",    "TYPE", "STATE",  "HEALTH", "WORKERS",
                                      "STARTUP", "MADE", "FAILED", "NOTE"};
  if (options.wide) {
    for (const char* more : {"ISOLATION", "IMAGES", "PREFERENCE", "COST", "OPTIONS", "LABELS"})
      headers.emplace_back(more);
  }
  Table table(headers);
  for (const v1::Provider& provider : providers.providers()) {
    const v1::ProviderConfig& config = provider.config();
    std::vector<Table::Cell> row = {config.name(),
                                    config.type(),
                                    {state_of(provider), state_colour(provider)},
                                    {health_word(provider.health()), health_colour(provider.health())},
                                    usage(provider),
                                    startup(provider),
                                    cat(provider.created()),
                                    cat(provider.failed()),
                                    dash(printable(note(provider)))};
    if (options.wide) {
      row.emplace_back(dash(isolation(provider)));
      row.emplace_back(provider.supports_images() ? "yes" : "no");
      row.emplace_back(cat(config.preference()));
      row.emplace_back(cat(config.cost()));
      row.emplace_back(dash(pairs(config.options())));
      row.emplace_back(dash(pairs(config.labels())));
    }
    table.add(std::move(row));
  }
  return table.text(options.style);
}

std::string provider_page(const v1::Provider& provider, const ViewOptions& options) {
  const v1::ProviderConfig& config = provider.config();
  FieldList fields;
  fields.add("Type", cat(config.type(), provider.built_in() ? ", built in" : ""));
  fields.add("State", state_of(provider), state_colour(provider));
  fields.add("Health", health_word(provider.health()), health_colour(provider.health()));
  fields.add("Reason", printable(provider.health().reason()));
  if (wall_time(provider.health().checked_at()).is_set()) {
    fields.add("Checked", cat(age(provider.health().checked_at(), options.now), " ago"));
  }
  fields.add("Workers", cat(usage(provider), provider.workers_size() > 0 ? ": " : "", joined(provider.workers())));
  const int most = provider.max_concurrent_jobs();
  fields.add("Jobs", most > 0 ? cat(provider.current_jobs(), " of ", most) : cat(provider.current_jobs()));
  fields.add("Runs", joined(provider.supported_runtimes()));
  fields.add("Made", cat(provider.created(), ", failed ", provider.failed(), ", since the server started"));
  if (provider.failures_in_a_row() > 0)
    fields.add("In a row", cat(provider.failures_in_a_row(), " failures"), Colour::Yellow);
  fields.add("Last failure", printable(provider.last_failure()), Colour::Yellow);
  if (wall_time(provider.not_before()).is_set())
    fields.add("Waits until", shown_time(wall_time(provider.not_before()), options.style), Colour::Yellow);
  fields.add("Start-up", startup(provider));
  fields.add("Isolation", isolation(provider));
  fields.add("Images", provider.supports_images() ? "any" : "none");
  fields.add("GPU", provider.supports_gpu() ? "yes" : "");
  fields.add("Architectures", joined(provider.architectures()));
  fields.add("Largest", largest(provider.largest_worker()));
  fields.add("Preference", config.preference() != 0 ? cat(config.preference()) : "");
  fields.add("Cost", config.cost() > 0 ? cat(config.cost()) : "");
  fields.add("Options", pairs(config.options()));
  fields.add("Labels", pairs(config.labels()));
  fields.add("Server", config.server_address());
  return cat(paint(cat("Provider ", config.name()), Colour::Bold, options.style.colours), "\n",
             fields.text(options.style));
}

std::string health_text(const std::string& provider, const v1::ProviderHealth& health, const ViewOptions& options) {
  return cat(provider, " is ", paint(health_word(health), health_colour(health), options.style.colours),
             health.reason().empty() ? "" : ": ", printable(health.reason()), "\n");
}

std::string pool_table(const v1::ListPoolsResponse& pools, const ViewOptions& options) {
  std::vector<std::string> headers = {"NAME",    "PROVIDER", "WORKERS", "STARTING", "BUSY",
                                      "WAITING", "MIN",      "MAX",     "SPARE",    "IDLE"};
  if (options.wide) {
    for (const char* more : {"IMAGE", "SLOTS", "JOBS EACH", "NAMESPACE", "SIZE", "LABELS"}) headers.emplace_back(more);
  }
  Table table(headers);
  for (const v1::Pool& pool : pools.pools()) {
    std::vector<Table::Cell> row = {pool.name(),         pool.provider().empty() ? "any" : pool.provider(),
                                    cat(pool.workers()), cat(pool.starting()),
                                    cat(pool.busy()),    cat(pool.waiting_jobs()),
                                    cat(pool.min()),     pool.max() > 0 ? cat(pool.max()) : std::string("-"),
                                    cat(pool.spare()),   exact_duration(std::chrono::milliseconds(pool.idle_ms()))};
    if (options.wide) {
      row.emplace_back(dash(printable(pool.image())));
      row.emplace_back(cat(pool.slots()));
      row.emplace_back(jobs_each(pool));
      row.emplace_back(pool.for_namespace().empty() ? std::string("any") : printable(pool.for_namespace()));
      row.emplace_back(size_of(pool));
      row.emplace_back(dash(pairs(pool.labels())));
    }
    table.add(std::move(row));
  }
  return table.text(options.style);
}

}  // namespace hodei::cli
