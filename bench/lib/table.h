// What a benchmark found: a table for people, JSON for programs.
#pragma once

#include <string>
#include <vector>

namespace hodei::bench {

struct Row {
  std::string what;
  double value = 0;
  std::string unit;
  std::string note;      // the limit or peer of the same run, as a ratio
};

class Table {
 public:
  void add(Row row);     // printed at once
  void write_json(const std::string& path) const;

 private:
  std::vector<Row> rows_;
};

}  // namespace hodei::bench
