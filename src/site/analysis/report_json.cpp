#include <nlohmann/json.hpp>

#include "site/analysis/writers.hpp"

namespace goban::site::analysis {
namespace {

using Json = nlohmann::ordered_json;

Json json_of(const Cell& cell) {
  return std::visit(
      [](const auto& value) -> Json {
        if constexpr (std::is_same_v<std::decay_t<decltype(value)>, std::monostate>) {
          return nullptr;
        } else {
          return value;
        }
      },
      cell);
}

Json json_of(const Quality& quality) {
  return {{"used", quality.used}, {"of", quality.of}, {"note", quality.note}};
}

Json json_of(const Axis& axis) {
  return {{"key", axis.key},
          {"label", axis.label},
          {"unit", axis.unit},
          {"scale", axis.log ? "log" : "linear"}};
}

Json json_of(const Box& box) {
  return {{"count", box.count}, {"mean", box.mean},        {"low", box.low},
          {"q1", box.q1},       {"median", box.median},    {"q3", box.q3},
          {"high", box.high},   {"outliers", box.outliers}};
}

Json json_of(const Series& series) {
  Json out = {{"key", series.key}, {"label", series.label}};
  if (!series.x.empty()) out["x"] = series.x;
  if (!series.y.empty()) out["y"] = series.y;
  if (!series.boxes.empty()) {
    out["boxes"] = Json::array();
    for (const Box& box : series.boxes) out["boxes"].push_back(json_of(box));
  }
  return out;
}

Json json_of(const Table& table) {
  Json out = {
      {"id", table.id},           {"section", table.section}, {"title", table.title},
      {"paper", table.paper},     {"text", table.text},       {"detail", table.detail},
      {"columns", Json::array()}, {"rows", Json::array()},    {"quality", json_of(table.quality)}};
  for (const Column& column : table.columns) {
    out["columns"].push_back({{"key", column.key}, {"label", column.label}, {"unit", column.unit}});
  }
  out["counts"] = table.counts;
  for (const auto& row : table.rows) {
    Json cells = Json::array();
    for (const Cell& cell : row) cells.push_back(json_of(cell));
    out["rows"].push_back(std::move(cells));
  }
  return out;
}

Json json_of(const Figure& figure) {
  Json out = {{"id", figure.id},
              {"section", figure.section},
              {"title", figure.title},
              {"paper", figure.paper},
              {"text", figure.text},
              {"kind", name(figure.kind)},
              {"x", json_of(figure.x)},
              {"y", json_of(figure.y)},
              {"categories", figure.categories},
              {"series", Json::array()},
              {"quality", json_of(figure.quality)}};
  for (const Series& series : figure.series) out["series"].push_back(json_of(series));
  return out;
}

Json json_of(const Scalar& scalar) {
  return {{"key", scalar.key},     {"section", scalar.section},
          {"label", scalar.label}, {"value", json_of(scalar.value)},
          {"unit", scalar.unit},   {"paper", scalar.paper},
          {"text", scalar.text},   {"quality", json_of(scalar.quality)}};
}

Json json_of(const Absent& absent) {
  return {{"id", absent.id},
          {"section", absent.section},
          {"title", absent.title},
          {"paper", absent.paper},
          {"reason", absent.reason}};
}

Json json_of(const Section& section) { return {{"key", section.key}, {"title", section.title}}; }
Json json_of(const Remark& remark) {
  return {{"level", remark.warning ? "warning" : "note"}, {"text", remark.text}};
}

template <typename Items>
Json list_of(const Items& items) {
  Json out = Json::array();
  for (const auto& item : items) out.push_back(json_of(item));
  return out;
}

}  // namespace

std::string report_json(const ReportData& report) {
  Json out = {
      {"schema", "goban-analysis/1"}, {"language", report.language}, {"title", report.title}};
  const Head& head = report.head;
  out["head"] = {{"site", head.site},
                 {"from", head.from},
                 {"to", head.to},
                 {"zone", head.zone},
                 {"date", head.date}};
  out["sections"] = list_of(report.sections);
  out["scalars"] = list_of(report.scalars);
  out["tables"] = list_of(report.tables);
  out["figures"] = list_of(report.figures);
  out["absent"] = list_of(report.absent);
  out["remarks"] = list_of(report.remarks);
  return out.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace goban::site::analysis
