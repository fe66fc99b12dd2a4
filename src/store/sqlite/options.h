// The options of a SQLite store: where the database is, and how it is tuned.
#pragma once

#include <cstddef>
#include <string>

namespace hodei::store {

struct SqliteOptions {
  std::string data_dir;                        // must exist
  size_t checkpoint_bytes = size_t{32} << 20;  // the log is folded into the database when it is longer than this
  std::string vfs;                             // tests: a file layer other than the system's
  bool sync = true;                            // tests: false proves that the tests see a missing sync

  std::string path() const { return data_dir + "/hodei.db"; }
};

}  // namespace hodei::store
