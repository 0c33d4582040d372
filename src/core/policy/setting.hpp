// A number that is set by name, as in "max_slowdown=1.2". Each group of options lists its own.
#pragma once

#include <cstdint>
#include <string_view>
#include <variant>

namespace goban::core::policy {

/// One field of a group of options. Switches take 0 and 1; counts take integers.
template <typename Options>
struct Setting {
  std::string_view name;
  std::string_view description;  ///< one line, for display
  std::variant<double Options::*, int32_t Options::*, uint32_t Options::*, bool Options::*> field;
  double min = 0;
  double max = 1;
};

/// Upper limit of settings in seconds.
inline constexpr double kSettingSecondsMax = 1e9;

}  // namespace goban::core::policy
