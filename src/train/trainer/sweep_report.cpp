#include "train/trainer/sweep_report.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <string_view>

#include "base/html_text.hpp"
#include "base/number.hpp"
#include "train/trainer/line_chart.hpp"

namespace goban::train::trainer {
namespace {

constexpr const char* kStyle = R"(
:root{color-scheme:light dark;--ink:#1c1c1e;--soft:#6b6b70;--line:#d9d9de;--paper:#fff;--good:#14803c;--bad:#b03022}
@media(prefers-color-scheme:dark){:root{--ink:#ececf0;--soft:#a0a0a8;--line:#3c3c42;--paper:#18181b;--good:#5fd38a;--bad:#ff8a7a}}
body{font:15px/1.5 system-ui,sans-serif;color:var(--ink);background:var(--paper);max-width:1320px;
margin:2rem auto;padding:0 1rem}
h1{font-size:1.5rem;margin:0}h2{font-size:1.1rem;margin:2.2rem 0 .5rem}p,td{max-width:70em}
.f{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(430px,100%),1fr));gap:1rem}
svg{width:100%;height:auto;font:11px system-ui,sans-serif;fill:var(--ink)}svg .t{font-size:13px;
font-weight:600}svg .g{stroke:var(--line);fill:none}svg .e{text-anchor:end}svg .m{text-anchor:middle}
svg circle{opacity:.9}table{border-collapse:collapse;margin:.4rem 0}
td,th{text-align:left;padding:.25rem .8rem .25rem 0;border-bottom:1px solid var(--line);vertical-align:top}
th{color:var(--soft);font-weight:500}.holds{color:var(--good)}.fails{color:var(--bad)}.not{color:var(--soft)}
.w{overflow-x:auto}
pre{overflow:auto;border:1px solid var(--line);padding:.8rem;border-radius:6px;font-size:12.5px}
.s{color:var(--soft)}.n{text-align:right;font-variant-numeric:tabular-nums}
)";

/// A table that is wider than a phone is scrolled, by keyboard, too.
constexpr std::string_view kWide =
    "<div class=\"w\" tabindex=\"0\" role=\"group\" aria-label=\"Table\">";

using Rows = std::vector<std::vector<std::string>>;

std::string table(const std::vector<std::string>& head, const Rows& rows) {
  std::string out = std::string(kWide) + "<table><tr>";
  for (const std::string& cell : head) out += "<th>" + base::html_escaped(cell) + "</th>";
  out += "</tr>\n";
  for (const auto& row : rows) {
    out += "<tr>";
    for (const std::string& cell : row) out += "<td>" + base::html_escaped(cell) + "</td>";
    out += "</tr>\n";
  }
  return out + "</table></div>\n";
}

std::string selection_text(const Selection& s) {
  std::string out = fmt::format("hidden {}", s.hidden);
  if (!s.layout.empty()) out += fmt::format(", layout {}", s.layout);
  if (s.learning_rate != 0) out += fmt::format(", learning rate {}", s.learning_rate);
  return out;
}

/// Accuracy and loss of one selection, side by side.
std::string figures(const SweepReport& report, const Selection& selection, bool by_step) {
  const auto curves = curves_of(report.result->runs, selection);
  if (curves.empty()) return {};
  LineChart accuracy{"Test accuracy, " + selection_text(selection),
                     by_step ? "step" : "epoch",
                     "test accuracy",
                     {}};
  LineChart loss{
      "Loss, " + selection_text(selection), by_step ? "step" : "epoch", "mean cross-entropy", {}};
  accuracy.whole_x = loss.whole_x = true;
  const auto& batches = report.options->batch_sizes;
  accuracy.colours = loss.colours = batches.size();
  for (const auto& [batch, curve] : curves) {
    const int64_t size = batch;  // captured below
    const auto colour = static_cast<size_t>(
        std::count_if(batches.begin(), batches.end(), [&](int64_t each) { return each < size; }));
    const std::string name = fmt::format("batch {}", batch);
    const auto& x = by_step ? curve.step : curve.epoch;
    const bool spread = curve.seeds > 1;
    Line line{name, x, curve.accuracy, {}, {}, false, colour};
    if (spread) line.low = curve.accuracy_low, line.high = curve.accuracy_high;
    accuracy.lines.push_back(line);
    line.y = curve.loss;
    if (spread) line.low = curve.loss_low, line.high = curve.loss_high;
    loss.lines.push_back(line);
    loss.lines.push_back({"", x, curve.train_loss, {}, {}, true, colour});
  }
  return "<div class=\"f\">" + svg(accuracy) + svg(loss) + "</div>\n";
}

std::string claims_table(const std::vector<Claim>& claims) {
  std::string out = std::string(kWide) +
                    "<table><tr><th>no.</th><th>claim</th><th>holds if</th><th>measured</th>"
                    "<th>verdict</th></tr>\n";
  for (const Claim& each : claims) {
    const char* style = each.verdict == Verdict::Holds   ? "holds"
                        : each.verdict == Verdict::Fails ? "fails"
                                                         : "not";
    out += fmt::format(
        "<tr><td>{}</td><td>{}</td><td class=\"s\">{}</td><td>{}</td><td "
        "class=\"{}\">{}</td></tr>\n",
        each.id, base::html_escaped(each.text), base::html_escaped(each.rule),
        base::html_escaped(each.measured), style, verdict_name(each.verdict));
  }
  return out + "</table></div>\n";
}

/// The final values of every batch size under each control.
std::string last_table(const SweepReport& report) {
  Rows rows;
  const auto& batches = report.options->batch_sizes;
  const int64_t largest = *std::max_element(batches.begin(), batches.end());
  for (const Control control : {Control::Plain, Control::EqualSteps, Control::EqualSchedule}) {
    for (const Selection& selection : selections_of(report.result->runs, control)) {
      for (const auto& [batch, curve] : curves_of(report.result->runs, selection)) {
        const bool repeated = control != Control::Plain && batch == largest;
        if (!repeated)
          rows.push_back({control_name(control), selection_text(selection), std::to_string(batch),
                          std::to_string(curve.seeds), fmt::format("{:.0f}", curve.step.back()),
                          fmt::format("{:.4f} ({:.4f} to {:.4f})", curve.accuracy.back(),
                                      curve.accuracy_low.back(), curve.accuracy_high.back()),
                          fmt::format("{:.4f} ({:.4f} to {:.4f})", curve.loss.back(),
                                      curve.loss_low.back(), curve.loss_high.back()),
                          fmt::format("{:.5f}", curve.train_loss.back())});
      }
    }
  }
  return table({"control", "model", "batch", "seeds", "steps", "test accuracy (seeds)",
                "test loss (seeds)", "training loss"},
               rows);
}

std::string layouts_section(const SweepReport& report) {
  Rows rows;
  for (const LayoutAgreement& each : layout_agreement(report.result->runs)) {
    rows.push_back({each.layout, std::to_string(each.compared), fmt::format("{:.2e}", each.worst)});
  }
  if (rows.empty()) return {};
  return "<h2>Losses under every layout</h2>\n<p>Maximum relative difference of the "
         "training loss of an epoch from that of the first layout, over equal runs. Sums are "
         "formed in a different order, so it grows slowly with the number of steps.</p>\n" +
         table({"layout", "runs compared", "maximum difference"}, rows);
}

std::string largest_section(const SweepReport& report) {
  if (report.result->largest.empty()) return {};
  Rows rows;
  for (const Largest& each : report.result->largest) {
    rows.push_back({std::to_string(each.ranks), each.layout, std::to_string(each.predicted),
                    std::to_string(each.found), std::to_string(each.measured_bytes)});
  }
  return fmt::format(
             "<h2>Largest batch by number of ranks</h2>\n<p>Within {} bytes per device, enforced "
             "by the allocator. Predicted from the plan alone; found by training steps.</p>\n",
             report.options->largest_limit_bytes) +
         table({"ranks", "layout", "predicted", "found", "maximum bytes"}, rows);
}

std::string refused_section(const SweepReport& report) {
  Rows rows;
  size_t incomplete = 0;
  for (const SweepRun& run : report.result->runs) {
    const SweepPoint& p = run.point;
    if (!run.refused.empty()) {
      rows.push_back({control_name(p.control), std::to_string(p.batch), p.layout, run.refused});
    } else if (!run.complete) {
      ++incomplete;
    }
  }
  std::string out;
  if (report.result->stopped || incomplete > 0) {
    out += "<p><b>The sweep was stopped before its end; the same command resumes it.</b></p>\n";
  }
  if (rows.empty()) return out;
  return out + "<h2>Not completed</h2>\n" + table({"control", "batch", "layout", "reason"}, rows);
}

std::string setting_text(const SweepReport& report) {
  const TrainOptions& t = report.options->train;
  const auto part = [](int64_t limit, const char* what) {
    return limit == 0 ? fmt::format("all {} samples", what)
                      : fmt::format("{} {} samples", limit, what);
  };
  return fmt::format("{}, model {}, {} and {}, {} epochs, {} seeds{}", t.task, t.model,
                     part(t.train_limit, "training"), part(t.test_limit, "test"), t.epochs,
                     report.options->seeds, t.mesh.empty() ? "" : fmt::format(", mesh {}", t.mesh));
}

}  // namespace

std::string sweep_html(const SweepReport& report) {
  std::string body =
      fmt::format("<h1>Batch size: accuracy and loss against epoch</h1>\n<p class=\"s\">{}</p>\n",
                  base::html_escaped(setting_text(report)));
  body += refused_section(report);
  for (const Selection& each : selections_of(report.result->runs, Control::Plain)) {
    body += figures(report, each, false);
  }
  body +=
      "<p class=\"s\">Lines: means over seeds; bands: minimum to maximum; dashed: loss on the "
      "training set.</p>\n<h2>Claims</h2>\n" +
      claims_table(report.claims);
  body += "<h2>Final values</h2>\n" + last_table(report);
  const auto control = [&](Control which, const char* title, const char* text, bool by_step) {
    const auto selections = selections_of(report.result->runs, which);
    if (selections.empty()) return;
    body += fmt::format("<h2>{}</h2>\n<p>{}</p>\n", title, text);
    for (const Selection& each : selections) body += figures(report, each, by_step);
  };
  control(Control::EqualSteps, "Control: equal steps",
          "Every batch size takes as many steps as the largest one takes in all its epochs, so a "
          "small batch sees fewer samples.",
          true);
  control(
      Control::EqualSchedule, "Control: equal learning rates",
      "Adafactor's learning rate decreases with the number of steps, of which a small batch takes "
      "more. Here it follows the samples seen, as for the largest batch.",
      false);
  body += layouts_section(report) + largest_section(report);
  Rows environment;
  for (const auto& [name, value] : report.environment) environment.push_back({name, value});
  body += "<h2>Environment</h2>\n" + table({"what", "value"}, environment);
  body += "<h2>Script</h2>\n<pre tabindex=\"0\" role=\"region\" aria-label=\"Script\">" +
          base::html_escaped(report.script) + "</pre>\n";
  return fmt::format(
      "<!doctype html>\n<html lang=\"en\"><meta charset=\"utf-8\"><meta name=\"viewport\" "
      "content=\"width=device-width\">\n<title>Batch-size "
      "sweep</title><style>{}</style>\n<main>{}</main></html>"
      "\n",
      kStyle, body);
}

}  // namespace goban::train::trainer
