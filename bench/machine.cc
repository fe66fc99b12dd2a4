// What this machine can do without Hodei: starting processes, moving output through two pipes, syncing a file.
//   bench-machine spawn --threads 2 --program /bin/true [--most N] [--seconds N]
//   bench-machine spawn-latency --program bench-stamp --file PATH [--most N] [--seconds N]
//   bench-machine pipes --program bench-lines --lines N
//   bench-machine sync --file PATH [--most N]
#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <thread>
#include <vector>

#include "bench/lib/arguments.h"
#include "bench/lib/clock.h"
#include "bench/lib/facts.h"
#include "bench/lib/quantiles.h"
#include "bench/lib/stamps.h"
#include "src/base/text.h"

extern char** environ;

namespace hodei::bench {
namespace {

constexpr size_t kBlock = 64 << 10;

[[noreturn]] void give_up(const char* what) {
  std::perror(what);
  std::_Exit(1);
}

pid_t start(std::vector<std::string> words, posix_spawn_file_actions_t* files = nullptr) {
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  pid_t pid = 0;
  errno = posix_spawn(&pid, argv[0], files, nullptr, argv.data(), environ);
  if (errno != 0) give_up(argv[0]);
  return pid;
}

void wait_for(pid_t pid) {
  int status = 0;
  if (waitpid(pid, &status, 0) != pid || status != 0) give_up("a child failed");
}

int spawn(const Arguments& arguments) {
  const std::string program = arguments.text("program", "/bin/true");
  const double seconds = arguments.number("seconds", 3);
  const int64_t most = arguments.whole("most", 1'000'000);
  std::atomic<int64_t> count = 0;
  const int64_t began = mono_ns();
  std::vector<std::thread> threads;
  for (int i = 0; i < arguments.whole("threads", 2); ++i) {
    threads.emplace_back([&] {
      for (; seconds_since(began) < seconds && count < most; ++count) wait_for(start({program}));
    });
  }
  for (std::thread& thread : threads) thread.join();
  Facts().add("per_s", static_cast<double>(count) / seconds_since(began)).add("count", count.load()).print();
  return 0;
}

int spawn_latency(const Arguments& arguments) {
  const std::string file = arguments.text("file");
  const int64_t began = mono_ns();
  for (int i = 0; i < arguments.whole("most", 500) && seconds_since(began) < arguments.number("seconds", 3); ++i) {
    wait_for(start({arguments.text("program"), file, cat(mono_ns())}));
    pause_ns(5'000'000);
  }
  Facts facts;
  Quantiles(read_stamps(file)).add_to(facts);
  facts.print();
  return 0;
}

// Reads until the end, and hands on what it read; answers with the bytes.
template <class Take>
int64_t read_all(int from, const Take& take) {
  static thread_local char block[kBlock];
  int64_t bytes = 0;
  for (ssize_t n; (n = read(from, block, kBlock)) > 0; bytes += n) take(block, static_cast<size_t>(n));
  return bytes;
}

void write_all(int to, const char* data, size_t size) {
  while (size > 0) {
    const ssize_t n = write(to, data, size);
    if (n <= 0) give_up("write");
    data += n;
    size -= static_cast<size_t>(n);
  }
}

// The job, a process that copies, and a reader: job → pipe → copy → pipe → reader.
int pipes(const Arguments& arguments) {
  int first[2];
  int second[2];
  if (pipe2(first, O_CLOEXEC) != 0 || pipe2(second, O_CLOEXEC) != 0) give_up("pipe");
  const int64_t began = mono_ns();
  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  posix_spawn_file_actions_adddup2(&files, first[1], 1);
  const pid_t job = start({arguments.text("program"), arguments.text("lines", "1000")}, &files);
  posix_spawn_file_actions_destroy(&files);
  const pid_t copier = fork();  // this process is small
  if (copier == 0) {
    close(first[1]);
    close(second[0]);
    read_all(first[0], [&](const char* data, size_t size) { write_all(second[1], data, size); });
    _exit(0);
  }
  for (const int fd : {first[0], first[1], second[1]}) close(fd);
  int64_t lines = 0;
  const int64_t bytes =
      read_all(second[0], [&](const char* data, size_t size) { lines += std::count(data, data + size, '\n'); });
  const double seconds = seconds_since(began);
  wait_for(job);
  wait_for(copier);
  Facts()
      .add("lines_per_s", static_cast<double>(lines) / seconds)
      .add("mb_per_s", static_cast<double>(bytes) / seconds / 1e6)
      .add("lines", lines)
      .add("bytes", bytes)
      .add("seconds", seconds)
      .print();
  return 0;
}

// An append and its fdatasync, one after another: what a durable commit waits for.
int sync(const Arguments& arguments) {
  const int file = open(arguments.text("file").c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  if (file < 0) give_up("open");
  const std::vector<char> page(4096, 'x');
  std::vector<int64_t> took;
  for (int i = 0; i < arguments.whole("most", 200); ++i) {
    const int64_t began = mono_ns();
    write_all(file, page.data(), page.size());
    if (fdatasync(file) != 0) give_up("fdatasync");
    took.push_back(mono_ns() - began);
  }
  close(file);
  Facts facts;
  Quantiles(std::move(took)).add_to(facts);
  facts.print();
  return 0;
}

int run(const Arguments& arguments) {
  if (arguments.command() == "spawn") return spawn(arguments);
  if (arguments.command() == "spawn-latency") return spawn_latency(arguments);
  if (arguments.command() == "pipes") return pipes(arguments);
  if (arguments.command() == "sync") return sync(arguments);
  std::fputs("usage: bench-machine spawn|spawn-latency|pipes|sync …, see the first lines of bench/machine.cc\n",
             stderr);
  return 2;
}

}  // namespace
}  // namespace hodei::bench

int main(int argc, char** argv) { return hodei::bench::run({argc, argv}); }
