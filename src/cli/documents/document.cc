#include "src/cli/documents/document.h"

#include <charconv>
#include <nlohmann/json.hpp>
#include <optional>
#include <sstream>
#include <stdexcept>

#include "src/base/status.h"
#include "yaml-cpp/eventhandler.h"
#include "yaml-cpp/exceptions.h"
#include "yaml-cpp/mark.h"
#include "yaml-cpp/parser.h"

namespace hodei::cli {
namespace {

constexpr size_t kMostKeys = 10'000;  // of one mapping

// Carries a refusal out of yaml-cpp's callbacks; never leaves this file.
struct Refused : std::runtime_error {
  Refused(int at, const std::string& what) : std::runtime_error(what), line(at) {}
  int line;
};

class TreeBuilder final : public YAML::EventHandler {
 public:
  // `repeated` may be null: then a key that is given twice is refused.
  TreeBuilder(int first_line, std::string name, std::vector<std::string>* repeated)
      : first_line_(first_line), name_(std::move(name)), repeated_(repeated) {}
  Node take() { return std::move(root_); }
  const YAML::Mark& start() const { return start_; }

  void OnDocumentStart(const YAML::Mark& mark) override { start_ = mark; }
  void OnDocumentEnd() override {}
  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override { add(make(mark, anchor, Node::Kind::Null)); }
  void OnAlias(const YAML::Mark& mark, YAML::anchor_t) override {
    throw Refused(mark.line + first_line_, "aliases (*name) are not allowed; write the value out");
  }
  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                const std::string& value) override {
    Node node = make(mark, anchor, Node::Kind::Scalar);
    node.plain = tag != "!" && tag != "tag:yaml.org,2002:str";
    node.text = value;
    if (node.plain && (value == "~" || value == "null")) node.kind = Node::Kind::Null;
    add(std::move(node));
  }
  void OnSequenceStart(const YAML::Mark& mark, const std::string&, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value) override {
    open(make(mark, anchor, Node::Kind::List));
  }
  void OnSequenceEnd() override { close(); }
  void OnMapStart(const YAML::Mark& mark, const std::string&, YAML::anchor_t anchor,
                  YAML::EmitterStyle::value) override {
    open(make(mark, anchor, Node::Kind::Map));
  }
  void OnMapEnd() override { close(); }

 private:
  struct Open {
    Node node;
    bool key_read = false;
  };

  Node make(const YAML::Mark& mark, YAML::anchor_t anchor, Node::Kind kind) const {
    if (anchor != 0) throw Refused(mark.line + first_line_, "anchors (&name) are not allowed; write the value out");
    Node node;
    node.kind = kind;
    node.line = mark.line + first_line_;
    return node;
  }

  void open(Node node) {
    if (open_.size() >= kDeepestDocument)
      throw Refused(node.line, cat("nested deeper than ", kDeepestDocument, " levels"));
    open_.push_back({std::move(node)});
  }

  void close() {
    Node done = std::move(open_.back().node);
    open_.pop_back();
    add(std::move(done));
  }

  void add(Node node) {
    if (open_.empty()) {
      root_ = std::move(node);
      return;
    }
    Open& top = open_.back();
    if (top.node.kind == Node::Kind::List) {
      top.node.items.push_back(std::move(node));
    } else if (!top.key_read) {
      begin_field(top, std::move(node));
    } else {
      top.node.fields.back().value = std::move(node);
      top.key_read = false;
    }
  }

  void begin_field(Open& top, Node key) {
    if (key.kind != Node::Kind::Scalar) throw Refused(key.line, "a key must be text");
    if (top.node.fields.size() == kMostKeys) throw Refused(key.line, cat("there are more than ", kMostKeys, " keys"));
    if (top.node.find(key.text)) {
      const std::string what = cat("'", key.text, "' is given twice");
      if (repeated_ == nullptr) throw Refused(key.line, what);
      repeated_->push_back(cat(name_, ":", key.line, ": ", what));
    }
    top.node.fields.push_back({std::move(key.text), key.line, Node{}});
    top.key_read = true;
  }

  YAML::Mark start_;
  int first_line_;
  std::string name_;
  std::vector<std::string>* repeated_;
  Node root_;
  std::vector<Open> open_;
};

}  // namespace

const Node* Node::find(std::string_view key) const {
  for (const Field& field : fields) {
    if (field.key == key) return &field.value;
  }
  return nullptr;
}

std::string_view kind_name(const Node& node) {
  switch (node.kind) {
    case Node::Kind::Null: return "nothing";
    case Node::Kind::List: return "a list";
    case Node::Kind::Map: return "a mapping";
    case Node::Kind::Scalar: break;
  }
  return "text";
}

namespace {

std::optional<unsigned> unit_at(std::string_view text, size_t at) {
  unsigned value = 0;
  if (text.substr(at, 2) != "\\u" || text.size() < at + 6) return std::nullopt;
  const auto [end, error] = std::from_chars(text.data() + at + 2, text.data() + at + 6, value, 16);
  return error == std::errc() && end == text.data() + at + 6 ? std::optional(value) : std::nullopt;
}

// JSON writes a character beyond the first 65,536 as two units (\ud83d\ude80), YAML as one (\U0001f680).
std::string with_whole_characters(std::string_view json) {
  std::string out;
  for (size_t at = 0; at < json.size();) {
    const std::optional<unsigned> high = unit_at(json, at);
    const std::optional<unsigned> low = high ? unit_at(json, at + 6) : std::nullopt;
    if (low && *high >> 10 == 0xd800 >> 10 && *low >> 10 == 0xdc00 >> 10) {
      out += fmt::format("\\U{:08x}", 0x10000 + ((*high & 0x3ff) << 10) + (*low & 0x3ff));
      at += 12;
      continue;
    }
    const size_t size = json[at] == '\\' ? 2 : 1;  // an escaped backslash begins no other escape
    out += json.substr(at, size);
    at += size;
  }
  return out;
}

std::string as_yaml(std::string_view text) {
  if (text.find("\\u") == std::string_view::npos || !nlohmann::json::accept(text)) return std::string(text);
  return with_whole_characters(text);
}

}  // namespace

absl::StatusOr<std::vector<Node>> parse_documents(std::string_view text, const std::string& name, size_t largest,
                                                  int first_line, std::vector<std::string>* repeated) {
  if (text.size() > largest) return absl::InvalidArgumentError(cat(name, ": is larger than ", largest, " bytes"));
  std::istringstream in{as_yaml(text)};
  std::vector<Node> out;
  try {
    YAML::Parser parser(in);
    for (int before = -1;;) {
      TreeBuilder builder(first_line, name, repeated);
      if (!parser.HandleNextDocument(builder)) return out;
      // The parser does not get past some signs, a comma at the beginning for one: it finds an empty document each
      // time.
      if (builder.start().pos == before) throw YAML::ParserException(builder.start(), "expected a value");
      before = builder.start().pos;
      out.push_back(builder.take());
    }
  } catch (const Refused& refused) {
    return absl::InvalidArgumentError(cat(name, ":", refused.line, ": ", refused.what()));
  } catch (const YAML::Exception& broken) {
    return absl::InvalidArgumentError(
        cat(name, ":", broken.mark.line + first_line, ":", broken.mark.column + 1, ": ", broken.msg));
  }
}

absl::StatusOr<Node> parse_document(std::string_view text, const std::string& name,
                                    std::vector<std::string>* repeated) {
  ASSIGN_OR_RETURN(std::vector<Node> documents, parse_documents(text, name, kLargestDocument, 1, repeated));
  if (documents.size() > 1) {
    return absl::InvalidArgumentError(cat(name, ": contains more than one document; put each in its own file"));
  }
  return documents.empty() ? Node{} : std::move(documents[0]);
}

}  // namespace hodei::cli
