// A YAML or JSON file as a tree that remembers where everything stood. Files come from outside: size and depth are
// capped, anchors and aliases (which can make a small file huge) are refused.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"

namespace hodei::cli {

inline constexpr size_t kLargestDocument = 1 << 20;
inline constexpr int kDeepestDocument = 50;

struct Node {
  enum class Kind { Null, Scalar, List, Map };
  struct Field;

  Kind kind = Kind::Null;
  std::string text;           // of a scalar
  bool plain = false;         // a scalar without quotes: may be a number or a bool
  int line = 0;               // from 1
  std::vector<Node> items;    // of a list
  std::vector<Field> fields;  // of a map, in the order of the file

  const Node* find(std::string_view key) const;
};

struct Node::Field {
  std::string key;
  int line = 0;
  Node value;
};

std::string_view kind_name(const Node& node);  // "a list", "a mapping", "text", "nothing"

// `name` is put in front of errors: "job.yaml:3: …". With `repeated`, a key that is given twice is noted there, and
// both values are in the tree; otherwise it is an error.
absl::StatusOr<Node> parse_document(std::string_view text, const std::string& name,
                                    std::vector<std::string>* repeated = nullptr);

// The documents of a file that may hold several, parted by `---`. `largest`: of the whole file, in bytes.
// `first_line`: the number of the text's first line in that file.
absl::StatusOr<std::vector<Node>> parse_documents(std::string_view text, const std::string& name, size_t largest,
                                                  int first_line = 1, std::vector<std::string>* repeated = nullptr);

}  // namespace hodei::cli
