// The environment of programs that the server or a worker starts: workers, virtual machines, plugins, jobs. Variables
// that are meant only for the server or the worker, above all passwords and keys, are not passed on.
#pragma once

#include <initializer_list>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace hodei {

// HODEI_… and the names of others that we read: settings of this process, some of them secret.
bool is_own_setting(std::string_view name);

class ChildEnvironment {
 public:
  // This process's environment without its own settings, except those that are `kept`, and with `added` over it.
  explicit ChildEnvironment(std::initializer_list<std::string_view> kept = {},
                            const std::map<std::string, std::string>& added = {});
  ChildEnvironment(const ChildEnvironment&) = delete;
  ChildEnvironment& operator=(const ChildEnvironment&) = delete;

  char* const* get() const { return pointers_.data(); }  // for execve and posix_spawn
  const std::vector<std::string>& pairs() const { return pairs_; }

 private:
  std::vector<std::string> pairs_;  // NAME=value, by name
  std::vector<char*> pointers_;
};

}  // namespace hodei
