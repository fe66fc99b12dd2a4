#include "src/providers/kubernetes/kubeconfig.h"

#include <filesystem>
#include <fstream>

#include "gtest/gtest.h"
#include "src/base/text.h"

namespace hodei::providers::kubernetes::kubeconfig_test {
namespace {

class KubeconfigTest : public testing::Test {
 protected:
  KubeconfigTest() {
    std::string pattern = std::filesystem::temp_directory_path() / "hodei-kubeconfig-XXXXXX";
    folder_ = mkdtemp(pattern.data());
  }
  ~KubeconfigTest() override { std::filesystem::remove_all(folder_); }

  std::string write(const std::string& name, const std::string& text) {
    const std::string path = cat(folder_, "/", name);
    std::ofstream(path) << text;
    return path;
  }
  std::string with(const std::string& cluster, const std::string& user) {
    return write("config", cat("apiVersion: v1\nkind: Config\ncurrent-context: here\n"
                               "contexts:\n- name: here\n  context: {cluster: c, user: u}\n"
                               "- name: there\n  context: {cluster: d, user: u}\n"
                               "clusters:\n- name: c\n  cluster:\n",
                               cluster,
                               "- name: d\n  cluster: {server: 'https://there:1'}\n"
                               "users:\n- name: u\n  user:\n",
                               user));
  }
  std::string why_not(const std::string& cluster, const std::string& user) {
    const auto read = read_kubeconfig(with(cluster, user), "");
    return read.ok() ? "it was taken" : std::string(read.status().message());
  }

  const std::string server_ = "    server: https://here:6443/\n";
  std::string folder_;
};

TEST_F(KubeconfigTest, ReadsTheCurrentContext) {
  const auto read = read_kubeconfig(
      with(server_ + "    certificate-authority-data: Y2E=\n    tls-server-name: kube\n", "    token: abc\n"), "");
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_EQ(read->cluster.server, "https://here:6443");
  EXPECT_EQ(read->cluster.ca_pem, "ca");
  EXPECT_EQ(read->cluster.tls_server_name, "kube");
  EXPECT_EQ(read->user.token, "abc");
}

TEST_F(KubeconfigTest, ReadsAnotherContextAndNamesThoseThereAre) {
  const std::string path = with(server_, "    token: abc\n");
  EXPECT_EQ(read_kubeconfig(path, "there")->cluster.server, "https://there:1");
  const auto none = read_kubeconfig(path, "nowhere");
  EXPECT_EQ(none.status().message(), "kubeconfig: there is no context 'nowhere'; it has here, there");
}

TEST_F(KubeconfigTest, FindsFilesBesideItself) {
  write("ca.pem", "the CA");
  write("me.pem", "certificate");
  write("me.key", "key");
  const auto read =
      read_kubeconfig(with(server_ + "    certificate-authority: ca.pem\n",
                           "    client-certificate: me.pem\n    client-key: me.key\n    tokenFile: token\n"),
                      "");
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_EQ(read->cluster.ca_pem, "the CA");
  EXPECT_EQ(read->user.certificate_pem, "certificate");
  EXPECT_EQ(read->user.key_pem, "key");
  EXPECT_EQ(read->user.token_file, folder_ + "/token");
  EXPECT_TRUE(unchanged(read->files));
  write("me.key", "another key");
  EXPECT_FALSE(unchanged(read->files)) << "a changed key must be noticed";
}

TEST_F(KubeconfigTest, MergesSeveralAndTheFirstCounts) {
  const std::string first =
      write("first", "current-context: x\nclusters:\n- name: c\n  cluster: {server: 'https://one'}\n");
  const std::string second = write("second",
                                   "current-context: y\ncontexts:\n- name: x\n  context: {cluster: c}\n"
                                   "clusters:\n- name: c\n  cluster: {server: 'https://two'}\n");
  const auto read = read_kubeconfig(cat(first, ":", folder_, "/absent:", second), "");
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_EQ(read->cluster.server, "https://one");
}

TEST_F(KubeconfigTest, ReadsAnExecPlugin) {
  const auto read = read_kubeconfig(with(server_,
                                         "    exec:\n      apiVersion: client.authentication.k8s.io/v1\n"
                                         "      command: ./get-token\n      args: [a, '1']\n"
                                         "      env:\n      - {name: N, value: V}\n      provideClusterInfo: true\n"),
                                    "");
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_EQ(read->user.exec->command, folder_ + "/./get-token");
  EXPECT_EQ(read->user.exec->arguments, (std::vector<std::string>{"a", "1"}));
  EXPECT_EQ(read->user.exec->environment[0].second, "V");
  EXPECT_TRUE(read->user.exec->provide_cluster_info);
}

TEST_F(KubeconfigTest, RefusesWhatWouldGiveCredentialsAway) {
  EXPECT_NE(why_not(server_ + "    insecure-skip-tls-verify: true\n", "    token: t\n").find("is not allowed"),
            std::string::npos);
  EXPECT_NE(why_not("    server: http://far:80\n", "    token: t\n").find("not https"), std::string::npos);
  EXPECT_EQ(why_not("    server: http://127.0.0.1:8001\n", "    token: t\n"), "it was taken");
}

TEST_F(KubeconfigTest, RefusesWhatItCannotDo) {
  EXPECT_NE(why_not(server_, "    username: me\n").find("user.username"), std::string::npos);
  EXPECT_NE(why_not(server_, "    client-key-data: a2V5\n").find("must be set together"), std::string::npos);
  EXPECT_NE(why_not(server_, "    exec: {command: x, apiVersion: old}\n").find("apiVersion"), std::string::npos);
  EXPECT_NE(why_not(server_, "    token: \"a b\"\n").find("token"), std::string::npos);
  EXPECT_NE(why_not("    server: nonsense\n", "    token: t\n").find("cluster.server"), std::string::npos);
}

TEST_F(KubeconfigTest, BearsFilesThatAreNone) {
  for (const std::string& text :
       {std::string(""), std::string("- a\n"), std::string("a: [b"), std::string("clusters: 7\n"),
        std::string("clusters: [{name: x}]\n"), std::string(100'000, '['), std::string(2 << 20, 'a')}) {
    EXPECT_TRUE(absl::IsFailedPrecondition(read_kubeconfig(write("odd", text), "").status())) << text.substr(0, 50);
  }
  EXPECT_FALSE(read_kubeconfig(folder_ + "/absent", "").ok());
}

std::optional<std::string> in_a_pod(const char* name) {
  if (std::string_view(name) == "KUBERNETES_SERVICE_HOST") return "fd00::1";
  if (std::string_view(name) == "KUBERNETES_SERVICE_PORT") return "443";
  return std::nullopt;
}

TEST_F(KubeconfigTest, KnowsTheServiceAccountOfAPod) {
  write("ca.crt", "CA");
  const auto read = read_in_cluster(folder_, in_a_pod);
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_EQ(read->cluster.server, "https://[fd00::1]:443");
  EXPECT_EQ(read->cluster.ca_pem, "CA");
  EXPECT_EQ(read->user.token_file, folder_ + "/token");
  const auto outside = read_in_cluster(folder_, [](const char*) { return std::optional<std::string>(); });
  EXPECT_NE(std::string(outside.status().message()).find("KUBECONFIG"), std::string::npos);
}

}  // namespace
}  // namespace hodei::providers::kubernetes::kubeconfig_test
