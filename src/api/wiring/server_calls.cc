#include "src/api/wiring/server_calls.h"

#include <type_traits>
#include <utility>

#include "src/api/wiring/spec_preparer.h"
#include "src/server/server.h"

namespace hodei::api {
namespace {

class LoopCommands final : public Commands {
 public:
  LoopCommands(server::Loop& loop, Replies& replies) : loop_(loop), replies_(replies) {}

  void post(core::EnvelopePtr envelope, core::Command command, ReplyTo reply, Lane lane) override {
    loop_.post(std::move(command), elsewhere(std::move(reply), lane), std::move(envelope));
  }
  void post_bounded(core::EnvelopePtr envelope, core::Command command, ReplyTo reply, Lane lane) override {
    loop_.post_bounded(std::move(command), elsewhere(std::move(reply), lane), std::move(envelope));
  }
  bool is_well() override {
    const server::LoopHealth health = loop_.health();
    return health.loaded && health.trouble.ok();
  }
  server::KeyHorizon key_horizon() override { return loop_.key_horizon(); }

 private:
  // The loop's thread only hands its reply on.
  server::ReplyTo elsewhere(ReplyTo reply, Lane lane) {
    if (!reply) return nullptr;
    return [this, reply = std::move(reply), lane](absl::StatusOr<core::Reply> value) {
      replies_.answer(lane, reply, std::move(value));
    };
  }

  server::Loop& loop_;
  Replies& replies_;
};

class ServerProviders final : public Providers {
 public:
  explicit ServerProviders(server::Provisioner& provisioner) : provisioner_(provisioner) {}

  void check(const core::ProviderRow& row, std::function<void(const absl::Status&)> done) override {
    provisioner_.check(row, std::move(done));
  }
  void check_health(const std::string& name,
                    std::function<void(const absl::StatusOr<providers::Health>&)> done) override {
    provisioner_.check_health(name, std::move(done));
  }
  void worker_logs(const core::WorkerRecord& worker, size_t tail,
                   std::function<void(const absl::StatusOr<std::string>&)> done) override {
    provisioner_.worker_logs(worker, tail, std::move(done));
  }

 private:
  server::Provisioner& provisioner_;
};

class ServerSystem final : public System {
 public:
  ServerSystem(server::Server& server, std::string address, std::function<LocalWorker()> local_worker)
      : server_(server), address_(std::move(address)), local_worker_(std::move(local_worker)) {}

  SystemDescription describe(const core::SystemReport& report) override {
    const server::LoopHealth health = server_.loop().health();
    SystemDescription out;
    out.state = server::assess(server_.facts(report));
    out.epoch = static_cast<uint64_t>(health.epoch);
    out.commits = health.commits;
    out.started = server_.started();
    out.data_dir = server_.options().data_dir;
    out.address = address_;
    out.worker = local_worker_();
    out.logs = server_.logs().stats();
    out.services = services();
    return out;
  }
  std::vector<server::ServiceHealth> services() override {
    std::vector<server::ServiceHealth> out = server_.service_health();
    core::each_type(AllServices{}, [&out]<class Service>(std::type_identity<Service>) {
      server::add_if_missing(Service::service, out);
    });
    return out;
  }

 private:
  server::Server& server_;
  const std::string address_;
  const std::function<LocalWorker()> local_worker_;
};

}  // namespace

struct ServerCalls::Parts {
  Parts(server::Server& server, const std::string& address, std::function<LocalWorker()> local_worker)
      : commands(server.loop(), replies),
        providers(server.provisioner()),
        system(server, address, std::move(local_worker)),
        preparer(server.lookups(), server.reads(),
                 [&loop = server.loop()](core::Command command) { loop.post(std::move(command), nullptr); }),
        all(wire(server)) {
    server.set_preparer(&preparer);
  }

  AllCalls wire(server::Server& server) {
    const Stored stored{server.reader(), server.lookups(), server.reads(), server.clock()};
    const Files files{server.files(), server.clock()};
    const Sessions sessions{commands, server.refused_claims()};
    const CheckRoom room = [&server] { return server.check_room(); };
    const InputTrouble input_trouble = [&server](JobId job) { return server.inputs().trouble(job); };
    const ServerPorts ports{
        .commands = commands,
        .stored = stored,
        .files = files,
        .sessions = sessions,
        .clock = server.clock(),
        .replies = replies,
        .open_calls = server.open_calls(),
        .refused = server.refused_claims(),
        .refusals = refusals,
        .lease = server.options().engine.unhealthy_after,
        .check_room = room,
        .input_trouble = input_trouble,
        .providers = providers,
        .system = system,
        .vault = server.vault(),
        .logs = server.logs(),
        .events = server.events(),
        .artifacts = server.artifacts(),
        .inputs = server.inputs(),
        .recorder = server.recorder(),
        .samples = server.samples(),
    };
    return {PortsOfAll<AllServices>(ports), {replies, server.files(), server.open_calls(), server.clock()}};
  }

  Replies replies;
  LoopCommands commands;
  ServerProviders providers;
  ServerSystem system;
  SpecPreparer preparer;
  RefusalLimit refusals;
  const AllCalls all;
};

ServerCalls::ServerCalls(server::Server& server, const std::string& address, std::function<LocalWorker()> local_worker)
    : parts_(std::make_unique<Parts>(server, address, std::move(local_worker))) {}

ServerCalls::~ServerCalls() { stop(); }

void ServerCalls::start() { parts_->replies.start(); }

void ServerCalls::stop() { parts_->replies.stop(); }

const AllCalls& ServerCalls::all() const { return parts_->all; }

}  // namespace hodei::api
