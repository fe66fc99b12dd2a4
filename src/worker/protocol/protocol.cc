#include "src/worker/protocol/protocol.h"

#include "src/base/codec.h"
#include "src/base/status.h"
#include "src/worker/protocol/exit_codec.h"

namespace hodei::worker::protocol {
namespace {

using worker::put;  // of executions and their ends

void put(Encoder& out, const WorkerOptions& o) {
  put(out, o.servers);
  out.text(o.token).text(o.worker_id).text(o.name).text(o.state_dir).u64(o.slots);
  out.u64(o.labels.size());
  for (const auto& [key, value] : o.labels) out.text(key).text(value);
  out.u64(o.taints.size());
  for (const TaintOption& taint : o.taints) out.text(taint.key).text(taint.value).text(taint.effect);
  put(out, o.capabilities);
  out.text(o.pool).text(o.provider).text(o.isolation).text(o.image).text(o.metrics_listen);
  out.i64(o.cpu_milli).i64(o.memory_mb).i64(o.gpus);
  put(out, o.lacks);
  out.u64(o.log_batch_lines).i64(o.log_batch_interval.count());
}
WorkerOptions get_options(Decoder& in) {
  WorkerOptions o;
  o.servers = get_text_list(in);
  o.token = in.text();
  o.worker_id = in.text();
  o.name = in.text();
  o.state_dir = in.text();
  o.slots = static_cast<uint32_t>(in.u64());
  for (uint64_t n = in.count(); n > 0 && in.ok(); --n) {
    const std::string_view key = in.text();
    o.labels.emplace(key, in.text());
  }
  for (uint64_t n = in.count(); n > 0 && in.ok(); --n) {
    TaintOption taint;
    taint.key = in.text();
    taint.value = in.text();
    taint.effect = in.text();
    o.taints.push_back(std::move(taint));
  }
  o.capabilities = get_text_list(in);
  o.pool = in.text();
  o.provider = in.text();
  o.isolation = in.text();
  o.image = in.text();
  o.metrics_listen = in.text();
  o.cpu_milli = in.i64();
  o.memory_mb = in.i64();
  o.gpus = in.i64();
  o.lacks = get_text_list(in);
  o.log_batch_lines = static_cast<uint32_t>(in.u64());
  o.log_batch_interval = Duration(in.i64());
  return o;
}

void put(Encoder& out, const std::vector<Program::File>& files) {
  out.u64(files.size());
  for (const Program::File& file : files) out.text(file.name).text(file.content);
}
std::vector<Program::File> get_files(Decoder& in) {
  std::vector<Program::File> files;
  for (uint64_t n = in.count(); n > 0 && in.ok(); --n) {
    Program::File file;
    file.name = in.text();
    file.content = in.text();
    files.push_back(std::move(file));
  }
  return files;
}

void put(Encoder& out, const ProgramLimits& l) {
  out.i64(l.cpu_milli).i64(l.memory_bytes).i64(l.pids).i64(l.io_weight).i64(l.disk_bytes);
}
ProgramLimits get_limits(Decoder& in) {
  ProgramLimits l;
  for (int64_t* each : {&l.cpu_milli, &l.memory_bytes, &l.pids, &l.io_weight, &l.disk_bytes}) *each = in.i64();
  return l;
}

void put(Encoder& out, const SandboxRules& s) {
  out.u64(s.enabled).text(s.user).u64(s.allow_network).u64(s.writable_root).u64(s.shared_tmp).u64(s.allow_all_syscalls);
}
SandboxRules get_sandbox(Decoder& in) {
  SandboxRules s;
  s.enabled = in.u64() != 0;
  s.user = in.text();
  for (bool* each : {&s.allow_network, &s.writable_root, &s.shared_tmp, &s.allow_all_syscalls}) *each = in.u64() != 0;
  return s;
}

void put(Encoder& out, const Program& program) {
  put(out, program.argv);
  put(out, program.env);
  out.text(program.working_dir);
  put(out, program.files);
  out.i64(program.timeout.count()).i64(program.grace.count());
  out.text(program.impossible).text(program.impossible_failure).text(program.input);
  put(out, program.secret_files);
  out.text(program.folder);
  put(out, program.limits);
  out.u64(program.output.drop).i64(program.output.max_bytes).i64(program.output.max_bytes_per_second);
  put(out, program.sandbox);
  out.u64(program.streams_input);
}
Program get_program(Decoder& in) {
  Program program;
  program.argv = get_text_list(in);
  program.env = get_text_list(in);
  program.working_dir = in.text();
  program.files = get_files(in);
  program.timeout = Duration(in.i64());
  program.grace = Duration(in.i64());
  program.impossible = in.text();
  program.impossible_failure = in.text();
  program.input = in.text();
  program.secret_files = get_files(in);
  program.folder = in.text();
  program.limits = get_limits(in);
  program.output.drop = in.u64() != 0;
  program.output.max_bytes = in.i64();
  program.output.max_bytes_per_second = in.i64();
  program.sandbox = get_sandbox(in);
  program.streams_input = in.u64() != 0;
  return program;
}

// One overload pair per message; the index in the variant is its number on the wire, so new ones go to the end.
void body(Encoder& out, const Attach& m) {
  out.u64(m.version).text(m.incarnation).text(m.session_id).text(m.cgroup).text(m.mark);
  put(out, m.options);
  out.u64(m.held.size());
  for (const HeldRing& h : m.held) {
    put(out, h.held.execution);
    out.u64(h.held.started).u64(h.held.ended).i64(h.held.pid).u64(h.ring);
    put(out, h.held.exit);
    out.text(h.notes).u64(h.has_input).i64(h.input_at);
  }
  out.text(m.job_socket).text(m.job_socket_secret).text(m.lineage).u64(m.generation);
  put(out, m.stopped);  // what earlier supervisors send ends before it
}
void body(Encoder& out, const RingShared& m) { out.u64(m.ring); }
void body(Encoder& out, const Started& m) {
  put(out, m.execution);
  out.i64(m.at.us).i64(m.pid).u64(m.ring);
}
void body(Encoder& out, const Exited& m) { put(out, m.exit); }
void body(Encoder& out, const Pong& m) { out.u64(m.number).u64(m.dropped_lines); }
void body(Encoder&, const Stop&) {}
void body(Encoder& out, const Start& m) {
  put(out, m.execution);
  put(out, m.program);
  out.text(m.notes);
}
void body(Encoder& out, const Kill& m) {
  put(out, m.execution);
  out.u64(static_cast<uint64_t>(m.why)).i64(m.grace.count());
}
void body(Encoder& out, const ValidUntil& m) { out.i64(m.until.us); }
void body(Encoder& out, const Forget& m) { put(out, m.execution); }
void body(Encoder& out, const Ping& m) { out.u64(m.number); }
void body(Encoder& out, const Registered& m) { out.text(m.session_id); }
void body(Encoder& out, const Left& m) { out.text(m.reason).u64(m.turned_away); }
void body(Encoder& out, const Keep& m) {
  put(out, m.execution);
  out.text(m.notes);
}
void body(Encoder&, const AskUsage&) {}
void body(Encoder& out, const UsageRead& m) {
  out.u64(m.executions.size());
  for (const LiveUsage& u : m.executions) {
    put(out, u.execution);
    out.i64(u.cpu_ms).i64(u.memory_kb).i64(u.io_read_bytes).i64(u.io_write_bytes);
  }
}

void body(Encoder& out, const Input& m) {
  put(out, m.execution);
  out.i64(m.offset).text(m.data).u64(m.end).u64(m.broken);
}
void body(Encoder& out, const InputTaken& m) {
  put(out, m.execution);
  out.i64(m.offset).u64(m.closed);
}

Attach get_attach(Decoder& in) {
  Attach m;
  m.version = static_cast<uint32_t>(in.u64());
  if (m.version != kVersion) return m;  // the rest is not ours to read; the caller refuses it by its version
  m.incarnation = in.text();
  m.session_id = in.text();
  m.cgroup = in.text();
  m.mark = in.text();
  m.options = get_options(in);
  for (uint64_t n = in.count(); n > 0 && in.ok(); --n) {
    HeldRing h;
    h.held.execution = get_execution(in);
    h.held.started = in.u64() != 0;
    h.held.ended = in.u64() != 0;
    h.held.pid = in.i64();
    h.ring = in.u64();
    h.held.exit = get_exit(in);
    h.notes = in.text();
    h.has_input = in.u64() != 0;
    h.input_at = in.i64();
    m.held.push_back(std::move(h));
  }
  m.job_socket = in.text();
  m.job_socket_secret = in.text();
  m.lineage = in.text();
  m.generation = in.u64();
  if (!in.done()) m.stopped = get_text_list(in);
  return m;
}

Started get_started(Decoder& in) {
  Started m{.execution = get_execution(in)};
  m.at.us = in.i64();
  m.pid = in.i64();
  m.ring = in.u64();
  return m;
}

Kill get_kill(Decoder& in) {
  Kill m{.execution = get_execution(in)};
  m.why = static_cast<KillReason>(in.u64());
  m.grace = Duration(in.i64());
  return m;
}

UsageRead get_usage(Decoder& in) {
  UsageRead m;
  for (uint64_t n = in.count(); n > 0 && in.ok(); --n) {
    LiveUsage u{.execution = get_execution(in)};
    for (int64_t* each : {&u.cpu_ms, &u.memory_kb, &u.io_read_bytes, &u.io_write_bytes}) *each = in.i64();
    m.executions.push_back(u);
  }
  return m;
}

Input get_input(Decoder& in) {
  Input m{.execution = get_execution(in)};
  m.offset = in.i64();
  m.data = in.text();
  m.end = in.u64() != 0;
  m.broken = in.u64() != 0;
  return m;
}

InputTaken get_input_taken(Decoder& in) {
  InputTaken m{.execution = get_execution(in)};
  m.offset = in.i64();
  m.closed = in.u64() != 0;
  return m;
}

absl::StatusOr<Message> read_body(uint64_t kind, Decoder& in) {
  switch (kind) {
    case 0: return get_attach(in);
    case 1: return RingShared{in.u64()};
    case 2: return get_started(in);
    case 3: return Exited{get_exit(in)};
    case 4: {
      Pong m{.number = in.u64()};
      m.dropped_lines = in.u64();
      return m;
    }
    case 5: return Stop{};
    case 6: {
      Start m{.execution = get_execution(in)};
      m.program = get_program(in);
      m.notes = in.text();
      return m;
    }
    case 7: return get_kill(in);
    case 8: return ValidUntil{MonoTime{in.i64()}};
    case 9: return Forget{get_execution(in)};
    case 10: return Ping{in.u64()};
    case 11: return Registered{std::string(in.text())};
    case 12: {
      Left m{.reason = std::string(in.text())};
      m.turned_away = in.u64() != 0;
      return m;
    }
    case 13: {
      Keep m{.execution = get_execution(in)};
      m.notes = in.text();
      return m;
    }
    case 14: return AskUsage{};
    case 15: return get_usage(in);
    case 16: return get_input(in);
    case 17: return get_input_taken(in);
    default: return absl::InvalidArgumentError(cat("message of unknown kind ", kind));
  }
}

}  // namespace

std::string encode(const Message& message) {
  Encoder out;
  out.u64(message.index());
  std::visit([&out](const auto& m) { body(out, m); }, message);
  return out.take();
}

absl::StatusOr<Message> decode(std::string_view bytes) {
  Decoder in(bytes);
  const uint64_t kind = in.u64();
  absl::StatusOr<Message> message = read_body(kind, in);
  if (message.ok() && !in.ok()) return absl::InvalidArgumentError(cat("message of kind ", kind, " is cut short"));
  return message;
}

size_t descriptors_of(const Message& message) {
  if (std::holds_alternative<Attach>(message)) return 2;
  return std::holds_alternative<RingShared>(message) ? 1 : 0;
}

}  // namespace hodei::worker::protocol
