// How tables appear on a terminal: its width, and colours.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace goban::cli {

enum class Colour : unsigned char { None, Good, Notice, Bad };

struct TerminalStyle {
  size_t width = 0;  ///< in characters; 0: no limit
  bool coloured = false;
};

/// Of standard output: the width of the terminal ($COLUMNS, else its own), and colours unless
/// $NO_COLOR is set or $TERM is "dumb". Neither if it is a pipe or a file.
[[nodiscard]] TerminalStyle output_style();

/// The text in a colour, for a terminal; unchanged for Colour::None.
[[nodiscard]] std::string painted(std::string_view text, Colour colour);

}  // namespace goban::cli
