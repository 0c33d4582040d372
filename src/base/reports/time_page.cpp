// The timeline of a run as a page.
#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <string_view>

#include "base/html_text.hpp"
#include "base/printable.hpp"
#include "base/reports/time_table.hpp"

namespace goban::base::reports {
namespace {

constexpr double kWidth = 960, kHeight = 200, kAxis = 24;

struct Colour {
  std::string_view part, colour;
};
/// Okabe and Ito's colours, which most colour-blind readers can distinguish.
constexpr std::array kColours = {
    Colour{"compute", "#0072b2"},
    Colour{"input", "#e69f00"},
    Colour{"exposed communication", "#d55e00"},
    Colour{"evaluation", "#009e73"},
    Colour{"checkpoint", "#cc79a7"},
    Colour{"idle", "#f0e442"},
    Colour{"other", "#999999"},
};

std::string_view colour_of(std::string_view part) {
  const auto found = std::ranges::find(kColours, part, &Colour::part);
  return found == kColours.end() ? kColours.back().colour : found->colour;
}

std::string shown(const std::string& text) { return html_escaped(printable(text)); }

std::string column(const TimeInterval& interval, double scale) {
  const double length_s = interval.end_s - interval.begin_s;
  if (length_s <= 0) return {};
  std::string out;
  auto parts = interval.parts;
  double known = 0;
  for (const auto& part : parts) known += part.second;
  if (known < length_s) parts.emplace_back("other", length_s - known);
  const double whole = std::max(known, length_s);
  // The order of the legend, from below.
  std::ranges::stable_sort(parts, {}, [](const auto& part) {
    return std::ranges::find(kColours, part.first, &Colour::part);
  });
  double y = kHeight;
  for (const auto& [name, seconds] : parts) {
    const double height = kHeight * seconds / whole;
    if (height <= 0) continue;
    y -= height;
    out += fmt::format(
        "<rect x=\"{:.2f}\" y=\"{:.2f}\" width=\"{:.2f}\" height=\"{:.2f}\" fill=\"{}\"><title>"
        "to step {}: {} {:.3g} s ({:.1f} %)</title></rect>\n",
        interval.begin_s * scale, y, length_s * scale, height, colour_of(name), interval.step,
        shown(name), seconds, 100 * seconds / whole);
  }
  return out;
}

}  // namespace

std::string to_html(const TimeTable& table, const std::string& title) {
  const double scale = kWidth / std::max(table.wall_s, 1e-9);
  std::string columns;
  auto intervals = table.intervals;
  join_neighbours(intervals);
  for (const TimeInterval& each : intervals) columns += column(each, scale);
  std::string legend;
  for (const Colour& each : kColours) {
    legend +=
        fmt::format("<span><i style=\"background:{}\"></i>{}</span>\n", each.colour, each.part);
  }
  constexpr int kTicks = 5;
  for (int i = 0; i <= kTicks; ++i) {
    const double x = kWidth * i / kTicks;
    columns += fmt::format("<text x=\"{:.0f}\" y=\"{:.0f}\" text-anchor=\"{}\">{:.3g} s</text>\n",
                           x, kHeight + kAxis - 8,
                           i == 0        ? "start"
                           : i == kTicks ? "end"
                                         : "middle",
                           table.wall_s * i / kTicks);
  }
  return fmt::format(
      "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>{0}</title>\n"
      "<style>body{{font:15px sans-serif;max-width:{1:.0f}px;margin:2em auto;padding:0 1em}}"
      "svg{{width:100%;font-size:12px}}i{{display:inline-block;width:1em;height:1em;"
      "margin:0 .4em -.1em 0}}span{{margin-right:1.2em}}pre{{overflow-x:auto}}"
      "@media(prefers-color-scheme:dark){{body{{background:#111;color:#eee}}svg{{fill:#eee}}}}"
      "</style></head>\n<body><main><h1>{0}</h1>\n<p>Each column is the time from one evaluation "
      "to the "
      "next, divided into its parts.{5}</p>\n<svg viewBox=\"0 0 {1:.0f} {2:.0f}\" role=\"img\" "
      "aria-label=\"Timeline of the "
      "run\">\n{3}</svg>\n<p>{4}</p>\n<pre tabindex=\"0\" role=\"region\" "
      "aria-label=\"Where the time went\">{6}</pre>\n</main></body></html>\n",
      shown(title), kWidth, kHeight + kAxis, columns, legend,
      table.intervals.empty()
          ? " This file has no intervals: the run was stopped before it finished a "
            "step, or its release wrote none."
          : "",
      html_escaped(to_text(table)));
}

}  // namespace goban::base::reports
