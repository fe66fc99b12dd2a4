#include "src/providers/kubernetes/exec_plugin.h"

#include "gtest/gtest.h"
#include "src/base/text.h"
#include "src/providers/kubernetes/child_program.h"

namespace hodei::providers::kubernetes::exec_plugin_test {
namespace {

ExecPlugin prints(const std::string& script) {
  ExecPlugin plugin;
  plugin.command = "sh";
  plugin.arguments = {"-c", script};
  plugin.api_version = "client.authentication.k8s.io/v1";
  return plugin;
}

constexpr const char* kHead = R"({"apiVersion":"client.authentication.k8s.io/v1","kind":"ExecCredential",)";

TEST(ExecPlugin, GivesATokenWithItsEnd) {
  const auto got = run_plugin(
      prints(cat("echo '", kHead, R"("status":{"token":"abc","expirationTimestamp":"2026-11-16T08:00:00+01:00"}}')")),
      {});
  ASSERT_TRUE(got.ok()) << got.status();
  EXPECT_EQ(got->token, "abc");
  EXPECT_EQ(got->expires.us, 1794812400'000000);
}

TEST(ExecPlugin, IsToldWhatItIsFor) {
  ExecPlugin plugin = prints(cat(R"(echo "$KUBERNETES_EXEC_INFO" | grep -q '"server":"https://kube"' && echo ')", kHead,
                                 R"('"\"status\":{\"token\":\"$EXTRA\"}}")"));
  plugin.provide_cluster_info = true;
  plugin.environment = {{"EXTRA", "from-env"}};
  const auto got = run_plugin(plugin, {.server = "https://kube", .ca_pem = "PEM"});
  ASSERT_TRUE(got.ok()) << got.status();
  EXPECT_EQ(got->token, "from-env");
}

TEST(ExecPlugin, FailsWithItsOwnWords) {
  const auto failed = run_plugin(prints("echo log in first >&2; exit 3"), {});
  EXPECT_EQ(failed.status().message(), "kubeconfig: the exec plugin sh ended with 3: log in first\n");
  ExecPlugin absent = prints("");
  absent.command = "no-such-plugin-here";
  absent.install_hint = "apt install it";
  EXPECT_NE(run_plugin(absent, {}).status().message().find("apt install it"), absl::string_view::npos);
}

TEST(ExecPlugin, MustPrintWhatWasAskedFor) {
  const ExecPlugin plugin = prints("");
  for (const std::string& wrong :
       {std::string("no json"), std::string("[]"), std::string(R"({"kind":"Other"})"), cat(kHead, R"("status":{}})"),
        cat(kHead, R"("status":7})"), cat(kHead, R"("status":{"token":"a b"}})"),
        cat(kHead, R"("status":{"clientKeyData":"k"}})"),
        cat(kHead, R"("status":{"token":"a","expirationTimestamp":"soon"}})")}) {
    EXPECT_TRUE(absl::IsFailedPrecondition(parse_credential(wrong, plugin).status())) << wrong;
  }
}

TEST(ChildProgram, IsEndedWhenItTakesTooLongOrPrintsTooMuch) {
  EXPECT_TRUE(
      absl::IsDeadlineExceeded(run_child({.command = {"sh", "-c", "sleep 60 & wait"}, .time = 200ms}).status()));
  EXPECT_TRUE(absl::IsResourceExhausted(run_child({.command = {"yes"}, .most_output = 1000}).status()));
}

}  // namespace
}  // namespace hodei::providers::kubernetes::exec_plugin_test
