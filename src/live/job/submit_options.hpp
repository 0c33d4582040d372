// The table of options of `goban submit` and of `#GOBAN` directives.
#pragma once

#include <span>
#include <string_view>

#include "live/job/request_setters.hpp"

namespace goban::live::job {

struct SubmitOption {
  std::string_view names{};  ///< as on the command line: "-J,--name"
  std::string_view value{};  ///< placeholder of the value in help; empty: a flag
  std::string_view group{};
  std::string_view help{};
  Setter set = nullptr;
  bool repeats = false;  ///< it may be given several times
};

[[nodiscard]] std::span<const SubmitOption> submit_options();
/// The option with this name, such as "--name" or "-J"; null if there is none.
[[nodiscard]] const SubmitOption* find_submit_option(std::string_view name);

}  // namespace goban::live::job
