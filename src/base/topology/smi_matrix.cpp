#include "base/topology/smi_matrix.hpp"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <optional>
#include <vector>

#include "base/number.hpp"
#include "base/text.hpp"

namespace goban::base::topology {
namespace {

constexpr size_t kMostColumns = 1000;

/// Without the escape sequences that underline the heading.
std::string without_escapes(std::string_view text) {
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\x1b') {
      while (i < text.size() && text[i] != 'm') ++i;
    } else if (text[i] != '\r') {
      out += text[i];
    }
  }
  return out;
}

/// The cells of a line: separated by tabs, or by blanks where there are none.
std::vector<std::string> cells_of(std::string_view line) {
  std::vector<std::string> out;
  const bool tabs = line.find('\t') != std::string_view::npos;
  while (!line.empty() && out.size() < kMostColumns) {
    const size_t end = std::min(line.find(tabs ? '\t' : ' '), line.size());
    const std::string_view cell = trimmed(line.substr(0, end));
    line.remove_prefix(std::min(end + 1, line.size()));
    // An empty first cell stands above the names of the rows.
    if (!cell.empty() || (tabs && out.empty())) out.emplace_back(cell);
  }
  return out;
}

/// GPU0, NIC1, mlx5_2, ...
bool is_device(std::string_view cell) {
  constexpr std::array kKinds = {"GPU", "NIC", "mlx", "bnxt", "irdma", "rdmap", "efa", "hfi"};
  return !cell.empty() && cell.back() >= '0' && cell.back() <= '9' &&
         std::ranges::any_of(kKinds, [&](const char* kind) { return cell.starts_with(kind); });
}

std::optional<Path> path_of(std::string_view cell) {
  for (const Way way : {Way::Pix, Way::Pxb, Way::Phb, Way::Node, Way::Sys}) {
    if (cell == way_name(way)) return Path{way, 0};
  }
  if (cell == "X") return Path{Way::Self, 0};
  if (cell == "SOC") return Path{Way::Sys, 0};  // of old drivers
  if (!cell.starts_with("NV")) return std::nullopt;
  const auto links = parse_int(cell.substr(2));
  if (!links || *links < 1 || *links > 1000) return std::nullopt;
  return Path{Way::NvLink, static_cast<int>(*links)};
}

/// The devices of the heading; the columns after them are affinities.
std::vector<std::string> columns_of(std::vector<std::string> cells) {
  if (!cells.empty() && cells.front().empty()) cells.erase(cells.begin());
  size_t devices = 0;
  while (devices < cells.size() && is_device(cells[devices])) {
    ++devices;
  }
  cells.resize(devices);
  return cells;
}

}  // namespace

Result<SmiMatrix> parse_smi_matrix(std::string_view text, const std::string& file) {
  std::vector<std::string> columns;
  std::map<std::string, std::string> names;
  SmiMatrix read;
  const std::string plain = without_escapes(text);
  std::string_view rest = plain;
  const auto bad = [&](int line, std::string field, std::string why) {
    return bad_data({file, line, 0, std::move(field)}, std::move(why),
                    "save the output of nvidia-smi topo -m again");
  };
  int last_row = 0;
  for (int number = 1; !rest.empty(); ++number) {
    const size_t end = std::min(rest.find('\n'), rest.size());
    const std::string_view line = rest.substr(0, end);
    rest.remove_prefix(std::min(end + 1, rest.size()));
    const std::vector<std::string> cells = cells_of(line);
    if (columns.empty()) {
      columns = columns_of(cells);
      continue;
    }
    // "  NIC0: mlx5_0", below the matrix.
    const std::string_view entry = trimmed(line);
    const size_t colon = entry.find(": ");
    if (entry.starts_with("NIC") && colon != std::string_view::npos) {
      names[std::string(entry.substr(0, colon))] = trimmed(entry.substr(colon + 2));
      continue;
    }
    if (cells.empty() || !is_device(cells.front())) continue;
    last_row = number;
    if (std::ranges::find(columns, cells.front()) == columns.end()) {
      return bad(number, cells.front(), "is not in the heading");
    }
    if (cells.size() <= columns.size()) {
      return bad(number, {},
                 fmt::format("has {} columns instead of {}", cells.size() - 1, columns.size()));
    }
    for (size_t i = 0; i < columns.size(); ++i) {
      const auto path = path_of(cells[i + 1]);
      if (!path) {
        return bad(number, columns[i],
                   fmt::format("'{}' is not in the legend of nvidia-smi topo -m", cells[i + 1]));
      }
      if ((path->way == Way::Self) != (cells.front() == columns[i])) {
        return bad(number, columns[i], fmt::format("'{}' is at the wrong place", cells[i + 1]));
      }
      read[{cells.front(), columns[i]}] = *path;
    }
  }
  if (columns.empty() && !trimmed(plain).empty()) {
    return bad(1, {}, "has no heading with GPUs: it is not the table of nvidia-smi topo -m");
  }
  for (const std::string& each : columns) {
    if (!read.contains({each, each})) {
      return bad(last_row, {}, fmt::format("is the last row, but '{}' has none", each));
    }
  }
  SmiMatrix out;
  const auto named = [&](const std::string& name) {
    const auto found = names.find(name);
    return found == names.end() ? name : found->second;
  };
  for (const auto& [pair, path] : read) out[{named(pair.first), named(pair.second)}] = path;
  return out;
}

}  // namespace goban::base::topology
