// Text tables that fit a terminal: what is too wide for one table becomes several below each other,
// each of which begins with the first column.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace goban::base {

/// The number of characters, not bytes, of UTF-8 text.
[[nodiscard]] size_t characters_of(std::string_view text);

/// A column of a table, with the blanks in front of it.
struct ColumnRoom {
  size_t width = 0;
  size_t gap = 0;
};

/// The columns of each table, by index: as many as fit into `width` characters, but the first and
/// another one in any case. 0: no limit, one table.
[[nodiscard]] std::vector<std::vector<size_t>> stacked_columns(std::span<const ColumnRoom> columns,
                                                               size_t width);

class StackedTable {
 public:
  struct Column {
    std::string title{};
    bool right = true;     ///< right-aligned, for numbers
    size_t width_min = 0;  ///< in characters
    size_t gap = 1;        ///< blanks in front of it; the first column has none
  };
  explicit StackedTable(std::vector<Column> columns) : columns_(std::move(columns)) {}

  /// One cell per column.
  void add(std::vector<std::string> cells);
  /// Titles and rows, without trailing blanks. `width`: of the terminal, 0 = no limit.
  [[nodiscard]] std::string text(size_t width = 0) const;

 private:
  std::vector<Column> columns_;
  std::vector<std::vector<std::string>> rows_{};
};

}  // namespace goban::base
