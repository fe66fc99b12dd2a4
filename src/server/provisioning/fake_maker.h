// For the tests of the provisioner: a provider that does what the test says, an engine that remembers what it is told,
// and a clock moved by hand.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "src/providers/provider.h"
#include "src/server/provisioning/provisioner.h"

namespace hodei::server {

constexpr auto kPatience = std::chrono::seconds(20);  // of a test, for what must come

class HandClock final : public Clock {
 public:
  Now now() const override { return {{1'800'000'000'000'000 + elapsed_}, {1'000'000'000 + elapsed_}}; }
  void advance(Duration by) { elapsed_ += by.count(); }

 private:
  std::atomic<int64_t> elapsed_ = 0;
};

// What the provider makes outlives it.
struct FakeWorld {
  std::mutex mutex;
  std::condition_variable changed;
  std::map<std::string, providers::WorkerStatus> things;  // by worker id
  std::vector<std::string> calls;                         // "create w1", …
  int objects = 0;                                        // providers alive
  std::map<std::string, providers::WorkerSpec> specs;
  providers::Provider::Changed watcher;
  absl::Status create_answer, destroy_answer;
  providers::WorkerStatus fresh{providers::WorkerPhase::Running, "", false};
  providers::Health health{providers::HealthState::Healthy, ""};
  std::set<std::string> stuck;  // calls that do not return: "create", "health", …

  // With the mutex held: notes the call, and waits as long as it is stuck.
  void enter(std::unique_lock<std::mutex>& lock, const std::string& verb, const std::string& worker) {
    calls.push_back(worker.empty() ? verb : verb + " " + worker);
    changed.notify_all();
    changed.wait(lock, [&] { return !stuck.contains(verb); });
  }
  void free(const std::string& verb) {
    const std::lock_guard lock(mutex);
    stuck.erase(verb);
    changed.notify_all();
  }
  // Looks again and again: the condition may move the clock.
  bool wait(const std::function<bool()>& condition) {
    std::unique_lock lock(mutex);
    const auto give_up = std::chrono::steady_clock::now() + kPatience;
    while (!condition()) {
      if (std::chrono::steady_clock::now() > give_up) return false;
      changed.wait_for(lock, std::chrono::milliseconds(2));
    }
    return true;
  }
  int count(const std::string& call) const { return static_cast<int>(std::count(calls.begin(), calls.end(), call)); }
};

class FakeMaker final : public providers::Provider {
 public:
  explicit FakeMaker(std::shared_ptr<FakeWorld> world) : world_(std::move(world)) {
    const std::lock_guard lock(world_->mutex);
    ++world_->objects;
  }
  ~FakeMaker() override {
    const std::lock_guard lock(world_->mutex);
    --world_->objects;
    world_->changed.notify_all();
  }

  providers::Capabilities capabilities() const override {
    return {.max_cpu_milli = 4000, .images = true, .max_workers = 7};
  }
  Duration estimated_startup_time() const override { return 1s; }
  providers::Health health_check() override {
    std::unique_lock lock(world_->mutex);
    world_->enter(lock, "health", "");
    return world_->health;
  }
  absl::StatusOr<providers::WorkerHandle> create_worker(const providers::WorkerSpec& spec) override {
    std::unique_lock lock(world_->mutex);
    world_->enter(lock, "create", spec.worker_id);
    world_->specs[spec.worker_id] = spec;
    if (!world_->create_answer.ok()) return world_->create_answer;
    world_->things[spec.worker_id] = world_->fresh;
    return providers::WorkerHandle{spec.worker_id, "thing-" + spec.worker_id};
  }
  absl::StatusOr<providers::WorkerStatus> worker_status(const providers::WorkerHandle& handle) override {
    std::unique_lock lock(world_->mutex);
    world_->enter(lock, "status", handle.worker_id);
    const auto it = world_->things.find(handle.worker_id);
    return it == world_->things.end() ? providers::WorkerStatus{} : it->second;
  }
  absl::Status destroy_worker(const providers::WorkerHandle& handle) override {
    std::unique_lock lock(world_->mutex);
    world_->enter(lock, "destroy", handle.worker_id);
    if (world_->destroy_answer.ok()) world_->things.erase(handle.worker_id);
    world_->changed.notify_all();
    return world_->destroy_answer;
  }
  absl::StatusOr<std::string> worker_logs(const providers::WorkerHandle& handle, size_t tail) override {
    return "log of " + handle.id + ", " + std::to_string(tail);
  }
  absl::StatusOr<std::vector<providers::OwnedWorker>> list_workers() override {
    std::unique_lock lock(world_->mutex);
    world_->enter(lock, "list", "");
    std::vector<providers::OwnedWorker> out;
    for (const auto& [id, status] : world_->things) out.push_back({{id, "thing-" + id}, status});
    return out;
  }
  void watch(Changed changed) override {
    const std::lock_guard lock(world_->mutex);
    world_->watcher = std::move(changed);
  }

 private:
  const std::shared_ptr<FakeWorld> world_;
};

// Answers like the engine, from the thread that asks, and remembers.
class FakeEngine {
 public:
  void post(core::Command command, const ReplyTo& reply) {
    absl::StatusOr<core::Reply> answer = core::Done{};
    {
      const std::lock_guard lock(mutex_);
      if (std::holds_alternative<core::MakeOtp>(command)) answer = core::OtpMade{};
      if (std::holds_alternative<core::Question>(command)) answer = core::ProviderViews{providers_};
      if (away_) answer = absl::UnavailableError("the store is not available");
      if (away_)
        ++refused_;
      else
        told_.push_back(std::move(command));
      changed_.notify_all();
    }
    if (reply) reply(std::move(answer));
  }

  // The n-th command of this kind for which `right` answers true.
  template <class C>
  std::optional<C> wait(
      const std::function<bool(const C&)>& right = [](const C&) { return true; }, int n = 1) {
    std::unique_lock lock(mutex_);
    std::optional<C> found;
    changed_.wait_for(lock, kPatience, [&] { return (found = find<C>(right, n)).has_value(); });
    return found;
  }
  template <class C>
  std::optional<C> of(const std::string& worker) {
    return wait<C>([&](const C& c) { return c.worker.str() == worker; });
  }
  template <class C>
  int count() {
    const std::lock_guard lock(mutex_);
    return static_cast<int>(
        std::count_if(told_.begin(), told_.end(), [](const auto& c) { return std::holds_alternative<C>(c); }));
  }
  // Until so many commands found no store.
  bool has_refused(int n) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, kPatience, [&] { return refused_ >= n; });
  }
  void set_away(bool is_away) {
    const std::lock_guard lock(mutex_);
    away_ = is_away;
  }
  void set_providers(std::vector<core::ProviderView> views) {
    const std::lock_guard lock(mutex_);
    providers_ = std::move(views);
  }

 private:
  template <class C>
  std::optional<C> find(const std::function<bool(const C&)>& right, int n) const {
    for (const core::Command& command : told_) {
      const auto* c = std::get_if<C>(&command);
      if (c != nullptr && right(*c) && --n == 0) return *c;
    }
    return std::nullopt;
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<core::Command> told_;
  std::vector<core::ProviderView> providers_;
  bool away_ = false;
  int refused_ = 0;
};

}  // namespace hodei::server
