// How a command or a write finds who handles it. A module is built out of parts; each part has `decide` for its
// commands and `fold` for its writes, and the compiler picks the part.
#pragma once

#include <concepts>
#include <type_traits>

#include "src/core/answers.h"
#include "src/core/turn.h"

namespace hodei::core {

template <class T, class List>
inline constexpr bool is_one_of = false;
template <class T, class... Ts>
inline constexpr bool is_one_of<T, TypeList<Ts...>> = (std::is_same_v<T, Ts> || ...);

template <class Part, class C>
concept Decides = requires(Part& part, const C& command, Turn& turn) {
  { part.decide(command, turn) } -> std::same_as<Answer>;
};

template <class Part, class W>
concept Folds = requires(Part& part, const W& write) {
  part.fold(write);
};

// Whether one of the parts keeps something of the write.
template <class W, class... Parts>
concept FoldedBy = (Folds<Parts, W> || ...);

// Exactly one of the parts decides the command.
template <class C, class First, class... More>
Answer decide_by(const C& command, Turn& turn, First& first, More&... more) {
  if constexpr (Decides<First, C>) {
    static_assert(!(Decides<More, C> || ...), "two parts decide the same command");
    return first.decide(command, turn);
  } else {
    static_assert(sizeof...(More) > 0, "no part decides this command");
    return decide_by(command, turn, more...);
  }
}

template <class W, class Part>
void fold_if_its(const W& write, Part& part) {
  if constexpr (Folds<Part, W>) part.fold(write);
}

// Every part that keeps something of the write.
template <class W, class... Parts>
void fold_into(const W& write, Parts&... parts) {
  (fold_if_its(write, parts), ...);
}

}  // namespace hodei::core
