// What a program measured, as one line of JSON for bench/run.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace hodei::bench {

class Facts {
 public:
  Facts& add(const std::string& name, double value);
  Facts& add(const std::string& name, int64_t value);
  Facts& add(const std::string& name, const std::vector<double>& values);
  void print() const;  // to stdout

 private:
  Facts& put(const std::string& name, const std::string& text);
  std::string body_;
};

}  // namespace hodei::bench
