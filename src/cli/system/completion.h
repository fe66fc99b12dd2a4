// Generates completion scripts for shells from the commands themselves, so that they are always up to date.
#pragma once

#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace hodei::cli {

// One command with the words that may follow it.
struct CompletionNode {
  std::string path;  // "job list"; empty for the program itself
  struct Word {
    std::string text;
    std::string description;
    bool takes_value = false;  // of a flag
    bool has_values = false;   // `__complete` knows what it may be
  };
  std::vector<Word> commands;
  std::vector<Word> flags;  // those of the program are understood everywhere and not repeated
  bool has_values = false;  // of its argument
};

std::vector<CompletionNode> completion_nodes(const CLI::App& root);

std::string bash_completion(const std::vector<CompletionNode>& nodes);
std::string zsh_completion(const std::vector<CompletionNode>& nodes);
std::string fish_completion(const std::vector<CompletionNode>& nodes);

}  // namespace hodei::cli
