#include "src/providers/conformance/suite.h"

#include <algorithm>
#include <atomic>
#include <thread>

#include "src/base/pause.h"
#include "src/providers/conformance/probe.h"

namespace hodei::providers {
namespace {

constexpr Duration kBetweenStatusCalls = 5ms;
constexpr uint32_t kMostThreads = 16;
constexpr const char* kUnknownWorker = "never-was";

bool will_not_work(absl::StatusCode code) {
  return code == absl::StatusCode::kInvalidArgument || code == absl::StatusCode::kNotFound ||
         code == absl::StatusCode::kFailedPrecondition;
}

void says_what_it_can(Probe& probe) {
  const Capabilities can = probe.provider()->capabilities();
  if (can.max_workers != probe.setup().room && probe.setup().room != 0) {
    probe.wrong("capabilities say ", can.max_workers, " workers at once, it was told ", probe.setup().room);
  }
  if (probe.provider()->estimated_startup_time() <= Duration(0)) probe.wrong("estimated_startup_time is not positive");
}

void is_healthy(Probe& probe) {
  const Health health = probe.provider()->health_check();
  if (health.state != HealthState::Healthy) {
    probe.wrong("health_check says ", static_cast<int>(health.state), " (", health.reason, "), expected Healthy");
  }
}

void makes_a_worker_that_runs(Probe& probe) {
  const WorkerSpec spec = probe.spec();
  const std::optional<WorkerHandle> made = probe.create(spec);
  if (!made || !probe.runs(*made)) return;
  probe.expect_listed(spec.worker_id, "it runs");
}

void makes_no_second_one(Probe& probe) {
  const WorkerSpec spec = probe.spec();
  const std::optional<WorkerHandle> first = probe.create(spec);
  if (!first || !probe.runs(*first)) return;
  const std::optional<WorkerHandle> second = probe.create(spec);
  if (second && *second != *first) {
    probe.wrong("create_worker answered '", first->id, "', and for the same worker again '", second->id, "'");
  }
  probe.runs(*first);
  probe.expect_listed(spec.worker_id, "it was created twice");
}

void makes_one_when_asked_at_once(Probe& probe) {
  const WorkerSpec spec = probe.spec();
  std::optional<WorkerHandle> answers[4];
  std::vector<std::thread> threads;
  for (auto& answer : answers) threads.emplace_back([&] { answer = probe.create(spec); });
  for (std::thread& thread : threads) thread.join();
  for (const auto& answer : answers) {
    if (answer && answers[0] && *answer != *answers[0]) {
      probe.wrong("four threads asked for one worker and were given '", answers[0]->id, "' and '", answer->id, "'");
    }
  }
  if (answers[0]) probe.runs(*answers[0]);
  probe.expect_listed(spec.worker_id, "it was created by four threads at once");
}

void knows_what_it_never_made(Probe& probe) {
  for (const WorkerHandle& handle : {WorkerHandle{kUnknownWorker, ""}, WorkerHandle{kUnknownWorker, "not-an-id"}}) {
    const std::optional<WorkerStatus> now = probe.status(handle);
    if (now && now->phase != WorkerPhase::Gone)
      probe.wrong("a worker that never was is ", name(now->phase), ", expected Gone");
    probe.destroy(handle);
  }
}

void lists_what_it_made(Probe& probe) {
  const int count = probe.setup().room == 1 ? 1 : 2;
  std::vector<WorkerHandle> made;
  for (int n = 1; n <= count; ++n) {
    if (const auto one = probe.create(probe.spec(n))) made.push_back(*one);
  }
  for (const WorkerHandle& handle : made) probe.runs(handle);
  const std::vector<OwnedWorker> all = probe.list();
  for (const OwnedWorker& one : all) {
    const bool ours = std::any_of(made.begin(), made.end(), [&](const WorkerHandle& h) { return h == one.handle; });
    if (!ours)
      probe.wrong("list_workers shows ", one.handle.worker_id, " (", one.handle.id, "), which was not made now");
    if (ours && one.status.phase != WorkerPhase::Running) {
      probe.wrong("list_workers says that ", one.handle.worker_id, " is ", name(one.status.phase),
                  ", its status says Running");
    }
  }
  for (const WorkerHandle& handle : made) probe.expect_listed(handle.worker_id, "it was made and runs");
}

void finds_it_after_a_restart(Probe& probe) {
  const WorkerSpec spec = probe.spec();
  const std::optional<WorkerHandle> made = probe.create(spec);
  if (!made || !probe.runs(*made)) return;
  probe.restart();
  if (probe.provider() == nullptr) return;
  probe.expect_listed(spec.worker_id, "the server was restarted");
  probe.runs(*made);
  probe.runs({.worker_id = spec.worker_id, .id = {}});
  const std::optional<WorkerHandle> again = probe.create(spec);
  if (again && *again != *made)
    probe.wrong("after a restart the handle is '", again->id, "', before it was '", made->id, "'");
  if (probe.destroy(*made)) probe.expect_nothing_of(spec.worker_id, "it was destroyed after a restart");
}

void leaves_other_installations_alone(Probe& probe) {
  const WorkerSpec spec = probe.spec();
  const std::optional<WorkerHandle> made = probe.create(spec);
  if (!made || !probe.runs(*made)) return;
  Installation other = probe.setup().installation;
  other.id += "-other";
  other.folder += "-other";
  const std::unique_ptr<Provider> stranger = probe.make(other);
  if (stranger == nullptr) return;
  const absl::StatusOr<std::vector<OwnedWorker>> seen = stranger->list_workers();
  if (!seen.ok()) probe.wrong("list_workers of another installation: ", seen.status().ToString());
  if (seen.ok()) {
    for (const OwnedWorker& one : *seen) {
      if (one.handle.worker_id == spec.worker_id) probe.wrong("another installation sees ", spec.worker_id);
    }
  }
  // What it answers is its own affair; what counts is that nothing happens to a worker of ours.
  stranger->destroy_worker(*made).IgnoreError();
  stranger->destroy_worker({.worker_id = spec.worker_id, .id = {}}).IgnoreError();
  const std::optional<WorkerStatus> now = probe.status(*made);
  if (now && now->phase != WorkerPhase::Running) {
    probe.wrong("another installation destroyed ", spec.worker_id, ": it is ", name(now->phase));
  }
  probe.expect_listed(spec.worker_id, "another installation tried to destroy it");
}

void destroys_all_of_it(Probe& probe) {
  const WorkerSpec spec = probe.spec();
  const std::optional<WorkerHandle> made = probe.create(spec);
  if (!made || !probe.runs(*made)) return;
  if (!probe.destroy(*made)) return;
  const std::optional<WorkerStatus> now = probe.status(*made);
  if (now && now->phase != WorkerPhase::Gone) probe.wrong("after destroy it is ", name(now->phase), ", expected Gone");
  probe.expect_nothing_of(spec.worker_id, "it was destroyed");
  if (!probe.destroy(*made)) probe.wrong("the second destroy is not OK");
}

void destroys_by_worker_id(Probe& probe) {
  const WorkerSpec spec = probe.spec();
  const std::optional<WorkerHandle> made = probe.create(spec);
  if (!made || !probe.runs(*made)) return;
  if (probe.destroy({.worker_id = spec.worker_id, .id = {}})) {
    probe.expect_nothing_of(spec.worker_id, "it was destroyed by its worker id alone");
  }
}

void destroys_what_just_began(Probe& probe) {
  const WorkerSpec spec = probe.spec();
  const std::optional<WorkerHandle> made = probe.create(spec);
  if (made && probe.destroy(*made)) probe.expect_nothing_of(spec.worker_id, "it was destroyed right after create");
}

void shows_logs(Probe& probe) {
  const std::optional<WorkerHandle> made = probe.create(probe.spec());
  if (!made || !probe.runs(*made)) return;
  for (const size_t tail : {size_t{1000}, size_t{1}}) {
    const absl::StatusOr<std::string> text = probe.provider()->worker_logs(*made, tail);
    if (!text.ok()) {
      probe.wrong("worker_logs: ", text.status().ToString());
      return;
    }
    probe.expect_no_token(*text, "the worker's logs");
    const auto lines = std::count(text->begin(), text->end(), '\n') + (text->empty() || text->back() == '\n' ? 0 : 1);
    if (static_cast<size_t>(lines) > tail) probe.wrong("worker_logs gave ", lines, " lines, ", tail, " were asked for");
  }
}

void tells_when_it_ended(Probe& probe) {
  if (!probe.setup().crash) return;
  const WorkerSpec spec = probe.spec();
  const std::optional<WorkerHandle> made = probe.create(spec);
  if (!made || !probe.runs(*made)) return;
  probe.setup().crash(*made);
  if (!probe.reaches(*made, {WorkerPhase::Ended, WorkerPhase::Gone}))
    probe.wrong("(it was killed behind the provider's back)");
  if (probe.destroy(*made)) probe.expect_nothing_of(spec.worker_id, "it had ended by itself and was destroyed");
}

uint32_t alive(const std::vector<OwnedWorker>& all) {
  return static_cast<uint32_t>(std::count_if(
      all.begin(), all.end(), [](const OwnedWorker& one) { return one.status.phase != WorkerPhase::Gone; }));
}

// One refusal or success of create_worker under the limit. True: it was made.
bool create_within_room(Probe& probe, const WorkerSpec& spec) {
  const absl::StatusOr<WorkerHandle> made = probe.provider()->create_worker(spec);
  if (!made.ok() && made.status().code() != absl::StatusCode::kResourceExhausted) {
    probe.wrong("create_worker without room: ", made.status().ToString(), ", expected RESOURCE_EXHAUSTED");
  }
  const uint32_t there = alive(probe.list());
  if (there > probe.setup().room) probe.wrong(there, " workers are there, ", probe.setup().room, " are allowed");
  if (const auto& outside = probe.setup().outside) {
    std::set<std::string> really;
    for (const std::string& thing : outside()) really.insert(thing);
    if (really.size() > probe.setup().room)
      probe.wrong(really.size(), " are really there, ", probe.setup().room, " are allowed");
  }
  return made.ok();
}

void keeps_to_its_room(Probe& probe) {
  const uint32_t room = probe.setup().room;
  if (room == 0) return;
  const uint32_t wanted = room * 2 + 3;
  std::vector<WorkerSpec> specs;
  for (uint32_t n = 1; n <= wanted; ++n) specs.push_back(probe.spec(static_cast<int>(n)));
  std::atomic<uint32_t> next = 0, made = 0;
  std::vector<std::thread> threads;
  for (uint32_t n = 0; n < std::min(wanted, kMostThreads); ++n) {
    threads.emplace_back([&] {
      for (uint32_t mine = next++; mine < wanted; mine = next++) made += create_within_room(probe, specs[mine]) ? 1 : 0;
    });
  }
  for (std::thread& thread : threads) thread.join();
  if (made != room) probe.wrong(wanted, " were asked for, ", made.load(), " made, ", room, " are allowed");
  // Room that was given back can be taken again.
  const std::vector<OwnedWorker> full = probe.list();
  if (!full.empty() && probe.destroy(full.front().handle)) {
    if (!create_within_room(probe, probe.spec(static_cast<int>(wanted) + 1)))
      probe.wrong("a destroyed worker's room stays taken");
  }
  for (const OwnedWorker& one : probe.list()) {
    if (probe.destroy(one.handle)) probe.expect_nothing_of(one.handle.worker_id, "it was one of many");
  }
}

void refuses_a_missing_image(Probe& probe) {
  WorkerSpec spec = probe.spec();
  spec.image = probe.setup().missing_image;
  const absl::StatusOr<WorkerHandle> made = probe.provider()->create_worker(spec);
  if (!made.ok()) {
    probe.expect_no_token(made.status().ToString(), "the error");
    if (!will_not_work(made.status().code())) {
      probe.wrong("an image that does not exist gives ", made.status().ToString(),
                  ", expected INVALID_ARGUMENT, NOT_FOUND or FAILED_PRECONDITION");
    }
    probe.expect_nothing_of(spec.worker_id, "create_worker refused it");
    return;
  }
  const SystemClock clock;
  const MonoTime limit = clock.now().mono + probe.setup().patience;
  std::optional<WorkerStatus> now = probe.status(*made);
  while (now && !now->hopeless && now->phase == WorkerPhase::Starting && clock.now().mono < limit) {
    pause_for(kBetweenStatusCalls);
    now = probe.status(*made);
  }
  if (now && !now->hopeless)
    probe.wrong("a worker of an image that does not exist is ", name(now->phase), " and not hopeless");
  if (now && now->hopeless && now->reason.empty()) probe.wrong("it is hopeless and does not say why");
  if (probe.destroy(*made)) probe.expect_nothing_of(spec.worker_id, "its image does not exist and it was destroyed");
}

struct Check {
  const char* name;
  void (*run)(Probe& probe);
};

constexpr Check kChecks[] = {
    {"says what it can", says_what_it_can},
    {"is healthy", is_healthy},
    {"makes a worker that runs", makes_a_worker_that_runs},
    {"makes no second one for the same id", makes_no_second_one},
    {"makes one when asked at once", makes_one_when_asked_at_once},
    {"knows what it never made", knows_what_it_never_made},
    {"lists what it made", lists_what_it_made},
    {"finds it after a restart", finds_it_after_a_restart},
    {"leaves other installations alone", leaves_other_installations_alone},
    {"destroys all of it", destroys_all_of_it},
    {"destroys by worker id", destroys_by_worker_id},
    {"destroys what just began", destroys_what_just_began},
    {"shows logs", shows_logs},
    {"tells when it ended", tells_when_it_ended},
    {"keeps to its room", keeps_to_its_room},
    {"refuses a missing image", refuses_a_missing_image},
};

}  // namespace

std::vector<std::string> suite_checks() {
  std::vector<std::string> out;
  for (const Check& check : kChecks) out.emplace_back(check.name);
  return out;
}

std::vector<Finding> check_provider(const SuiteSetup& setup, const CheckReport& report) {
  std::vector<Finding> all;
  int number = 0;
  for (const Check& check : kChecks) {
    Probe probe(setup, check.name, ++number);
    if (probe.provider() != nullptr) check.run(probe);
    const std::vector<Finding> found = probe.finish();
    if (report) report(check.name, found);
    all.insert(all.end(), found.begin(), found.end());
  }
  return all;
}

std::string as_text(const std::vector<Finding>& findings) {
  std::string out;
  for (const Finding& finding : findings) out += cat(finding.check, ": ", finding.what, "\n");
  return out;
}

}  // namespace hodei::providers
