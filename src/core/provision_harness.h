// For the tests of workers on demand: providers described in a line, and functions that do what providers do.
#pragma once

#include "src/core/engine_harness.h"

namespace hodei::core {

struct ProviderOrder {
  ProviderRow row;
  ProviderFacts facts;

  ProviderOrder& most(uint32_t n) { return row.max_workers = n, *this; }
  ProviderOrder& images() { return facts.images = true, *this; }
  ProviderOrder& gpu() { return facts.gpu = true, *this; }
  ProviderOrder& isolating(Isolation i) { return facts.isolation = i, *this; }
  ProviderOrder& starting_in(Duration d) { return facts.startup = d, *this; }
  ProviderOrder& costing(double c) { return row.cost = c, *this; }
  ProviderOrder& preferred(int64_t p) { return row.preference = p, *this; }
  ProviderOrder& label(const std::string& key, std::string value) { return row.labels[key] = std::move(value), *this; }
};

inline ProviderOrder a_provider(std::string name) {
  ProviderOrder order;
  order.row.name = std::move(name);
  order.row.type = "fake";
  order.facts.architectures = {"amd64"};
  order.facts.startup = 1s;
  return order;
}

inline ProviderOrder a_docker() { return a_provider("docker").images().isolating(Isolation::Container); }
inline ProviderOrder a_vm() { return a_provider("vm").images().isolating(Isolation::Hardware).starting_in(300ms); }

inline void add(Bench& bench, const ProviderOrder& order) {
  bench.ask<ProviderViews>(PutProvider{order.row, true});
  bench.ask<Done>(ProviderSeen{order.row.name, order.facts, HealthState::Healthy, ""});
}

// Workers that were requested and have not appeared yet.
inline std::vector<WorkerRecordPtr> asked(const Bench& bench) {
  std::vector<WorkerRecordPtr> out;
  for (const CreateWorker& effect : bench.told<CreateWorker>()) {
    const auto stored = bench.rows.workers.find(effect.record->info.id);
    if (stored != bench.rows.workers.end() && stored->second->state == WorkerState::Creating)
      out.push_back(stored->second);
  }
  return out;
}

inline std::string only_asked(const Bench& bench) {
  const auto all = asked(bench);
  EXPECT_EQ(all.size(), 1u);
  return all.empty() ? "" : all[0]->info.id.str();
}

// The provider creates the worker, and it registers as requested.
inline Hand arrives(Bench& bench, const std::string& id) {
  WorkerOrder order;
  order.info = bench.rows.workers.at(WorkerId(id))->info;
  order.info.made.reset();
  bench.ask<Done>(WorkerMade{WorkerId(id), "handle of " + id});
  bench.ask<Done>(WorkerRuns{WorkerId(id)});
  Hand hand = bench.worker(id);
  hand.joins(order);
  return hand;
}

inline std::vector<std::string> destroyed(const Bench& bench) {
  std::vector<std::string> out;
  for (const DestroyWorker& effect : bench.told<DestroyWorker>()) out.push_back(effect.worker.str());
  return out;
}

// A worker that has left stays listed for a while.
inline bool exists(const Bench& bench, const std::string& id) {
  const auto found = bench.rows.workers.find(WorkerId(id));
  return found != bench.rows.workers.end() && found->second->state != WorkerState::Terminated;
}

}  // namespace hodei::core
