#include "src/server/provisioning/worker_terms.h"

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <net/if.h>

#include "src/base/text.h"

namespace hodei::server {
namespace {

// The engine plans a worker whose size nobody named as one with plenty of everything; to a provider, 0 says the same.
constexpr int64_t kPlenty = int64_t{1} << 40;

int64_t named(int64_t amount) { return amount >= kPlenty ? 0 : amount; }

// The first one that is up and not loopback; IPv4, which every engine's network can reach.
std::string own_address() {
  std::string found = "127.0.0.1";
  ifaddrs* all = nullptr;
  if (getifaddrs(&all) != 0) return found;
  for (const ifaddrs* one = all; one != nullptr; one = one->ifa_next) {
    if (one->ifa_addr == nullptr || one->ifa_addr->sa_family != AF_INET) continue;
    if ((one->ifa_flags & IFF_UP) == 0 || (one->ifa_flags & IFF_LOOPBACK) != 0) continue;
    char text[INET_ADDRSTRLEN] = {};
    inet_ntop(AF_INET, &reinterpret_cast<const sockaddr_in*>(one->ifa_addr)->sin_addr, text, sizeof(text));
    found = text;
    break;
  }
  freeifaddrs(all);
  return found;
}

}  // namespace

providers::ProviderConfig config_of(const core::ProviderRow& row) { return {row.name, row.type, row.options}; }

core::ProviderFacts facts_of(const providers::Provider& provider) {
  const providers::Capabilities can = provider.capabilities();
  core::ProviderFacts out;
  out.largest.cpu_milli = can.max_cpu_milli;
  out.largest.memory_mb = can.max_memory_mb;
  out.gpu = can.gpu;
  out.images = can.images;
  out.makes_workers = can.makes_workers;
  out.runtimes = {"shell", "script"};
  if (can.images) out.runtimes.emplace_back("image");
  out.architectures = can.architectures;
  out.max_workers = can.max_workers;
  out.isolation = static_cast<core::Isolation>(can.isolation);
  out.startup = provider.estimated_startup_time();
  return out;
}

providers::WorkerSpec spec_of(const core::WorkerRecord& record, const std::string& server_address) {
  const core::WorkerInfo& info = record.info;
  providers::WorkerSpec out;
  out.worker_id = info.id.str();
  if (info.made) out.pool = info.made->pool;
  out.image = info.image;
  out.server_address = server_address;
  out.cpu_milli = named(info.capacity.cpu_milli);
  out.memory_mb = named(info.capacity.memory_mb);
  out.storage_mb = named(info.capacity.storage_mb);
  out.gpus = info.capacity.gpus;
  out.architecture = info.architecture;
  out.slots = info.slots;
  out.labels = info.labels;
  return out;
}

core::MakingFailure failure_of(const absl::Status& why) {
  switch (why.code()) {
    case absl::StatusCode::kInvalidArgument:
    case absl::StatusCode::kNotFound:
    case absl::StatusCode::kFailedPrecondition: return core::MakingFailure::Shape;
    case absl::StatusCode::kResourceExhausted: return core::MakingFailure::Room;
    default: return core::MakingFailure::Trouble;
  }
}

std::string reachable(const std::string& listen) {
  const size_t colon = listen.rfind(':');
  const std::string host = listen.substr(0, colon);
  const bool any = host == "0.0.0.0" || host == "[::]" || host == "::" || host == "*" || host.empty();
  return any && colon != std::string::npos ? own_address() + listen.substr(colon) : listen;
}

}  // namespace hodei::server
