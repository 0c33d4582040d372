#include "cli/shell/text_table.hpp"

#include <algorithm>
#include <array>
#include <ctime>
#include <fmt/format.h>

#include "base/check.hpp"
#include "base/printable.hpp"
#include "base/time.hpp"

namespace goban::cli {
namespace {

constexpr size_t kGap = 2;  // between columns

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

std::string printable(std::string_view text) {
  std::string out;
  for (std::string_view rest = text; !rest.empty();) {
    const size_t unsafe = base::unsafe_bytes(rest);
    const size_t shown = unsafe > 0 ? 0 : base::utf8_bytes(rest);
    out += unsafe > 0 ? std::string_view("?") : rest.substr(0, shown);
    rest.remove_prefix(unsafe + shown);
  }
  return out;
}

void TextTable::add(std::vector<std::string> cells) {
  GOBAN_CHECK(cells.size() == columns_.size());
  for (size_t i = 0; i < cells.size(); ++i) {
    cells[i] = shortened(printable(std::move(cells[i])), columns_[i].width_max);
  }
  rows_.push_back(std::move(cells));
}

void TextTable::paint(size_t column, Colour colour) {
  GOBAN_CHECK(!rows_.empty() && column < columns_.size());
  paints_.push_back({.row = rows_.size() - 1, .column = column, .colour = colour});
}

std::vector<size_t> TextTable::widths_within(size_t width) const {
  constexpr size_t kLeast = 8;
  std::vector<size_t> widths;
  size_t total = 0;
  for (size_t i = 0; i < columns_.size(); ++i) {
    size_t widest = length_of(columns_[i].title);
    for (const auto& row : rows_) widest = std::max(widest, length_of(row[i]));
    widths.push_back(widest);
    total += widest + (i > 0 ? kGap : 0);
  }
  while (width > 0 && total > width) {
    size_t* widest = nullptr;
    for (size_t i = 0; i < columns_.size(); ++i) {
      const size_t least = std::max(kLeast, length_of(columns_[i].title));
      const bool shrinks = !columns_[i].right && widths[i] > least;
      if (shrinks && (widest == nullptr || widths[i] > *widest)) widest = &widths[i];
    }
    if (widest == nullptr) break;
    --*widest;
    --total;
  }
  return widths;
}

std::string TextTable::text(const TerminalStyle& style) const {
  const std::vector<size_t> widths = widths_within(style.width);
  std::vector<std::vector<Colour>> colours(style.coloured ? rows_.size() : 0,
                                           std::vector<Colour>(columns_.size(), Colour::None));
  if (style.coloured) {
    for (const Paint& each : paints_) colours[each.row][each.column] = each.colour;
  }
  std::string out;
  const auto add_line = [&](const auto& cell, const std::vector<Colour>* colour) {
    std::string line;
    size_t blanks = 0;  // written before the next cell
    for (size_t i = 0; i < columns_.size(); ++i) {
      const std::string text = shortened(cell(i), widths[i]);
      const size_t missing = widths[i] - std::min(widths[i], length_of(text));
      if (columns_[i].right) blanks += missing;
      if (!text.empty()) {
        line.append(blanks, ' ');
        line += colour == nullptr ? text : painted(text, (*colour)[i]);
        blanks = 0;
      }
      blanks += kGap + (columns_[i].right ? 0 : missing);
    }
    line.erase(line.find_last_not_of(' ') + 1);
    out += line + "\n";
  };
  add_line([&](size_t i) -> const std::string& { return columns_[i].title; }, nullptr);
  for (size_t row = 0; row < rows_.size(); ++row) {
    add_line([&](size_t i) -> const std::string& { return rows_[row][i]; },
             style.coloured ? &colours[row] : nullptr);
  }
  return out;
}

std::string clock_text(double seconds) {
  const auto all = static_cast<int64_t>(std::clamp(seconds, 0.0, 1e12));
  std::string clock =
      fmt::format("{}:{:02}:{:02}", all % base::kDay_s / 3600, all / 60 % 60, all % 60);
  if (all < base::kDay_s) return clock;
  return fmt::format("{}-{:0>8}", all / base::kDay_s, clock);
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
