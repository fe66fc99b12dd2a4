#include "src/providers/kubernetes/options.h"

#include "gtest/gtest.h"

namespace hodei::providers::kubernetes::options_test {
namespace {

std::optional<std::string> nothing(const char*) { return std::nullopt; }
std::optional<std::string> seeds(const char* name) {
  const StringMap words = {{"HODEI_K8S_NAMESPACE", "from-the-environment"},
                           {"HODEI_K8S_KUBECONFIG", "/first"},
                           {"KUBECONFIG", "/second"},
                           {"HODEI_WORKER_IMAGE", "registry/worker:3"}};
  const auto it = words.find(name);
  return it == words.end() ? std::nullopt : std::optional<std::string>(it->second);
}

std::string why_not(const StringMap& options) {
  const auto read = read_options(options, nothing);
  return read.ok() ? "it was taken" : std::string(read.status().message());
}

TEST(KubernetesOptions, HaveDefaults) {
  const KubernetesOptions options = *read_options({}, nothing);
  EXPECT_EQ(options.namespace_name, "hodei-workers");
  EXPECT_EQ(options.worker_image, "hodei-worker:latest");
  EXPECT_EQ(options.kubeconfig, "");
  EXPECT_EQ(options.max_workers, 0u);
  EXPECT_GT(options.run_as_user, 0);
}

TEST(KubernetesOptions, TakeWordsOfTheEnvironmentButTheirOwnFirst) {
  const KubernetesOptions told = *read_options({{"namespace", "mine"}}, seeds);
  EXPECT_EQ(told.namespace_name, "mine");
  EXPECT_EQ(told.kubeconfig, "/first");
  EXPECT_EQ(told.worker_image, "registry/worker:3");
  EXPECT_EQ(read_options({}, seeds)->namespace_name, "from-the-environment");
}

TEST(KubernetesOptions, ReadLists) {
  const KubernetesOptions options = *read_options({{"node_selector", "disk=ssd,example.com/zone=a"},
                                                   {"tolerations", "gpu=yes:NoSchedule,spot:NoExecute,any"},
                                                   {"image_pull_secrets", "one,two"},
                                                   {"max_workers", "10"}},
                                                  nothing);
  EXPECT_EQ(options.node_selector, (StringMap{{"disk", "ssd"}, {"example.com/zone", "a"}}));
  EXPECT_EQ(options.tolerations,
            (std::vector<Toleration>{{"gpu", "yes", "NoSchedule"}, {"spot", "", "NoExecute"}, {"any", "", ""}}));
  EXPECT_EQ(options.image_pull_secrets, (std::vector<std::string>{"one", "two"}));
  EXPECT_EQ(options.max_workers, 10u);
}

TEST(KubernetesOptions, RefuseWhatTheyDoNotKnowAndSayWhatWasMeant) {
  EXPECT_EQ(why_not({{"namspace", "x"}}), "namspace: is not an option of kubernetes; did you mean namespace?");
  EXPECT_NE(why_not({{"colour", "x"}}).find("the options are kubeconfig"), std::string::npos);
}

TEST(KubernetesOptions, RefuseValuesThatCannotWork) {
  EXPECT_NE(why_not({{"namespace", "Upper"}}).find("namespace:"), std::string::npos);
  EXPECT_NE(why_not({{"run_as_user", "0"}}).find("run_as_user:"), std::string::npos) << "0 is root";
  EXPECT_NE(why_not({{"max_workers", "ten"}}).find("max_workers:"), std::string::npos);
  EXPECT_NE(why_not({{"pull_policy", "Sometimes"}}).find("pull_policy:"), std::string::npos);
  EXPECT_NE(why_not({{"tolerations", "a:Maybe"}}).find("tolerations:"), std::string::npos);
  EXPECT_NE(why_not({{"node_selector", "alone"}}).find("node_selector:"), std::string::npos);
}

}  // namespace
}  // namespace hodei::providers::kubernetes::options_test
