// Line charts as SVG text, for self-contained reports.
#pragma once

#include <string>
#include <vector>

namespace goban::train::trainer {

struct Line {
  std::string name;
  std::vector<double> x, y;
  std::vector<double> low, high;  ///< a band around y; empty: none
  bool dashed = false;
  size_t colour = 0;  ///< lines with the same number have the same colour
};

struct LineChart {
  std::string title, x_label, y_label;
  std::vector<Line> lines;
  size_t colours = 1;    ///< number of distinct colours
  bool whole_x = false;  ///< x is a count: ticks at integers only
};

/// An `<svg>` element with axes, grid, legend, and the values of each point as tooltips.
[[nodiscard]] std::string svg(const LineChart& chart);

/// At most about `wanted` round numbers that cover [low, high], at least `least` apart.
[[nodiscard]] std::vector<double> ticks(double low, double high, int wanted, double least = 0);

}  // namespace goban::train::trainer
