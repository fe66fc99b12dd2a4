#include "src/providers/kubernetes/pod_view.h"

#include <nlohmann/json.hpp>

#include "gtest/gtest.h"

namespace hodei::providers::kubernetes::pod_view_test {
namespace {

using nlohmann::json;

json a_pod(const json& status) {
  return {{"metadata",
           {{"name", "hodei-w1"},
            {"uid", "u1"},
            {"labels", {{"hodei.installation", "i"}, {"hodei.provider", "p"}, {"hodei.worker", "w1"}}},
            {"annotations", {{"hodei.worker", "the worker"}}}}},
          {"status", status}};
}

WorkerStatus with_worker(const std::string& phase, const json& state) {
  return read_pod(
             a_pod({{"phase", phase},
                    {"containerStatuses", json::array({{{"name", "worker"}, {"image", "x:1"}, {"state", state}}})}}))
      .status;
}

WorkerStatus waits(const std::string& reason, const std::string& message) {
  return with_worker("Pending", {{"waiting", {{"reason", reason}, {"message", message}}}});
}

TEST(PodView, KnowsWhoItIs) {
  const PodView pod = read_pod(a_pod({{"phase", "Pending"}}));
  EXPECT_EQ(pod.handle(), (WorkerHandle{"the worker", "u1"}));
  EXPECT_EQ(pod.installation, "i");
  EXPECT_EQ(pod.provider, "p");
}

TEST(PodView, IsStartingUntilTheWorkerRuns) {
  EXPECT_EQ(waits("ContainerCreating", "").phase, WorkerPhase::Starting);
  EXPECT_EQ(waits("ContainerCreating", "").reason, "");
  EXPECT_EQ(with_worker("Running", {{"running", {{"startedAt", "now"}}}}).phase, WorkerPhase::Running);
}

TEST(PodView, TellsAnImageThatIsNotThereFromARegistryThatIsBusy) {
  const WorkerStatus missing = waits("ErrImagePull", "failed to resolve reference: docker.io/x:1: not found");
  EXPECT_TRUE(missing.hopeless);
  EXPECT_NE(missing.reason.find("image x:1 cannot be pulled: ErrImagePull"), std::string::npos) << missing.reason;
  EXPECT_TRUE(waits("ImagePullBackOff", "Back-off pulling image \"x:1\"").hopeless);
  EXPECT_TRUE(waits("InvalidImageName", "couldn't parse").hopeless);
  EXPECT_FALSE(waits("ErrImagePull", "dial tcp: i/o timeout").hopeless);
  EXPECT_FALSE(waits("ImagePullBackOff", "ErrImagePull: 429 toomanyrequests").hopeless);
}

json a_pull(const char* reason, const char* message) {
  const json state = {{"waiting", {{"reason", reason}, {"message", message}}}};
  return a_pod({{"phase", "Pending"},
                {"containerStatuses", json::array({{{"name", "worker"}, {"image", "x:1"}, {"state", state}}})}});
}

TEST(PodView, KeepsTheRegistrysWordsWhileTheKubeletOnlySaysThatItBacksOff) {
  PodView now = read_pod(a_pull("ImagePullBackOff", "Back-off pulling image \"x:1\""));
  keep_pull_error(read_pod(a_pull("ErrImagePull", "dial tcp: i/o timeout")), now);
  EXPECT_FALSE(now.status.hopeless) << "the registry may answer next time";
  EXPECT_NE(now.status.reason.find("i/o timeout"), std::string::npos) << now.status.reason;
  PodView later = read_pod(a_pull("ImagePullBackOff", "Back-off pulling image \"x:1\""));
  keep_pull_error(now, later);
  EXPECT_NE(later.status.reason.find("i/o timeout"), std::string::npos) << later.status.reason;
}

TEST(PodView, WaitsForItsOwnSecretButForNoOther) {
  EXPECT_FALSE(waits("CreateContainerConfigError", "secret \"hodei-w1-token\" not found").hopeless);
  EXPECT_TRUE(waits("CreateContainerConfigError", "configmap \"x\" not found").hopeless);
}

TEST(PodView, SaysWhyNoNodeTakesIt) {
  const json condition = {{"type", "PodScheduled"},
                          {"status", "False"},
                          {"reason", "Unschedulable"},
                          {"message", "0/3 nodes: Insufficient cpu"}};
  const WorkerStatus status = read_pod(a_pod({{"phase", "Pending"}, {"conditions", json::array({condition})}})).status;
  EXPECT_EQ(status.phase, WorkerPhase::Starting);
  EXPECT_FALSE(status.hopeless) << "a node may come";
  EXPECT_EQ(status.reason, "no node can run it: Unschedulable: 0/3 nodes: Insufficient cpu");
}

TEST(PodView, ClipsWhateverIsLong) {
  const std::string huge(100'000, 'x');
  EXPECT_LT(with_worker("Failed", {{"terminated", {{"reason", huge}, {"exitCode", 1}}}}).reason.size(), 1000u);
  EXPECT_LT(with_worker("Pending", {{"waiting", {{"reason", huge}, {"message", huge}}}}).reason.size(), 1000u);
  EXPECT_LT(read_pod(a_pod({{"phase", "Failed"}, {"reason", huge}, {"message", huge}})).status.reason.size(), 1000u);
}

TEST(PodView, SaysHowItEnded) {
  const WorkerStatus oom = with_worker("Failed", {{"terminated", {{"reason", "OOMKilled"}, {"exitCode", 137}}}});
  EXPECT_EQ(oom.phase, WorkerPhase::Ended);
  EXPECT_EQ(oom.reason, "it used more memory than its limit (OOMKilled), exit code 137");
  EXPECT_EQ(with_worker("Succeeded", {{"terminated", {{"reason", "Completed"}, {"exitCode", 0}}}}).reason,
            "Completed, exit code 0");
  const json evicted = {
      {"phase", "Failed"}, {"reason", "Evicted"}, {"message", "The node was low on resource: memory."}};
  EXPECT_EQ(read_pod(a_pod(evicted)).status.reason, "Evicted: The node was low on resource: memory.");
  const json init = {{"name", "install-worker"}, {"state", {{"terminated", {{"reason", "Error"}, {"exitCode", 1}}}}}};
  EXPECT_NE(read_pod(a_pod({{"phase", "Failed"}, {"initContainerStatuses", json::array({init})}}))
                .status.reason.find("could not be copied"),
            std::string::npos);
}

TEST(PodView, KnowsThatItIsBeingDeleted) {
  json pod = a_pod({{"phase", "Pending"}});
  pod["metadata"]["deletionTimestamp"] = "2026-11-16T07:00:00Z";
  EXPECT_TRUE(read_pod(pod).deleting);
  EXPECT_EQ(read_pod(pod).deletion_due.us, 1794812400'000000);
}

TEST(PodView, BearsWhatIsNoPod) {
  for (const json& odd :
       {json(), json(7), json::array(), json{{"metadata", 1}, {"status", "x"}},
        a_pod({{"phase", 5}, {"conditions", "x"}, {"containerStatuses", json::array({1, json::object()})}})}) {
    EXPECT_EQ(read_pod(odd).status.phase, WorkerPhase::Starting) << odd.dump();
  }
}

}  // namespace
}  // namespace hodei::providers::kubernetes::pod_view_test
