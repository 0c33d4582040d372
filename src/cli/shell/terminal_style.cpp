#include "cli/shell/terminal_style.hpp"

#include <cstdlib>
#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/number.hpp"

namespace goban::cli {

TerminalStyle output_style() {
  if (::isatty(STDOUT_FILENO) == 0) return {};
  TerminalStyle style;
  winsize size{};
  if (::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0) style.width = size.ws_col;
  const char* const columns = std::getenv("COLUMNS");
  if (const auto named = base::parse_int(columns == nullptr ? "" : columns); named && *named > 0) {
    style.width = static_cast<size_t>(*named);
  }
  // https://no-color.org: set to anything but an empty text.
  const char* const none = std::getenv("NO_COLOR");
  const char* const term = std::getenv("TERM");
  style.coloured = (none == nullptr || *none == '\0') && term != nullptr && *term != '\0' &&
                   std::string_view(term) != "dumb";
  return style;
}

std::string painted(std::string_view text, Colour colour) {
  switch (colour) {
    case Colour::None:
      break;
    case Colour::Good:
      return fmt::format("\x1b[32m{}\x1b[0m", text);
    case Colour::Notice:
      return fmt::format("\x1b[33m{}\x1b[0m", text);
    case Colour::Bad:
      return fmt::format("\x1b[31m{}\x1b[0m", text);
  }
  return std::string(text);
}

}  // namespace goban::cli
