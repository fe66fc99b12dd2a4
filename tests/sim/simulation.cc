#include "tests/sim/simulation.h"

#include <memory>
#include <vector>

#include "tests/sim/checker.h"
#include "tests/sim/clients.h"
#include "tests/sim/cluster.h"
#include "tests/sim/followers.h"
#include "tests/sim/maker.h"
#include "tests/sim/network.h"
#include "tests/sim/worker_node.h"
#include "tests/sim/world.h"

namespace hodei::sim {
namespace {

constexpr Duration kTrouble = 150s;   // faults happen until then
constexpr Duration kHealing = 5000s;  // and everything must have ended by then
constexpr size_t kMaxTwins = 3;
constexpr Duration kTwoYears = std::chrono::hours(2 * 365 * 24);

// Draws faults until the time of trouble is over. Not every seed has every kind: mixes find what sums hide.
class Trouble {
 public:
  Trouble(World& world, Network& network, Cluster& servers, std::vector<std::unique_ptr<WorkerNode>>& workers,
          uint64_t without)
      : world_(world), network_(network), servers_(servers), workers_(workers), mask_(world.random() & ~without) {}

  void plan() {
    world_.after(world_.between(100ms, 8s), [this] {
      if (world_.elapsed() >= kTrouble) return;
      strike();
      plan();
    });
  }

 private:
  bool allowed(int kind) const { return (mask_ >> kind & 1) != 0; }

  void strike() {
    const int kind = static_cast<int>(world_.below(std::size(kTroubles)));
    if (!allowed(kind)) return;
    WorkerNode& worker = *workers_[world_.below(workers_.size())];
    switch (kind) {
      case 0: servers_.any().crash(world_.chance(0.1) ? world_.between(30s, 60s) : world_.between(10ms, 5s)); break;
      case 1: worker.kill_agent(world_.between(1ms, 3s)); break;
      case 2: worker.kill_supervisor(world_.between(1ms, 10s)); break;
      case 3: worker.freeze(world_.chance(0.3) ? world_.between(40s, 100s) : world_.between(100ms, 20s)); break;
      case 4: worker.cut(Towards::Server, cut_length()); break;
      case 5: worker.cut(Towards::Caller, cut_length()); break;
      case 6: servers_.any().pause(world_.between(100ms, 50s)); break;
      case 7: jump(); break;
      case 8: worker.flap(static_cast<int>(2 + world_.below(40))); break;
      case 9: worker.refuse(world_.between(100ms, 20s)); break;
      case 10:
        if (world_.chance(0.3)) {
          network_.cut("a client", world_.chance(0.5) ? Towards::Server : Towards::Caller, world_.between(1s, 60s));
        } else {
          worker.lie();
        }
        break;
      case 11: double_up(worker); break;
      case 12:
        // Now and then because all machines go down, the one with the store's disk first: the worker is gone before its
        // server can write down that it stops.
        if (world_.chance(0.3)) servers_.any().lose_store(world_.between(1s, 60s));
        worker.stop(world_.chance(0.3) ? Duration(0) : world_.between(100ms, 30s));
        break;
      case 13: servers_.any().fill_log_disk(world_.between(1s, 60s)); break;
      case 14:
        // Cut off from everybody, or from its store alone.
        if (world_.chance(0.5)) {
          servers_.any().lose_store(world_.between(1s, 30s));
        } else {
          const std::string name = servers_.any().name();
          const Duration length = world_.between(1s, 40s);
          network_.cut(name, Towards::Server, length);
          if (world_.chance(0.7)) network_.cut(name, Towards::Caller, length);
        }
        break;
      default: break;
    }
    if (world_.chance(0.2)) {
      const std::vector<uint64_t> live = network_.live();
      if (!live.empty()) network_.break_stream(live[world_.below(live.size())]);
    }
  }

  // Some cuts outlast every lease.
  Duration cut_length() { return world_.chance(0.2) ? world_.between(35s, 120s) : world_.between(100ms, 30s); }

  // The same worker id on a second machine, for a while.
  void double_up(const WorkerNode& worker) {
    if (twins_.size() == kMaxTwins) return;
    twins_.push_back(std::make_unique<WorkerNode>(worker, cat("twin", twins_.size()), world_.chance(0.5)));
    WorkerNode& twin = *twins_.back();
    twin.boot();
    world_.after(std::min(world_.between(1s, 90s), kTrouble - world_.elapsed()), [&twin] { twin.destroy(); });
  }

  void jump() {
    const Duration jumps[] = {3600s, -3600s, kTwoYears, -kTwoYears};
    const Duration by = jumps[world_.below(4)];
    world_.trace("wall clock jumps by ", by.count() / 1'000'000, " s");
    world_.jump_wall_clock(by);
    // Mostly people notice a wrong clock and set it right; now and then it was wrong before.
    if (world_.chance(0.25)) return;
    world_.after(world_.between(1s, 20s), [this, by] { world_.jump_wall_clock(-by); });
  }

  World& world_;
  Network& network_;
  Cluster& servers_;
  std::vector<std::unique_ptr<WorkerNode>>& workers_;
  std::vector<std::unique_ptr<WorkerNode>> twins_;
  uint64_t mask_;
};

}  // namespace

Outcome simulate(const Options& options) {
  World world(options.seed, options.trace);
  Checker checker(world, kTrouble);
  Network network(world);
  ServerFaults faults;
  faults.digest_every = options.digest_every;
  if (world.chance(0.5)) faults.commit_fails = 0.01;
  if (world.chance(0.5)) faults.crash_in_commit = 0.01;
  if (world.chance(0.3)) faults.slow_commit = 0.02;
  if (world.chance(0.1)) faults.stuck_commit = 0.002;
  if (world.chance(0.2)) faults.append_fails = 0.05;
  Cluster servers(world, checker, network, faults, world.chance(0.6) ? 1 : 2 + world.below(2));
  std::vector<std::unique_ptr<WorkerNode>> workers;
  const uint64_t count = 1 + world.below(4);
  for (uint64_t i = 0; i < count; ++i) {
    workers.push_back(std::make_unique<WorkerNode>(world, checker, network, servers, cat("w", i),
                                                   static_cast<uint32_t>(1 + world.below(6))));
  }
  Followers followers(world, checker, servers, kTrouble);
  servers.set_watcher(&followers);
  Clients clients(world, checker, servers, followers);
  Trouble trouble(world, network, servers, workers, options.without);
  const auto room = static_cast<uint32_t>(1 + world.below(4));
  Maker maker(world, checker, network, servers, room);
  servers.set_maker(&maker);
  checker.set_room(room);
  const bool on_demand = world.chance(0.6);
  if (on_demand) clients.use_provider(Maker::kName);

  servers.start();
  if (on_demand) maker.plan();
  for (auto& worker : workers) {
    world.after(world.between(Duration(0), 2s), [&worker] { worker->boot(); });
  }
  clients.plan(40, kTrouble);
  if (world.chance(0.5)) clients.plan_settings(static_cast<int>(1 + world.below(15)), kTrouble);
  clients.plan_scheduling(count, kTrouble);
  if (world.chance(0.3)) clients.plan_secrets(static_cast<int>(1 + world.below(10)), kTrouble);
  trouble.plan();
  for (uint64_t drains = world.chance(0.4) ? 1 + world.below(3) : 0; drains > 0; --drains) {
    const WorkerId leaving(cat("w", world.below(count)));
    // Some people change their mind: whether it is in time depends on what the worker still runs.
    const bool regretted = drains % 2 == 0;
    world.after(world.between(5s, kTrouble), [&world, &servers, leaving, regretted] {
      servers.call("a person", core::DrainWorker{leaving, "sim"}, [](absl::StatusOr<core::Reply>) {});
      if (!regretted) return;
      world.after(2s, [&servers, leaving] {
        servers.call("a person", core::UndrainWorker{leaving}, [](absl::StatusOr<core::Reply>) {});
      });
    });
  }
  while (world.ok() && world.step(kTrouble)) {
  }
  servers.stop_faults();
  maker.behave();
  // Everything that can finish must: step through the healing and stop as soon as all of it has.
  for (Duration at = kTrouble; world.ok() && at < kHealing; at += 10s) {
    while (world.ok() && world.step(at)) {
    }
    checker.check_overdue();
    followers.check_overdue();
    const bool is_over =
        clients.has_submitted_all() && checker.all_acknowledged_ended() && maker.has_nothing() && followers.all_done();
    if (is_over && at > kTrouble + 120s) break;
  }
  if (world.ok() && !maker.has_nothing()) world.broken("a worker that nobody needs was left behind");
  // What is left of all output, once more from its beginning.
  followers.read_all();
  for (const Duration end = world.elapsed() + 100s; world.ok() && !followers.all_done() && world.step(end);) {
  }
  if (world.ok() && !followers.all_done()) world.broken("I6: output of a finished job cannot be read to its end");
  if (world.ok()) checker.finish(servers.outcomes(), [&servers](JobId job) { return servers.why_it_waits(job); });
  return {world.failure(), checker.finished_count(), servers.commits()};
}

}  // namespace hodei::sim
