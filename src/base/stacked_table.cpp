#include "base/stacked_table.hpp"

#include <algorithm>

#include "base/check.hpp"

namespace goban::base {

size_t characters_of(std::string_view text) {
  return static_cast<size_t>(std::ranges::count_if(
      text, [](char c) { return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U; }));
}

std::vector<std::vector<size_t>> stacked_columns(std::span<const ColumnRoom> columns,
                                                 size_t width) {
  std::vector<std::vector<size_t>> tables;
  size_t used = 0;
  for (size_t i = 0; i < columns.size(); ++i) {
    const size_t room = columns[i].width + (i == 0 ? 0 : columns[i].gap);
    const bool is_alone = !tables.empty() && tables.back().size() < 2;
    if (tables.empty()) {
      tables.push_back({0});
      used = room;
    } else if (width == 0 || is_alone || used + room <= width) {
      tables.back().push_back(i);
      used += room;
    } else {
      tables.push_back({0, i});
      used = columns.front().width + room;
    }
  }
  return tables;
}

void StackedTable::add(std::vector<std::string> cells) {
  GOBAN_CHECK(cells.size() == columns_.size());
  rows_.push_back(std::move(cells));
}

std::string StackedTable::text(size_t width) const {
  std::vector<ColumnRoom> rooms;
  for (size_t i = 0; i < columns_.size(); ++i) {
    const Column& column = columns_[i];
    size_t widest = std::max(column.width_min, characters_of(column.title));
    for (const auto& row : rows_) widest = std::max(widest, characters_of(row[i]));
    rooms.push_back({.width = widest, .gap = column.gap});
  }
  std::string out;
  const auto add_line = [&](const std::vector<size_t>& table, const auto& cell) {
    std::string line;
    for (const size_t i : table) {
      const std::string& text = cell(i);
      const std::string room(rooms[i].width - characters_of(text), ' ');
      if (i > 0) line.append(rooms[i].gap, ' ');
      line += columns_[i].right ? room + text : text + room;
    }
    line.erase(line.find_last_not_of(' ') + 1);
    out += line + '\n';
  };
  for (const std::vector<size_t>& table : stacked_columns(rooms, width)) {
    if (!out.empty()) out += '\n';
    add_line(table, [&](size_t i) -> const std::string& { return columns_[i].title; });
    for (const auto& row : rows_) {
      add_line(table, [&](size_t i) -> const std::string& { return row[i]; });
    }
  }
  return out;
}

}  // namespace goban::base
