#include "bench/lib/table.h"

#include <cstdio>
#include <fstream>

#include "src/base/text.h"

namespace hodei::bench {

void Table::add(Row row) {
  std::printf("%-58s %12.1f %-8s %s\n", row.what.c_str(), row.value, row.unit.c_str(), row.note.c_str());
  std::fflush(stdout);
  rows_.push_back(std::move(row));
}

void Table::write_json(const std::string& path) const {
  std::ofstream out(path);
  out << "[\n";
  for (size_t i = 0; i < rows_.size(); ++i) {
    const Row& r = rows_[i];
    out << cat("  {\"what\": \"", r.what, "\", \"value\": ", r.value, ", \"unit\": \"", r.unit, "\", \"note\": \"", r.note, "\"}",
               i + 1 < rows_.size() ? ",\n" : "\n");
  }
  out << "]\n";
}

}  // namespace hodei::bench
