#include "src/worker/system/process_table.h"

#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>

#include "gtest/gtest.h"
#include "src/base/text.h"
#include "src/worker/system/small_files.h"

namespace hodei::worker::process_table_test {
namespace {

class Child {
 public:
  Child(std::vector<const char*> argv, std::vector<const char*> env) {
    argv.push_back(nullptr);
    env.push_back(nullptr);
    pid_ = fork();
    if (pid_ == 0) {
      execve(argv[0], const_cast<char* const*>(argv.data()), const_cast<char* const*>(env.data()));
      _exit(127);
    }
  }
  ~Child() {
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
  }
  pid_t pid() const { return pid_; }
  // Until it is the program, and no longer a copy of this one.
  void wait_for_exec(const std::string& word) const {
    for (int look = 0; look < 5000 && read_file(cat("/proc/", pid_, "/cmdline")).find(word) == std::string::npos;
         ++look) {
      poll(nullptr, 0, 2);
    }
  }

 private:
  pid_t pid_ = 0;
};

TEST(ProcessTable, KnowsWhatAProcessWasGiven) {
  const Child marked({"/bin/sleep", "1000"}, {"A=b", "MARK=one"});
  const Child wiped({"/bin/sleep", "1000"}, {});
  marked.wait_for_exec("1000");
  wiped.wait_for_exec("1000");
  EXPECT_EQ(carries(marked.pid(), "MARK=one"), Carries::Yes);
  EXPECT_EQ(carries(marked.pid(), "MARK=on"), Carries::No);
  EXPECT_EQ(carries(wiped.pid(), "MARK=one"), Carries::No);
  EXPECT_EQ(carries(1 << 30, "MARK=one"), Carries::No);
  kill(marked.pid(), SIGKILL);
  siginfo_t ended{};
  waitid(P_PID, static_cast<id_t>(marked.pid()), &ended, WEXITED | WNOWAIT);
  EXPECT_TRUE(state_of(marked.pid())->zombie);
  EXPECT_EQ(carries(marked.pid(), "MARK=one"), Carries::No);
}

TEST(ProcessTable, NeverDeniesAProcessThatIsBecomingAnotherProgram) {
  char script[] = "/tmp/hodei-exec-XXXXXX";
  close(mkstemp(script));
  std::ofstream(script) << "exec sh $0\n";
  const Child restless({"/bin/sh", script}, {"PATH=/usr/bin:/bin", "MARK=one"});
  restless.wait_for_exec(script);
  int yes = 0, unclear = 0, no = 0;
  for (int look = 0; look < 20'000; ++look) {
    switch (carries(restless.pid(), "MARK=one")) {
      case Carries::Yes: ++yes; break;
      case Carries::Unclear: ++unclear; break;
      case Carries::No: ++no; break;
    }
  }
  EXPECT_EQ(no, 0) << yes << " times yes, " << unclear << " times unclear";
  EXPECT_GT(yes, 0);
  unlink(script);
}

TEST(ProcessTable, FindsAProcessAndItsDescendants) {
  const Child parent({"/bin/sh", "-c", "sleep 1000 & sleep 1000 & echo; wait"}, {"PATH=/usr/bin:/bin"});
  std::set<pid_t> tree;
  for (int look = 0; look < 5000 && tree.size() < 3; ++look) {
    tree = with_descendants({parent.pid()}, all_processes());
    poll(nullptr, 0, 2);
  }
  EXPECT_EQ(tree.size(), 3u);
  for (const pid_t pid : tree) kill(pid, SIGKILL);
}

}  // namespace
}  // namespace hodei::worker::process_table_test
