#include "src/worker/keepsake.h"

#include "src/base/run_facts.h"

namespace hodei::worker {

std::string encode(const Keepsake& keepsake) {
  if (keepsake == Keepsake{}) return {};
  Encoder out;
  out.i64(keepsake.prepared.us);
  put(out, keepsake.secrets);
  out.text(keepsake.folder);
  put(out, keepsake.outputs);
  put(out, keepsake.reported);
  out.i64(keepsake.sandboxed ? 1 : 0);
  out.text(keepsake.outputs_failed);
  return out.take();
}

Keepsake decode_keepsake(std::string_view bytes) {
  Keepsake keepsake;
  if (bytes.empty()) return keepsake;
  Decoder in(bytes);
  keepsake.prepared.us = in.i64();
  keepsake.secrets = get_text_map(in);
  keepsake.folder = in.text();
  keepsake.outputs = get_text_list(in);
  keepsake.reported = get_text_map(in);
  keepsake.sandboxed = in.i64() != 0;
  keepsake.outputs_failed = in.text();
  return keepsake;
}

}  // namespace hodei::worker
