#include "tests/sim/cluster.h"

namespace hodei::sim {
namespace {

constexpr Duration kLease = 5s;

// A copy that shares nothing with the first: the engine fills in the numbers of specs.
core::Command repeated(const core::Command& command) {
  core::Command copy = command;
  if (auto* submit = std::get_if<core::Submit>(&copy)) {
    for (core::NewJob& job : submit->jobs) job.spec = std::make_shared<core::SpecRow>(*job.spec);
  }
  return copy;
}

}  // namespace

Cluster::Cluster(World& world, Checker& checker, Network& network, ServerFaults faults, size_t servers)
    : shared_(world, checker, network, faults, servers == 1 ? store::MemoryLeadership::kForEver : kLease) {
  for (size_t i = 0; i < servers; ++i) nodes_.push_back(std::make_unique<ServerNode>(shared_, cat("s", i)));
  checker.outputs().set_store(&shared_.logs);
}

void Cluster::start() {
  for (const auto& node : nodes_) node->start();
}

void Cluster::stop_faults() {
  const uint64_t digest_every = shared_.faults.digest_every;
  shared_.faults = {};
  shared_.faults.digest_every = digest_every;
  shared_.faults.call_lost = shared_.faults.call_repeated = 0;
  for (const auto& node : nodes_) node->stop_faults();
}

ServerNode& Cluster::any() { return *nodes_[nodes_.size() == 1 ? 0 : world().below(nodes_.size())]; }

Reign* Cluster::leader() {
  Reign* found = nullptr;
  for (const auto& node : nodes_) {
    if (node->reign() != nullptr && (found == nullptr || node->reign()->life() > found->life())) found = node->reign();
  }
  return found;
}

Reign* Cluster::reign(uint64_t life) {
  for (const auto& node : nodes_) {
    if (node->reign() != nullptr && node->reign()->life() == life) return node->reign();
  }
  return nullptr;
}

bool Cluster::is_lost(const std::string& caller, const ServerNode& node, Towards direction) {
  return world().chance(shared_.faults.call_lost) || shared_.network.is_cut(caller, direction) ||
         shared_.network.is_cut(node.name(), direction);
}

void Cluster::call(const std::string& caller, core::Command command, server::ReplyTo reply) {
  Reign* leading = leader();
  const bool remembers = leading != nullptr && (nodes_.size() == 1 || world().chance(0.9));
  call_at(remembers ? leading->node() : any(), caller, std::move(command), std::move(reply));
}

void Cluster::call_at(ServerNode& node, const std::string& caller, core::Command command, server::ReplyTo reply) {
  // The call and its answer each travel, and each may be lost; the caller then waits for its own deadline.
  auto answered = std::make_shared<bool>(false);
  const auto give_up = [this, answered, reply] {
    if (std::exchange(*answered, true)) return;
    world().after(world().between(100ms, 10s), [reply] { reply(absl::UnavailableError("no answer in time")); });
  };
  const auto once = [this, caller, &node, answered, give_up, reply](absl::StatusOr<core::Reply> r) {
    if (*answered) return;
    if (is_lost(caller, node, Towards::Caller)) return give_up();
    *answered = true;
    world().after(shared_.network.latency(), [reply, r = std::move(r)] { reply(r); });
  };
  if (is_lost(caller, node, Towards::Server)) return give_up();
  // The real call makes a new token each time.
  const bool may_repeat = !std::holds_alternative<core::MakeOtp>(command);
  const int copies = may_repeat && world().chance(shared_.faults.call_repeated) ? 2 : 1;
  for (int i = 0; i < copies; ++i) {
    world().after(shared_.network.latency(), [&node, command = i == 0 ? command : repeated(command), once] {
      if (node.reign() == nullptr) return once(absl::UnavailableError("this server does not lead"));
      node.reign()->post(command, once);
    });
  }
}

void Cluster::unregister(const std::string& caller, Hash128 session, core::UnregisterWorker bye) {
  Reign* leading = leader();
  if (leading == nullptr || is_lost(caller, leading->node(), Towards::Server)) return;
  world().after(shared_.network.latency(), [this, session, bye = std::move(bye), life = leading->life()] {
    Reign* asked = reign(life);
    if (asked == nullptr || asked->engine() == nullptr) return;
    const auto& workers = asked->engine()->modules().fleet.workers.all();
    const auto worker = workers.find(bye.worker);
    if (worker == workers.end() || worker->second->record->session != session) return;
    world().after(shared_.network.latency(), [this, bye, life] {
      if (Reign* same = reign(life)) same->post(bye, nullptr);
    });
  });
}

void Cluster::read(std::function<void(Reign*)> what) {
  Reign* leading = leader();
  const Duration takes =
      world().chance(shared_.faults.slow_read) ? world().between(100ms, 20s) : world().between(100us, 5ms);
  world().after(takes, [this, what = std::move(what), life = leading == nullptr ? 0 : leading->life()] {
    Reign* same = reign(life);
    if (same == nullptr) return what(nullptr);
    same->when_running([same, what] { what(same); });
  });
}

std::string Cluster::why_it_waits(JobId job) {
  Reign* leading = leader();
  if (leading == nullptr) return "nobody leads";
  absl::StatusOr<core::Reply> reply = absl::UnknownError("");
  leading->post(core::Question(core::ExplainJob{job}),
                [&reply](absl::StatusOr<core::Reply> r) { reply = std::move(r); });
  while (absl::IsUnknown(reply.status()) && world().step(world().elapsed() + 10s)) {
  }
  if (!reply.ok()) return std::string(reply.status().message());
  const auto& why = std::get<core::Explanation>(*reply);
  std::string out =
      cat(core::name(why.state), ": ", why.waiting_for, "; unblocked by ", why.unblock, "; ", why.provisioning);
  for (const core::Candidate& c : why.candidates)
    out += cat("; ", c.worker.str(), c.fits ? " fits" : cat(" ", c.rule, ": ", c.reason));
  for (const core::ProviderCandidate& c : why.providers)
    out += cat("; ", c.name, c.fits ? " could" : cat(" ", c.reason));
  return out;
}

std::map<JobId, core::JobState> Cluster::outcomes() const {
  std::map<JobId, core::JobState> out;
  for (const auto& [id, done] : shared_.store.tables().done) out[id] = done.job->state;
  return out;
}

}  // namespace hodei::sim
