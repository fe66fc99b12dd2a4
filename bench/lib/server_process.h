// A real `hodei server` on loopback with a fresh data folder, ended with the object.
#pragma once

#include <sys/types.h>

#include <string>

namespace hodei::bench {

class ServerProcess {
 public:
  explicit ServerProcess(const std::string& binary);
  ~ServerProcess();
  ServerProcess(const ServerProcess&) = delete;
  ServerProcess& operator=(const ServerProcess&) = delete;

  const std::string& address() const { return address_; }
  int64_t resident_kb() const;
  pid_t pid() const { return pid_; }

 private:
  void start();
  void wait_until_serving() const;

  std::string binary_;
  std::string folder_;
  std::string address_;
  pid_t pid_ = 0;
};

}  // namespace hodei::bench
