// Text tables with columns as wide as their contents.
#pragma once

#include <string>
#include <vector>

namespace goban::cli {

class TextTable {
 public:
  struct Column {
    std::string title{};
    bool right = false;  ///< right-aligned, for numbers
    size_t width_max = 60;
  };
  explicit TextTable(std::vector<Column> columns) : columns_(std::move(columns)) {}

  /// One cell per column. Control characters are replaced by `?`: names are untrusted input.
  void add(std::vector<std::string> cells);
  [[nodiscard]] bool empty() const { return rows_.empty(); }
  /// Title line and rows, without trailing blanks.
  [[nodiscard]] std::string text() const;

 private:
  std::vector<Column> columns_;
  std::vector<std::vector<std::string>> rows_;
};

/// `text` with control characters replaced by `?`, so that a terminal cannot interpret them.
[[nodiscard]] std::string printable(std::string text);
/// Seconds as D-HH:MM:SS or H:MM:SS.
[[nodiscard]] std::string clock_text(double seconds);
/// Seconds since 1970 as local time: "14:03:22" today, "11-21 14:03" this year, otherwise the
/// date.
[[nodiscard]] std::string moment_text(double seconds, double now_s);
/// Bytes as "1.5 GiB".
[[nodiscard]] std::string size_text(double bytes);

}  // namespace goban::cli
