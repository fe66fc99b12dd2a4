#include "src/worker/supervisor/last_output.h"

#include "src/worker/output/ring_masker.h"
#include "src/worker/output/secret_forms.h"
#include "src/worker/protocol/exit_codec.h"

namespace hodei::worker {
namespace {

constexpr uint64_t kVersionOfLastOutput = 1;
constexpr size_t kMostOverhead = 2 * sizeof(RecordHeader);  // of a record in a ring: its header and its padding

}  // namespace

std::vector<OutputRecord> unsent_output(RingMemory& ring, const std::map<std::string, std::string>& secrets,
                                        uint64_t log_bytes, size_t& room) {
  if (const std::shared_ptr<const Mask> mask = secrets.empty() ? nullptr : mask_for(secrets))
    RingMasker(&ring, mask).ended(log_bytes);
  std::vector<OutputRecord> records;
  RingReader reader(&ring);
  for (auto chunk = reader.peek(); chunk; chunk = reader.peek()) {
    const size_t cost = sizeof(OutputRecord) + chunk->bytes.size();
    if (cost > room) break;
    room -= cost;
    records.push_back({chunk->offset, chunk->time, chunk->stream, std::string(chunk->bytes)});
    reader.next();
  }
  return records;
}

std::string encode(const LastOutput& output) {
  Encoder out;
  out.u64(kVersionOfLastOutput).u64(output.size());
  for (const auto& [execution, records] : output) {
    put(out, execution);
    out.u64(records.size());
    for (const OutputRecord& record : records) {
      out.u64(record.offset).i64(record.time.us).u64(static_cast<uint64_t>(record.stream)).text(record.bytes);
    }
  }
  return out.take();
}

std::optional<LastOutput> decode_last_output(std::string_view bytes) {
  Decoder in(bytes);
  if (in.u64() != kVersionOfLastOutput) return std::nullopt;
  LastOutput output;
  for (uint64_t executions = in.count(); executions > 0 && in.ok(); --executions) {
    std::vector<OutputRecord>& records = output[get_execution(in)];
    uint64_t end = 0;  // of what the records before it hold: a ring has no place for what goes back
    for (uint64_t count = in.count(); count > 0 && in.ok(); --count) {
      OutputRecord record;
      record.offset = in.u64();
      record.time.us = in.i64();
      record.stream = in.u64() == 0 ? OutputStream::Stdout : OutputStream::Stderr;
      record.bytes = in.text();
      if (record.offset < end) return std::nullopt;
      end = record.offset + record.bytes.size();
      records.push_back(std::move(record));
    }
  }
  if (!in.ok()) return std::nullopt;
  return output;
}

size_t ring_bytes_for(const std::vector<OutputRecord>& records) {
  size_t bytes = 2 * kMostOverhead;  // what a writer wants to have free behind the last one
  for (const OutputRecord& record : records) bytes += kMostOverhead + record.bytes.size();
  return bytes;
}

void refill(RingMemory& ring, const std::vector<OutputRecord>& records) {
  RingWriter writer(&ring);
  for (const OutputRecord& record : records) {
    writer.skip(record.offset - writer.log_bytes());
    if (!writer.append(record.stream, record.time, record.bytes)) return;
  }
}

}  // namespace hodei::worker
