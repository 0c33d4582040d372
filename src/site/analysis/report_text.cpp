#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <utility>

#include "base/stacked_table.hpp"
#include "site/analysis/writers.hpp"

namespace goban::site::analysis {
namespace {

/// East Asian characters, which terminals show two columns wide.
size_t width_of(std::string_view text) {
  size_t width = 0;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if ((byte & 0xc0U) == 0x80U) continue;
    width += byte >= 0xe3U && byte < 0xf0U ? 2 : 1;
  }
  return width;
}

std::string padded(std::string_view text, size_t width, bool right) {
  const size_t have = width_of(text);
  const std::string blanks(width > have ? width - have : 0, ' ');
  return right ? fmt::format("{}{}", blanks, text) : fmt::format("{}{}", text, blanks);
}

/// An integer with thousands separators.
std::string grouped(int64_t value) {
  const std::string digits = fmt::format("{}", std::abs(value));
  std::string out = value < 0 ? "-" : "";
  constexpr size_t kGroup = 3;
  for (size_t i = 0; i < digits.size(); ++i) {
    if (i > 0 && (digits.size() - i) % kGroup == 0) out += ',';
    out += digits[i];
  }
  return out;
}

std::string short_number(double value) {
  const double size = std::abs(value);
  if (size >= 1000) return grouped(std::llround(value));
  if (size >= 100) return fmt::format("{:.1f}", value);
  return fmt::format("{:.3f}", value);
}

/// A cell as text; control characters of names are omitted.
std::string shown(const Cell& cell) {
  if (const auto* whole = std::get_if<int64_t>(&cell)) return grouped(*whole);
  if (const auto* number = std::get_if<double>(&cell)) return short_number(*number);
  if (const auto* text = std::get_if<std::string>(&cell)) {
    std::string out;
    for (const char c : *text) {
      if (static_cast<unsigned char>(c) >= ' ' && c != '\x7f') out += c;
    }
    return out;
  }
  return "-";
}

bool is_text(const Cell& cell) { return std::holds_alternative<std::string>(cell); }

constexpr size_t kRowsShown = 12;
constexpr size_t kTextWidthMost = 40;

std::string cut(const std::string& text) {
  return width_of(text) == text.size() && text.size() > kTextWidthMost
             ? fmt::format("{}...", text.substr(0, kTextWidthMost - 3))
             : text;
}

std::string in_paper(const std::string& paper) {
  return paper.empty() ? std::string() : fmt::format(" ({})", paper);
}

void append_table(std::string& out, const Table& table, const Labels& labels,
                  size_t terminal_width) {
  const size_t rows = std::min(table.rows.size(), kRowsShown);
  // The first line are the titles; numbers stand on the right.
  std::vector<std::vector<std::string>> lines(rows + 1);
  std::vector<base::ColumnRoom> rooms;
  for (size_t c = 0; c < table.columns.size(); ++c) {
    const Column& column = table.columns[c];
    lines[0].push_back(column.unit.empty() ? column.label
                                           : fmt::format("{} [{}]", column.label, column.unit));
    for (size_t r = 0; r < rows; ++r) lines[r + 1].push_back(cut(shown(table.rows[r][c])));
    size_t width = 0;
    for (const auto& line : lines) width = std::max(width, width_of(line[c]));
    rooms.push_back({.width = width, .gap = 1});
  }
  out += fmt::format("\n{}{}{}\n", table.title, in_paper(table.paper),
                     table.counts.empty() ? "" : ": " + table.counts);
  constexpr size_t kIndent = 2;
  const size_t room = terminal_width > kIndent ? terminal_width - kIndent : 0;
  bool is_first = true;
  for (const std::vector<size_t>& part : base::stacked_columns(rooms, room)) {
    if (!std::exchange(is_first, false)) out += '\n';
    for (size_t l = 0; l < lines.size(); ++l) {
      std::string line = " ";
      for (const size_t c : part) {
        const bool right = rows > 0 && !is_text(table.rows[l == 0 ? 0 : l - 1][c]);
        line += fmt::format(" {}", padded(lines[l][c], rooms[c].width, right));
      }
      while (line.ends_with(' ')) line.pop_back();
      out += fmt::format("{}\n", line);
    }
  }
  // The text of a what-if states its assumptions and the command that replays it.
  if (table.section == "what_if" && !table.text.empty()) out += fmt::format("  {}\n", table.text);
  if (table.rows.size() > rows) {
    out += fmt::format("  {}\n", labels.with("word.more_rows", table.rows.size() - rows));
  }
}

void append_scalars(std::string& out, const ReportData& report, const std::string& section,
                    const Labels& labels) {
  for (const Scalar& scalar : report.scalars) {
    if (scalar.section != section) continue;
    std::string value = shown(scalar.value);
    if (!scalar.unit.empty() && value != "-") value = fmt::format("{} {}", value, scalar.unit);
    out += fmt::format("  {} {}", padded(scalar.label, 52, false), value);
    if (!scalar.paper.empty()) {
      out += fmt::format("   ({})", labels.with("word.abci_paper", scalar.paper));
    }
    const auto& [used, of, note] = scalar.quality;
    if (used < of) out += fmt::format("   [{} / {}]", used, of);
    out += '\n';
  }
}

}  // namespace

std::string terminal_summary(const ReportData& report, const Labels& labels,
                             size_t terminal_width) {
  std::string out = fmt::format("{}\n", report.title);
  for (const Section& section : report.sections) {
    std::string part;
    append_scalars(part, report, section.key, labels);
    for (const Table& table : report.tables) {
      if (table.section == section.key && !table.detail)
        append_table(part, table, labels, terminal_width);
    }
    if (!part.empty()) out += fmt::format("\n== {} ==\n{}", section.title, part);
  }
  if (!report.absent.empty()) out += fmt::format("\n== {} ==\n", labels("word.not_told"));
  for (const Absent& absent : report.absent) {
    out += fmt::format("  {}{}: {}\n", absent.title, in_paper(absent.paper), absent.reason);
  }
  return out;
}

}  // namespace goban::site::analysis
