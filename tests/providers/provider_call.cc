// Asks a provider for one thing, as the server would: for tests of real engines, and for people who look for a fault.
//
//   provider-call docker create worker_id=w1 image=debian:12 server=127.0.0.1:50051 token=… option.host=unix:///x
//
// Prints "word=value" lines; exit code 1 and the error on stderr when the provider refuses.
#include <cstdlib>
#include <functional>

#include "src/base/status.h"
#include "src/providers/conformance/probe.h"
#include "src/server/provisioning/factories.h"

namespace {

using namespace hodei;
using namespace hodei::providers;

constexpr const char* kUsage =
    "usage: provider-call TYPE create|status|destroy|logs|list|health|capabilities|watch [KEY=VALUE]…\n"
    "\n"
    "  installation, folder, worker, name         whose worker, where files go, the static worker, the provider's "
    "name\n"
    "  worker_id, id                              which worker\n"
    "  image, server, token, cpu_milli, memory_mb, gpus, architecture, label.X, env.X    of create\n"
    "  tail                                       of logs: how many lines\n"
    "  option.X                                   of the provider, as for `hodei provider add`\n";

class Call {
 public:
  explicit Call(StringMap words) : words_(std::move(words)) {}

  std::string word(const std::string& key, const std::string& otherwise = "") const {
    const auto it = words_.find(key);
    return it == words_.end() ? otherwise : it->second;
  }
  int64_t number(const std::string& key, int64_t otherwise = 0) const {
    const std::string text = word(key);
    return text.empty() ? otherwise : std::strtoll(text.c_str(), nullptr, 10);
  }
  StringMap all(const std::string& prefix) const {
    StringMap out;
    for (const auto& [key, value] : words_) {
      if (key.starts_with(prefix)) out[key.substr(prefix.size())] = value;
    }
    return out;
  }
  WorkerHandle handle() const { return {.worker_id = word("worker_id"), .id = word("id")}; }
  WorkerSpec spec() const {
    return {.worker_id = word("worker_id"),
            .pool = word("pool"),
            .image = word("image"),
            .server_address = word("server"),
            .token = word("token"),
            .cpu_milli = number("cpu_milli"),
            .memory_mb = number("memory_mb"),
            .storage_mb = number("storage_mb"),
            .gpus = number("gpus"),
            .architecture = word("architecture"),
            .slots = 1,
            .labels = all("label."),
            .environment = all("env.")};
  }

 private:
  StringMap words_;
};

void print(const WorkerStatus& status) {
  fmt::print("phase={}\nreason={}\nhopeless={}\n", name(status.phase), status.reason, status.hopeless);
}

absl::Status create(Provider& provider, const Call& call) {
  ASSIGN_OR_RETURN(const WorkerHandle handle, provider.create_worker(call.spec()));
  fmt::print("id={}\n", handle.id);
  return absl::OkStatus();
}

absl::Status status(Provider& provider, const Call& call) {
  ASSIGN_OR_RETURN(const WorkerStatus now, provider.worker_status(call.handle()));
  print(now);
  return absl::OkStatus();
}

absl::Status destroy(Provider& provider, const Call& call) { return provider.destroy_worker(call.handle()); }

absl::Status logs(Provider& provider, const Call& call) {
  ASSIGN_OR_RETURN(const std::string text,
                   provider.worker_logs(call.handle(), static_cast<size_t>(call.number("tail", 100))));
  fmt::print("{}", text);
  return absl::OkStatus();
}

absl::Status list(Provider& provider, const Call&) {
  ASSIGN_OR_RETURN(const std::vector<OwnedWorker> workers, provider.list_workers());
  for (const OwnedWorker& worker : workers) fmt::print("{}={}\n", worker.handle.worker_id, name(worker.status.phase));
  return absl::OkStatus();
}

absl::Status health(Provider& provider, const Call&) {
  const Health now = provider.health_check();
  constexpr const char* kNames[] = {"Unknown", "Healthy", "Degraded", "Unhealthy"};
  fmt::print("state={}\nreason={}\n", kNames[static_cast<int>(now.state)], now.reason);
  return absl::OkStatus();
}

absl::Status capabilities(Provider& provider, const Call&) {
  const Capabilities can = provider.capabilities();
  fmt::print("max_cpu_milli={}\nmax_memory_mb={}\ngpu={}\nimages={}\nmax_workers={}\narchitecture={}\n",
             can.max_cpu_milli, can.max_memory_mb, can.gpu, can.images, can.max_workers,
             can.architectures.empty() ? "" : can.architectures[0]);
  return absl::OkStatus();
}

// Until the end of the standard input.
absl::Status watch(Provider& provider, const Call&) {
  provider.watch([](const std::string& worker_id) {
    fmt::print("changed={}\n", worker_id);
    std::fflush(stdout);
  });
  while (std::getchar() != EOF) {
  }
  provider.unwatch();
  return absl::OkStatus();
}

struct Verb {
  const char* name;
  absl::Status (*run)(Provider& provider, const Call& call);
};
constexpr Verb kVerbs[] = {{"create", create}, {"status", status}, {"destroy", destroy},           {"logs", logs},
                           {"list", list},     {"health", health}, {"capabilities", capabilities}, {"watch", watch}};

int run(const Verb& verb, const Call& call, const std::string& type) {
  const Installation installation{.id = call.word("installation", "call"),
                                  .folder = call.word("folder", "/tmp"),
                                  .worker_binary = call.word("worker")};
  const ProviderConfig config{.name = call.word("name", type), .type = type, .options = call.all("option.")};
  absl::StatusOr<std::unique_ptr<Provider>> provider = server::make_provider(config, installation);
  const absl::Status done = provider.ok() ? verb.run(**provider, call) : provider.status();
  if (!done.ok()) fmt::print(stderr, "{}\n", done.ToString());
  return done.ok() ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  const bool known = argc > 2 && server::has_provider_type(argv[1]);
  StringMap words;
  for (int i = 3; i < argc; ++i) {
    const std::string text = argv[i];
    const size_t equals = text.find('=');
    if (equals != std::string::npos) words[text.substr(0, equals)] = text.substr(equals + 1);
  }
  for (const Verb& verb : kVerbs) {
    if (known && argv[2] == std::string(verb.name)) return run(verb, Call(words), argv[1]);
  }
  fmt::print(stderr, "{}", kUsage);
  return 2;
}
