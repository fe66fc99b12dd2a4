// What a worker sends on its stream: hello, reports, output. The server's reading of it, and that what a worker writes
// is read as it was meant.
#include "hodei/v1/worker_service.pb.h"
#include "src/api/calls/translate.h"
#include "src/api/calls/workers/worker_messages.h"
#include "src/server/logs/log_types.h"
#include "src/store/memory/memory_log_store.h"
#include "src/store/segments/log_cut.h"
#include "src/worker/agent/stream_messages.h"
#include "tests/fuzz/messages.h"

using namespace hodei;

static void refused(const absl::Status& status) { REQUIRE(fuzz::names_a_field(status), fuzz::words(status)); }

// As a worker would send it.
static worker::LogPart part_of(const store::LogPiece& piece) {
  worker::LogPart part{.execution = piece.execution,
                       .offset = static_cast<uint64_t>(piece.offset),
                       .data = piece.data,
                       .lost = static_cast<uint64_t>(piece.lost),
                       .end = piece.end};
  for (const store::LogLine& line : piece.lines) {
    part.lines.push_back({line.length, line.partial,
                          line.is_stderr ? worker::OutputStream::Stderr : worker::OutputStream::Stdout,
                          WallTime{line.time_us}});
  }
  return part;
}

static bool same(const store::LogPiece& a, const store::LogPiece& b) {
  const auto equal = [](const store::LogLine& x, const store::LogLine& y) {
    return x.length == y.length && x.is_stderr == y.is_stderr && x.partial == y.partial && x.time_us == y.time_us;
  };
  return a.execution == b.execution && a.offset == b.offset && a.data == b.data && a.lost == b.lost && a.end == b.end &&
         std::equal(a.lines.begin(), a.lines.end(), b.lines.begin(), b.lines.end(), equal);
}

static void output(absl::StatusOr<store::LogPiece> piece, store::MemoryLogStore& logs) {
  if (!piece.ok()) return refused(piece.status());
  if (const absl::Status good = store::check_piece(*piece); !good.ok()) return refused(good);
  v1::WorkerMessage message;
  worker::put_log(part_of(*piece), message);
  const absl::StatusOr<store::LogPiece> again = api::log_from(*message.mutable_logs(0));
  REQUIRE(again.ok() && same(*again, *piece), message.ShortDebugString());
  REQUIRE(logs.append({*piece}).ok(), "");
  const server::LogChunk chunk{.data = piece->data, .lines = piece->lines};
  size_t bytes = 0;
  server::for_each_entry(chunk, [&](const server::LogEntry& entry) { bytes += entry.line.size(); });
  REQUIRE(bytes <= piece->data.size(), bytes);
}

static void reports(const v1::WorkerMessage& message) {
  const absl::StatusOr<core::Report> report = api::report_from(message);
  if (!report.ok()) return refused(report.status());
  for (const core::ResultReport& r : report->results) {
    worker::Exit exit{.execution = r.execution,
                      .outcome = static_cast<worker::Outcome>(r.outcome),
                      .exit_code = r.exit_code.value_or(0),
                      .signal = r.signal,
                      .failure = r.failure,
                      .message = r.message,
                      .started = r.started,
                      .ended = r.ended,
                      .log_bytes = r.log_bytes.value_or(0),
                      .facts = r.facts};
    v1::WorkerMessage out;
    worker::put_result(exit, out);
    const core::ResultReport again = api::from_proto(out.results(0), r.execution);
    REQUIRE(again.started == r.started && again.ended == r.ended && again.message == r.message, "");
    REQUIRE(again.facts == r.facts, "");
    REQUIRE(again.log_bytes == r.log_bytes.value_or(0), "");
    const bool known = r.outcome >= core::Outcome::Succeeded && r.outcome <= core::Outcome::Interrupted;
    REQUIRE(!known || again.outcome == r.outcome, static_cast<int>(r.outcome));
  }
}

FUZZ_TARGET(input) {
  v1::WorkerMessage message;
  if (!fuzz::parses(input, message)) return;
  if (message.has_hello()) {
    const absl::StatusOr<core::OpenStream> hello = api::hello_from(message.hello());
    if (!hello.ok()) refused(hello.status());
  }
  reports(message);
  store::MemoryLogStore logs;
  for (v1::WorkerLogEntry& entry : *message.mutable_log_entries()) output(api::log_from(entry), logs);
  for (v1::LogBatch& batch : *message.mutable_logs()) output(api::log_from(batch), logs);
}
