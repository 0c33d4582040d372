// Line charts as SVG text, for reports that are one file.
#pragma once

#include <string>
#include <vector>

namespace goban::train::trainer {

struct Line {
  std::string name;
  std::vector<double> x, y;
  std::vector<double> low, high;  ///< a band around y; empty: none
  bool dashed = false;
  size_t colour = 0;  ///< lines of one number have one colour
};

struct LineChart {
  std::string title, x_label, y_label;
  std::vector<Line> lines;
  size_t colours = 1;    ///< how many numbers of colour there are
  bool whole_x = false;  ///< x is a count: no ticks between whole numbers
};

/// An `<svg>` element with axes, grid, legend, and the numbers of each point as tool tips.
[[nodiscard]] std::string svg(const LineChart& chart);

/// Text with &, <, > and " escaped.
[[nodiscard]] std::string html_escaped(const std::string& text);

/// At most about `wanted` round numbers that cover [low, high], not closer than `least`.
[[nodiscard]] std::vector<double> ticks(double low, double high, int wanted, double least = 0);

}  // namespace goban::train::trainer
