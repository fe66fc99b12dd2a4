#include "src/server/provisioning/provisioner.h"

#include <algorithm>

#include "src/base/journal.h"
#include "src/base/pause.h"
#include "src/base/status.h"
#include "src/server/provisioning/worker_terms.h"

namespace hodei::server {
namespace {

constexpr Duration kLongestNap = 1s;  // what the engine could not take is said again after it

absl::Status no_such(const std::string& provider) {
  return absl::NotFoundError(cat("provider '", provider, "' does not exist; see `hodei provider list`"));
}

}  // namespace

Provisioner::Provisioner(EngineLine::Post post, const Clock& clock, ProvisionerSetup setup)
    : clock_(clock), setup_(std::move(setup)), line_(std::make_shared<EngineLine>(std::move(post))) {}

void Provisioner::start(const std::string& server_address, OpenDoor open_door) {
  {
    const std::lock_guard lock(mutex_);
    server_address_ = server_address;
    open_door_ = std::move(open_door);
  }
  clerk_ = std::thread([this] { run(); });
  providers_changed();
}

void Provisioner::stop() {
  {
    const std::lock_guard lock(mutex_);
    if (std::exchange(stopping_, true)) return;
  }
  wake_.notify_all();
  if (clerk_.joinable()) clerk_.join();
  std::vector<std::thread> closing;
  for (auto& [name, place] : places_) {
    closing.emplace_back([desk = place.desk] { desk->close(kStopPatience); });
  }
  for (std::thread& one : closing) one.join();
  checkers_.stop(kStopPatience);
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
    const std::optional<Rows> rows = std::exchange(news_, std::nullopt);
    const bool asks = std::exchange(ask_again_, false);
    lock.unlock();
    if (asks) providers_changed();
    if (rows) apply(*rows);
    const MonoTime now = clock_.now().mono;
    if (now >= repeat_at) {
      line_->repeat();
      repeat_at = now + kLongestNap;
    }
    MonoTime next = now + kLongestNap;
    for (const auto& [name, place] : places_)
      next = std::min(next, place.desk->tick());  // only this thread changes them
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

void Provisioner::apply(const Rows& rows) {
  drop_desks_not_in(rows);
  for (const core::ProviderView& view : rows) keep_desk(view);
  grant_early();
}

void Provisioner::drop_desks_not_in(const Rows& rows) {
  std::vector<std::shared_ptr<ProviderDesk>> gone;
  {
    const std::lock_guard lock(mutex_);
    for (auto it = places_.begin(); it != places_.end();) {
      const bool stays =
          std::any_of(rows.begin(), rows.end(), [&](const auto& view) { return view.provider.row.name == it->first; });
      if (!stays) gone.push_back(it->second.desk);
      it = stays ? std::next(it) : places_.erase(it);
    }
  }
  for (const auto& one : gone) one->close(Duration(0));
}

void Provisioner::keep_desk(const core::ProviderView& view) {
  const core::ProviderRow& row = view.provider.row;
  std::shared_ptr<ProviderDesk> known = desk(row.name);
  bool is_changed = true;
  {
    const std::lock_guard lock(mutex_);
    if (known != nullptr) {
      const core::ProviderRow& was = places_[row.name].row;
      is_changed = was.type != row.type || was.options != row.options;
    } else {
      known = std::make_shared<ProviderDesk>(row.name, line_, clock_, setup_.on_making);
    }
  }
  std::string address;
  OpenDoor open_door;
  {
    const std::lock_guard lock(mutex_);
    address = row.server_address.empty() ? server_address_ : row.server_address;
    // Workers that are sent elsewhere do not come to this machine's doors.
    if (row.server_address.empty()) open_door = open_door_;
  }
  known->set_server_address(address, std::move(open_door));
  if (is_changed) {
    absl::StatusOr<std::unique_ptr<providers::Provider>> made = setup_.make(config_of(row), setup_.installation);
    if (!made.ok())
      journal(Level::Error, "providers", "provider=", row.name,
              " cannot be used: ", std::string(made.status().message()));
    known->use(made.ok() ? absl::StatusOr<std::shared_ptr<providers::Provider>>(std::move(*made)) : made.status());
  } else if (!view.provider.seen) {
    known->look_at_everything();
  }
  const std::lock_guard lock(mutex_);
  places_[row.name] = {row, known};
}

void Provisioner::grant_early() {
  std::vector<Wish> wishes;
  {
    const std::lock_guard lock(mutex_);
    loaded_ = true;
    wishes.swap(early_);
  }
  for (const Wish& wish : wishes) {
    if (const auto* to_create = std::get_if<core::CreateWorker>(&wish)) create(*to_create);
    if (const auto* to_destroy = std::get_if<core::DestroyWorker>(&wish)) destroy(*to_destroy);
  }
}

std::shared_ptr<ProviderDesk> Provisioner::desk(const std::string& name) {
  const std::lock_guard lock(mutex_);
  const auto it = places_.find(name);
  return it == places_.end() ? nullptr : it->second.desk;
}

std::vector<std::shared_ptr<ProviderDesk>> Provisioner::desks() {
  std::vector<std::shared_ptr<ProviderDesk>> out;
  const std::lock_guard lock(mutex_);
  for (const auto& [name, place] : places_) out.push_back(place.desk);
  return out;
}

void Provisioner::make_no_more() {
  for (const auto& one : desks()) one->make_no_more();
}

bool Provisioner::end_all(Duration patience) {
  const auto give_up = deadline_in(patience);
  const std::vector<std::shared_ptr<ProviderDesk>> all = desks();
  for (const auto& one : all) one->end_all();
  bool nothing_left = true;
  for (const auto& one : all) nothing_left &= one->wait_until_empty(give_up);
  return nothing_left;
}

bool Provisioner::is_early(const Wish& wish) {
  const std::lock_guard lock(mutex_);
  if (loaded_) return false;
  if (early_.size() < kMaxEarly) early_.push_back(wish);
  return true;
}

void Provisioner::create(const core::CreateWorker& wish) {
  if (is_early(wish)) return;
  const core::WorkerInfo& info = wish.record->info;
  const std::string provider = info.made ? info.made->provider : info.provider;
  if (const auto maker = desk(provider)) {
    maker->create(wish.record);
    return wake();
  }
  line_->tell(core::WorkerFailed{info.id, core::MakingFailure::Trouble, std::string(no_such(provider).message())});
}

void Provisioner::destroy(const core::DestroyWorker& wish) {
  if (is_early(wish)) return;
  if (const auto ender = desk(wish.provider)) return ender->destroy(wish.worker, wish.handle);
  // A provider is not removed while it has workers; whoever took it out of the store took them too.
  journal(Level::Warn, "providers", "worker=", wish.worker.str(),
          " cannot be destroyed: ", std::string(no_such(wish.provider).message()));
  line_->tell(core::WorkerDestroyed{wish.worker});
}

void Provisioner::registered(const WorkerId& worker) {
  for (const auto& one : desks()) one->registered(worker);
}

void Provisioner::check(const core::ProviderRow& row, std::function<void(const absl::Status&)> done) {
  const auto look = [make = setup_.make, installation = setup_.installation, config = config_of(row), done] {
    done(make(config, installation).status());
  };
  if (!checkers_.add(look))
    done(absl::ResourceExhaustedError("too many provider checks are in progress; try again in a moment"));
}

void Provisioner::check_health(const std::string& name, ProviderDesk::HealthTo done) {
  if (const auto asked = desk(name)) return asked->check_health(std::move(done));
  done(no_such(name));
}

void Provisioner::worker_logs(const core::WorkerRecord& record, size_t tail, ProviderDesk::LogsTo done) {
  const std::optional<core::Made>& made = record.info.made;
  if (!made) {
    return done(absl::FailedPreconditionError(
        cat("worker '", record.info.id.str(), "' was started by hand; look for its log where it was started")));
  }
  if (const auto asked = desk(made->provider))
    return asked->worker_logs(record.info.id, made->handle, tail, std::move(done));
  done(no_such(made->provider));
}

}  // namespace hodei::server
