// For tests: records read from text.
#pragma once

#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "site/records/record_reader.hpp"
#include "site/records/record_table.hpp"

namespace goban::site::records {

/// Result of reading a text.
struct ReadTable {
  ReadSummary summary;
  RecordTable table;

  [[nodiscard]] const RecordRow& row(size_t index) const { return table.rows()[index]; }
  /// Ids in the order of the input.
  [[nodiscard]] std::vector<std::string> ids() const {
    std::vector<std::string> out;
    for (size_t i = 0; i < table.rows().size(); ++i) out.emplace_back(table.id(i));
    return out;
  }
  /// `line: reason` of the rejected records.
  [[nodiscard]] std::vector<std::string> reasons() const {
    std::vector<std::string> out;
    for (const Rejection& r : summary.first_rejections) {
      out.push_back(std::to_string(r.line) + ": " + r.reason);
    }
    return out;
  }
  [[nodiscard]] std::vector<std::string> node_names(size_t index) const {
    std::vector<std::string> names;
    for (const uint32_t node : table.nodes_of(row(index))) {
      names.emplace_back(table.node_names()[node]);
    }
    return names;
  }
};

/// Reads from memory in reads of `chunk` bytes; throws with the message of an error.
inline ReadTable read_table(std::string_view text, const ReadOptions& options = {},
                            size_t chunk = SIZE_MAX) {
  ReadTable out;
  base::MemorySource source(text, chunk);
  auto summary = read_records(source, "jobs", options, out.table);
  if (!summary) throw std::runtime_error(summary.error().text());
  out.summary = std::move(*summary);
  return out;
}

/// The same from a file.
inline ReadTable read_table_file(const std::string& path, const ReadOptions& options = {}) {
  ReadTable out;
  auto summary = read_records(path, options, out.table);
  if (!summary) throw std::runtime_error(summary.error().text());
  out.summary = std::move(*summary);
  return out;
}

/// The message of a reading error; empty if there is none.
inline std::string read_error(std::string_view text, const ReadOptions& options = {}) {
  try {
    (void)read_table(text, options);
    return {};
  } catch (const std::runtime_error& error) {
    return error.what();
  }
}

}  // namespace goban::site::records
