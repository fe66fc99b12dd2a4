#include "bench/lib/server_process.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <signal.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "bench/lib/connection.h"
#include "grpcpp/grpcpp.h"
#include "src/base/text.h"

extern char** environ;

namespace hodei::bench {
namespace {

int free_port() {
  const int fd = socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  bind(fd, reinterpret_cast<sockaddr*>(&address), size);
  getsockname(fd, reinterpret_cast<sockaddr*>(&address), &size);
  close(fd);
  return ntohs(address.sin_port);
}

}  // namespace

ServerProcess::ServerProcess(const std::string& binary) : binary_(binary) {
  std::string pattern = (std::filesystem::temp_directory_path() / "hodei-bench-XXXXXX").string();
  if (mkdtemp(pattern.data()) == nullptr) std::abort();
  folder_ = pattern;
  address_ = cat("127.0.0.1:", free_port());
  start();
}

ServerProcess::~ServerProcess() {
  kill(pid_, SIGTERM);
  waitpid(pid_, nullptr, 0);
  std::filesystem::remove_all(folder_);
}

void ServerProcess::start() {
  std::string args[] = {binary_, "server", "--data-dir", folder_, "--listen", address_};
  char* argv[] = {args[0].data(), args[1].data(), args[2].data(), args[3].data(),
                  args[4].data(), args[5].data(), nullptr};
  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  posix_spawn_file_actions_addopen(&files, 2, "/dev/null", O_WRONLY, 0);
  if (posix_spawn(&pid_, binary_.c_str(), &files, nullptr, argv, environ) != 0) {
    std::fprintf(stderr, "cannot start %s\n", binary_.c_str());
    std::exit(1);
  }
  posix_spawn_file_actions_destroy(&files);
  wait_until_serving();
}

void ServerProcess::wait_until_serving() const {
  if (!connect(address_)->WaitForConnected(std::chrono::system_clock::now() + std::chrono::seconds(60))) {
    std::fprintf(stderr, "the server does not answer on %s\n", address_.c_str());
    std::exit(1);
  }
}

int64_t ServerProcess::resident_kb() const {
  std::ifstream status(cat("/proc/", pid_, "/status"));
  std::string word;
  while (status >> word) {
    if (word == "VmRSS:") {
      int64_t kb = 0;
      status >> kb;
      return kb;
    }
  }
  return 0;
}

}  // namespace hodei::bench
