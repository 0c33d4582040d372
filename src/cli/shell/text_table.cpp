#include "cli/shell/text_table.hpp"

#include <algorithm>
#include <array>
#include <ctime>
#include <fmt/format.h>

#include "base/check.hpp"
#include "base/printable.hpp"
#include "base/stacked_table.hpp"
#include "base/time.hpp"

namespace goban::cli {
namespace {

constexpr size_t kGap = 2;  // between columns

/// The bytes of the first characters of UTF-8 text; all if it has no more.
size_t bytes_of(std::string_view text, size_t characters) {
  size_t bytes = 0;
  for (size_t seen = 0; bytes < text.size(); ++bytes) {
    const bool is_first = (static_cast<unsigned char>(text[bytes]) & 0xC0U) != 0x80U;
    if (is_first && seen++ == characters) break;
  }
  return bytes;
}

std::string shortened(std::string text, size_t width) {
  if (base::characters_of(text) <= width) return text;
  return text.substr(0, bytes_of(text, width - 1)) + "~";
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

std::vector<size_t> TextTable::widths() const {
  std::vector<size_t> widths;
  for (size_t i = 0; i < columns_.size(); ++i) {
    widths.push_back(base::characters_of(columns_[i].title));
    for (const auto& row : rows_) widths[i] = std::max(widths[i], base::characters_of(row[i]));
  }
  return widths;
}

size_t TextTable::least_of(size_t column) const {
  constexpr size_t kLeast = 8;
  return std::max(kLeast, base::characters_of(columns_[column].title));
}

void TextTable::shrink(std::vector<size_t>& widths, const std::vector<size_t>& table,
                       size_t width) const {
  size_t total = kGap * (table.size() - 1);
  for (const size_t i : table) total += widths[i];
  for (; width > 0 && total > width; --total) {
    size_t* widest = nullptr;
    for (const size_t i : table) {
      const bool shrinks = !columns_[i].right && widths[i] > least_of(i);
      if (shrinks && (widest == nullptr || widths[i] > *widest)) widest = &widths[i];
    }
    if (widest == nullptr) return;
    --*widest;
  }
}

std::string TextTable::text(const TerminalStyle& style) const {
  const std::vector<size_t> natural = widths();
  size_t total = kGap * (columns_.size() - 1);
  for (const size_t each : natural) total += each;
  const bool is_tight = style.width > 0 && total > style.width;
  std::vector<size_t> kept;
  std::vector<base::ColumnRoom> least;
  for (size_t i = 0; i < columns_.size(); ++i) {
    const bool is_empty = !rows_.empty() && std::ranges::all_of(rows_, [i](const auto& row) {
      return row[i].empty();
    });
    if (is_tight && is_empty) continue;
    kept.push_back(i);
    least.push_back(
        {.width = columns_[i].right ? natural[i] : std::min(natural[i], least_of(i)), .gap = kGap});
  }
  std::vector<std::vector<Colour>> colours(style.coloured ? rows_.size() : 0,
                                           std::vector<Colour>(columns_.size(), Colour::None));
  if (style.coloured) {
    for (const Paint& each : paints_) colours[each.row][each.column] = each.colour;
  }
  std::string out;
  for (std::vector<size_t> table : base::stacked_columns(least, style.width)) {
    for (size_t& each : table) each = kept[each];
    std::vector<size_t> widths = natural;
    shrink(widths, table, style.width);
    const auto add_line = [&](const auto& cell, const std::vector<Colour>* colour) {
      std::string line;
      size_t blanks = 0;  // written before the next cell
      for (const size_t i : table) {
        const std::string text = shortened(cell(i), widths[i]);
        const size_t missing = widths[i] - std::min(widths[i], base::characters_of(text));
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
    if (!out.empty()) out += "\n";
    add_line([&](size_t i) -> const std::string& { return columns_[i].title; }, nullptr);
    for (size_t row = 0; row < rows_.size(); ++row) {
      add_line([&](size_t i) -> const std::string& { return rows_[row][i]; },
               style.coloured ? &colours[row] : nullptr);
    }
  }
  return out;
}

namespace {

/// Where the description of a line "  name    what it is" begins: behind the first run of blanks
/// within it. A line of prose: two more than its own indent.
size_t description_of(std::string_view line, size_t width) {
  const size_t begin = std::min(line.find_first_not_of(' '), line.size());
  const size_t gap = line.find("  ", begin);
  const size_t from = gap == std::string_view::npos ? gap : line.find_first_not_of(' ', gap);
  return from == std::string_view::npos || from > width / 2 ? begin + 2 : from;
}

void wrap_line(std::string_view line, size_t width, std::string& out) {
  const std::string indent(std::min(description_of(line, width), width / 2), ' ');
  bool is_first = true;
  while (base::characters_of(line) + (is_first ? 0 : indent.size()) > width) {
    const size_t room = width - (is_first ? 0 : indent.size());
    const size_t bytes = bytes_of(line, room);
    // The last blank behind the indent.
    size_t end = line.rfind(' ', bytes);
    if (end == std::string_view::npos || end <= (is_first ? indent.size() : 0)) {
      end = line.find(' ', bytes);  // a word wider than the terminal
      if (end == std::string_view::npos) break;
    }
    if (!is_first) out += indent;
    const std::string_view part = line.substr(0, end);
    out.append(part.substr(0, part.find_last_not_of(' ') + 1)).append("\n");
    line.remove_prefix(std::min(line.find_first_not_of(' ', end), line.size()));
    is_first = false;
  }
  if (!is_first) out += indent;
  out.append(line);
}

}  // namespace

std::string wrapped(std::string_view text, size_t width) {
  if (width == 0) return std::string(text);
  std::string out;
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = text.substr(0, end);
    if (line.find(": goban simulate ") == std::string_view::npos) {
      wrap_line(line, width, out);
    } else {
      out.append(line);  // a command must stay one when it is copied
    }
    if (end < text.size()) out += '\n';
    text.remove_prefix(std::min(end + 1, text.size()));
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
