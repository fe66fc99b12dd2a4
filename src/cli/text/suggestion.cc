#include "src/cli/text/suggestion.h"

#include <algorithm>
#include <numeric>

#include "src/base/text.h"

namespace hodei::cli {
namespace {

constexpr size_t kLongestWord = 100;

char folded(char c) { return c == '-' ? '_' : (c >= 'A' && c <= 'Z') ? static_cast<char>(c + 32) : c; }

// Edits (insert, drop, replace, swap of neighbours) from one word to the other; case and -/_ do not count.
size_t distance(std::string_view a, std::string_view b) {
  std::vector<size_t> before(b.size() + 1), last(b.size() + 1), row(b.size() + 1);
  std::iota(last.begin(), last.end(), size_t{0});
  for (size_t i = 1; i <= a.size(); ++i) {
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      const size_t replace = last[j - 1] + (folded(a[i - 1]) != folded(b[j - 1]));
      row[j] = std::min({last[j] + 1, row[j - 1] + 1, replace});
      const bool swapped =
          i > 1 && j > 1 && folded(a[i - 1]) == folded(b[j - 2]) && folded(a[i - 2]) == folded(b[j - 1]);
      if (swapped) row[j] = std::min(row[j], before[j - 2] + 1);
    }
    before.swap(last);
    last.swap(row);
  }
  return last[b.size()];
}

// `timeout` for `timeout_ms`, `memory` for `memory_mb`: the beginning of a longer name, by whole parts.
bool is_stem(std::string_view word, std::string_view known) {
  return word.size() >= 3 && known.size() > word.size() && known.substr(0, word.size()) == word &&
         (known[word.size()] == '_' || known[word.size()] == '-');
}

}  // namespace

std::string nearest(std::string_view word, const std::vector<std::string>& known) {
  if (word.empty() || word.size() > kLongestWord) return {};
  std::string best;
  size_t best_distance = std::max<size_t>(1, word.size() / 3) + 1;
  for (const std::string& candidate : known) {
    const size_t d = is_stem(word, candidate) ? 1 : distance(word, candidate);
    // A word of which nothing is left is not a typing error.
    if (d < best_distance && d < std::max(word.size(), candidate.size())) best = candidate, best_distance = d;
  }
  return best;
}

std::string did_you_mean(std::string_view word, const std::vector<std::string>& known) {
  const std::string best = nearest(word, known);
  return best.empty() ? std::string() : cat("; did you mean '", best, "'?");
}

}  // namespace hodei::cli
