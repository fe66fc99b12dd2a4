// The threads on which calls read and write: apart from the threads of transports, and files apart from rows.
#pragma once

#include "src/server/read_pool.h"

namespace hodei::server {

struct WorkPools {
  ReadPool reads{"reads", {}};
  ReadPool files{"reads and writes of files", {}};  // output of jobs, standard input, artifacts

  void start() {
    reads.start();
    files.start();
  }
  void stop() {
    reads.stop();
    files.stop();
  }
};

}  // namespace hodei::server
