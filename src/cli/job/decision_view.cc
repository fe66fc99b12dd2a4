// `hodei job explain`: prints a placement decision.
#include <map>

#include "src/base/counted.h"
#include "src/base/text.h"
#include "src/cli/job/job_view.h"
#include "src/cli/output/table.h"
#include "src/cli/terminal/exit_code.h"
#include "src/cli/text/quantities.h"

namespace hodei::cli {
namespace {

std::string number(double value) { return fmt::format("{:.1f}", value); }

std::string workers(int64_t n) { return counted(n, "worker"); }

std::string score_line(const v1::Score& score) {
  return cat("score ", number(score.total()), " = free capacity ", number(score.capacity()), " + low load ",
             number(score.load()), " + affinity ", number(score.affinity()), " + zone ", number(score.zone()),
             " + history ", number(score.history()));
}

std::string rejections(const v1::SchedulingDecision& decision) {
  std::map<std::string, int32_t> sorted(decision.rejected().begin(), decision.rejected().end());
  std::string out;
  for (const auto& [rule, count] : sorted) out += cat("  ", workers(count), " rejected by the rule `", rule, "`\n");
  return out;
}

std::string candidates(const v1::SchedulingDecision& decision, const ViewOptions& options) {
  if (decision.candidates().empty()) return {};
  Table table({"WORKER", "FITS", "RULE", "REASON", "SCORE"});
  for (const v1::Candidate& c : decision.candidates()) {
    table.add({c.worker_id(),
               {c.fits() ? "yes" : "no", c.fits() ? Colour::Green : Colour::Red},
               c.rule().empty() ? "-" : c.rule(),
               c.reason(),
               c.fits() ? number(c.score().total()) : std::string("-")});
  }
  return cat("\n", table.text(options.style, 2));
}

std::string providers(const v1::SchedulingDecision& decision, const ViewOptions& options) {
  if (decision.providers().empty()) return {};
  Table table({"PROVIDER", "CAN", "REASON", "START-UP"});
  for (const v1::ProviderCandidate& p : decision.providers()) {
    const std::string can = p.chosen() ? "yes, first" : p.fits() ? "yes" : "no";
    table.add({p.name(),
               {can, p.fits() ? Colour::Green : Colour::Red},
               p.reason().empty() ? std::string("-") : printable(p.reason()),
               human_duration(std::chrono::milliseconds(p.startup_ms()))});
  }
  return cat("\n", table.text(options.style, 2));
}

// What a waiting job could hope for.
std::string outlook(const v1::SchedulingDecision& decision) {
  if (!decision.provisioning().empty()) return {};
  if (decision.considered() > 0) return cat("  ", workers(decision.considered()), " looked at\n");
  if (!decision.providers().empty()) return "  no worker is connected\n";
  return "  no worker is connected; start one with `hodei agent` (see `hodei otp create`)\n";
}

}  // namespace

std::string waiting_text(const v1::SchedulingDecision& decision) {
  // A worker on its way is better news than that there is none.
  return printable(decision.provisioning().empty() ? decision.waiting_for() : decision.provisioning());
}

std::string decision_text(const v1::SchedulingDecision& d, const v1::Job& job, const ViewOptions& options) {
  const std::string id = job.short_id().empty() ? d.short_id() : job.short_id();
  const std::string state = v1::Job::State_Name(job.state());
  std::string out = cat("Job ", id, " is ", paint(state, colour_of_state(state), options.style.colours), ".\n");
  if (d.placed()) {
    out += cat("It was placed on worker ", d.worker_id(), " as ", d.execution_id());
    if (wall_time(d.at()).is_set()) out += cat(" at ", shown_time(wall_time(d.at()), options.style));
    out += cat(": the best of ", workers(d.considered()), ".\n");
    if (d.has_score()) out += cat("  ", score_line(d.score()), "\n");
  } else if (!has_ended(job.state())) {
    const std::string why = waiting_text(d);
    out += cat("It is waiting", why.empty() ? "" : cat(": ", why), ".\n");
    if (!d.unblock().empty()) out += cat("  What would help: ", printable(d.unblock()), ".\n");
    if (d.jobs_ahead() > 0)
      out += cat("  ", counted(d.jobs_ahead(), "older job"), " with the same priority ",
                 d.jobs_ahead() == 1 ? "is" : "are", " ahead of it\n");
    out += outlook(d);
  } else {
    out += "It was never placed.\n";
  }
  return out + rejections(d) + candidates(d, options) + providers(d, options);
}

std::string preview_text(const v1::SchedulingDecision& d, const ViewOptions& options) {
  std::string out = "Nothing was queued: this is a dry run.\n";
  if (d.placed()) {
    out += cat("The job would be placed on worker ", d.worker_id(), ": the best of ", workers(d.considered()), ".\n");
    if (d.has_score()) out += cat("  ", score_line(d.score()), "\n");
  } else {
    out += cat("The job would wait", d.waiting_for().empty() ? "" : cat(": ", printable(d.waiting_for())), ".\n");
    if (!d.unblock().empty()) out += cat("  What would help: ", printable(d.unblock()), ".\n");
    out += outlook(d);
  }
  return out + rejections(d) + candidates(d, options) + providers(d, options);
}

}  // namespace hodei::cli
