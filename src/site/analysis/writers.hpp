// A report as text: JSON for programs and the web page, one CSV per table, a terminal summary.
#pragma once

#include <string>

#include "site/analysis/labels.hpp"
#include "site/analysis/report_data.hpp"

namespace goban::site::analysis {

/// `report.json`; its fields are those of report_data.hpp (docs/analyze.md). Equal reports give
/// equal bytes. Bytes that are not UTF-8 become U+FFFD.
[[nodiscard]] std::string report_json(const ReportData& report);

/// A table as CSV (RFC 4180) with the columns' keys as header; unknown values are empty fields.
[[nodiscard]] std::string table_csv(const Table& table);
/// The data of a figure: series, x or category, y; box plots have one line per box.
[[nodiscard]] std::string figure_csv(const Figure& figure);
/// `key,value,unit,paper,used,of` of all scalars.
[[nodiscard]] std::string scalars_csv(const ReportData& report);

/// A summary of a screen or two: scalars, the small tables, and what is absent and why. Tables
/// wider than the terminal (in characters; 0: no limit) are shown in parts.
[[nodiscard]] std::string terminal_summary(const ReportData& report, const Labels& labels,
                                           size_t terminal_width = 0);

}  // namespace goban::site::analysis
