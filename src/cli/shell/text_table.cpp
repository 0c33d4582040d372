#include "cli/shell/text_table.hpp"

#include <algorithm>
#include <array>
#include <ctime>
#include <fmt/format.h>

#include "base/check.hpp"

namespace goban::cli {
namespace {

/// The number of characters, not bytes, of UTF-8 text.
size_t length_of(const std::string& text) {
  return static_cast<size_t>(std::count_if(text.begin(), text.end(), [](char c) {
    return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U;
  }));
}

std::string shortened(std::string text, size_t width) {
  if (length_of(text) <= width) return text;
  size_t bytes = 0;
  for (size_t seen = 0; bytes < text.size(); ++bytes) {
    if ((static_cast<unsigned char>(text[bytes]) & 0xC0U) != 0x80U && ++seen == width) break;
  }
  return text.substr(0, bytes) + "~";
}

}  // namespace

std::string printable(std::string text) {
  for (char& c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20 || byte == 0x7f) c = '?';
  }
  return text;
}

void TextTable::add(std::vector<std::string> cells) {
  GOBAN_CHECK(cells.size() == columns_.size());
  for (size_t i = 0; i < cells.size(); ++i) {
    cells[i] = shortened(printable(std::move(cells[i])), columns_[i].width_max);
  }
  rows_.push_back(std::move(cells));
}

std::string TextTable::text() const {
  std::vector<size_t> widths;
  for (size_t i = 0; i < columns_.size(); ++i) {
    size_t width = length_of(columns_[i].title);
    for (const auto& row : rows_) width = std::max(width, length_of(row[i]));
    widths.push_back(width);
  }
  std::string out;
  const auto add_line = [&](const auto& cell) {
    std::string line;
    for (size_t i = 0; i < columns_.size(); ++i) {
      const std::string& text = cell(i);
      const std::string blanks(widths[i] - length_of(text), ' ');
      if (i > 0) line += "  ";
      line += columns_[i].right ? blanks + text : text + blanks;
    }
    line.erase(line.find_last_not_of(' ') + 1);
    out += line + "\n";
  };
  add_line([&](size_t i) -> const std::string& { return columns_[i].title; });
  for (const auto& row : rows_) add_line([&](size_t i) -> const std::string& { return row[i]; });
  return out;
}

std::string clock_text(double seconds) {
  constexpr int64_t kDay_s = 86'400;
  const auto all = static_cast<int64_t>(std::clamp(seconds, 0.0, 1e12));
  std::string clock = fmt::format("{}:{:02}:{:02}", all % kDay_s / 3600, all / 60 % 60, all % 60);
  if (all < kDay_s) return clock;
  return fmt::format("{}-{:0>8}", all / kDay_s, clock);
}

std::string moment_text(double seconds, double now_s) {
  if (!(seconds > 0) || seconds > 1e11) return "-";
  const auto local = [](double moment) {
    const auto whole = static_cast<std::time_t>(moment);
    std::tm parts{};
    localtime_r(&whole, &parts);
    return parts;
  };
  const std::tm at = local(seconds);
  const std::tm now = local(now_s);
  const bool this_year = at.tm_year == now.tm_year;
  const bool today = this_year && at.tm_yday == now.tm_yday;
  const char* const form = today ? "%H:%M:%S" : this_year ? "%m-%d %H:%M" : "%Y-%m-%d";
  std::array<char, 32> text{};
  return {text.data(), std::strftime(text.data(), text.size(), form, &at)};
}

std::string size_text(double bytes) {
  constexpr std::array<const char*, 6> kUnits = {"B", "KiB", "MiB", "GiB", "TiB", "PiB"};
  size_t unit = 0;
  while (bytes >= 1024 && unit + 1 < kUnits.size()) {
    bytes /= 1024;
    ++unit;
  }
  return fmt::format("{:.{}f} {}", bytes, unit > 0 && bytes < 10 ? 1 : 0, kUnits[unit]);
}

}  // namespace goban::cli
