#include "src/providers/kubernetes/pod.h"

#include <map>
#include <nlohmann/json.hpp>

#include "gtest/gtest.h"
#include "src/providers/kubernetes/names.h"

namespace hodei::providers::kubernetes::pod_test {
namespace {

using nlohmann::json;

PodMaker a_maker(const StringMap& options = {}) {
  PodMaker maker;
  maker.provider = {.name = "cluster", .type = "kubernetes", .options = options};
  maker.installation_id = "an installation";
  maker.options = *read_options(options, [](const char*) { return std::optional<std::string>(); });
  maker.capabilities.isolation = Isolation::Container;
  maker.capabilities.gpu = maker.options.gpu;
  maker.capabilities.max_cpu_milli = maker.options.max_cpu_milli;
  return maker;
}

WorkerSpec a_spec() {
  WorkerSpec spec;
  spec.worker_id = "w1";
  spec.server_address = "server:50051";
  spec.token = "the-one-time-token";
  return spec;
}

json variable(const json& pod, const std::string& name) {
  for (const json& one : pod["spec"]["containers"][0]["env"]) {
    if (one["name"] == name) return one;
  }
  return {};
}

TEST(Pod, BringsTheWorkerIntoAnyImage) {
  WorkerSpec spec = a_spec();
  spec.image = "python:3";
  const json pod = pod_for(a_maker({{"worker_image", "w:1"}}), spec);
  const json& init = pod["spec"]["initContainers"][0];
  const json& main = pod["spec"]["containers"][0];
  EXPECT_EQ(init["image"], "w:1");
  EXPECT_EQ(init["args"], (json::array({"install", "/hodei/hodei-worker"})));
  EXPECT_EQ(main["image"], "python:3");
  EXPECT_EQ(main["command"], (json::array({"/hodei/hodei-worker"})));
  EXPECT_EQ(init["volumeMounts"][0]["name"], main["volumeMounts"][0]["name"]);
  EXPECT_EQ(pod["metadata"]["name"], "hodei-77f35841-w1");
  EXPECT_EQ(pod["spec"]["restartPolicy"], "Never");
  EXPECT_EQ(pod["spec"]["automountServiceAccountToken"], false);
}

TEST(Pod, HasRoomForTheWorkersOwnFilesBesideTheJobsStorage) {
  WorkerSpec spec = a_spec();
  spec.storage_mb = 10;
  const json pod = pod_for(a_maker(), spec);
  EXPECT_EQ(pod["spec"]["containers"][0]["resources"]["limits"]["ephemeral-storage"], "266Mi");
}

TEST(Pod, TellsTheWorkerItsCoresToTheThousandth) {
  for (const auto& [milli, text] : std::map<int64_t, std::string>{{250, "0.250"}, {1005, "1.005"}, {35, "0.035"}}) {
    WorkerSpec spec = a_spec();
    spec.cpu_milli = milli;
    EXPECT_EQ(variable(pod_for(a_maker(), spec), "HODEI_WORKER_CPU")["value"], text);
  }
}

TEST(Pod, EndsByItselfWhenItsServerIsGoneForGood) {
  EXPECT_EQ(variable(pod_for(a_maker(), a_spec()), "HODEI_LEAVE_AFTER")["value"], "600s");
  EXPECT_EQ(variable(pod_for(a_maker({{"leave_seconds", "0"}}), a_spec()), "HODEI_LEAVE_AFTER")["value"], "0s");
}

TEST(Pod, HasAFolderInMemoryForSecrets) {
  const json pod = pod_for(a_maker(), a_spec());
  EXPECT_EQ(pod["spec"]["volumes"][2]["emptyDir"]["medium"], "Memory");
  EXPECT_EQ(pod["spec"]["containers"][0]["volumeMounts"][2]["mountPath"], "/hodei-secrets");
  EXPECT_EQ(variable(pod, "HODEI_SECRETS_DIR")["value"], "/hodei-secrets");
}

TEST(Pod, HasNoRightsThatItDoesNotNeed) {
  const json pod = pod_for(a_maker(), a_spec());
  const json& whole = pod["spec"]["securityContext"];
  EXPECT_EQ(whole["runAsNonRoot"], true);
  EXPECT_GT(whole["runAsUser"], 0);
  EXPECT_EQ(whole["seccompProfile"]["type"], "RuntimeDefault");
  for (const char* list : {"initContainers", "containers"}) {
    const json& each = pod["spec"][list][0]["securityContext"];
    EXPECT_EQ(each["allowPrivilegeEscalation"], false) << list;
    EXPECT_EQ(each["capabilities"]["drop"], json::array({"ALL"})) << list;
  }
}

TEST(Pod, KeepsTheTokenInASecretOfItsOwn) {
  const json pod = pod_for(a_maker(), a_spec());
  EXPECT_EQ(pod.dump().find("the-one-time-token"), std::string::npos);
  EXPECT_EQ(variable(pod, "HODEI_TOKEN")["valueFrom"]["secretKeyRef"]["name"], "hodei-77f35841-w1-token");
  const json secret = secret_for(a_maker(), a_spec(), "uid-1");
  EXPECT_EQ(secret["metadata"]["name"], "hodei-77f35841-w1-token");
  EXPECT_EQ(secret["stringData"]["token"], "the-one-time-token");
  EXPECT_EQ(secret["metadata"]["ownerReferences"][0]["uid"], "uid-1");
}

TEST(Pod, SaysWhoseItIs) {
  const json pod = pod_for(a_maker(), a_spec());
  EXPECT_EQ(pod["metadata"]["annotations"]["hodei.installation"], "an installation");
  const std::string label = pod["metadata"]["labels"]["hodei.installation"];
  EXPECT_TRUE(is_label_value(label)) << label;
  EXPECT_EQ(selector_of(a_maker()), "hodei.installation=" + label + ",hodei.provider=cluster");
}

TEST(Pod, AsksForWhatTheJobsWerePromised) {
  WorkerSpec spec = a_spec();
  spec.cpu_milli = 1500;
  spec.memory_mb = 512;
  spec.storage_mb = 100;
  spec.gpus = 2;
  spec.architecture = "aarch64";
  const json pod =
      pod_for(a_maker({{"gpu", "true"}, {"node_selector", "disk=ssd"}, {"tolerations", "gpu=yes:NoSchedule"}}), spec);
  const json& resources = pod["spec"]["containers"][0]["resources"];
  EXPECT_EQ(resources["requests"], resources["limits"]);
  EXPECT_EQ(resources["limits"],
            (json{{"cpu", "1500m"}, {"memory", "512Mi"}, {"ephemeral-storage", "356Mi"}, {"nvidia.com/gpu", "2"}}));
  EXPECT_FALSE(pod["spec"]["initContainers"][0]["resources"]["limits"].contains("nvidia.com/gpu"));
  EXPECT_EQ(pod["spec"]["nodeSelector"], (json{{"disk", "ssd"}, {"kubernetes.io/arch", "arm64"}}));
  EXPECT_EQ(pod["spec"]["tolerations"][0],
            (json{{"key", "gpu"}, {"operator", "Equal"}, {"value", "yes"}, {"effect", "NoSchedule"}}));
}

TEST(Pod, GivesWordsAsTheyAreThoughKubernetesReadsThem) {
  WorkerSpec spec = a_spec();
  spec.environment["PRICE"] = "$(HOME) costs 5$";
  EXPECT_EQ(variable(pod_for(a_maker(), spec), "PRICE")["value"], "$$(HOME) costs 5$$");
}

TEST(Pod, RefusesWhatTheClusterWasNotSaidToHave) {
  WorkerSpec spec = a_spec();
  spec.gpus = 1;
  EXPECT_TRUE(absl::IsFailedPrecondition(check_spec(a_maker(), spec)));
  EXPECT_TRUE(check_spec(a_maker({{"gpu", "true"}}), spec).ok());
  spec.gpus = 0;
  spec.cpu_milli = 3000;
  EXPECT_TRUE(absl::IsInvalidArgument(check_spec(a_maker({{"max_cpu", "2"}}), spec)));
}

}  // namespace
}  // namespace hodei::providers::kubernetes::pod_test
