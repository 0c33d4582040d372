// "Did you mean": the known name that looks most like a mistyped one.
#pragma once

#include <span>
#include <string_view>

namespace goban::base {

/// The known name with the fewest edits (insert, delete, replace) from `name`, the first on a tie;
/// empty if all are too different to be meant. Cost: sum of the products of the lengths.
[[nodiscard]] std::string_view nearest_name(std::string_view name,
                                            std::span<const std::string_view> known);

}  // namespace goban::base
