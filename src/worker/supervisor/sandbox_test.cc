// Sandboxes with real processes; they need root, or a kernel that lets everybody make user namespaces.
#include "src/worker/limits/sandbox.h"

#include <poll.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "gtest/gtest.h"
#include "src/base/text.h"
#include "src/worker/supervisor/secret_files.h"
#include "src/worker/supervisor/spawn.h"
#include "src/worker/supervisor/work_folder.h"

namespace hodei::worker::sandbox_test {
namespace {

class SandboxTest : public testing::Test {
 protected:
  SandboxTest() {
    if (geteuid() != 0) return;
    enclosure = enclosures->make().value();
    enclosure->assign(execution);
    work = WorkFolders::make(folder + "/state").value().next().value();
    chmod((folder + "/state").c_str(), 0700);  // as a worker's state folder is
  }
  ~SandboxTest() override { std::filesystem::remove_all(folder); }
  void SetUp() override {
    if (geteuid() != 0) GTEST_SKIP() << "only root can do all of it";
  }

  static std::string temp_folder() {
    char name[] = "/tmp/hodei-sandbox-XXXXXX";
    return mkdtemp(name);
  }
  // What the script prints, both streams, and its exit code behind.
  std::string run(const std::string& script, SandboxRules rules = {.enabled = true}) {
    Program program{.argv = {"sh", cat(kFolderMark, "/script")},
                    .env = {"PATH=" + path, cat(kExecutionVariable, "=", to_string(execution))},
                    .files = {{"script", "exec 2>&1\n" + script}}};
    program.sandbox = std::move(rules);
    program.secret_files = secret_files;
    SpawnResult result = spawn(
        program, {.folder = work->path(), .working_dir = work->cwd(), .enclosure = enclosure.get(), .mark = mark});
    if (const Exit* failure = std::get_if<Exit>(&result)) {
      while (waitpid(-1, nullptr, 0) > 0) {
      }
      return cat(failure->failure, ": ", failure->message);
    }
    auto& spawned = std::get<Spawned>(result);
    std::string text;
    char buffer[4096];
    pollfd ready{spawned.out.get(), POLLIN, 0};
    while (poll(&ready, 1, 10'000) == 1) {
      const ssize_t got = read(spawned.out.get(), buffer, sizeof(buffer));
      if (got <= 0) break;
      text.append(buffer, static_cast<size_t>(got));
    }
    int status = 0;
    waitpid(spawned.pid, &status, 0);
    return cat(text, WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status));
  }

  const ExecutionId execution{JobId{78}, 1};
  const std::string mark = "sandbox-test" + std::to_string(getpid());
  const std::string folder = temp_folder();
  std::string path = "/usr/bin:/bin";
  std::vector<Program::File> secret_files;
  std::unique_ptr<Enclosures> enclosures = make_marked_trees({.mark = mark});
  std::unique_ptr<Enclosure> enclosure;
  std::unique_ptr<WorkFolder> work;
};

TEST_F(SandboxTest, RunsAsNobodyWithoutPrivileges) {
  EXPECT_EQ(
      run("id -u; id -g; id -G; grep -E '^(CapEff|CapBnd|NoNewPrivs|Seccomp):' /proc/self/status"),
      "65534\n65534\n65534\nCapEff:\t0000000000000000\nCapBnd:\t0000000000000000\nNoNewPrivs:\t1\nSeccomp:\t2\n0");
}

TEST_F(SandboxTest, KeepsItsFolderAndReachesItByItsName) {
  EXPECT_EQ(run("echo a > file && cat $PWD/file && pwd"), cat("a\n", work->cwd(), "\n0"));
  EXPECT_TRUE(std::filesystem::exists(work->cwd() + "/file"));
  ASSERT_TRUE(work->clean().ok());
  struct stat info {};
  ASSERT_EQ(stat(work->cwd().c_str(), &info), 0);
  EXPECT_EQ(info.st_uid, 0u);  // the next job may be another user's
}

TEST_F(SandboxTest, ReadsItsSecretFiles) {
  secret_files = {{"token", "t0k3n\n"}};
  work->note_secrets(secrets_folder(work->path()));
  EXPECT_EQ(run("cat $HODEI_SECRETS/token; stat -c '%u %a' $HODEI_SECRETS/token"), "t0k3n\n65534 400\n0");
  ASSERT_TRUE(work->clean().ok());
}

TEST_F(SandboxTest, TheRootIsReadOnlyAndTmpItsOwn) {
  const std::string stranger = folder + "/stranger";
  std::ofstream(stranger) << "x";
  EXPECT_EQ(run(cat("touch /etc/x || echo no; test -e ", stranger,
                    " || echo hidden; ls /tmp | wc -l; "
                    "touch /tmp/mine && echo yes; touch /dev/shm/mine && echo yes")),
            "touch: cannot touch '/etc/x': Read-only file system\nno\nhidden\n1\nyes\nyes\n0");
  EXPECT_FALSE(std::filesystem::exists("/tmp/mine"));
  EXPECT_FALSE(std::filesystem::exists("/dev/shm/mine"));
}

TEST_F(SandboxTest, HasNoNetworkButLoopback) {
  EXPECT_EQ(run("ls /sys/class/net >/dev/null; grep -c : /proc/net/dev; cat /proc/net/route | wc -l"), "1\n1\n0");
}

TEST_F(SandboxTest, ForbiddenSystemCallsFailWithEPERM) {
  EXPECT_EQ(run("python3 -c 'import ctypes,os\n"
                "c=ctypes.CDLL(None,use_errno=True)\n"
                "for name,args in ((\"ptrace\",(0,0,0,0)),(\"unshare\",(0x10000000,)),(\"mount\",(0,0,0,0,0)),"
                "(\"chroot\",(b\"/\",))):\n"
                "  print(name,getattr(c,name)(*args),os.strerror(ctypes.get_errno()))'"),
            "ptrace -1 Operation not permitted\nunshare -1 Operation not permitted\nmount -1 Operation not permitted\n"
            "chroot -1 Operation not permitted\n0");
  EXPECT_EQ(run("python3 -c 'import threading\nt=threading.Thread(target=print,args=(1,));t.start();t.join()'"),
            "1\n0");
}

TEST_F(SandboxTest, EachPartCanBeLeftOut) {
  const std::string stranger = folder + "/state/stranger";
  EXPECT_EQ(run("id -u; touch /tmp/hodei-shared-$PPID && rm /tmp/hodei-shared-$PPID && echo tmp; "
                "grep Seccomp: /proc/self/status; touch /etc/x || echo no",
                {.enabled = true, .user = "daemon", .shared_tmp = true, .allow_all_syscalls = true}),
            "1\ntmp\nSeccomp:\t0\ntouch: cannot touch '/etc/x': Read-only file system\nno\n0");
  EXPECT_EQ(run("touch /etc/x 2>/dev/null || echo user", {.enabled = true, .writable_root = true}), "user\n0");
  EXPECT_NE(run("wc -l < /proc/net/dev", {.enabled = true, .allow_network = true}), "3\n0");
}

TEST_F(SandboxTest, AProgramThatItsUserMayNotReachIsPassedOverInPATH) {
  std::filesystem::create_directories(folder + "/private/bin");
  std::filesystem::copy_file("/bin/sh", folder + "/private/bin/sh");
  chmod((folder + "/private").c_str(), 0700);
  path = folder + "/private/bin:/usr/bin:/bin";
  EXPECT_EQ(run("echo found"), "found\n0");
  path = folder + "/private/bin";
  EXPECT_EQ(run("echo found").find("command_not_found: sh"), 0u);
}

TEST_F(SandboxTest, ANameThatNobodyHasIsRefused) {
  EXPECT_EQ(run("true", {.enabled = true, .user = "no-such-user"}),
            "spawn_failed: sandbox.user: user 'no-such-user' does not exist on this worker; use a name from "
            "/etc/passwd, or a "
            "number");
}

TEST(UserAccount, IsFoundByNameAndNumber) {
  char name[] = "/tmp/hodei-passwd-XXXXXX";
  close(mkstemp(name));
  std::ofstream(name) << "root:x:0:0:root:/root:/bin/sh\nbroken\nana:x:1001:1002:,,,:/home/ana:/bin/sh\n";
  EXPECT_EQ(find_user("ana", name)->gid, 1002u);
  EXPECT_EQ(find_user("1001", name)->gid, 1002u);
  EXPECT_EQ(find_user("77", name)->gid, 77u);
  EXPECT_EQ(find_user("nobody", name)->uid, 65534u);
  EXPECT_FALSE(find_user("an", name).ok());
  EXPECT_FALSE(find_user("4294967295", name).ok());  // means "unchanged" to the kernel
  unlink(name);
}

}  // namespace
}  // namespace hodei::worker::sandbox_test
