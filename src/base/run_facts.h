// What a worker reports about an execution besides its outcome. Supervisor, agent, engine and store use the same struct
// and the same encoding.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "src/base/codec.h"
#include "src/base/time.h"

namespace hodei {

struct Usage {
  int64_t cpu_ms = 0;  // of the whole tree
  int64_t max_memory_kb = 0;
  int64_t io_read_bytes = 0;
  int64_t io_write_bytes = 0;

  bool operator==(const Usage&) const = default;
};

struct RunFacts {
  WallTime prepared;  // inputs and secrets were there; not set: it needed none
  Usage usage;
  int64_t dropped_bytes = 0;  // output that was not kept
  int64_t dropped_lines = 0;
  std::vector<std::string> secrets;  // names of those that were delivered
  std::map<std::string, std::string> outputs;

  bool operator==(const RunFacts&) const = default;
};

void put(Encoder& out, const RunFacts& facts);
RunFacts get_run_facts(Decoder& in);

// Names and values, and plain lists, as they occur in many structs.
void put(Encoder& out, const std::map<std::string, std::string>& texts);
std::map<std::string, std::string> get_text_map(Decoder& in);
void put(Encoder& out, const std::vector<std::string>& texts);
std::vector<std::string> get_text_list(Decoder& in);

}  // namespace hodei
