// Text in HTML and SVG.
#pragma once

#include <string>

namespace goban::base {

/// Text with &, <, > and " escaped.
[[nodiscard]] std::string html_escaped(const std::string& text);

}  // namespace goban::base
