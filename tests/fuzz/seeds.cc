// Writes the first inputs of every target, made from real values: fuzz_seeds FOLDER [FILE OF HOSTILE WORDS]. With
// words, only inputs that have them in every text: those are made anew for each run.
#include <filesystem>
#include <fstream>
#include <iostream>
#include <nlohmann/json.hpp>

#include "fmt/format.h"
#include "hodei/v1/job_service.pb.h"
#include "hodei/v1/scheduler_service.pb.h"
#include "hodei/v1/worker_service.pb.h"
#include "src/api/calls/translate.h"
#include "src/base/odd_numbers.h"
#include "src/store/conformance/row_samples.h"
#include "src/store/rows.h"
#include "src/store/segments/power_cut_files.h"
#include "src/store/segments/segment_log_store.h"
#include "src/worker/output/ring.h"
#include "src/worker/protocol/protocol.h"
#include "tests/fuzz/command_script.h"
#include "tests/fuzz/row_bytes.h"

using namespace hodei;
using fuzz::Script;
using fuzz::Step;

namespace {

std::string folder;

void seed(const std::string& target, const std::string& name, const std::string& bytes) {
  const std::filesystem::path path = std::filesystem::path(folder) / target / name;
  std::filesystem::create_directories(path.parent_path());
  std::ofstream(path, std::ios::binary) << bytes;
}

void texts(const std::string& target, const std::vector<std::string>& all) {
  for (size_t i = 0; i < all.size(); ++i) seed(target, fmt::format("text-{:02}", i), all[i]);
}

// Every text is `word`, unless it is empty: then what people write.
v1::JobSpec a_spec(const std::string& word = "") {
  const auto text = [&](const char* usual) { return word.empty() ? std::string(usual) : word; };
  v1::JobSpec spec;
  spec.set_name(text("nightly"));
  spec.mutable_command()->mutable_shell()->set_cmd(text("/bin/echo"));
  spec.mutable_command()->mutable_shell()->add_args(text("hello"));
  spec.set_image(text("debian"));
  (*spec.mutable_env())[text("GREETING")] = text("good morning");
  spec.set_working_dir(text("/tmp"));
  spec.mutable_resources()->set_cpu_cores(0.5);
  spec.mutable_resources()->set_memory_mb(256);
  spec.mutable_resources()->set_architecture(text("x86_64"));
  spec.set_timeout_ms(60'000);
  spec.set_max_attempts(3);
  spec.mutable_backoff()->set_initial_ms(10);
  spec.mutable_backoff()->set_factor(1.5);
  v1::LabelRule* rule = spec.mutable_constraints()->add_labels();
  rule->set_key(text("zone"));
  rule->set_operator_(v1::LabelRule::NotIn);
  rule->add_values(text("moon"));
  spec.mutable_constraints()->add_tolerations()->set_key(text("odd"));
  spec.mutable_preferences()->set_preferred_zone(text("a"));
  spec.mutable_preferences()->set_priority(v1::Preferences::high);
  spec.mutable_concurrency()->set_key(text("disk"));
  spec.mutable_concurrency()->set_limit(2);
  spec.set_idempotency_key(text("once"));
  (*spec.mutable_labels())[text("team")] = text("blue");
  return spec;
}

v1::JobSpec small_spec() {
  v1::JobSpec spec;
  spec.mutable_command()->mutable_script()->set_content("#!/bin/sh\necho $HODEI_JOB_ID\n");
  spec.set_max_attempts(2);
  return spec;
}

v1::QueueJobRequest a_request(const v1::JobSpec& spec, const std::string& word = "") {
  v1::QueueJobRequest request;
  *request.mutable_spec() = spec;
  request.set_namespace_(word);
  request.set_correlation_id(word);
  return request;
}

v1::WorkerInfo an_info(const std::string& id, const std::string& word = "") {
  const auto text = [&](const char* usual) { return word.empty() ? std::string(usual) : word; };
  v1::WorkerInfo info;
  info.set_id(word.empty() ? id : word);
  info.set_name(text("machine 1"));
  info.set_hostname(text("host"));
  info.set_architecture(text("x86_64"));
  info.mutable_capacity()->set_cpu_cores(4);
  info.mutable_capacity()->set_memory_mb(8192);
  info.set_slots(2);
  info.add_capabilities("shell");
  info.add_capabilities("script");
  (*info.mutable_labels())[text("zone")] = text("a");
  v1::Taint* taint = info.add_taints();
  taint->set_key(text("odd"));
  taint->set_effect(v1::Taint::PreferNoSchedule);
  info.set_image(text("debian"));
  return info;
}

v1::PutTemplateRequest a_template(const std::string& word = "") {
  v1::PutTemplateRequest put;
  v1::Template& t = *put.mutable_template_();
  t.set_name(word.empty() ? "greet" : word);
  v1::TemplateParameter* parameter = t.add_parameters();
  parameter->set_name("who");
  parameter->set_default_value(word.empty() ? "world" : word);
  *t.mutable_spec() = small_spec();
  t.mutable_spec()->mutable_command()->mutable_script()->set_content("echo ${who} $${who}\n");
  return put;
}

v1::WorkerMessage a_report(const std::string& execution, const std::string& word = "") {
  v1::WorkerMessage message;
  message.add_started()->set_execution_id(execution);
  v1::JobProgress* progress = message.add_progress();
  progress->set_execution_id(execution);
  progress->set_percentage(40);
  progress->set_message(word);
  v1::JobResult* result = message.add_results();
  result->set_execution_id(execution);
  result->set_outcome(v1::JobResult::Failed);
  result->set_exit_code(2);
  result->set_failure(word.empty() ? "non_zero_exit" : word);
  result->set_message(word);
  result->set_started_us(1'800'000'000'000'000);
  result->set_ended_us(1'800'000'001'000'000);
  return message;
}

v1::WorkerMessage some_output(const std::string& execution) {
  v1::WorkerMessage message;
  v1::LogBatch* batch = message.add_logs();
  batch->set_execution_id(execution);
  batch->set_data("one\ntwo\nthr");
  for (const uint32_t packed : {4u << 2, 4u << 2 | 1, 3u << 2 | 2}) batch->add_lines(packed);
  batch->set_first_time_us(1'800'000'000'000'000);
  for (const int64_t delta : {0, 5, 1000}) batch->add_time_deltas_us(delta);
  v1::WorkerLogEntry* entry = message.add_log_entries();
  entry->set_execution_id(execution);
  entry->set_line("a line\n");
  entry->set_time_us(1'800'000'000'000'000);
  return message;
}

v1::WorkerMessage a_hello(const std::string& id, const std::string& held = "") {
  v1::WorkerMessage message;
  message.mutable_hello()->set_session_id("session of " + id);
  message.mutable_hello()->set_incarnation("first");
  if (!held.empty()) message.mutable_hello()->add_held()->set_execution_id(held);
  message.mutable_heartbeat()->set_cpu_load(0.25);
  return message;
}

Script& worker_joins(Script& script, const std::string& id, const std::string& word = "") {
  v1::CreateOtpRequest otp;
  otp.set_worker_id(id);
  v1::RegisterRequest request;
  request.set_auth_token("token of " + id);
  request.set_incarnation("first");
  *request.mutable_info() = an_info(id, word);
  request.mutable_info()->set_id(id);
  return script.step(Step::CreateOtp, otp).step(Step::Register, request).step(Step::WorkerMessage, a_hello(id));
}

void scripts() {
  v1::CancelJobRequest cancel;
  cancel.set_job_id("j2");
  cancel.set_reason("not needed");
  v1::DrainWorkerRequest drain;
  drain.set_worker_id("w1");
  v1::ConfigureSchedulerRequest configure;
  configure.set_threshold(10);
  v1::CompleteJobRequest complete;
  complete.set_execution_id("j1.1");
  complete.set_output("done");
  v1::AssignJobRequest assign;
  assign.set_job_id("j3");
  assign.set_worker_id("w2");
  v1::QueueJobRequest of_template;
  of_template.set_template_("greet");
  (*of_template.mutable_parameters())["who"] = "you";
  v1::QueueJobBatchRequest batch;
  for (int i = 0; i < 3; ++i) *batch.add_specs() = small_spec();
  const v1::QueueJobRequest job = a_request(small_spec());

  Script life;
  worker_joins(life, "w1").step(Step::QueueJob, job).step(Step::QueueJob, a_request(a_spec()));
  life.step(Step::WorkerMessage, a_report("j1.1"))
      .step(Step::Wait, std::string(300, 'x'))
      .step(Step::CancelJob, cancel);
  seed("commands", "life", life.bytes());
  Script loss;
  worker_joins(loss.step(Step::QueueBatch, batch), "w1").step(Step::Hang).step(Step::Restart);
  loss.step(Step::WorkerMessage, a_hello("w1", "j2.1")).step(Step::CompleteJob, complete).step(Step::Drain, drain);
  seed("commands", "loss", loss.bytes());
  Script two;
  worker_joins(worker_joins(two.step(Step::ConfigureScheduler, configure), "w1"), "w2");
  two.step(Step::PutTemplate, a_template()).step(Step::QueueJob, of_template).step(Step::AssignJob, assign);
  for (int i = 0; i < 5; ++i) two.step(Step::QueueJob, job).step(Step::Wait, std::string(1000, 'x'));
  seed("commands", "two-workers", two.step(Step::Restart).bytes());
}

void messages() {
  seed("submission", "full", a_request(a_spec()).SerializeAsString());
  seed("submission", "small", a_request(small_spec()).SerializeAsString());
  v1::RegisterRequest registration;
  *registration.mutable_info() = an_info("w1");
  seed("worker_info", "full", registration.SerializeAsString());
  seed("worker_stream", "report", a_report("j1.1").SerializeAsString());
  seed("worker_stream", "output", some_output("j1.1").SerializeAsString());
  seed("worker_stream", "hello", a_hello("w1", "j2.1").SerializeAsString());
  v1::ServerMessage order;
  for (const v1::JobSpec& spec : {a_spec(), small_spec()}) {
    v1::RunJob* run = order.add_run();
    run->set_execution_id("j1.1");
    run->set_spec(spec.SerializeAsString());
  }
  order.add_cancel()->set_execution_id("j1.2");
  order.mutable_ack()->add_logs()->set_execution_id("j1.1");
  seed("server_stream", "orders", order.SerializeAsString());
  v1::QueueJobRequest use;
  (*use.mutable_parameters())["who"] = "you";
  Encoder input;
  input.text("echo ${a} and $${a}").text("value").text(a_template().SerializeAsString()).text(use.SerializeAsString());
  seed("template", "greet", input.bytes());
}

void rows() {
  const auto row = [](char kind, const std::string& bytes) { return std::string(1, kind) + bytes; };
  const core::JobSpec spec = api::from_proto(a_spec());
  core::JobHead head = core::head_of(spec);
  core::Past past;
  past.transitions.push_back({core::JobState::Scheduled, core::JobState::Pending, {1'000'000}, 1, "assigned"});
  past.executions.push_back({.number = 1, .worker = WorkerId("w1"), .provider = "manual", .reason = "exited with 2"});
  past.executions[0].decision.rejected.push_back({"labels", 3});
  past.failure = "non_zero_exit";
  seed("rows", "labels", row(0, store::pack(core::Labels{{"team", "blue"}, {"zone", "a"}})));
  seed("rows", "scheduler", row(1, store::pack(core::SchedulerConfig{})));
  seed("rows", "hash", row(2, store::pack(hash128("x"))));
  seed("rows", "shape", row(3, head.shape->encoded));
  seed("rows", "worker", row(4, core::encode(*api::from_proto(an_info("w1")))));
  seed("rows", "past", row(5, core::encode(past)));
  seed("rows", "details", row(6, store::pack_details(head)));
  store::SampleValues values(1);
  char kind = fuzz::kFirstRowKind;
  core::each_type(core::AllRows{}, [&]<class Row>(std::type_identity<Row>) {
    const std::string table(core::RowType<Row>::table);
    seed("rows", "row-" + table, row(kind++, fuzz::to_bytes(store::a_row<Row>(values))));
  });
}

std::string bytes_of(store::Files& files, const std::string& path) {
  const auto file = files.open_read(path);
  return file.ok() ? (*file)->read(0, 1 << 20).value_or("") : "";
}

void logs() {
  store::PowerCutFiles files(1);
  auto store = *store::SegmentLogStore::open("logs", {.segment_bytes = 600, .files = &files});
  for (int i = 0; i < 8; ++i) {
    store::LogPiece piece{.execution = {JobId{static_cast<uint64_t>(i % 3 + 1)}, 1}, .offset = i / 3 * 120};
    piece.data = std::string(100, static_cast<char>('a' + i)) + "\n" + "a short line here.\n";
    piece.lines = {{.length = 101, .time_us = 1'800'000'000'000'000}, {.length = 19, .is_stderr = true, .time_us = 5}};
    piece.end = i > 5;
    store->append({piece}).IgnoreError();
  }
  const std::string first = bytes_of(files, store::segment_path("logs", 1));
  Encoder all;
  all.u64(3);
  for (uint64_t id = 1; id <= 2; ++id) {
    all.text(bytes_of(files, store::segment_path("logs", id))).text(bytes_of(files, store::index_path("logs", id)));
  }
  seed("log_store", "two-segments", all.bytes());
  Encoder one;
  one.u64(1).text(first).text("");
  seed("log_store", "no-index", one.bytes());
  seed("log_block", "repaired", '\0' + first);
  seed("log_block", "as-it-is",
       '\1' + first.substr(0, store::kBlockHeaderBytes + store::read_header(first)->body_bytes));
}

void protocol() {
  using namespace worker;
  const Exit exit{.execution = {JobId{7}, 2}, .exit_code = 3, .failure = "non_zero_exit", .started = {5}, .ended = {9}};
  protocol::Attach attach{.incarnation = "i", .mark = "m"};
  attach.options.labels = {{"zone", "a"}};
  attach.options.taints = {{"odd", "", "NoSchedule"}};
  attach.held.push_back({.held = {.execution = {JobId{7}, 2}, .started = true, .ended = true, .pid = 9, .exit = exit}});
  const Program program{
      .argv = {"bash", "{{hodei.folder}}/script"}, .env = {"PATH=/bin"}, .files = {{"script", "id\n"}}};
  const std::vector<protocol::Message> all = {attach,
                                              protocol::Started{{JobId{7}, 2}, {5}, 9, 1},
                                              protocol::Exited{exit},
                                              protocol::Start{{JobId{7}, 2}, program},
                                              protocol::Kill{{JobId{7}, 2}},
                                              protocol::ValidUntil{{99}},
                                              protocol::Left{"drained"}};
  std::string packet;
  for (const protocol::Message& message : all) {
    const std::string bytes = protocol::encode(message);
    seed("supervisor_protocol", fmt::format("kind-{}", message.index()), bytes);
    const auto length = static_cast<uint32_t>(bytes.size());
    if (message.index() != 0) packet.append(reinterpret_cast<const char*>(&length), 4).append(bytes);
  }
  seed("supervisor_protocol", "packet", packet);
  RingMemory ring = *RingMemory::create(4096);
  RingWriter writer(&ring);
  writer.append(OutputStream::Stdout, {1'800'000'000'000'000}, "one\ntwo\nthree");
  writer.append(OutputStream::Stderr, {1'800'000'000'000'001}, " and more\n");
  const uint64_t words[3] = {0, 0, ring.header().head.load()};
  seed("output_ring", "two-records",
       std::string(reinterpret_cast<const char*>(words), sizeof(words)) + std::string(ring.data(), words[2]));
}

// Every floating-point number of a message, as what no amount can be.
void odd_numbers() {
  std::vector<double> odd = no_amounts();
  for (const double tiny : tiny_amounts()) odd.push_back(tiny);
  for (size_t i = 0; i < odd.size(); ++i) {
    const std::string name = fmt::format("odd-number-{:02}", i);
    v1::JobSpec spec = small_spec();
    spec.mutable_resources()->set_cpu_cores(odd[i]);
    seed("submission", name + "-cores", a_request(spec).SerializeAsString());
    v1::ServerMessage order;
    order.add_run()->set_execution_id("j1.1");
    order.mutable_run(0)->set_spec(spec.SerializeAsString());
    seed("server_stream", name, order.SerializeAsString());
    spec = small_spec();
    spec.mutable_backoff()->set_factor(odd[i]);
    seed("submission", name + "-factor", a_request(spec).SerializeAsString());
    v1::RegisterRequest registration;
    *registration.mutable_info() = an_info("w1");
    registration.mutable_info()->mutable_capacity()->set_cpu_cores(odd[i]);
    seed("worker_info", name, registration.SerializeAsString());
    v1::WorkerMessage beat = a_hello("w1");
    beat.mutable_heartbeat()->set_cpu_load(odd[i]);
    v1::JobProgress* progress = beat.add_progress();
    progress->set_execution_id("j1.1");
    progress->set_percentage(odd[i]);
    seed("worker_stream", name, beat.SerializeAsString());
    v1::ConfigureSchedulerRequest configure;
    configure.set_weight_load(odd[i]);
    configure.set_threshold(odd[i]);
    Script script;
    worker_joins(script.step(Step::ConfigureScheduler, configure), "w1").step(Step::QueueJob, a_request(small_spec()));
    seed("commands", name, script.step(Step::WorkerMessage, beat).step(Step::Restart).bytes());
    core::SchedulerConfig config;
    config.capacity = config.threshold = odd[i];
    seed("rows", name + "-scheduler", std::string(1, 1) + store::pack(config));
    core::Past past;
    past.progress = odd[i];
    seed("rows", name + "-past", std::string(1, 5) + core::encode(past));
    core::JobHead head;
    head.backoff.factor = odd[i];
    seed("rows", name + "-details", std::string(1, 6) + store::pack_details(head));
  }
  const std::vector<std::string> words = {"nan",   "-nan",   ".nan", "inf",    "-inf", ".inf",
                                          "1e308", "-1e308", "-0",   "1e-320", "1e999"};
  for (size_t i = 0; i < words.size(); ++i) {
    const std::string name = fmt::format("odd-number-{:02}", i);
    seed("quantities", name, words[i] + "s");
    seed("job_file", name,
         "command: {shell: {cmd: x}}\nresources: {cpu_cores: " + words[i] + "}\nbackoff: {factor: " + words[i] + "}\n");
    seed("report_line", name, "progress " + words[i] + " done");
    seed("config_file", name, "cpu: " + words[i] + "\nlog_retention_size: " + words[i] + "\nlease: " + words[i] + "\n");
  }
}

void written_texts() {
  texts("ids", {"j1", "j1f3k", "j1f3k.2", public_id(JobId{12345}), public_id(JobId{7}) + ".1", "worker-1", "a.b_c"});
  texts("quantities", {"500ms", "1h30m", "2d", "0", "1.5s", "10GiB", "512m", "1024", "2g", "65535", "-5"});
  texts("label_rules", {"zone In (a,b)", "gpu Exists", "cores Gt 4", "zone=a", "zone!=a", "cores<8", "!gpu",
                        "odd=yes:NoExecute", "http://localhost:50051", "[::1]:8080,host"});
  texts("job_file",
        {"name: x\ncommand: {shell: {cmd: echo, args: [a, b]}}\ntimeout_ms: 5000\nlabels: {team: blue}\n",
         "{\"command\": {\"script\": {\"content\": \"set -e\\necho \\u00e4\\n\"}}, \"max_attempts\": 2}",
         "spec:\n  command:\n    script:\n      content: |\n        echo hi\n        exit 1\nparameters: {a: b}\n",
         "name: t\nparameters: [{name: who, default_value: you}]\nspec: {command: {shell: {cmd: '${who}'}}}\n",
         "constraints:\n  labels:\n  - {key: zone, operator: In, values: [a]}\npreferences: {priority: high}\n"});
  texts("config_file", {"server: http://localhost:50051\noutput: yaml\nretry_for: 3s\n",
                        "slots: 4\nlabels: {zone: a}\ntaints: [odd=yes:NoExecute]\nlog_retention_size: 10GiB\n",
                        "listen: 127.0.0.1:0\npool:\nlog_level: debug\nworker_id: w1\n"});
}

void report_lines() {
  texts("report_line", {"hello j1f3k.2 00112233445566778899aabbccddeeff", "progress 40 halfway", "progress 33.3",
                        "output key two\\nlines \\\\", "output a.b-C_1 "});
}

// The first byte of a request says how it is cut.
void http_texts() {
  texts("http_target", {"/jobs/j1f3k?limit=3&label=a%3Db", "/jobs/a%2Fb:cancel\n/jobs/{id}:retry\n/jobs/stats",
                        "/files/a/b%20c?x=+", "http://host:80/a//b/?q", "*", "/a/b/d\n/a/b/c\n/a/{x}/d\n/{x...}",
                        "/%e6%97%a5/%2e%2E/..", "/x%00?a=%ff&b=%"});
  using namespace std::string_literals;
  texts(
      "http_request",
      {"\005GET /hello?a=b HTTP/1.1\r\nHost: x\r\n\r\n"s,
       "\000POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\nhelloGET / HTTP/1.0\r\n\r\n"s,
       "\002POST /e HTTP/1.1\r\nhost: x\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n2;a=\"b\"\r\nde\r\n0\r\nT: x\r\n\r\nGET / HTTP/1.1\r\nHost: y\r\n\r\n"s,
       "\007PUT /e HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nConnection: close\r\nContent-Length: 0\r\n\r\n\r\n\r\n"s,
       "\020POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"s,
       "\001POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"s,
       "\003GET / HTTP/1.1\r\nX: y\r\n folded\r\n\r\n"s, " PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"s});
}

void with_words(const std::string& path) {
  std::ifstream lines(path);
  int number = 0;
  for (std::string line; std::getline(lines, line);) {
    if (line.empty() || line[0] == '#') continue;
    const std::string word = nlohmann::json::parse(line).get<std::string>();
    const std::string name = fmt::format("word-{:02}", number++);
    for (const char* target : {"ids", "quantities", "label_rules", "job_file", "config_file"}) seed(target, name, word);
    seed("http_target", name, "/jobs/" + word + "?" + word + "=" + word);
    seed("http_request", name, " GET /" + word + " HTTP/1.1\r\nHost: x\r\nX: " + word + "\r\n\r\n");
    seed("submission", name, a_request(a_spec(word), word).SerializeAsString());
    v1::RegisterRequest registration;
    *registration.mutable_info() = an_info("w1", word);
    seed("worker_info", name, registration.SerializeAsString());
    seed("worker_stream", name, a_report(word, word).SerializeAsString());
    Encoder input;
    input.text(word).text(word).text(a_template(word).SerializeAsString()).text("");
    seed("template", name, input.bytes());
    Script script;
    worker_joins(script, "w1", word).step(Step::QueueJob, a_request(small_spec()));
    seed("commands", name, script.step(Step::WorkerMessage, a_report("j1.1", word)).bytes());
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) {
    std::cerr << "usage: fuzz_seeds FOLDER [FILE OF HOSTILE WORDS]\n";
    return 2;
  }
  folder = argv[1];
  if (argc > 2) {
    with_words(argv[2]);
    return 0;
  }
  written_texts();
  odd_numbers();
  report_lines();
  http_texts();
  messages();
  scripts();
  rows();
  logs();
  protocol();
}
