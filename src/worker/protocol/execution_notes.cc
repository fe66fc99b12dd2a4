#include "src/worker/protocol/execution_notes.h"

#include "src/base/run_facts.h"

namespace hodei::worker {

std::string encode(const ExecutionNotes& notes) {
  if (notes == ExecutionNotes{}) return {};
  Encoder out;
  out.i64(notes.prepared.us);
  put(out, notes.secrets);
  out.text(notes.folder);
  put(out, notes.outputs);
  put(out, notes.reported);
  out.i64(notes.sandboxed ? 1 : 0);
  out.text(notes.outputs_failed);
  return out.take();
}

ExecutionNotes decode_notes(std::string_view bytes) {
  ExecutionNotes notes;
  if (bytes.empty()) return notes;
  Decoder in(bytes);
  notes.prepared.us = in.i64();
  notes.secrets = get_text_map(in);
  notes.folder = in.text();
  notes.outputs = get_text_list(in);
  notes.reported = get_text_map(in);
  notes.sandboxed = in.i64() != 0;
  notes.outputs_failed = in.text();
  return notes;
}

}  // namespace hodei::worker
