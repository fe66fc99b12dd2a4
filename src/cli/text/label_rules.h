// Label expressions of --constraint: `zone In (a,b)`, `gpu Exists`, `cores Gt 4`, and the short forms `zone=a`,
// `zone!=a`, `cores>4`, `cores<8`, `gpu`, `!gpu`. Also `k=v` pairs and taints of flags.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"

namespace hodei::v1 {
class LabelRule;
}

namespace hodei::cli {

absl::StatusOr<hodei::v1::LabelRule> parse_label_rule(std::string_view text);

// Several with commas between them, as kubectl takes them: `a=b,c!=d,e in (x,y),!f`. `flag` is named in the error.
absl::StatusOr<std::vector<hodei::v1::LabelRule>> parse_selector(std::string_view flag, std::string_view text);

struct KeyValue {
  std::string key;
  std::string value;
};

// "k=v"; `what` names the flag in the error.
absl::StatusOr<KeyValue> parse_key_value(std::string_view what, std::string_view text);
absl::StatusOr<std::map<std::string, std::string>> parse_key_values(std::string_view what,
                                                                    const std::vector<std::string>& texts);

std::string trimmed(std::string_view text);
std::vector<std::string> split_list(std::string_view text, char separator = ',');  // trimmed, without empty parts

}  // namespace hodei::cli
