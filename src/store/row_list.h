// Iterates over the list of row types: calls a function for each until one fails, or builds one value for each.
#pragma once

#include <tuple>
#include <type_traits>

#include "absl/status/status.h"
#include "src/core/rows/row.h"
#include "src/core/writes.h"

namespace hodei::store {

// Calls `f(std::type_identity<Row>)` for every row type, in the order of a load, until one gives an error.
template <class F>
absl::Status each_row_type(F&& f) {
  absl::Status status;
  core::each_type(core::AllRows{}, [&](auto row) {
    if (status.ok()) status = f(row);
  });
  return status;
}

namespace row_list_detail {

template <template <class> class One, class... Row>
std::tuple<One<Row>...> one_each(core::TypeList<Row...>);

}  // namespace row_list_detail

// A tuple of One<Row>, for every row type. Its parts are found by their type: std::get<One<Row>>.
template <template <class> class One>
using OnePerRow = decltype(row_list_detail::one_each<One>(core::AllRows{}));

}  // namespace hodei::store
