// Arguments of the form `--name value`, after a command word if there is one.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <map>
#include <string>

namespace hodei::bench {

class Arguments {
 public:
  Arguments(int argc, char** argv) {
    int next = 1;
    if (argc > 1 && argv[1][0] != '-') command_ = argv[next++];
    for (; next + 1 < argc; next += 2) values_[argv[next]] = argv[next + 1];
  }

  const std::string& command() const { return command_; }
  std::string text(const std::string& name, const std::string& otherwise = "") const {
    const auto it = values_.find("--" + name);
    return it == values_.end() ? otherwise : it->second;
  }
  double number(const std::string& name, double otherwise) const {
    const std::string given = text(name);
    return given.empty() ? otherwise : std::strtod(given.c_str(), nullptr);
  }
  int whole(const std::string& name, int otherwise) const { return static_cast<int>(number(name, otherwise)); }

 private:
  std::string command_;
  std::map<std::string, std::string> values_;
};

}  // namespace hodei::bench
