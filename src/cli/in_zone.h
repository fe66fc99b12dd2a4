// For tests of local times: sets the time zone of the process, and restores it at the end.
#pragma once

#include <cstdlib>
#include <string>

namespace hodei::cli {

class InZone {
 public:
  explicit InZone(const char* name) : before_(getenv("TZ") ? getenv("TZ") : "") { setenv("TZ", name, 1); }
  ~InZone() { before_.empty() ? unsetenv("TZ") : setenv("TZ", before_.c_str(), 1); }
  InZone(const InZone&) = delete;
  InZone& operator=(const InZone&) = delete;

 private:
  std::string before_;
};

}  // namespace hodei::cli
