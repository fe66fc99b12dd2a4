#include "src/server/provisioning/making_reports.h"

#include <utility>

#include "src/base/journal.h"
#include "src/base/status.h"

namespace hodei::server {
namespace {

std::string seconds_text(Duration d) { return fmt::format("{:.3f} s", static_cast<double>(d.count()) / 1e6); }

}  // namespace

MakingReports::MakingReports(std::string name, std::shared_ptr<EngineLine> line, const Clock& clock, OnMaking on_making,
                             std::shared_ptr<ProviderHealth> health)
    : name_(std::move(name)),
      line_(std::move(line)),
      clock_(clock),
      on_making_(std::move(on_making)),
      health_(std::move(health)) {}

void MakingReports::count(MakingEvent::What what, Duration took) const {
  if (on_making_) on_making_({what, name_, took});
}

void MakingReports::made(const WorkerId& worker, const std::string& handle, MonoTime asked) const {
  const Duration took = clock_.now().mono - asked;
  journal(Level::Info, "providers", "made worker=", worker.str(), " provider=", name_, " ref=", handle, " in ",
          seconds_text(took));
  line_->tell(core::WorkerMade{worker, handle});
  count(MakingEvent::What::Made, took);
}

void MakingReports::still_there(const WorkerId& worker, const std::string& handle) const {
  line_->tell(core::WorkerMade{worker, handle});
}

void MakingReports::runs(const WorkerId& worker) const {
  journal(Level::Info, "providers", "running worker=", worker.str(), " provider=", name_);
  line_->tell(core::WorkerRuns{worker});
}

void MakingReports::held_up(const WorkerId& worker, const std::string& why) const {
  if (!why.empty()) {
    journal(Level::Info, "providers", "held up worker=", worker.str(), " provider=", name_, ": ", why);
  }
  line_->tell(core::WorkerHeldUp{worker, why});
}

void MakingReports::registered(const WorkerId& worker, MonoTime asked) const {
  const Duration took = clock_.now().mono - asked;
  journal(Level::Info, "providers", "registered worker=", worker.str(), " provider=", name_, " in ",
          seconds_text(took));
  count(MakingEvent::What::Registered, took);
}

void MakingReports::failed(const WorkerId& worker, MonoTime asked, core::MakingFailure kind,
                           const std::string& why) const {
  const Duration took = asked.is_set() ? clock_.now().mono - asked : Duration(0);
  journal(Level::Warn, "providers", "failed worker=", worker.str(), " provider=", name_, " after ", seconds_text(took),
          ": ", why);
  if (kind == core::MakingFailure::Trouble) health_->suspect();
  line_->tell(core::WorkerFailed{worker, kind, why});
  count(MakingEvent::What::Failed, took);
}

void MakingReports::ended(const WorkerId& worker, const std::string& why) const {
  journal(Level::Info, "providers", "ended worker=", worker.str(), " provider=", name_, ": ", why);
  line_->tell(core::WorkerFailed{worker, core::MakingFailure::Trouble, why});
}

void MakingReports::not_destroyed(const WorkerId& worker, uint32_t tries, const absl::Status& why) const {
  // A provider that is away for an hour is not worth a line every half minute.
  if (tries != 1 && tries % 10 != 0) return;
  journal(Level::Warn, "providers", "cannot destroy worker=", worker.str(), " provider=", name_, " attempt=", tries,
          ": ", std::string(why.message()));
}

void MakingReports::destroyed(const WorkerId& worker, MonoTime asked) const {
  journal(Level::Info, "providers", "destroyed worker=", worker.str(), " provider=", name_, " after ",
          seconds_text(clock_.now().mono - asked));
  line_->tell(core::WorkerDestroyed{worker});
  count(MakingEvent::What::Destroyed, clock_.now().mono - asked);
}

}  // namespace hodei::server
