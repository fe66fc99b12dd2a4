#include "src/worker/supervisor/last_report.h"

#include "src/worker/core/keeper.h"
#include "src/worker/output/mask.h"
#include "src/worker/output/secret_forms.h"
#include "src/worker/protocol/exit_codec.h"

namespace hodei::worker {
namespace {

constexpr uint64_t kLastReportVersion = 1;

}  // namespace

std::string encode(const LastReport& report) {
  Encoder exits;
  uint64_t count = 0;
  for (const Exit& exit : report.exits) {
    Encoder one;
    put(one, exit);
    if (exits.bytes().size() + one.bytes().size() > LastReport::kMaxBytes) continue;
    exits.text(one.bytes());
    ++count;
  }
  Encoder out;
  out.u64(kLastReportVersion);
  put(out, report.stopped);
  out.u64(count).text(exits.bytes());
  return out.take();
}

std::optional<LastReport> decode_last_report(std::string_view bytes) {
  Decoder in(bytes);
  if (in.u64() != kLastReportVersion) return std::nullopt;
  LastReport report;
  report.stopped = get_text_list(in);
  const uint64_t count = in.u64();
  Decoder exits(in.text());
  for (uint64_t i = 0; i < count && exits.ok(); ++i) {
    Decoder one(exits.text());
    report.exits.push_back(get_exit(one));
    if (!one.ok()) return std::nullopt;
  }
  if (!in.ok() || !exits.ok()) return std::nullopt;
  return report;
}

Exit with_notes(Exit exit, const ExecutionNotes& kept) {
  exit.facts.prepared = kept.prepared;
  exit.facts.outputs = kept.reported;
  for (const auto& [name, value] : kept.secrets) exit.facts.secrets.push_back(name);
  if (const std::shared_ptr<const Mask> mask = kept.secrets.empty() ? nullptr : mask_for(kept.secrets)) {
    std::erase_if(exit.facts.outputs, [&](const auto& each) { return masked(each.first, *mask) != each.first; });
    for (auto& [key, value] : exit.facts.outputs) value = masked(value, *mask);
  }
  if (exit.outcome != Outcome::Succeeded) return exit;
  if (!kept.outputs_failed.empty()) {
    exit.outcome = Outcome::Failed;
    exit.failure = "artifact_error";
    exit.message = kept.outputs_failed;
  } else if (!kept.outputs.empty()) {
    judge(exit, KillReason::Stopping);
  }
  return exit;
}

}  // namespace hodei::worker
