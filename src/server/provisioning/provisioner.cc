#include "src/server/provisioning/provisioner.h"

#include <algorithm>
#include <utility>
#include <variant>
#include <vector>

#include "src/base/journal.h"
#include "src/base/pause.h"
#include "src/base/status.h"

namespace hodei::server {
namespace {

constexpr Duration kLongestNap = 1s;  // what the engine could not take is said again after it

absl::Status no_such(const std::string& provider) {
  return absl::NotFoundError(cat("provider '", provider, "' does not exist; see `hodei provider list`"));
}

}  // namespace

Provisioner::Provisioner(EngineLine::Post post, const Clock& clock, ProvisionerSetup setup)
    : clock_(clock), line_(std::make_shared<EngineLine>(std::move(post))), adapters_(line_, clock, std::move(setup)) {}

void Provisioner::start(const std::string& server_address, OpenWorkerPort open_port) {
  adapters_.set_server_address(server_address, std::move(open_port));
  thread_ = std::thread([this] { run(); });
  providers_changed();
}

void Provisioner::stop() {
  {
    const std::lock_guard lock(mutex_);
    if (std::exchange(stopping_, true)) return;
  }
  wake_.notify_all();
  if (thread_.joinable()) thread_.join();
  adapters_.close(kStopPatience);
  line_->close();
}

void Provisioner::wake() {
  {
    const std::lock_guard lock(mutex_);
    woken_ = true;
  }
  wake_.notify_all();
}

void Provisioner::run() {
  MonoTime repeat_at = clock_.now().mono + kLongestNap;
  std::unique_lock lock(mutex_);
  while (!stopping_) {
    woken_ = false;
    const std::optional<ProviderAdapters::Rows> rows = std::exchange(news_, std::nullopt);
    const bool asks = std::exchange(ask_again_, false);
    lock.unlock();
    if (asks) providers_changed();
    if (rows) {
      adapters_.apply(*rows);
      grant_early();
    }
    const MonoTime now = clock_.now().mono;
    if (now >= repeat_at) {
      line_->repeat();
      repeat_at = now + kLongestNap;
    }
    const MonoTime next = adapters_.tick(now + kLongestNap);
    lock.lock();
    const Duration nap = std::max(Duration(0), next - clock_.now().mono);
    wake_.wait_for(lock, nap, [this] { return stopping_ || woken_ || news_; });
  }
}

void Provisioner::providers_changed() {
  line_->ask(core::Question(core::DescribeProviders{}), [this](absl::StatusOr<core::Reply> reply) {
    {
      const std::lock_guard lock(mutex_);
      ask_again_ = !reply.ok();
      if (reply.ok()) news_ = std::move(std::get<core::ProviderViews>(*reply).providers);
    }
    if (reply.ok()) wake_.notify_all();
  });
}

void Provisioner::grant_early() {
  for (const EarlyWishes::Wish& wish : early_.release()) {
    if (const auto* to_create = std::get_if<core::CreateWorker>(&wish)) create(*to_create);
    if (const auto* to_destroy = std::get_if<core::DestroyWorker>(&wish)) destroy(*to_destroy);
  }
}

void Provisioner::make_no_more() {
  for (const auto& one : adapters_.all()) one->workers().create_no_more();
}

bool Provisioner::end_all(Duration patience) {
  const auto give_up = deadline_in(patience);
  const std::vector<ProviderAdapters::AdapterPtr> all = adapters_.all();
  for (const auto& one : all) one->workers().destroy_all();
  bool nothing_left = true;
  for (const auto& one : all) nothing_left &= one->workers().wait_until_empty(give_up);
  return nothing_left;
}

void Provisioner::create(const core::CreateWorker& wish) {
  if (early_.keep(wish)) return;
  const core::WorkerInfo& info = wish.record->info;
  const std::string provider = info.made ? info.made->provider : info.provider;
  if (const auto adapter = adapters_.find(provider)) {
    adapter->workers().create(wish.record);
    return wake();
  }
  line_->tell(core::WorkerFailed{info.id, core::MakingFailure::Trouble, std::string(no_such(provider).message())});
}

void Provisioner::destroy(const core::DestroyWorker& wish) {
  if (early_.keep(wish)) return;
  if (const auto adapter = adapters_.find(wish.provider)) return adapter->workers().destroy(wish.worker, wish.handle);
  // A provider is not removed while it has workers; whoever took it out of the store took them too.
  journal(Level::Warn, "providers", "worker=", wish.worker.str(),
          " cannot be destroyed: ", std::string(no_such(wish.provider).message()));
  line_->tell(core::WorkerDestroyed{wish.worker});
}

void Provisioner::registered(const WorkerId& worker) {
  for (const auto& one : adapters_.all()) one->workers().registered(worker);
}

void Provisioner::check(const core::ProviderRow& row, std::function<void(const absl::Status&)> done) {
  adapters_.check(row, std::move(done));
}

void Provisioner::check_health(const std::string& name, ProviderHealth::HealthTo done) {
  if (const auto adapter = adapters_.find(name)) return adapter->health().check(std::move(done));
  done(no_such(name));
}

void Provisioner::worker_logs(const core::WorkerRecord& record, size_t tail, WorkerLooks::LogsTo done) {
  const std::optional<core::Made>& made = record.info.made;
  if (!made) {
    return done(absl::FailedPreconditionError(
        cat("worker '", record.info.id.str(), "' was started by hand; look for its log where it was started")));
  }
  if (const auto adapter = adapters_.find(made->provider))
    return adapter->looks().read_log(record.info.id, made->handle, tail, std::move(done));
  done(no_such(made->provider));
}

}  // namespace hodei::server
