#include "src/base/run_facts.h"

namespace hodei {

void put(Encoder& out, const std::vector<std::string>& texts) {
  out.u64(texts.size());
  for (const std::string& text : texts) out.text(text);
}

std::vector<std::string> get_text_list(Decoder& in) {
  std::vector<std::string> texts;
  for (uint64_t n = in.count(); n > 0 && in.ok(); --n) texts.emplace_back(in.text());
  return texts;
}

void put(Encoder& out, const std::map<std::string, std::string>& texts) {
  out.u64(texts.size());
  for (const auto& [name, value] : texts) out.text(name).text(value);
}

std::map<std::string, std::string> get_text_map(Decoder& in) {
  std::map<std::string, std::string> texts;
  for (uint64_t n = in.count(); n > 0 && in.ok(); --n) {
    const std::string_view name = in.text();
    texts.emplace(name, in.text());
  }
  return texts;
}

void put(Encoder& out, const RunFacts& facts) {
  out.i64(facts.prepared.us).i64(facts.usage.cpu_ms).i64(facts.usage.max_memory_kb);
  out.i64(facts.usage.io_read_bytes).i64(facts.usage.io_write_bytes).i64(facts.dropped_bytes).i64(facts.dropped_lines);
  put(out, facts.secrets);
  put(out, facts.outputs);
}

RunFacts get_run_facts(Decoder& in) {
  RunFacts facts;
  facts.prepared.us = in.i64();
  facts.usage.cpu_ms = in.i64();
  facts.usage.max_memory_kb = in.i64();
  facts.usage.io_read_bytes = in.i64();
  facts.usage.io_write_bytes = in.i64();
  facts.dropped_bytes = in.i64();
  facts.dropped_lines = in.i64();
  facts.secrets = get_text_list(in);
  facts.outputs = get_text_map(in);
  return facts;
}

}  // namespace hodei
