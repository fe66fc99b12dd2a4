#include "src/worker/supervisor/spawn.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <filesystem>
#include <fstream>
#include <iterator>

#include "gtest/gtest.h"
#include "src/base/text.h"
#include "src/worker/limits/enclosure.h"
#include "src/worker/limits/orphans.h"
#include "src/worker/supervisor/secret_files.h"
#include "src/worker/supervisor/work_folder.h"
#include "src/worker/system/process_table.h"

namespace hodei::worker::spawn_test {
namespace {

std::string temp_folder() {
  char name[] = "/tmp/hodei-spawn-XXXXXX";
  return mkdtemp(name);
}

// Reads until the end of the pipe.
std::string drain(int fd) {
  std::string all;
  char buffer[4096];
  pollfd ready{fd, POLLIN, 0};
  while (poll(&ready, 1, 10'000) == 1) {
    const ssize_t got = read(fd, buffer, sizeof(buffer));
    if (got <= 0) break;
    all.append(buffer, static_cast<size_t>(got));
  }
  return all;
}

enum class Kind { V2, V1, Marks };

// Each test runs once per kind of enclosure that this machine has.
class SpawnTest : public testing::TestWithParam<Kind> {
 protected:
  void SetUp() override {
    mkfifo((folder + "/go").c_str(), 0600);
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    const EnclosureOptions options{.mark = mark};
    switch (GetParam()) {
      case Kind::V2: enclosures = make_cgroup_v2(options); break;
      case Kind::V1: enclosures = make_cgroup_v1(options); break;
      case Kind::Marks: enclosures = make_marked_trees(options); break;
    }
    if (!enclosures) GTEST_SKIP() << "this machine has no such cgroups";
    enclosure = enclosures->make().value();
    enclosure->assign(execution);
    work = WorkFolders::make(folder + "/work").value().next().value();
  }
  void TearDown() override {
    if (enclosures) enclosures->remove_all();
    std::filesystem::remove_all(folder);
  }

  Program a_program(std::vector<std::string> argv) {
    return {.argv = std::move(argv), .env = {"PATH=/usr/bin:/bin", cat(kExecutionVariable, "=", to_string(execution))}};
  }
  SpawnResult run(const Program& program) {
    SpawnResult result = spawn(
        program, {.folder = work->path(), .working_dir = work->cwd(), .enclosure = enclosure.get(), .mark = mark});
    if (auto* spawned = std::get_if<Spawned>(&result)) enclosure->entered(main_pid = spawned->pid);
    return result;
  }
  void reap_all() {
    pid_t pid = 0;
    while ((pid = waitpid(-1, nullptr, WNOHANG)) > 0) {
      if (pid == main_pid) enclosure->main_ended();
    }
  }
  // What a job of root can do to be counted elsewhere.
  std::string leave_cgroup() const {
    const std::string all = enclosures->cgroup();
    const size_t own = all.find("/hodei/");
    return own == std::string::npos ? std::string() : cat("echo 0 > ", all.substr(0, own), "/cgroup.procs; ");
  }
  static std::string first_line(int fd) {
    std::string line;
    pollfd ready{fd, POLLIN, 0};
    char c = 0;
    while (poll(&ready, 1, 10'000) == 1 && read(fd, &c, 1) == 1 && c != '\n') line.push_back(c);
    return line;
  }
  int wait_for(pid_t pid) {
    int status = 0;
    EXPECT_EQ(waitpid(pid, &status, 0), pid);
    enclosure->main_ended();
    return status;
  }
  bool becomes_empty() {
    const auto deadline = std::chrono::steady_clock::now() + 10s;
    while (std::chrono::steady_clock::now() < deadline) {
      reap_all();
      if (enclosure->is_empty()) return true;
      enclosure->kill();
      poll(nullptr, 0, 1);
    }
    return false;
  }

  const ExecutionId execution{JobId{77}, 1};
  const std::string mark = "test" + std::to_string(getpid());
  const std::string folder = temp_folder();
  std::unique_ptr<Enclosures> enclosures;
  std::unique_ptr<Enclosure> enclosure;
  std::unique_ptr<WorkFolder> work;
  pid_t main_pid = 0;
};

TEST_P(SpawnTest, RunsAProgramWithItsEnvironmentFolderAndPipes) {
  Program program = a_program({"sh", "-c", "pwd; echo $A $HODEI_WORKER_MARK; cat; echo bad >&2; exit 3"});
  program.env.push_back("A=hello");
  SpawnResult result = run(program);
  auto& spawned = std::get<Spawned>(result);
  EXPECT_EQ(drain(spawned.out.get()), work->cwd() + "\nhello " + mark + "\n");
  EXPECT_EQ(drain(spawned.err.get()), "bad\n");
  EXPECT_EQ(WEXITSTATUS(wait_for(spawned.pid)), 3);
  EXPECT_TRUE(becomes_empty());
  EXPECT_TRUE(work->is_untouched());
}

TEST_P(SpawnTest, TakesOverNoneOfTheManyDescriptorsOfItsParent) {
  std::vector<Fd> many;
  for (int i = 0; i < 100; ++i) many.emplace_back(fcntl(STDIN_FILENO, F_DUPFD, 500));  // not even closed on exec
  SpawnResult result = run(a_program({"ls", "/proc/self/fd"}));
  auto& spawned = std::get<Spawned>(result);
  EXPECT_EQ(drain(spawned.out.get()), "0\n1\n2\n3\n");  // the last is the folder that it lists
  wait_for(spawned.pid);
  for (const Fd& fd : many) EXPECT_NE(fcntl(fd.get(), F_GETFD), -1) << "the parent keeps its own";
}

TEST_P(SpawnTest, NothingOfATreeThatHidesSurvives) {
  // A daemon in its own session, one that ignores SIGTERM, one with a wiped environment but living parents.
  const Program program = a_program({"sh", "-c",
                                     "setsid sh -c 'trap \"\" TERM; sleep 1000 & sleep 1000' & "
                                     "(setsid sh -c 'setsid sleep 1000 & exit 0' &) ; "
                                     "sh -c 'trap \"\" TERM; echo ready; while :; do sleep 1000; done' & exit 0"});
  SpawnResult result = run(program);
  auto& spawned = std::get<Spawned>(result);
  char ready[16];
  pollfd output{spawned.out.get(), POLLIN, 0};
  ASSERT_EQ(poll(&output, 1, 10'000), 1);
  ASSERT_GT(read(spawned.out.get(), ready, sizeof(ready)), 0);
  wait_for(spawned.pid);
  enclosure->terminate();
  EXPECT_FALSE(enclosure->is_empty());
  enclosure->kill();
  EXPECT_TRUE(becomes_empty());
  EXPECT_EQ(kill_marked(mark), 0);
}

TEST_P(SpawnTest, AMainProcessThatLeavesItsCgroupIsStillKilled) {
  SpawnResult result = run(a_program({"sh", "-c", leave_cgroup() + "echo ready; exec sleep 1000"}));
  auto& spawned = std::get<Spawned>(result);
  ASSERT_EQ(first_line(spawned.out.get()), "ready");
  EXPECT_FALSE(enclosure->is_empty());
  enclosure->kill();
  EXPECT_EQ(WTERMSIG(wait_for(spawned.pid)), SIGKILL);
  EXPECT_TRUE(becomes_empty());
}

// Another cgroup, another session, no environment, and its parents are gone: only its ancestors tell whose it is.
TEST_P(SpawnTest, AProcessThatLeftEverythingIsFoundByItsAncestors) {
  const std::string flee = leave_cgroup() + "env -i setsid sh -c 'sleep 1000 & echo \\$!'";
  SpawnResult result = run(a_program({"sh", "-c", "(sh -c \"" + flee + "\" &); read x < " + folder + "/go; exit 0"}));
  auto& spawned = std::get<Spawned>(result);
  const pid_t runaway = std::stoi(first_line(spawned.out.get()));
  const auto parent_of = [](pid_t pid) { return state_of(pid) ? state_of(pid)->parent : 0; };
  for (int look = 0; look < 5000 && parent_of(runaway) != spawned.pid; ++look) poll(nullptr, 0, 2);
  EXPECT_EQ(parent_of(runaway), spawned.pid) << "the main process takes in what its descendants leave behind";
  std::ofstream(folder + "/go") << "go\n";
  wait_for(spawned.pid);
  EXPECT_FALSE(enclosure->is_empty());
  EXPECT_TRUE(becomes_empty());
  EXPECT_FALSE(state_of(runaway).has_value() && !state_of(runaway)->zombie);
}

TEST_P(SpawnTest, AnotherJobsProcessesAreNoOrphans) {
  auto other = enclosures->make().value();
  other->assign({JobId{78}, 1});
  Program program = a_program({"sh", "-c", "(env -i setsid sleep 1000 &); sleep 1000 & echo ready; wait"});
  SpawnResult result =
      spawn(program, {.folder = work->path(), .working_dir = work->cwd(), .enclosure = other.get(), .mark = mark});
  auto& neighbour = std::get<Spawned>(result);
  other->entered(neighbour.pid);
  ASSERT_EQ(first_line(neighbour.out.get()), "ready");
  SpawnResult ended = run(a_program({"true"}));
  wait_for(std::get<Spawned>(ended).pid);
  enclosure->kill();
  EXPECT_TRUE(becomes_empty());
  EXPECT_EQ(with_descendants({neighbour.pid}, all_processes()).size(), 3u) << "a shell and two that sleep";
  main_pid = 0;
  other->kill();
  EXPECT_EQ(waitpid(neighbour.pid, nullptr, 0), neighbour.pid);
  other->main_ended();
  for (int look = 0; look < 5000 && !other->is_empty(); ++look) {
    other->kill();
    reap_all();
    poll(nullptr, 0, 1);
  }
  EXPECT_TRUE(other->is_empty());
}

TEST_P(SpawnTest, AnAgentEndsAllDescendantsOfAHungSupervisorButItself) {
  SpawnResult result =
      run(a_program({"sh", "-c", leave_cgroup() + "(env -i setsid sleep 1000 &); sleep 1000 & echo ready; wait"}));
  auto& spawned = std::get<Spawned>(result);
  ASSERT_EQ(first_line(spawned.out.get()), "ready");
  const pid_t agent = fork();
  if (agent == 0) _exit(kill_descendants(getppid(), getpid()) >= 3 ? 0 : 1);
  int status = 0;
  ASSERT_EQ(waitpid(agent, &status, 0), agent);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(WTERMSIG(wait_for(spawned.pid)), SIGKILL);
  EXPECT_TRUE(becomes_empty());
}

TEST_P(SpawnTest, ASuccessorKillsWhatItsPredecessorLeft) {
  SpawnResult result = run(a_program({"sh", "-c", "setsid sleep 1000 & echo ready; sleep 1000"}));
  auto& spawned = std::get<Spawned>(result);
  char ready[16];
  pollfd output{spawned.out.get(), POLLIN, 0};
  ASSERT_EQ(poll(&output, 1, 10'000), 1);
  ASSERT_GT(read(spawned.out.get(), ready, sizeof(ready)), 0);
  const auto killed = enclosures->kill_leftovers();
  ASSERT_TRUE(killed.ok()) << killed.status();
  EXPECT_GE(*killed, 2);
  reap_all();
  EXPECT_EQ(kill_marked(mark), 0);
}

TEST_P(SpawnTest, SaysWhyAProgramCannotBeStarted) {
  const Exit missing = std::get<Exit>(run(a_program({"no-such-program-here"})));
  EXPECT_EQ(missing.failure, "command_not_found");
  EXPECT_EQ(missing.exit_code, 127);
  EXPECT_NE(missing.message.find("no-such-program-here"), std::string::npos);

  EXPECT_EQ(std::get<Exit>(run(a_program({"/no/such/path"}))).failure, "command_not_found");

  const std::string plain = folder + "/plain";
  std::ofstream(plain) << "text";
  const Exit forbidden = std::get<Exit>(run(a_program({plain})));
  EXPECT_EQ(forbidden.failure, "permission_denied");
  EXPECT_EQ(forbidden.exit_code, 126);

  Program nowhere = a_program({"true"});
  nowhere.working_dir = "/no/such/folder";
  const Exit lost = std::get<Exit>(run(nowhere));
  EXPECT_EQ(lost.failure, "spawn_failed");
  EXPECT_NE(lost.message.find("/no/such/folder"), std::string::npos);

  Program impossible = a_program({"true"});
  impossible.impossible = "the spec makes no sense";
  EXPECT_EQ(std::get<Exit>(run(impossible)).message, "the spec makes no sense");
  reap_all();
}

TEST_P(SpawnTest, WhatTheMachineLacksIsNotTheJobsFault) {
  rlimit before{};
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &before), 0);
  const rlimit none{.rlim_cur = 0, .rlim_max = before.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &none), 0);
  SpawnResult result = run(a_program({"/bin/true"}));
  Program with_input = a_program({"/bin/true"});
  with_input.input = "x";
  SpawnResult other = run(with_input);
  Program with_file = a_program({"/bin/true"});
  with_file.files = {{"script", "x"}};
  SpawnResult third = run(with_file);
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &before), 0);
  for (const SpawnResult* each : {&result, &other, &third}) {
    const Exit& exit = std::get<Exit>(*each);
    EXPECT_EQ(exit.outcome, Outcome::Lost) << exit.message;
    EXPECT_EQ(exit.failure, "infrastructure");
    EXPECT_FALSE(exit.started.is_set());
    EXPECT_NE(exit.message.find("Too many open files"), std::string::npos) << exit.message;
  }
}

TEST_P(SpawnTest, WritesTheFilesOfAProgramBesideItsWorkingFolder) {
  Program program = a_program({"sh", cat(kFolderMark, "/script"), "x"});
  program.files = {{"script", "echo script $1; ls"}};
  SpawnResult result = run(program);
  auto& spawned = std::get<Spawned>(result);
  EXPECT_EQ(drain(spawned.out.get()), "script x\n");
  wait_for(spawned.pid);
}

TEST_P(SpawnTest, WritesAFileOfAProgramThroughNothingThatHasItsName) {
  const auto content_of = [](const std::string& path) {
    std::ifstream in(path);
    return std::string(std::istreambuf_iterator<char>(in), {});
  };
  for (const bool hard_link : {false, true}) {
    const std::string letter = cat(folder, "/letter", hard_link ? "2" : "1");
    const std::string script = work->path() + "/script";
    std::ofstream(letter) << "dear";
    std::filesystem::remove(script);
    hard_link ? std::filesystem::create_hard_link(letter, script) : std::filesystem::create_symlink(letter, script);
    Program program = a_program({"true"});
    program.files = {{"script", "echo"}};
    SpawnResult result = run(program);
    ASSERT_TRUE(std::holds_alternative<Spawned>(result));
    wait_for(std::get<Spawned>(result).pid);
    EXPECT_EQ(content_of(letter), "dear");
    EXPECT_EQ(content_of(script), "echo");
  }
}

TEST_P(SpawnTest, GivesTheInputWholeHoweverLargeAndWaitsForNobody) {
  Program program =
      a_program({"sh", "-c", "wc -c; echo x >&0 2>/dev/null || echo sealed; readlink /proc/self/fd/0 | cut -c1-20"});
  program.input = std::string(300'000, 'i');
  SpawnResult result = run(program);
  auto& spawned = std::get<Spawned>(result);
  const std::string out = drain(spawned.out.get());
  EXPECT_NE(out.find("300000\nsealed\n"), std::string::npos) << out;
  wait_for(spawned.pid);
  program.argv = {"true"};  // never reads
  SpawnResult silent = run(program);
  EXPECT_EQ(WEXITSTATUS(wait_for(std::get<Spawned>(silent).pid)), 0);
}

TEST_P(SpawnTest, AnImpossibleProgramFailsWithItsOwnWord) {
  Program program = a_program({"true"});
  program.impossible = "there is no secret 'token'";
  program.impossible_failure = "secret_error";
  const Exit exit = std::get<Exit>(run(program));
  EXPECT_EQ(exit.failure, "secret_error");
  EXPECT_EQ(exit.message, "there is no secret 'token'");
}

TEST_P(SpawnTest, SecretFilesLieOnATmpfsThatGoesWithTheFolder) {
  if (geteuid() != 0) GTEST_SKIP() << "mounting needs root";
  Program program = a_program(
      {"sh", "-c", "cat $HODEI_SECRETS/token; stat -c %a $HODEI_SECRETS/token; stat -f -c %T $HODEI_SECRETS"});
  program.secret_files = {{"token", "t0k3n\n"}};
  work->note_secrets(secrets_folder(work->path()));
  SpawnResult result = run(program);
  auto& spawned = std::get<Spawned>(result);
  EXPECT_EQ(drain(spawned.out.get()), "t0k3n\n400\ntmpfs\n");
  wait_for(spawned.pid);
  EXPECT_FALSE(work->is_untouched());
  ASSERT_TRUE(work->clean().ok());
  EXPECT_FALSE(std::filesystem::exists(work->path() + "/secrets"));
}

TEST_P(SpawnTest, ASuccessorDropsTheSecretFilesThatItsPredecessorLeft) {
  if (geteuid() != 0) GTEST_SKIP() << "mounting needs root";
  ASSERT_TRUE(put_secret_files(secrets_folder(work->path()), {{"token", "t0k3n"}}, geteuid()).ok());
  drop_all_secret_files(folder + "/work");
  EXPECT_TRUE(std::filesystem::is_empty(secrets_folder(work->path())));
}

TEST_P(SpawnTest, ATreeHasNoMoreProcessesThanItMay) {
  auto limited = make_limited({.mark = mark, .most_processes = 5}, enclosures);
  if (!limited) GTEST_SKIP() << "this machine has no hierarchy for the number of processes";
  enclosures = std::move(limited);
  enclosure = enclosures->make().value();
  enclosure->assign(execution);
  ASSERT_TRUE(enclosure->limit_processes(0).ok());
  SpawnResult result = run(a_program({"sh", "-c", "for i in 1 2 3 4 5 6 7 8; do sleep 1000 & echo $i; done"}));
  auto& bomb = std::get<Spawned>(result);
  EXPECT_EQ(WEXITSTATUS(wait_for(bomb.pid)), 2);
  enclosure->kill();
  EXPECT_TRUE(becomes_empty());
  EXPECT_EQ(drain(bomb.out.get()), "1\n2\n3\n4\n");
  EXPECT_NE(drain(bomb.err.get()).find("annot fork"), std::string::npos);

  // The dead count no more.
  if (enclosure->is_spent()) enclosure = enclosures->make().value();
  enclosure->assign(execution);
  ASSERT_TRUE(enclosure->limit_processes(0).ok());
  SpawnResult after = run(a_program({"sh", "-c", "echo $(echo again)"}));
  EXPECT_EQ(drain(std::get<Spawned>(after).out.get()), "again\n");
  wait_for(std::get<Spawned>(after).pid);
  EXPECT_TRUE(becomes_empty());
}

// They were there before us, as children of the program that became us.
TEST(Orphans, WhatStrangersLeaveIsNotOurs) {
  if (!Orphans().can_look()) GTEST_SKIP() << "this kernel does not tell about children";
  prctl(PR_SET_CHILD_SUBREAPER, 1);
  const std::string folder = temp_folder();
  mkfifo((folder + "/go").c_str(), 0600);
  const std::string script = cat("read x < ", folder, "/go; sleep 1000 & echo $! > ", folder, "/pid");
  const char* const argv[] = {"sh", "-c", script.c_str(), nullptr};
  pid_t stranger = 0;
  ASSERT_EQ(posix_spawnp(&stranger, "sh", nullptr, nullptr, const_cast<char* const*>(argv), environ), 0);
  Orphans orphans;
  std::ofstream(folder + "/go") << "go\n";
  ASSERT_EQ(waitpid(stranger, nullptr, 0), stranger);
  pid_t left = 0;
  std::ifstream(folder + "/pid") >> left;
  EXPECT_FALSE(orphans.any_since(0));
  orphans.kill();
  EXPECT_EQ(waitpid(left, nullptr, WNOHANG), 0) << "it lives";
  kill(left, SIGKILL);
  EXPECT_EQ(waitpid(left, nullptr, 0), left);
  std::filesystem::remove_all(folder);
}

INSTANTIATE_TEST_SUITE_P(Kinds, SpawnTest, testing::Values(Kind::V2, Kind::V1, Kind::Marks), [](const auto& kind) {
  return kind.param == Kind::V2 ? "CgroupV2" : kind.param == Kind::V1 ? "CgroupV1" : "Marks";
});

}  // namespace
}  // namespace hodei::worker::spawn_test
