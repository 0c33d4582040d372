#include "train/trainer/line_chart.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <fmt/format.h>
#include <limits>

#include "base/html_text.hpp"

namespace goban::train::trainer {
namespace {

constexpr double kWidth = 620, kHeight = 360;
constexpr double kLeft = 58, kRight = 96, kTop = 34, kBottom = 46;

// From dark to bright (viridis): batch sizes are ordered, not categories.
constexpr std::array<const char*, 8> kColours = {"#440154", "#46327e", "#365c8d", "#277f8e",
                                                 "#1fa187", "#4ac16d", "#9fda3a", "#d8c812"};

struct Range {
  double low = std::numeric_limits<double>::max();
  double high = std::numeric_limits<double>::lowest();
  void cover(const std::vector<double>& values) {
    for (const double value : values) {
      low = std::min(low, value);
      high = std::max(high, value);
    }
  }
};

class Drawing {
 public:
  explicit Drawing(const LineChart& chart) : chart_(chart) {
    Range x, y;
    for (const Line& line : chart.lines) {
      x.cover(line.x);
      y.cover(line.y);
      y.cover(line.low);
      y.cover(line.high);
    }
    if (x.low > x.high) x = y = {0, 1};
    x_ticks_ = ticks(x.low, x.high, 8, chart.whole_x ? 1 : 0);
    y_ticks_ = ticks(y.low, y.high, 6);
    x_ = {std::min(x.low, x_ticks_.front()), std::max(x.high, x_ticks_.back())};
    y_ = {std::min(y.low, y_ticks_.front()), std::max(y.high, y_ticks_.back())};
  }

  std::string text() {
    out_ = fmt::format(
        "<svg viewBox=\"0 0 {} {}\" role=\"img\" aria-label=\"{}\"><title>{}</title>\n", kWidth,
        kHeight, base::html_escaped(chart_.title), base::html_escaped(chart_.title));
    out_ += fmt::format("<text class=\"t\" x=\"{}\" y=\"20\">{}</text>\n", kLeft,
                        base::html_escaped(chart_.title));
    axes();
    for (const Line& line : chart_.lines) band(line);
    for (const Line& line : chart_.lines) draw(line);
    legend();
    return out_ + "</svg>\n";
  }

 private:
  double px(double x) const {
    return kLeft + (x - x_.low) / (x_.high - x_.low) * (kWidth - kLeft - kRight);
  }
  double py(double y) const {
    return kHeight - kBottom - (y - y_.low) / (y_.high - y_.low) * (kHeight - kTop - kBottom);
  }
  const char* colour(const Line& line) const {
    const size_t last = kColours.size() - 1;
    return kColours[chart_.colours < 2 ? 0 : line.colour * last / (chart_.colours - 1)];
  }

  void axes() {
    for (const double y : y_ticks_) {
      out_ += fmt::format(
          "<path class=\"g\" d=\"M{} {:.1f}H{}\"/><text class=\"e\" x=\"{}\" "
          "y=\"{:.1f}\">{:g}</text>\n",
          kLeft, py(y), kWidth - kRight, kLeft - 6, py(y) + 4, y);
    }
    for (const double x : x_ticks_) {
      out_ += fmt::format(
          "<path class=\"g\" d=\"M{:.1f} {}V{}\"/><text class=\"m\" x=\"{:.1f}\" "
          "y=\"{}\">{:g}</text>\n",
          px(x), kHeight - kBottom, kHeight - kBottom + 4, px(x), kHeight - kBottom + 17, x);
    }
    out_ +=
        fmt::format("<text class=\"m\" x=\"{}\" y=\"{}\">{}</text>\n",
                    (kLeft + kWidth - kRight) / 2, kHeight - 8, base::html_escaped(chart_.x_label));
    out_ += fmt::format("<text class=\"m\" transform=\"translate(14 {}) rotate(-90)\">{}</text>\n",
                        (kTop + kHeight - kBottom) / 2, base::html_escaped(chart_.y_label));
  }

  void band(const Line& line) {
    if (line.low.size() != line.x.size() || line.x.size() < 2) return;
    std::string path;
    for (size_t i = 0; i < line.x.size(); ++i) {
      path += fmt::format("{}{:.1f} {:.1f}", i == 0 ? "M" : "L", px(line.x[i]), py(line.high[i]));
    }
    for (size_t i = line.x.size(); i-- > 0;) {
      path += fmt::format("L{:.1f} {:.1f}", px(line.x[i]), py(line.low[i]));
    }
    out_ += fmt::format("<path d=\"{}Z\" fill=\"{}\" opacity=\".12\"/>\n", path, colour(line));
  }

  void draw(const Line& line) {
    std::string path;
    for (size_t i = 0; i < line.x.size(); ++i) {
      path += fmt::format("{}{:.1f} {:.1f}", i == 0 ? "M" : "L", px(line.x[i]), py(line.y[i]));
    }
    out_ += fmt::format("<path d=\"{}\" fill=\"none\" stroke=\"{}\" stroke-width=\"1.8\"{}/>\n",
                        path, colour(line), line.dashed ? " stroke-dasharray=\"3 4\"" : "");
    if (line.dashed) return;
    for (size_t i = 0; i < line.x.size(); ++i) {
      out_ += fmt::format(
          "<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"3\" fill=\"{}\"><title>{}: {:g}, "
          "{:.4g}</title></circle>\n",
          px(line.x[i]), py(line.y[i]), colour(line), base::html_escaped(line.name), line.x[i],
          line.y[i]);
    }
  }

  void legend() {
    double y = kTop + 8;
    for (const Line& line : chart_.lines) {
      if (line.name.empty()) continue;
      const double x = kWidth - kRight + 12;
      out_ += fmt::format(
          "<path d=\"M{} {}h16\" stroke=\"{}\" stroke-width=\"2.5\"{}/><text "
          "x=\"{}\" y=\"{}\">{}</text>\n",
          x, y, colour(line), line.dashed ? " stroke-dasharray=\"3 4\"" : "", x + 22, y + 4,
          base::html_escaped(line.name));
      y += 17;
    }
  }

  const LineChart& chart_;
  Range x_, y_;
  std::vector<double> x_ticks_, y_ticks_;
  std::string out_;
};

}  // namespace

std::string svg(const LineChart& chart) { return Drawing(chart).text(); }

std::vector<double> ticks(double low, double high, int wanted, double least) {
  if (!(high > low)) {
    const double margin = low == 0 ? 1 : std::abs(low) * 0.1;
    low -= margin;
    high += margin;
  }
  constexpr double kBase = 10;
  const double rough = (high - low) / wanted;
  const double power = std::pow(kBase, std::floor(std::log10(rough)));
  const double lead = rough / power;
  const double step = std::max(least, power * (lead <= 1   ? 1
                                               : lead <= 2 ? 2
                                               : lead <= 5 ? 5
                                                           : kBase));
  std::vector<double> out;
  const double first = std::floor(low / step), last = std::ceil(high / step);
  for (double i = first; i <= last + 0.5; ++i) out.push_back(i * step);
  return out;
}

}  // namespace goban::train::trainer
