// Text tables with columns as wide as their contents.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "cli/shell/terminal_style.hpp"

namespace goban::cli {

class TextTable {
 public:
  struct Column {
    std::string title{};
    bool right = false;  ///< right-aligned, for numbers
    size_t width_max = 60;
  };
  explicit TextTable(std::vector<Column> columns) : columns_(std::move(columns)) {}

  /// One cell per column. What printable() does not show is replaced: names are untrusted input.
  void add(std::vector<std::string> cells);
  [[nodiscard]] bool empty() const { return rows_.empty(); }
  /// Colours a cell of the row that was added last.
  void paint(size_t column, Colour colour);
  /// Title line and rows, without trailing blanks. Where a table is wider than the terminal, empty
  /// columns are left out, and the widest columns of text are shortened, but none below its title
  /// or 8 characters. What is wider even then follows below, in tables that begin with the first
  /// column, too.
  [[nodiscard]] std::string text(const TerminalStyle& style = {}) const;

 private:
  [[nodiscard]] std::vector<size_t> widths() const;
  [[nodiscard]] size_t least_of(size_t column) const;
  void shrink(std::vector<size_t>& widths, const std::vector<size_t>& table, size_t width) const;

  struct Paint {
    size_t row = 0;
    size_t column = 0;
    Colour colour = Colour::None;
  };
  std::vector<Column> columns_;
  std::vector<std::vector<std::string>> rows_;
  std::vector<Paint> paints_{};
};

/// Lines of more than `width` characters (0: no limit) broken between words. The rest of a line
/// "  name    what it is" is indented like its description. A line with a command to copy stays
/// whole.
[[nodiscard]] std::string wrapped(std::string_view text, size_t width);
/// `text` with `?` for each character of base::unsafe_bytes(): a terminal must not interpret it.
[[nodiscard]] std::string printable(std::string_view text);
/// Seconds as D-HH:MM:SS or H:MM:SS.
[[nodiscard]] std::string clock_text(double seconds);
/// Seconds since 1970 as local time: "14:03:22" today, "11-21 14:03" this year, otherwise the
/// date.
[[nodiscard]] std::string moment_text(double seconds, double now_s);
/// Bytes as "1.5 GiB".
[[nodiscard]] std::string size_text(double bytes);

}  // namespace goban::cli
