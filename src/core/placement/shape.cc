#include "src/core/placement/shape.h"

#include "src/base/codec.h"

namespace hodei::core {

namespace {

void put(Encoder& out, const LabelRule& rule) {
  out.text(rule.key).u64(static_cast<uint64_t>(rule.op)).u64(rule.values.size());
  for (const std::string& v : rule.values) out.text(v);
}

LabelRule get_rule(Decoder& in) {
  LabelRule rule;
  rule.key = in.text();
  rule.op = static_cast<LabelOperator>(in.u64());
  for (uint64_t v = in.count(); v > 0 && in.ok(); --v) rule.values.emplace_back(in.text());
  return rule;
}

}  // namespace

std::string encode(const Shape& s) {
  Encoder out;
  out.i64(s.needs.cpu_milli).i64(s.needs.memory_mb).i64(s.needs.storage_mb).i64(s.needs.gpus);
  out.text(s.architecture).u64(static_cast<uint64_t>(s.isolation)).text(s.image).text(s.pool).text(s.provider);
  out.u64(s.capabilities.size());
  for (const std::string& c : s.capabilities) out.text(c);
  out.u64(s.labels.size());
  for (const LabelRule& rule : s.labels) put(out, rule);
  out.u64(s.tolerations.size());
  for (const Toleration& t : s.tolerations) out.text(t.key).text(t.value);
  out.text(s.preferred_provider).text(s.preferred_region).text(s.preferred_zone);
  // Shapes of older versions end here, and those that have nothing of what follows still do: the bytes say which shapes
  // are the same.
  if (s.affinity.empty() && s.asks == 0 && s.prefers.empty()) return out.take();
  out.u64(s.affinity.size());
  for (const AffinityRule& c : s.affinity) {
    put(out, c.rule);
    out.u64(c.anti).u64(c.required);
  }
  if (s.asks == 0 && s.prefers.empty()) return out.take();
  out.u64(s.asks);
  if (s.prefers.empty()) return out.take();
  out.u64(s.prefers.size());
  for (const LabelPreference& p : s.prefers) {
    put(out, p.rule);
    out.u64(p.weight);
  }
  return out.take();
}

Shape decode_shape(std::string_view bytes) {
  Decoder in(bytes);
  Shape s;
  s.needs = {in.i64(), in.i64(), in.i64(), in.i64()};
  s.architecture = in.text();
  s.isolation = static_cast<Isolation>(in.u64());
  s.image = in.text();
  s.pool = in.text();
  s.provider = in.text();
  for (uint64_t n = in.count(); n > 0 && in.ok(); --n) s.capabilities.emplace_back(in.text());
  for (uint64_t n = in.count(); n > 0 && in.ok(); --n) s.labels.push_back(get_rule(in));
  for (uint64_t n = in.count(); n > 0 && in.ok(); --n) {
    Toleration t;
    t.key = in.text();
    t.value = in.text();
    s.tolerations.push_back(std::move(t));
  }
  s.preferred_provider = in.text();
  s.preferred_region = in.text();
  s.preferred_zone = in.text();
  if (!in.done()) {
    for (uint64_t n = in.count(); n > 0 && in.ok(); --n) {
      AffinityRule c;
      c.rule = get_rule(in);
      c.anti = in.u64() != 0;
      c.required = in.u64() != 0;
      s.affinity.push_back(std::move(c));
    }
  }
  if (!in.done()) s.asks = static_cast<uint32_t>(in.u64());
  if (!in.done()) {
    for (uint64_t n = in.count(); n > 0 && in.ok(); --n) {
      LabelPreference p;
      p.rule = get_rule(in);
      p.weight = static_cast<uint32_t>(in.u64());
      s.prefers.push_back(std::move(p));
    }
  }
  s.encoded = std::string(bytes);
  return s;
}

}  // namespace hodei::core
