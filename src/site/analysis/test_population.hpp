// For tests: a population from accounting text.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "base/check.hpp"
#include "site/analysis/analyse.hpp"
#include "site/records/test_reading.hpp"

namespace goban::site::analysis {

/// Fails if a statistic lacks the number of records behind it.
inline void check_quality(const ReportData& report) {
  for (const Scalar& scalar : report.scalars) {
    const bool known = !std::holds_alternative<std::monostate>(scalar.value);
    GOBAN_CHECK(!known || scalar.quality.of > 0, scalar.key);
  }
  for (const Table& table : report.tables) GOBAN_CHECK(table.quality.of > 0, table.id);
  for (const Figure& figure : report.figures) GOBAN_CHECK(figure.quality.of > 0, figure.id);
}

/// Records, and the population made from them with its rules applied.
struct TestPopulation {
  std::unique_ptr<records::ReadTable> read;
  Population population;
  Rules rules;

  [[nodiscard]] ReportData report(Language language = Language::English) const {
    ReportData report = analyse(population, rules, Labels(language));
    if (population.num_selected() > 0) check_quality(report);
    return report;
  }
};

inline TestPopulation population_of(std::string_view text, const Rules& rules = {},
                                    const core::model::Cluster* cluster = nullptr) {
  TestPopulation out;
  out.read = std::make_unique<records::ReadTable>(records::read_table(text));
  out.rules = rules;
  out.population = make_population(out.read->table, rules, cluster);
  extract(out.population, rules);
  return out;
}

inline const Table* find_table(const ReportData& report, std::string_view id) {
  for (const Table& table : report.tables) {
    if (table.id == id) return &table;
  }
  return nullptr;
}
inline const Figure* find_figure(const ReportData& report, std::string_view id) {
  for (const Figure& figure : report.figures) {
    if (figure.id == id) return &figure;
  }
  return nullptr;
}
inline const Absent* find_absent(const ReportData& report, std::string_view id) {
  for (const Absent& absent : report.absent) {
    if (absent.id == id) return &absent;
  }
  return nullptr;
}
inline Cell scalar_of(const ReportData& report, std::string_view key) {
  for (const Scalar& scalar : report.scalars) {
    if (scalar.key == key) return scalar.value;
  }
  return std::string("no such scalar");
}
/// A cell as a number; NaN if it is not one.
inline double number_of(const Cell& cell) {
  if (const auto* whole = std::get_if<int64_t>(&cell)) return static_cast<double>(*whole);
  const auto* number = std::get_if<double>(&cell);
  return number != nullptr ? *number : __builtin_nan("");
}
inline std::string text_of(const Cell& cell) {
  const auto* text = std::get_if<std::string>(&cell);
  return text != nullptr ? *text : std::string();
}
/// The first row whose first cell is `name`.
inline const std::vector<Cell>* row_named(const Table& table, std::string_view name) {
  for (const auto& row : table.rows) {
    if (text_of(row[0]) == name) return &row;
  }
  return nullptr;
}

}  // namespace goban::site::analysis
