#include "bench/lib/facts.h"

#include <cstdio>

#include "src/base/text.h"

namespace hodei::bench {

Facts& Facts::add(const std::string& name, double value) { return put(name, fmt::format("{:.6g}", value)); }
Facts& Facts::add(const std::string& name, int64_t value) { return put(name, cat(value)); }

Facts& Facts::add(const std::string& name, const std::vector<double>& values) {
  std::string list;
  for (const double value : values) list += fmt::format("{}{:.6g}", list.empty() ? "" : ", ", value);
  return put(name, cat("[", list, "]"));
}

void Facts::print() const {
  std::printf("{%s}\n", body_.c_str());
  std::fflush(stdout);
}

Facts& Facts::put(const std::string& name, const std::string& text) {
  body_ += cat(body_.empty() ? "\"" : ", \"", name, "\": ", text);
  return *this;
}

}  // namespace hodei::bench
