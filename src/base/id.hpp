// Dense integer ids with a type of their own: a JobId is not a NodeId.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>

namespace goban::base {

/// Index into a dense table. `Tag` makes each kind of id a separate type.
template <typename Tag>
struct Id {
  uint32_t value = std::numeric_limits<uint32_t>::max();

  constexpr Id() = default;
  constexpr explicit Id(uint32_t v) : value(v) {}
  constexpr explicit Id(size_t v) : value(static_cast<uint32_t>(v)) {}

  /// The id as a subscript.
  [[nodiscard]] constexpr size_t index() const { return value; }
  [[nodiscard]] constexpr bool valid() const {
    return value != std::numeric_limits<uint32_t>::max();
  }
  friend constexpr auto operator<=>(Id, Id) = default;
};

}  // namespace goban::base

template <typename Tag>
struct std::hash<goban::base::Id<Tag>> {
  size_t operator()(goban::base::Id<Tag> id) const noexcept { return id.value; }
};
