// A report as text: JSON for programs and the web page, CSV by table, lines for a terminal.
#pragma once

#include <string>

#include "site/analysis/labels.hpp"
#include "site/analysis/report_data.hpp"

namespace goban::site::analysis {

/// `report.json`; its fields are those of report_data.hpp (docs/analyze.md). Equal reports give
/// equal bytes. Bytes that are not UTF-8 become U+FFFD.
[[nodiscard]] std::string report_json(const ReportData& report);

/// A table as CSV (RFC 4180), the columns' keys as header; empty fields where nothing is known.
[[nodiscard]] std::string table_csv(const Table& table);
/// The numbers of a figure: series, x or category, y; a box a line for box plots.
[[nodiscard]] std::string figure_csv(const Figure& figure);
/// `key,value,unit,paper,used,of` of all scalars.
[[nodiscard]] std::string scalars_csv(const ReportData& report);

/// A screen or two: scalars, the small tables, what could not be told and why.
[[nodiscard]] std::string terminal_summary(const ReportData& report, const Labels& labels);

}  // namespace goban::site::analysis
