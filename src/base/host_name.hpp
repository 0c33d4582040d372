// The name of this machine.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <unistd.h>

namespace goban::base {

/// As the kernel has it, which may be with its domain. Nothing if it does not say.
[[nodiscard]] inline std::optional<std::string> host_name() {
  std::array<char, 256> name{};
  if (::gethostname(name.data(), name.size() - 1) != 0) return std::nullopt;
  return name.data();
}

}  // namespace goban::base
