// One line of a metrics page: Prometheus' text format and OpenMetrics.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "site/series/input/adapter.hpp"

namespace goban::site::series {

struct ExpositionLine {
  std::string name;
  Labels labels;
  double value = 0;
  std::optional<int64_t> time_ms;
};

/// Parses `name{label="value",...} value [timestamp] [# exemplar]`; none if it has another form.
/// The name may also be inside the braces: `{__name__="name"}` (promtool tsdb dump), `{"name"}`
/// (UTF-8). Timestamps below 1e11 are seconds (OpenMetrics), others milliseconds (Prometheus).
[[nodiscard]] std::optional<ExpositionLine> parse_exposition_line(std::string_view line);

/// True for a line without a sample: blank, or a comment (HELP, TYPE, EOF).
[[nodiscard]] bool is_comment(std::string_view line);

/// Appends `"text"` with \\, \" and \n escaped.
void append_label_value(std::string& out, std::string_view text);

}  // namespace goban::site::series
