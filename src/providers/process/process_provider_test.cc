// The process provider with real processes: the static worker where it is built, scripts where a fault is needed.
#include "src/providers/process/process_provider.h"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <mutex>
#include <sstream>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "src/base/pause.h"
#include "src/base/text.h"
#include "src/providers/conformance/suite.h"
#include "src/providers/process/process_look.h"
#include "src/providers/process/worker_record.h"

namespace hodei::providers::process_provider_test {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::Not;

constexpr Duration kPatience = 20s;

template <class Condition>
bool until(Condition condition) {
  const SystemClock clock;
  const MonoTime limit = clock.now().mono + kPatience;
  while (!condition()) {
    if (clock.now().mono > limit) return false;
    pause_for(2ms);  // ends of processes that are not ours give no sign
  }
  return true;
}

std::string text_of(const std::string& path) {
  std::ifstream in(path);
  std::stringstream out;
  out << in.rdbuf();
  return out.str();
}

class ProcessProviderTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = fs::temp_directory_path() / "process-provider-XXXXXX";
    ASSERT_NE(mkdtemp(pattern.data()), nullptr);
    root_ = pattern;
    installation_ = {.id = cat("test-", getpid()), .folder = root_ + "/data", .worker_binary = ""};
    spec_.worker_id = "w1";
    spec_.server_address = "127.0.0.1:1";
    spec_.token = "the-token";
  }
  void TearDown() override {
    if (provider_) {
      const std::vector<OwnedWorker> left = provider_->list_workers().value();
      for (const OwnedWorker& one : left) provider_->destroy_worker(one.handle).IgnoreError();
    }
    fs::remove_all(root_);
  }

  std::string script(const std::string& body) {
    const std::string path = cat(root_, "/script-", ++scripts_);
    std::ofstream(path) << "#!/bin/sh\n" << body;
    chmod(path.c_str(), 0755);
    return path;
  }
  Provider& use(const std::string& binary, StringMap options = {}) {
    options["binary"] = binary;
    provider_ = make_process_provider({.name = "here", .type = "process", .options = options}, installation_).value();
    return *provider_;
  }
  std::string folder(const std::string& id = "w1") const { return root_ + "/data/here/" + id; }
  WorkerPhase phase() { return provider_->worker_status({.worker_id = "w1", .id = {}}).value().phase; }
  std::string logs() { return provider_->worker_logs({.worker_id = "w1", .id = {}}, 100).value_or(""); }

  std::string root_;
  Installation installation_;
  WorkerSpec spec_;
  std::unique_ptr<Provider> provider_;
  int scripts_ = 0;
};

// What is really there: folders, and processes that carry the marks.
std::vector<std::string> really_there(const Installation& installation) {
  std::vector<std::string> out;
  std::error_code none;
  for (fs::directory_iterator it(installation.folder + "/suite", none), end; !none && it != end; it.increment(none)) {
    out.push_back(it->path().filename());
  }
  for (fs::directory_iterator it("/proc", none), end; !none && it != end; it.increment(none)) {
    const std::string environment = text_of(it->path() / "environ");
    const size_t at = environment.find("HODEI_WORKER_ID=");
    if (at == std::string::npos ||
        environment.find(cat("HODEI_WORKER_OWNER=", installation.id, "/")) == std::string::npos)
      continue;
    if (environment.find("HODEI_TOKEN=") == std::string::npos) continue;  // its agent: the same worker
    out.emplace_back(environment.c_str() + at + 16);
  }
  return out;
}

std::string real_worker() {
  const char* named = std::getenv("HODEI_TEST_WORKER");
  return named != nullptr ? named : HODEI_BUILD_DIR "/hodei-worker";
}

TEST_F(ProcessProviderTest, KeepsThePromisesOfProviders) {
  const std::string worker = real_worker();
  if (access(worker.c_str(), X_OK) != 0)
    GTEST_SKIP() << worker << " is not built; set HODEI_TEST_WORKER or build hodei-worker";
  SuiteSetup setup;
  setup.make = [](const Installation& installation) {
    return make_process_provider({.name = "suite", .type = "process", .options = {{"max_workers", "3"}}}, installation);
  };
  setup.installation = installation_;
  setup.installation.worker_binary = worker;
  setup.spec = spec_;
  setup.room = 3;
  setup.patience = kPatience;
  setup.outside = [&] { return really_there(setup.installation); };
  setup.crash = [](const WorkerHandle& handle) { kill(static_cast<pid_t>(std::stol(handle.id)), SIGKILL); };
  EXPECT_EQ(as_text(check_provider(setup)), "");
}

TEST_F(ProcessProviderTest, KillsEverythingThatAWorkerStarted) {
  // A child in another session, and one that has only the mark that the worker chose for its jobs.
  Provider& provider = use(
      script("mkdir -p $HODEI_STATE_DIR; echo job-mark-$$ > $HODEI_STATE_DIR/mark\n"
             "trap '' TERM\n"
             "setsid sh -c 'trap \"\" TERM; echo $$ > $HODEI_STATE_DIR/child; while :; do sleep 1000; done' &\n"
             "env -i HODEI_WORKER_MARK=job-mark-$$ setsid sh -c 'echo $$ > '$HODEI_STATE_DIR'/job; exec sleep 1000' &\n"
             "while :; do sleep 1000; done\n"),
      {{"grace", "10ms"}});
  const WorkerHandle made = provider.create_worker(spec_).value();
  const std::string state = folder() + "/state/";
  ASSERT_TRUE(until([&] { return !text_of(state + "child").empty() && !text_of(state + "job").empty(); }));
  std::vector<ProcessName> all = {name_of(std::stoi(made.id)), name_of(std::stoi(text_of(state + "child"))),
                                  name_of(std::stoi(text_of(state + "job")))};
  for (const ProcessName& each : all) ASSERT_EQ(state_of(each), ProcessState::Alive);
  ASSERT_TRUE(provider.destroy_worker(made).ok());
  for (const ProcessName& each : all) EXPECT_NE(state_of(each), ProcessState::Alive);
  EXPECT_FALSE(fs::exists(folder()));
}

TEST_F(ProcessProviderTest, RemovesTheControlGroupsOfAWorkerThatWasKilled) {
  const std::string worker = real_worker();
  if (access(worker.c_str(), X_OK) != 0)
    GTEST_SKIP() << worker << " is not built; set HODEI_TEST_WORKER or build hodei-worker";
  const WorkerHandle made = use(worker).create_worker(spec_).value();
  ASSERT_TRUE(until([&] { return logs().find("supervisor of w1 started") != std::string::npos; }));
  const std::string mark = WorkerFolder(folder()).mark();
  const auto groups = [&] {
    std::vector<std::string> out;
    for (const fs::directory_entry& each : fs::directory_iterator("/sys/fs/cgroup")) {
      for (const fs::path& path : {each.path() / mark, each.path() / "hodei" / mark}) {
        if (fs::exists(path)) out.push_back(path);
      }
    }
    return out;
  };
  if (mark.empty() || groups().empty()) GTEST_SKIP() << "workers make no control groups here: " << logs();
  kill(std::stoi(made.id), SIGKILL);
  ASSERT_TRUE(until([&] { return phase() == WorkerPhase::Ended; }));
  ASSERT_TRUE(provider_->destroy_worker(made).ok());
  EXPECT_THAT(groups(), testing::IsEmpty());
}

TEST_F(ProcessProviderTest, LetsAWorkerEndInGoodOrder) {
  Provider& provider =
      use(script("trap 'echo bye > " + root_ + "/bye; exit 0' TERM; echo up\nwhile :; do sleep 1 & wait; done\n"),
          {{"grace", "20s"}});
  const WorkerHandle made = provider.create_worker(spec_).value();
  ASSERT_TRUE(until([&] { return logs() == "up\n"; }));
  ASSERT_TRUE(provider.destroy_worker(made).ok());
  EXPECT_EQ(text_of(root_ + "/bye"), "bye\n");
}

TEST_F(ProcessProviderTest, FindsAWorkerWhoseServerDiedBeforeItWroteItDown) {
  Provider& provider = use(script("exec sleep 1000\n"));
  const WorkerHandle made = provider.create_worker(spec_).value();
  std::ofstream(folder() + "/record") << "boot " << boot_id() << "\n";
  use(script("exec sleep 1000\n"));
  const std::vector<OwnedWorker> all = provider_->list_workers().value();
  ASSERT_EQ(all.size(), 1u);
  EXPECT_EQ(all[0].handle, made);
  EXPECT_EQ(all[0].status.phase, WorkerPhase::Running);
  const ProcessName process = name_of(std::stoi(made.id));
  ASSERT_TRUE(provider_->destroy_worker({.worker_id = "w1", .id = {}}).ok());
  EXPECT_NE(state_of(process), ProcessState::Alive);
}

TEST_F(ProcessProviderTest, FindsTheFolderOfAWorkerThatWasNeverStarted) {
  use(script("exec sleep 1000\n"));
  for (const bool with_record : {true, false}) {
    fs::create_directories(folder());
    if (with_record) std::ofstream(folder() + "/record") << "boot " << boot_id() << "\n";
    const std::vector<OwnedWorker> all = provider_->list_workers().value();
    ASSERT_EQ(all.size(), 1u);
    EXPECT_EQ(all[0].status.phase, WorkerPhase::Ended);
    EXPECT_EQ(all[0].status.reason, "its process was never started");
    ASSERT_TRUE(provider_->destroy_worker(all[0].handle).ok());
    EXPECT_FALSE(fs::exists(folder()));
  }
}

TEST_F(ProcessProviderTest, NeverKillsAProcessThatWasGivenTheNumber) {
  use(script("exec sleep 1000\n"));
  pid_t stranger = 0;
  char name[] = "sleep", time[] = "1000";
  char* argv[] = {name, time, nullptr};
  ASSERT_EQ(posix_spawnp(&stranger, "sleep", nullptr, nullptr, argv, environ), 0);
  const ProcessName process = name_of(stranger);
  for (const std::string& record :
       {cat("boot ", boot_id(), "\npid ", stranger, "\nstarted ", process.started - 1, "\n"),
        cat("boot another\npid ", stranger, "\nstarted ", process.started, "\n")}) {
    fs::create_directories(folder());
    std::ofstream(folder() + "/record") << record;
    EXPECT_EQ(phase(), WorkerPhase::Ended);
    ASSERT_TRUE(provider_->destroy_worker({.worker_id = "w1", .id = std::to_string(stranger)}).ok());
    EXPECT_EQ(state_of(process), ProcessState::Alive);
    EXPECT_FALSE(fs::exists(folder()));
  }
  kill(stranger, SIGKILL);
  waitpid(stranger, nullptr, 0);
}

TEST_F(ProcessProviderTest, AWorkerOutlivesItsServer) {
  const std::string program = script("exec sleep 1000\n");
  const pid_t server = fork();
  if (server == 0) _exit(use(program).create_worker(spec_).ok() ? 0 : 1);
  int status = -1;
  ASSERT_EQ(waitpid(server, &status, 0), server);
  ASSERT_EQ(status, 0);
  use(program);
  EXPECT_EQ(phase(), WorkerPhase::Running);
  ASSERT_TRUE(provider_->destroy_worker({.worker_id = "w1", .id = {}}).ok());
  EXPECT_EQ(phase(), WorkerPhase::Gone);
}

TEST_F(ProcessProviderTest, LeavesNothingWhenItsServerIsKilledWhileItMakesWorkers) {
  const std::string program = script("exec sleep 1000\n");
  for (int round = 0; round < 20; ++round) {
    const pid_t server = fork();
    if (server == 0) {
      use(program);
      for (int n = 0;; ++n) {
        spec_.worker_id = cat("w", n);
        provider_->create_worker(spec_).IgnoreError();
      }
    }
    // The folder is there before the process is.
    EXPECT_TRUE(until([&] { return fs::exists(folder(cat("w", round % 5))); }));
    kill(server, SIGKILL);
    waitpid(server, nullptr, 0);
    use(program);
    const std::vector<OwnedWorker> left = provider_->list_workers().value();
    for (const OwnedWorker& one : left) EXPECT_TRUE(provider_->destroy_worker(one.handle).ok());
    EXPECT_TRUE(fs::is_empty(root_ + "/data/here"));
    EXPECT_THAT(marked_processes({{cat("HODEI_WORKER_OWNER=", installation_.id, "/here")}}), testing::IsEmpty())
        << round;
  }
}

TEST_F(ProcessProviderTest, TellsHowAWorkerEndedAndLeavesNoZombie) {
  Provider& provider = use(script("echo cannot go on; exit 3\n"));
  const WorkerHandle made = provider.create_worker(spec_).value();
  ASSERT_TRUE(until([&] { return phase() == WorkerPhase::Ended; }));
  EXPECT_EQ(provider.worker_status(made).value().reason,
            "its process ended with exit code 3; its log ends with: cannot go on");
  EXPECT_FALSE(fs::exists(cat("/proc/", made.id)));
  EXPECT_EQ(provider.create_worker(spec_).status().code(), absl::StatusCode::kUnavailable);
}

TEST_F(ProcessProviderTest, TellsAtOnceThatAWorkerEnded) {
  std::mutex mutex;
  std::vector<std::string> told;
  const auto tell = [&](const std::string& id) {
    const std::scoped_lock lock(mutex);
    told.push_back(id);
  };
  const auto was_told = [&](std::vector<std::string> what) {
    return until([&] {
      const std::scoped_lock lock(mutex);
      return told == what;
    });
  };
  const std::string program = script("exec sleep 1000\n");
  const WorkerHandle old = use(program).create_worker(spec_).value();
  use(program).watch(tell);  // as after a restart
  spec_.worker_id = "w2";
  const WorkerHandle fresh = provider_->create_worker(spec_).value();
  spec_.worker_id = "w3";
  const WorkerHandle destroyed = provider_->create_worker(spec_).value();
  ASSERT_TRUE(provider_->destroy_worker(destroyed).ok());
  kill(std::stoi(fresh.id), SIGKILL);
  EXPECT_TRUE(was_told({"w2"}));
  kill(std::stoi(old.id), SIGKILL);
  EXPECT_TRUE(was_told({"w2", "w1"}));
  provider_->unwatch();
  spec_.worker_id = "w4";
  EXPECT_TRUE(provider_->create_worker(spec_).ok());
}

TEST_F(ProcessProviderTest, PassesOnNoSecretAndNoFileOfTheServer) {
  setenv("HODEI_TOKEN", "admins-token", 1);
  setenv("HODEI_SECRET_KEY", "key", 1);
  setenv("DATABASE_URL", "postgres://user:password@host", 1);
  setenv("HODEI_LOG_LEVEL", "debug", 1);
  const int leaky = fcntl(0, F_DUPFD, 77);  // without O_CLOEXEC, as a library may do
  use(script("env; ls -l /proc/$$/fd; echo end\nexec sleep 1000\n"));
  ASSERT_TRUE(provider_->create_worker(spec_).ok());
  ASSERT_TRUE(until([&] { return logs().ends_with("end\n"); }));
  close(leaky);
  for (const char* name : {"HODEI_TOKEN", "HODEI_SECRET_KEY", "DATABASE_URL", "HODEI_LOG_LEVEL"}) unsetenv(name);
  EXPECT_THAT(logs(), HasSubstr("HODEI_TOKEN=the-token\n"));
  EXPECT_THAT(logs(), HasSubstr("HODEI_WORKER_ID=w1\n"));
  EXPECT_THAT(logs(), HasSubstr("HODEI_LOG_LEVEL=debug\n"));
  EXPECT_THAT(logs(), Not(HasSubstr("admins-token")));
  EXPECT_THAT(logs(), Not(HasSubstr("HODEI_SECRET_KEY")));
  EXPECT_THAT(logs(), Not(HasSubstr("password")));
  EXPECT_THAT(logs(), Not(HasSubstr(cat(" ", leaky, " -> "))));
}

TEST_F(ProcessProviderTest, SaysWhatItCannotDo) {
  const auto made = [&](StringMap options) {
    return make_process_provider({.name = "here", .type = "process", .options = options}, installation_);
  };
  EXPECT_THAT(made({{"binary", "x"}}).status().message(),
              HasSubstr("option binary of provider here: must be an absolute path"));
  EXPECT_THAT(made({{"max_worker", "1"}}).status().message(), HasSubstr("the options are binary, grace, max_workers"));
  EXPECT_THAT(made({{"max_workers", "0"}}).status().message(), HasSubstr("'0' is not a number from 1"));
  EXPECT_THAT(made({{"grace", "soon"}}).status().message(), HasSubstr("'soon' is not a time"));

  use("/not/there");
  EXPECT_EQ(provider_->create_worker(spec_).status().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(provider_->list_workers().value().size(), 0u);
  EXPECT_EQ(provider_->health_check().state, HealthState::Unhealthy);
  use(script("exec sleep 1000\n"));
  for (const char* id : {"", "..", "a/b", "."}) {
    spec_.worker_id = id;
    EXPECT_EQ(provider_->create_worker(spec_).status().code(), absl::StatusCode::kInvalidArgument) << id;
    EXPECT_EQ(provider_->worker_status({.worker_id = id, .id = {}}).value().phase, WorkerPhase::Gone) << id;
    EXPECT_TRUE(provider_->destroy_worker({.worker_id = id, .id = {}}).ok()) << id;
  }
  spec_.worker_id = "w1";
  spec_.gpus = 1;
  EXPECT_THAT(provider_->create_worker(spec_).status().message(), HasSubstr("gpus: "));
}

}  // namespace
}  // namespace hodei::providers::process_provider_test
