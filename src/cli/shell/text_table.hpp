// Tables for people: columns as wide as they must be.
#pragma once

#include <string>
#include <vector>

namespace goban::cli {

class TextTable {
 public:
  struct Column {
    std::string title{};
    bool right = false;  ///< numbers
    size_t width_max = 60;
  };
  explicit TextTable(std::vector<Column> columns) : columns_(std::move(columns)) {}

  /// As many cells as columns. Control characters are shown as `?`: names are what users chose.
  void add(std::vector<std::string> cells);
  [[nodiscard]] bool empty() const { return rows_.empty(); }
  /// Title line and rows; no blanks at the ends of lines.
  [[nodiscard]] std::string text() const;

 private:
  std::vector<Column> columns_;
  std::vector<std::vector<std::string>> rows_;
};

/// `text` without what a terminal could take for a command.
[[nodiscard]] std::string printable(std::string text);
/// Seconds as D-HH:MM:SS or H:MM:SS.
[[nodiscard]] std::string clock_text(double seconds);
/// Seconds since 1970 as local time: "14:03:22" today, "11-21 14:03" this year, else the date.
[[nodiscard]] std::string moment_text(double seconds, double now_s);
/// Bytes as "1.5 GiB".
[[nodiscard]] std::string size_text(double bytes);

}  // namespace goban::cli
