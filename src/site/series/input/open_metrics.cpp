#include "site/series/input/open_metrics.hpp"

#include "base/line_reader.hpp"
#include "site/series/input/exposition.hpp"
#include "site/series/input/side_facts.hpp"

namespace goban::site::series {
namespace {

constexpr std::string_view kNoMetric = "not a line of metrics";

/// Iterates over the lines of metrics that have an adapter.
class Pass {
 public:
  Pass(const std::string& file, const AdapterTable& adapters, std::optional<int64_t> time_ms,
       Intake& intake, bool counting)
      : file_(file), adapters_(adapters), time_ms_(time_ms), intake_(intake), counting_(counting) {}

  uint64_t lines = 0;
  uint64_t no_metric = 0;

  /// visit(adapter, line, device) -> Status.
  template <typename Visit>
  base::Status run(base::ByteSource& source, const Visit& visit) {
    base::LineReader reader(source, [&] {
      if (counting_ && intake_.on_progress) {
        intake_.on_progress(source.consumed_bytes(), source.total_bytes());
      }
    });
    base::Line line;
    while (!intake_.stopped() && reader.next(line)) {
      if (const auto taken = take(line, visit); !taken) return taken;
    }
    return reader.status();
  }

 private:
  template <typename Visit>
  base::Status take(const base::Line& line, const Visit& visit) {
    if (is_comment(line.text)) return {};
    ++lines;
    if (counting_) ++intake_.counts.lines;
    auto parsed = line.too_long ? std::nullopt : parse_exposition_line(line.text);
    if (!parsed) {
      ++no_metric;
      return reject(line, kNoMetric);
    }
    const Adapter* adapter = adapters_.find(parsed->name);
    if (adapter == nullptr || !applies(*adapter, parsed->labels)) {
      if (counting_) ++intake_.counts.other_metrics;
      return {};
    }
    if (!parsed->time_ms) parsed->time_ms = time_ms_;
    if (!parsed->time_ms) return reject(line, "no timestamp");
    auto device = adapters_.device(*adapter, parsed->labels);
    if (!device) return reject(line, "no label names the node");
    return visit(*adapter, *parsed, *device);
  }
  base::Status reject(const base::Line& line, std::string_view reason) {
    if (counting_) intake_.reject({file_, line.number, reason, line.text});
    return {};
  }

  const std::string& file_;
  const AdapterTable& adapters_;
  std::optional<int64_t> time_ms_;
  Intake& intake_;
  bool counting_;
};

}  // namespace

base::Status read_open_metrics(const OpenBytes& open, const std::string& file,
                               const AdapterTable& adapters, std::optional<int64_t> time_ms,
                               Intake& intake) {
  SideFacts facts;
  const auto first = open();
  if (!first) return base::failure(first.error());
  Pass helpers(file, adapters, time_ms, intake, false);
  auto done = helpers.run(
      **first, [&](const Adapter& adapter, const ExpositionLine& line, const DeviceKey& device) {
        facts.add(adapter, device, *line.time_ms, line.value);
        return base::Status{};
      });
  if (!done) return done;
  facts.sort();
  if (helpers.lines > 0 && helpers.no_metric == helpers.lines) {
    return base::bad_data({file, 1, 0, {}}, "no line is a metric",
                          "the input must be OpenMetrics or Prometheus' text format");
  }
  const auto second = open();
  if (!second) return base::failure(second.error());
  Pass samples(file, adapters, time_ms, intake, true);
  return samples.run(
      **second,
      [&](const Adapter& adapter, const ExpositionLine& line, DeviceKey& device) -> base::Status {
        const auto metric = adapters.measured(adapter, line.labels);
        if (!metric) return {};
        facts.complete(device);
        Reading reading = reading_of(adapter, line.value);
        if (facts.stale(adapter, device.node, *line.time_ms)) reading = {State::Stale, 0};
        return intake.add(device, *metric, *line.time_ms, reading);
      });
}

}  // namespace goban::site::series
