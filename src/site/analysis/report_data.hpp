// What an analysis comes to: tables, figures and single numbers in the order of a report. Every
// statistic of this room yields these, and every writer (JSON, CSV, terminal, web page) takes these
// and nothing else.
//
// Keys are stable and in no language; labels are for people, in the language of the report.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace goban::site::analysis {

/// Nothing (not known), a whole number, a number, a text.
using Cell = std::variant<std::monostate, int64_t, double, std::string>;

/// What numbers were made of.
struct Quality {
  int64_t used = 0;  ///< records with what the statistic needs
  int64_t of = 0;    ///< records it is about; 0 = says nothing
  std::string note;  ///< a sentence in the language of the report; may be empty
};

struct Column {
  std::string key;  ///< `mean_h`; the CSV's header
  std::string label;
  std::string unit;  ///< `h`, `%`, `GPU h`; empty = none
};

struct Table {
  std::string id;  ///< `table2_walltime`; the CSV's name
  std::string section;
  std::string title;
  std::string paper;  ///< `Table 2`; empty = beyond the paper
  std::string text;   ///< how to read it, a sentence or two; may be empty
  std::vector<Column> columns;
  std::vector<std::vector<Cell>> rows;
  Quality quality;
  bool detail = false;  ///< the numbers of the figure of the same id: summaries leave it out
};

enum class FigureKind : uint8_t {
  Bar,         ///< categories on x; each series is a bar beside the others
  StackedBar,  ///< likewise, on top of each other
  Line,        ///< points (x, y) joined
  Step,        ///< points (x, y), y holds until the next x: distributions
  Scatter,
  Box,      ///< a box for each category
  Heatmap,  ///< categories on x, each series a row of cells
};
[[nodiscard]] std::string_view name(FigureKind kind);

struct Axis {
  std::string key;
  std::string label;
  std::string unit;
  bool log = false;
};

/// A box of a box plot; whiskers are the extremes within 1.5 quartile distances.
struct Box {
  int64_t count = 0;
  double mean = 0;
  double low = 0;
  double q1 = 0;
  double median = 0;
  double q3 = 0;
  double high = 0;
  std::vector<double> outliers{};  ///< at most kOutliersMost, the farthest
  static constexpr size_t kOutliersMost = 200;
};

struct Series {
  std::string key;
  std::string label;
  std::vector<double> x{};  ///< Line, Step, Scatter
  std::vector<double> y{};  ///< by point or by category
  std::vector<Box> boxes{};
};

struct Figure {
  std::string id;
  std::string section;
  std::string title;
  std::string paper;
  std::string text;
  FigureKind kind = FigureKind::Line;
  Axis x;
  Axis y;
  std::vector<std::string> categories{};
  std::vector<Series> series{};
  Quality quality;
};

struct Scalar {
  std::string key;
  std::string section;
  std::string label;
  Cell value;
  std::string unit;
  std::string paper;  ///< the ABCI paper's value, `49.42 %`; empty = beyond it
  std::string text;   ///< a remark; may be empty
  Quality quality;
};

/// Something that could not be told, and why.
struct Absent {
  std::string id;
  std::string section;
  std::string title;
  std::string paper;
  std::string reason;
};

struct Section {
  std::string key;
  std::string title;
};

struct Remark {
  bool warning = false;
  std::string text;
};

/// A whole report. Within a section: scalars, then tables and figures in the order given.
struct ReportData {
  std::string language = "en";
  std::string title;
  std::vector<Section> sections;
  std::vector<Scalar> scalars;
  std::vector<Table> tables;
  std::vector<Figure> figures;
  std::vector<Absent> absent;
  std::vector<Remark> remarks;
};

}  // namespace goban::site::analysis
