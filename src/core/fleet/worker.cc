#include "src/core/fleet/worker.h"

#include "src/base/codec.h"
#include "src/base/counted.h"
#include "src/base/sizes.h"
#include "src/base/status.h"

namespace hodei::core {

std::string encode(const WorkerInfo& w) {
  Encoder out;
  out.text(w.id.str()).text(w.name).text(w.version).text(w.hostname).text(w.ip).text(w.os).text(w.architecture);
  out.i64(w.capacity.cpu_milli).i64(w.capacity.memory_mb).i64(w.capacity.storage_mb).i64(w.capacity.gpus);
  out.u64(w.slots).u64(w.capabilities.size());
  for (const std::string& c : w.capabilities) out.text(c);
  out.u64(w.labels.size());
  for (const auto& [key, value] : w.labels) out.text(key).text(value);
  out.u64(w.taints.size());
  for (const Taint& t : w.taints) out.text(t.key).text(t.value).u64(static_cast<uint64_t>(t.effect));
  out.u64(0);  // tolerations, which workers had in earlier versions and nobody read
  out.text(w.provider).u64(static_cast<uint64_t>(w.isolation)).text(w.image);
  // Records of older versions end here.
  const bool has_end = w.ended.is_set() || !w.end_reason.empty();
  if (!w.made && !w.taints_set && !has_end && w.lacks == 0) return out.take();
  const Made m = w.made.value_or(Made{});  // one without a provider is none
  out.text(m.provider).text(m.pool).text(m.handle).u64(m.for_job).u64(m.one_job).i64(m.asked.us);
  out.u64(w.taints_set).text(m.ns);
  if (!has_end && w.lacks == 0) return out.take();
  out.i64(w.ended.us).text(w.end_reason).u64(w.lacks);
  return out.take();
}

WorkerInfo decode_worker_info(std::string_view bytes) {
  Decoder in(bytes);
  WorkerInfo w;
  w.id = WorkerId(std::string(in.text()));
  w.name = in.text();
  w.version = in.text();
  w.hostname = in.text();
  w.ip = in.text();
  w.os = in.text();
  w.architecture = in.text();
  w.capacity = {in.i64(), in.i64(), in.i64(), in.i64()};
  w.slots = static_cast<uint32_t>(in.u64());
  for (uint64_t n = in.count(); n > 0 && in.ok(); --n) w.capabilities.emplace_back(in.text());
  for (uint64_t n = in.count(); n > 0 && in.ok(); --n) {
    std::string key(in.text());
    w.labels[std::move(key)] = in.text();
  }
  for (uint64_t n = in.count(); n > 0 && in.ok(); --n) {
    Taint t;
    t.key = in.text();
    t.value = in.text();
    t.effect = static_cast<TaintEffect>(in.u64());
    w.taints.push_back(std::move(t));
  }
  for (uint64_t n = in.count(); n > 0 && in.ok(); --n) {
    in.text();
    in.text();
  }
  w.provider = in.text();
  w.isolation = static_cast<Isolation>(in.u64());
  w.image = in.text();
  if (in.done() || !in.ok()) return w;
  Made made;
  made.provider = in.text();
  made.pool = in.text();
  made.handle = in.text();
  made.for_job = in.u64();
  made.one_job = in.u64() != 0;
  made.asked.us = in.i64();
  w.taints_set = in.u64() != 0;
  if (!in.done()) made.ns = in.text();  // not in records of older versions: they serve everybody
  if (!made.provider.empty()) w.made = std::move(made);
  if (in.done()) return w;
  w.ended.us = in.i64();
  w.end_reason = in.text();
  w.lacks = static_cast<uint32_t>(in.u64());
  return w;
}

absl::Status check_held(std::string_view field, size_t count, const WorkerInfo& info) {
  const size_t most = size_t{info.slots} + kMaxEndedHeld;
  if (count <= most) return absl::OkStatus();
  return bad_field(field, "lists ", counted(count, "execution"), "; a worker with ", counted(info.slots, "slot"),
                   " has at most ", most);
}

absl::Status validate(const WorkerInfo& info) {
  RETURN_IF_ERROR(check_name("info.id", info.id.str()));
  if (info.slots == 0 || info.slots > kMaxSlots) {
    return bad_field("info.slots", "must be between 1 and ", kMaxSlots, ", not ", info.slots);
  }
  RETURN_IF_ERROR(check_amounts("info.capacity", info.capacity));
  if (info.isolation < Isolation::Process || info.isolation > Isolation::Hardware) {
    return bad_field("info.isolation", "must be one of process, container, hardware");
  }
  if (info.taints.size() > kMaxTaints)
    return bad_field("info.taints", "must have at most ", kMaxTaints, " taints, not ", info.taints.size());
  for (const Taint& taint : info.taints) {
    if (taint.effect < TaintEffect::NoSchedule || taint.effect > TaintEffect::NoExecute) {
      return bad_field("info.taints", "effects must be one of NoSchedule, PreferNoSchedule, NoExecute");
    }
  }
  if (info.labels.size() > kMaxWorkerLabels) {
    return bad_field("info.labels", "must have at most ", kMaxWorkerLabels, " labels, not ", info.labels.size());
  }
  for (const auto& [key, value] : info.labels) {
    if (key.empty() || key.size() > 200 || value.size() > 500) {
      return bad_field("info.labels", "keys must have 1 to 200 characters and values at most 500");
    }
  }
  if (const size_t size = encode(info).size(); size > kMaxWorkerInfoBytes) {
    return bad_field("info", "is ", size, " bytes long; at most ", kMaxWorkerInfoBytes,
                     " are allowed; shorten its labels, taints, capabilities and texts");
  }
  return absl::OkStatus();
}

absl::Status check_amounts(std::string_view field, const Amounts& amounts) {
  const Amounts& a = amounts;
  if (a.cpu_milli < 0 || a.memory_mb < 0 || a.storage_mb < 0 || a.gpus < 0) {
    return bad_field(field, "amounts must not be negative");
  }
  if (a.cpu_milli > kMaxWorkerMilli || a.memory_mb > kMaxAmountMb || a.storage_mb > kMaxAmountMb || a.gpus > kMaxGpus) {
    return bad_field(field, "must have at most ", kMaxWorkerMilli / 1000, " cores, ", megabytes_text(kMaxAmountMb),
                     " of memory and of storage, and ", kMaxGpus, " GPUs");
  }
  return absl::OkStatus();
}

absl::Status check_incarnation(std::string_view field, std::string_view incarnation) {
  if (incarnation.size() <= kMaxIncarnation) return absl::OkStatus();
  return bad_field(field, "must have at most ", kMaxIncarnation, " characters, not ", incarnation.size());
}

size_t bytes_of(const WorkerRecord& record) {
  constexpr size_t kEntries = 1024;  // of the tables of workers, sessions and kinds
  // Twice: every worker may be the first of its kind, which keeps an example.
  return kEntries + sizeof(WorkerRecord) + record.incarnation.size() + 2 * encode(record.info).size();
}

}  // namespace hodei::core
