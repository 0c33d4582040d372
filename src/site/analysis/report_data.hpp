// The result of an analysis: tables, figures and scalars in the order of a report. Every statistic
// of this module produces these; they are the only input of the writers (JSON, CSV, terminal, web
// page).
//
// Keys are stable and independent of the language; labels are in the language of the report.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace goban::site::analysis {

/// Empty (unknown), an integer, a number, a text.
using Cell = std::variant<std::monostate, int64_t, double, std::string>;

/// The data behind a statistic.
struct Quality {
  int64_t used = 0;    ///< records with the required data
  int64_t of = 0;      ///< records considered; 0 = not applicable
  std::string note{};  ///< a sentence in the language of the report; may be empty
};

struct Column {
  std::string key{};  ///< such as `mean_h`; the column name in CSV files
  std::string label{};
  std::string unit{};  ///< `h`, `%`, `GPU h`; empty = none
};

struct Table {
  std::string id{};  ///< such as `table2_walltime`; the name of the CSV file
  std::string section{};
  std::string title{};
  std::string paper{};   ///< such as `Table 2`; empty = not in the paper
  std::string text{};    ///< an explanation of a sentence or two; may be empty
  std::string counts{};  ///< which jobs it counts: `counts jobs analysed`; empty = all, by rule
  std::vector<Column> columns{};
  std::vector<std::vector<Cell>> rows{};
  Quality quality{};
  bool detail = false;  ///< the data of the figure with the same id; omitted in summaries
};

enum class FigureKind : uint8_t {
  Bar,         ///< categories on x; the bars of the series are grouped
  StackedBar,  ///< categories on x; the bars of the series are stacked
  Line,        ///< points (x, y) connected by lines
  Step,        ///< points (x, y); y is constant until the next x: distributions
  Scatter,
  Box,      ///< one box per category
  Heatmap,  ///< categories on x, each series a row of cells
};
[[nodiscard]] std::string_view name(FigureKind kind);

struct Axis {
  std::string key{};
  std::string label{};
  std::string unit{};
  bool log = false;
};

/// A box of a box plot; whiskers are the extremes within 1.5 interquartile ranges.
struct Box {
  int64_t count = 0;
  double mean = 0;
  double low = 0;
  double q1 = 0;
  double median = 0;
  double q3 = 0;
  double high = 0;
  std::vector<double> outliers{};  ///< the farthest ones, at most kOutliersMost
  static constexpr size_t kOutliersMost = 200;
};

struct Series {
  std::string key{};
  std::string label{};
  std::vector<double> x{};  ///< Line, Step, Scatter
  std::vector<double> y{};  ///< by point or by category
  std::vector<Box> boxes{};
};

struct Figure {
  std::string id{};
  std::string section{};
  std::string title{};
  std::string paper{};
  std::string text{};
  FigureKind kind = FigureKind::Line;
  Axis x{};
  Axis y{};
  std::vector<std::string> categories{};
  std::vector<Series> series{};
  Quality quality{};
};

struct Scalar {
  std::string key{};
  std::string section{};
  std::string label{};
  Cell value{};
  std::string unit{};
  std::string paper{};  ///< the ABCI paper's value, such as `49.42 %`; empty = not in the paper
  std::string text{};   ///< a remark; may be empty
  Quality quality{};
};

/// A statistic that could not be computed, and why.
struct Absent {
  std::string id{};
  std::string section{};
  std::string title{};
  std::string paper{};
  std::string reason{};
};

struct Section {
  std::string key{};
  std::string title{};
};

struct Remark {
  bool warning = false;
  std::string text{};
};

/// What the report is about. Empty = unknown.
struct Head {
  std::string site{};
  std::string from{};  ///< first day, `2019-04-05`, in the zone
  std::string to{};    ///< last day
  std::string zone{};  ///< of days, hours and weekdays
  std::string date{};  ///< when the report was made
};

/// A complete report. Within a section: scalars, then tables and figures in the order given.
struct ReportData {
  std::string language = "en";
  std::string title{};
  Head head{};
  std::vector<Section> sections{};
  std::vector<Scalar> scalars{};
  std::vector<Table> tables{};
  std::vector<Figure> figures{};
  std::vector<Absent> absent{};
  std::vector<Remark> remarks{};
};

}  // namespace goban::site::analysis
