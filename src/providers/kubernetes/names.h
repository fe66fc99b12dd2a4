// Names and labels as Kubernetes takes them. A word of ours that does not fit gets a form that does, with a piece of its
// hash, so that two different words never share one.
#pragma once

#include <string>
#include <string_view>

namespace hodei::providers::kubernetes {

bool is_object_name(std::string_view text);     // a DNS subdomain: of pods, secrets, namespaces
bool is_label_value(std::string_view text);     // may be empty
bool is_label_key(std::string_view text);       // with or without a prefix and '/'

std::string label_value(std::string_view text);
std::string pod_name(std::string_view worker_id);      // at most 63, because it is the host name too
std::string secret_name(std::string_view worker_id);   // of its token

// For a query of a URL.
std::string url_encoded(std::string_view text);

}  // namespace hodei::providers::kubernetes
