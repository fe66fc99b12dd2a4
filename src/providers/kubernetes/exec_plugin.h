// Exec plugins of kubeconfig: a program that prints an ExecCredential (client.authentication.k8s.io/v1, v1beta1).
#pragma once

#include "src/providers/kubernetes/kubeconfig.h"

namespace hodei::providers::kubernetes {

struct PluginCredential {
  std::string token;
  std::string certificate_pem;
  std::string key_pem;
  WallTime expires{};  // not set: as long as the server takes it
};

// Runs it, within a time and an amount of output. If it fails, its own message is part of the error.
absl::StatusOr<PluginCredential> run_plugin(const ExecPlugin& plugin, const Cluster& cluster);

// What it printed, read. Apart so that it can be tested without a program.
absl::StatusOr<PluginCredential> parse_credential(const std::string& json, const ExecPlugin& plugin);

// 2026-11-16T07:00:00Z, with or without fractions, or with an offset; not set when it is no such time.
WallTime parse_rfc3339(const std::string& text);

}  // namespace hodei::providers::kubernetes
