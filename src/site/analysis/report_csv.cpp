#include "base/number.hpp"
#include "base/sheet_field.hpp"
#include "site/analysis/writers.hpp"

namespace goban::site::analysis {
namespace {

void append_cell(std::string& out, const Cell& cell) {
  if (const auto* whole = std::get_if<int64_t>(&cell)) base::append_number(out, *whole);
  if (const auto* number = std::get_if<double>(&cell)) base::append_number(out, *number);
  if (const auto* text = std::get_if<std::string>(&cell)) base::append_sheet_field(out, *text);
}

void append_box(std::string& out, const Series& series, const std::string& category,
                const Box& box) {
  base::append_sheet_field(out, series.key);
  out += ',';
  base::append_sheet_field(out, category);
  out += ',';
  base::append_number(out, box.count);
  for (const double value : {box.mean, box.low, box.q1, box.median, box.q3, box.high}) {
    out += ',';
    base::append_number(out, value);
  }
  out += '\n';
}

}  // namespace

std::string table_csv(const Table& table) {
  std::string out;
  for (const Column& column : table.columns) {
    if (&column != table.columns.data()) out += ',';
    base::append_sheet_field(out, column.key);
  }
  out += '\n';
  for (const auto& row : table.rows) {
    for (size_t i = 0; i < row.size(); ++i) {
      if (i > 0) out += ',';
      append_cell(out, row[i]);
    }
    out += '\n';
  }
  return out;
}

std::string figure_csv(const Figure& figure) {
  const auto category = [&figure](size_t i) {
    return i < figure.categories.size() ? figure.categories[i] : std::string();
  };
  if (figure.kind == FigureKind::Box) {
    std::string out = "series,category,count,mean,low,q1,median,q3,high\n";
    for (const Series& series : figure.series) {
      for (size_t i = 0; i < series.boxes.size(); ++i) {
        append_box(out, series, category(i), series.boxes[i]);
      }
    }
    return out;
  }
  std::string out = "series,x,y\n";
  for (const Series& series : figure.series) {
    for (size_t i = 0; i < series.y.size(); ++i) {
      base::append_sheet_field(out, series.key);
      out += ',';
      if (series.x.empty()) {
        base::append_sheet_field(out, category(i));
      } else {
        base::append_number(out, series.x[i]);
      }
      out += ',';
      base::append_number(out, series.y[i]);
      out += '\n';
    }
  }
  return out;
}

std::string scalars_csv(const ReportData& report) {
  std::string out = "key,value,unit,paper,used,of\n";
  for (const Scalar& scalar : report.scalars) {
    base::append_sheet_field(out, scalar.key);
    out += ',';
    append_cell(out, scalar.value);
    for (const std::string& text : {scalar.unit, scalar.paper}) {
      out += ',';
      base::append_sheet_field(out, text);
    }
    out += fmt::format(",{},{}\n", scalar.quality.used, scalar.quality.of);
  }
  return out;
}

}  // namespace goban::site::analysis
