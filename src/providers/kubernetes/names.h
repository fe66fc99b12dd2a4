// Names and labels in the form that Kubernetes accepts. A name that does not fit is changed and gets a part of its
// hash, so that two different names never become equal.
#pragma once

#include <string>
#include <string_view>

namespace hodei::providers::kubernetes {

bool is_object_name(std::string_view text);  // a DNS subdomain: of pods, secrets, namespaces
bool is_label_value(std::string_view text);  // may be empty
bool is_label_key(std::string_view text);    // with or without a prefix and '/'

std::string label_value(std::string_view text);
// At most 63 characters, because it is the host name too. It carries a mark of the installation.
std::string pod_name(std::string_view installation_id, std::string_view worker_id);
// As earlier versions named it: such pods may still be there.
std::string former_pod_name(std::string_view worker_id);
std::string secret_name(std::string_view pod_name);  // of its token

// Whether `host:port` names the loopback of a machine.
bool is_loopback(std::string_view address);

}  // namespace hodei::providers::kubernetes
