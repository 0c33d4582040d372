// Colours of the gains in a comparison of policies.
#pragma once

#include <string>
#include <string_view>

namespace goban::cli {

/// The text of a comparison with its gains, such as "+12.3 %" or "-4.0 ±1.5 %", in colours: good
/// above its error, bad below it, none within it or where the error is unknown.
[[nodiscard]] std::string painted_gains(std::string_view text);

}  // namespace goban::cli
