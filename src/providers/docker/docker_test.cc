#include <tuple>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "src/providers/docker/container_body.h"
#include "src/providers/docker/container_status.h"
#include "src/providers/docker/docker_options.h"
#include "src/providers/docker/docker_provider.h"
#include "src/providers/docker/engine_errors.h"
#include "src/providers/docker/engine_json.h"
#include "src/providers/docker/json_fields.h"
#include "src/providers/docker/worker_tar.h"
#include "src/providers/worker_environment.h"

namespace hodei::providers::docker::docker_test {
namespace {

using testing::HasSubstr;

std::string message(const absl::Status& status) { return std::string(status.message()); }

TEST(DockerOptions, AreReadAndChecked) {
  const auto good = read_options({{"host", "tcp://engine.test"},
                                  {"pull", "always"},
                                  {"labels", "a=b,c=d=e"},
                                  {"pids", "0"},
                                  {"volumes", "/data:/data:ro"},
                                  {"max_workers", "7"}});
  ASSERT_TRUE(good.ok()) << good.status();
  EXPECT_EQ(good->engine.base, "http://engine.test:2375");
  EXPECT_FALSE(good->engine.on_this_machine);
  EXPECT_EQ(good->pull, PullPolicy::Always);
  EXPECT_EQ(good->labels.at("c"), "d=e");
  EXPECT_EQ(good->pids, 0);
  EXPECT_EQ(good->max_workers, 7U);
  const std::pair<StringMap, const char*> wrong[] = {
      {{{"imge", "x"}}, "imge: the docker provider has no such option; the options are host, image"},
      {{{"pull", "sometimes"}}, "pull: 'sometimes' is not one of never, missing, always"},
      {{{"max_workers", "-1"}}, "max_workers: '-1' is not a number"},
      {{{"pids", "many"}}, "pids: 'many' is not a number"},
      {{{"host", "ssh://there"}}, "ssh -L"},
      {{{"host", "unix://docker.sock"}}, "is not an absolute path"},
      {{{"image", "two words"}}, "image: 'two words' is not an image name"},
      {{{"labels", "hodei.worker=x"}}, "are reserved"},
      {{{"volumes", "/data"}}, "volumes: '/data' is not of the form"},
  };
  for (const auto& [options, words] : wrong) {
    const auto made = make_docker_provider({.name = "d", .type = "docker", .options = options}, {.id = "i"});
    EXPECT_TRUE(absl::IsInvalidArgument(made.status())) << made.status();
    EXPECT_THAT(message(made.status()), HasSubstr(words));
  }
}

TEST(DockerOptions, KnowWhichServersOnlyThisMachineReaches) {
  for (const char* here :
       {"127.0.0.1:50051", "http://localhost:1", "[::1]:1", "127.0.0.1:1,localhost:2", "0.0.0.0:1"}) {
    EXPECT_TRUE(is_loopback(here)) << here;
  }
  for (const char* there : {"10.0.0.1:50051", "127.0.0.1:1,hodei.test:2", "", "[fe80::1]:1", "localhost.test:1"}) {
    EXPECT_FALSE(is_loopback(there)) << there;
  }
}

TEST(ContainerBody, HoldsLimitsMarksAndTheTokenOnlyInTheEnvironment) {
  const ProviderConfig config{.name = "here", .type = "docker"};
  const DockerOptions options = *read_options({{"labels", "team=a,hodei=x"}, {"extra_hosts", "h:host-gateway"}});
  const WorkerSpec spec{.worker_id = "w-1",
                        .image = "debian:12",
                        .server_address = "10.0.0.1:1",
                        .token = "s3cret",
                        .cpu_milli = 1500,
                        .memory_mb = 256,
                        .gpus = 2,
                        .labels = {{"zone", "b"}}};
  const StringMap marks = owner_labels({.id = "inst"}, config);
  const StringMap environment = worker_environment(config, {.isolation = Isolation::Container}, spec, kStatePath);
  Json body = parse_json(container_body(options, marks, environment, spec, "host"));
  EXPECT_EQ(body["Image"], "debian:12");
  EXPECT_EQ(body["Entrypoint"], Json::array({"/.hodei/hodei-worker"}));
  EXPECT_EQ(body["User"], "0");
  EXPECT_EQ(body["Labels"], (Json{{"team", "a"},
                                  {"hodei", "x"},
                                  {"hodei.label.zone", "b"},
                                  {"hodei.installation", "inst"},
                                  {"hodei.provider", "here"},
                                  {"hodei.worker", "w-1"}}));
  const Json host = body["HostConfig"];
  EXPECT_EQ(host["NanoCpus"], 1'500'000'000);
  EXPECT_EQ(host["Memory"], 256 << 20);
  EXPECT_EQ(host["NetworkMode"], "host");
  EXPECT_EQ(host["AutoRemove"], false);
  EXPECT_EQ(dump(host["DeviceRequests"]), R"([{"Capabilities":[["gpu"]],"Count":2,"Driver":""}])");
  EXPECT_THAT(body["Env"].get<std::vector<std::string>>(),
              testing::IsSupersetOf({"HODEI_TOKEN=s3cret", "HODEI_STATE_DIR=/.hodei/state", "HODEI_WORKER_ID=w-1"}));
  body.erase("Env");
  EXPECT_THAT(dump(body), testing::Not(HasSubstr("s3cret")));
}

TEST(ContainerBody, UsesTheHostsNetworkOnlyForAServerOnLoopback) {
  const DockerOptions here = *read_options({{"host", "unix:///x"}});
  const DockerOptions there = *read_options({{"host", "tcp://engine.test:1"}});
  const DockerOptions named = *read_options({{"host", "unix:///x"}, {"network", "jobs"}});
  EXPECT_EQ(*network_for(here, {.server_address = "127.0.0.1:1"}), "host");
  EXPECT_EQ(*network_for(here, {.server_address = "10.0.0.1:1"}), "");
  EXPECT_EQ(*network_for(named, {.server_address = "127.0.0.1:1"}), "jobs");
  EXPECT_TRUE(absl::IsFailedPrecondition(network_for(there, {.server_address = "127.0.0.1:1"}).status()));
  EXPECT_EQ(*network_for(there, {.server_address = "10.0.0.1:1"}), "");
}

TEST(EngineErrors, NameTheCauseAndWhatToDo) {
  const std::tuple<int, const char*, absl::StatusCode, const char*> cases[] = {
      {404, "No such image: x:1", absl::StatusCode::kNotFound, "No such image: x:1"},
      {409, "Conflict. The name is already in use", absl::StatusCode::kAlreadyExists, "already in use"},
      {500, "write /x: no space left on device", absl::StatusCode::kResourceExhausted, "docker system prune"},
      {500, "fork/exec: cannot allocate memory", absl::StatusCode::kResourceExhausted, "out of memory"},
      {400, "OCI runtime create failed: exec format error", absl::StatusCode::kFailedPrecondition,
       "a different architecture"},
      {404, "network jobs not found", absl::StatusCode::kFailedPrecondition, "option network"},
      {404, "pull access denied for x", absl::StatusCode::kNotFound, "registry_auth"},
      {500, "Get https://r/v2/: dial tcp: lookup r: no such host", absl::StatusCode::kInternal, "no such host"},
      {400, "Range of CPUs is from 0.01 to 2.00", absl::StatusCode::kInvalidArgument, "Range of CPUs"},
  };
  for (const auto& [status, words, code, expected] : cases) {
    const absl::Status error = engine_error("creating", {.status = status, .body = dump({{"message", words}})});
    EXPECT_EQ(error.code(), code) << error;
    EXPECT_THAT(message(error), HasSubstr(expected));
  }
  EXPECT_THAT(message(engine_error("creating", {.status = 502, .body = "<html>"})), HasSubstr("502 Bad Gateway"));
}

TEST(EngineErrors, SayHowToReachAnEngine) {
  const StringMap options = {{"host", "unix:///nowhere/docker.sock"}};
  const auto provider = *make_docker_provider({.name = "d", .type = "docker", .options = options}, {.id = "i"});
  const Health health = provider->health_check();
  EXPECT_EQ(health.state, HealthState::Unhealthy);
  EXPECT_THAT(health.reason, HasSubstr("unix:///nowhere/docker.sock: no such socket; is Docker installed"));
  EXPECT_TRUE(absl::IsUnavailable(provider->worker_status({.worker_id = "w"}).status()));
  EXPECT_TRUE(absl::IsUnavailable(provider->list_workers().status()));
  EXPECT_TRUE(provider->capabilities().images);
  const absl::Status denied = unreachable({.text = "unix:///s"}, absl::PermissionDeniedError("x"));
  EXPECT_THAT(message(denied), HasSubstr("add the server's user to the group"));
}

TEST(ContainerStatus, SaysWhatTheEngineSays) {
  EXPECT_EQ(status_of({.state = "running"}, "").phase, WorkerPhase::Running);
  EXPECT_EQ(status_of({.state = "created"}, "").phase, WorkerPhase::Starting);
  EXPECT_TRUE(status_of({.state = "created", .error = "no such file"}, "").hopeless);
  EXPECT_EQ(status_of({.state = "exited"}, "").phase, WorkerPhase::Ended);
  EXPECT_EQ(status_of({.state = "exited", .exit_code = 1}, "one\nlast\n").reason, "ended with exit code 1: last");
  EXPECT_EQ(status_of({.state = "exited", .exit_code = 137}, "").reason, "ended with exit code 137 (signal 9)");
  EXPECT_EQ(
      status_of({.state = "exited", .exit_code = 137, .out_of_memory = true, .memory_bytes = 64 << 20}, "").reason,
      "killed: out of memory (limit 64 MiB)");
  EXPECT_THAT(status_of({.state = "exited", .exit_code = 1}, "exec /.hodei/hodei-worker: exec format error").reason,
              HasSubstr("a different architecture"));
}

TEST(EngineJson, ChoosesTheNearestVersionThatTheEngineSpeaks) {
  EXPECT_EQ(version_prefix({{"ApiVersion", "1.41"}, {"MinAPIVersion", "1.12"}}), "/v1.41");
  EXPECT_EQ(version_prefix({{"ApiVersion", "1.52"}, {"MinAPIVersion", "1.44"}}), "/v1.44");
  EXPECT_EQ(version_prefix({{"ApiVersion", "1.40"}}), "/v1.40");
  EXPECT_EQ(version_prefix("nonsense"), "/v1.41");
}

TEST(EngineJson, ReadsWhatIsMissingOrOfAnotherTypeAsEmpty) {
  for (const char* odd :
       {"", "[]", "null", "{", "{\"State\":[],\"Config\":7,\"Id\":{}}", "{\"State\":{\"ExitCode\":\"x\"}}"}) {
    const ContainerFacts facts = inspected(parse_json(odd));
    EXPECT_EQ(facts.id + facts.state, "") << odd;
    EXPECT_EQ(info_of(parse_json(odd)).cpus, 0) << odd;
    EXPECT_EQ(listed(parse_json(odd)).name, "") << odd;
  }
}

TEST(EngineJson, TakesWholeLinesFromPieces) {
  JsonLines lines;
  std::string seen;
  const auto add = [&](std::string_view piece) {
    return lines.add(piece, [&](const Json& line) { seen += text(line, "a"); });
  };
  EXPECT_TRUE(add("{\"a\":\"1\"}\n{\"a\""));
  EXPECT_EQ(seen, "1");
  EXPECT_TRUE(add(":\"2\"}\r\nnonsense\n{\"a\":\"3\"}\n"));
  EXPECT_EQ(seen, "123");
  EXPECT_FALSE(add(std::string(2 << 20, 'x')));
}

}  // namespace
}  // namespace hodei::providers::docker::docker_test
