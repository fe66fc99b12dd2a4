#include "src/cli/system/completion.h"

#include <set>

#include <CLI/CLI.hpp>

#include "src/base/text.h"
#include "src/cli/session/session.h"
#include "src/cli/system/completion_values.h"
#include "src/cli/terminal/exit_code.h"

namespace hodei::cli {
namespace {

using Word = CompletionNode::Word;

// Inside single quotes of every shell.
std::string quoted(const std::string& text) {
  std::string out = "'";
  for (char c : text) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return out + "'";
}

void collect(const CLI::App& app, const std::string& path, std::vector<CompletionNode>& out) {
  CompletionNode node;
  node.path = path;
  for (const CLI::Option* option : app.get_options()) {
    const bool takes_value = option->get_expected_max() > 0 && option->get_type_size_max() > 0;
    for (const std::string& name : option->get_lnames())
      node.flags.push_back(
          {"--" + name, option->get_description(), takes_value, takes_value && has_known_values(path, *option)});
    for (const std::string& name : option->get_snames())
      node.flags.push_back(
          {"-" + name, option->get_description(), takes_value, takes_value && has_known_values(path, *option)});
    if (option->get_positional()) node.has_values = node.has_values || has_known_values(path, *option);
  }
  const auto children = app.get_subcommands([](const CLI::App* child) { return !child->get_group().empty(); });
  for (const CLI::App* child : children) node.commands.push_back({child->get_name(), child->get_description(), false});
  out.push_back(std::move(node));
  for (const CLI::App* child : children)
    collect(*child, path.empty() ? child->get_name() : path + " " + child->get_name(), out);
}

std::string texts(const std::vector<Word>& words) {
  std::string out;
  for (const Word& word : words) out += (out.empty() ? "" : " ") + word.text;
  return out;
}

std::string value_flags(const std::vector<CompletionNode>& nodes) {
  std::set<std::string> flags;
  for (const CompletionNode& node : nodes) {
    for (const Word& flag : node.flags) {
      if (flag.takes_value) flags.insert(flag.text);
    }
  }
  std::string out;
  for (const std::string& flag : flags) out += (out.empty() ? "" : "|") + flag;
  return out;
}

// The part that bash and zsh share: which words may follow a command's path. (`path`, `commands` and `words` mean
// something else to zsh.)
std::string word_cases(const std::vector<CompletionNode>& nodes) {
  std::string out;
  for (const CompletionNode& node : nodes) {
    out += cat("    ", quoted(node.path), ") next=", quoted(texts(node.commands)),
               "; flags=", quoted(texts(node.flags)), " ;;\n");
  }
  return out;
}

// "job list" is a path; "job get list" is "job get" and a job called list.
std::string path_cases(const std::vector<CompletionNode>& nodes) {
  std::string out;
  for (const CompletionNode& node : nodes) {
    if (!node.path.empty()) out += (out.empty() ? "" : "|") + quoted(node.path);
  }
  return out;
}

std::string shell_function(const std::vector<CompletionNode>& nodes) {
  return cat(
      "_hodei_words() {\n"
      "  # Sets: trail, next, flags, global, stop (behind `--`), skip (the flag whose value the word is).\n"
      "  trail='' stop='' skip='' next='' flags=''\n"
      "  global=",
      quoted(texts(nodes[0].flags)),
      "\n"
      "  local word\n"
      "  for word in \"$@\"; do\n"
      "    if [ -n \"$skip\" ]; then skip=''; continue; fi\n"
      "    case \"$word\" in\n"
      "      --) stop=1; return ;;\n"
      "      ",
      value_flags(nodes),
      ") skip=\"$word\"; continue ;;\n"
      "      -*) continue ;;\n"
      "    esac\n"
      "    case \"${trail:+$trail }$word\" in\n"
      "      ",
      path_cases(nodes),
      ") trail=\"${trail:+$trail }$word\" ;;\n"
      "    esac\n"
      "  done\n"
      "  case \"$trail\" in\n",
      word_cases(nodes),
      "  esac\n"
      "}\n");
}

}  // namespace

std::vector<CompletionNode> completion_nodes(const CLI::App& root) {
  std::vector<CompletionNode> nodes;
  collect(root, "", nodes);
  return nodes;
}

std::string bash_completion(const std::vector<CompletionNode>& nodes) {
  return cat("# bash completion for hodei; load it with: source <(hodei completion bash)\n", shell_function(nodes),
             "_hodei() {\n"
             "  local trail stop skip next flags global cur=\"${COMP_WORDS[COMP_CWORD]}\"\n"
             "  COMPREPLY=()\n"
             "  _hodei_words \"${COMP_WORDS[@]:1:COMP_CWORD-1}\"\n"
             "  if [ -n \"$stop\" ]; then\n"
             "    COMPREPLY=($(compgen -f -- \"$cur\"))\n"
             "  elif [ -z \"$skip\" ] && [ \"${cur:0:1}\" = - ]; then\n"
             "    COMPREPLY=($(compgen -W \"$flags $global\" -- \"$cur\"))\n"
             "  elif [ -z \"$skip\" ] && [ -n \"$next\" ]; then\n"
             "    COMPREPLY=($(compgen -W \"$next\" -- \"$cur\"))\n"
             "  else\n"
             "    # What may stand here, asked of the program and the server; else files.\n"
             "    COMPREPLY=($(compgen -W \"$(\"${COMP_WORDS[0]}\" __complete \"$trail\" \"flag$skip\" 2>/dev/null "
             "| cut -f1)\" -- \"$cur\"))\n"
             "    [ ${#COMPREPLY[@]} -gt 0 ] || COMPREPLY=($(compgen -f -- \"$cur\"))\n"
             "  fi\n"
             "}\n"
             "complete -o default -F _hodei hodei\n");
}

std::string zsh_completion(const std::vector<CompletionNode>& nodes) {
  return cat("#compdef hodei\n# zsh completion for hodei; load it with: source <(hodei completion zsh)\n",
             shell_function(nodes),
             "_hodei() {\n"
             "  local trail stop skip next flags global\n"
             "  _hodei_words \"${(@)words[2,CURRENT-1]}\"\n"
             "  if [ -n \"$stop\" ]; then\n"
             "    _files\n"
             "  elif [ -z \"$skip\" ] && [[ \"$words[CURRENT]\" = -* ]]; then\n"
             "    compadd -- ${=flags} ${=global}\n"
             "  elif [ -z \"$skip\" ] && [ -n \"$next\" ]; then\n"
             "    compadd -- ${=next}\n"
             "  else\n"
             "    # What may stand here, asked of the program and the server; else files.\n"
             "    local -a values\n"
             "    values=(${(f)\"$(\"$words[1]\" __complete \"$trail\" \"flag$skip\" 2>/dev/null | cut -f1)\"})\n"
             "    if [ ${#values} -gt 0 ]; then compadd -- $values; else _files; fi\n"
             "  fi\n"
             "}\n"
             "if [ \"$funcstack[1]\" = _hodei ]; then _hodei \"$@\"; else compdef _hodei hodei; fi\n");
}

std::string fish_completion(const std::vector<CompletionNode>& nodes) {
  std::string out = cat(
      "# fish completion for hodei; load it with: hodei completion fish | source\n"
      "function __hodei_path\n"
      "  set -l path\n  set -l skip ''\n"
      "  for word in (commandline -opc)[2..-1]\n"
      "    if test -n \"$skip\"; set skip ''; continue; end\n"
      "    switch $word\n"
      "      case '--'; echo '--'; return\n"
      "      case ",
      [&] {
        std::string flags = value_flags(nodes);
        std::replace(flags.begin(), flags.end(), '|', ' ');
        return flags;
      }(),
      "; set skip 1\n"
      "      case '-*'\n"
      "      case '*'\n"
      "        if contains -- (string join ' ' $path $word)",
      [&] {
        std::string paths = path_cases(nodes);
        std::replace(paths.begin(), paths.end(), '|', ' ');
        return " " + paths;
      }(),
      "; set path $path $word; end\n"
      "    end\n"
      "  end\n"
      "  echo (string join ' ' $path)\n"
      "end\n");
  for (const CompletionNode& node : nodes) {
    const std::string here = cat("complete -c hodei -n ", quoted(cat("test (__hodei_path) = \"", node.path, "\"")));
    if (node.has_values) out += cat(here, " -f -a '(hodei __complete \"", node.path, "\" flag 2>/dev/null)'\n");
    for (const Word& word : node.commands)
      out += cat(here, " -f -a ", word.text, " -d ", quoted(word.description), "\n");
    const std::string where = node.path.empty() ? std::string("complete -c hodei") : here;
    for (const Word& flag : node.flags) {
      const bool is_long = flag.text.substr(0, 2) == "--";
      out +=
          cat(where, is_long ? " -l " : " -s ", flag.text.substr(is_long ? 2 : 1),
              flag.has_values ? cat(" -x -a '(hodei __complete \"", node.path, "\" flag", flag.text, " 2>/dev/null)'")
              : flag.takes_value ? std::string(" -r")
                                 : std::string(),
              " -d ", quoted(flag.description), "\n");
    }
  }
  return out;
}

void add_completion_commands(CLI::App& root, Session& session) {
  CLI::App* group = root.add_subcommand("completion", "Print a completion script for your shell");
  group->require_subcommand(1);
  using Make = std::string (*)(const std::vector<CompletionNode>&);
  const auto add = [&](const char* shell, const char* how, Make make) {
    group->add_subcommand(shell, how)->callback([&session, make] {
      session.needs_settings = false;
      session.action = [&session, make] { return session.show(make(completion_nodes(*session.root))); };
    });
  };
  add("bash", "source <(hodei completion bash)", bash_completion);
  add("zsh", "source <(hodei completion zsh)", zsh_completion);
  add("fish", "hodei completion fish | source", fish_completion);
  add_completion_values(root, session);
}

}  // namespace hodei::cli
