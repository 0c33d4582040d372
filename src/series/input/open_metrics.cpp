#include "series/input/open_metrics.hpp"

#include <fmt/format.h>

#include "series/input/exposition.hpp"

namespace goban::series {
namespace {

/// One pass over the lines. visit(adapter, line, device) -> Status.
class Pass {
 public:
  Pass(const std::string& file, const AdapterTable& adapters, const OpenMetricsOptions& options)
      : file_(file), adapters_(adapters), options_(options) {}

  InputCounts counts;

  template <typename Visit>
  base::Status run(LineSource& lines, const Visit& visit) {
    for (;;) {
      const auto line = lines.next();
      if (!line) return base::failure(line.error());
      if (!*line) return {};
      if (is_comment(**line)) continue;
      ++counts.lines;
      const std::string place = fmt::format("{}:{}", file_, lines.line());
      auto parsed = parse_exposition_line(**line);
      if (!parsed) {
        counts.reject("not a line of metrics", place);
        continue;
      }
      const Adapter* adapter = adapters_.find(parsed->name);
      if (adapter == nullptr) {
        ++counts.other_metrics;
        continue;
      }
      if (!parsed->time_ms) parsed->time_ms = options_.time_ms;
      if (!parsed->time_ms) {
        counts.reject("no timestamp", place);
        continue;
      }
      auto device = adapters_.device(*adapter, parsed->labels);
      if (!device && !options_.node.empty()) {
        parsed->labels.emplace_back(adapter->node_labels.front(), options_.node);
        device = adapters_.device(*adapter, parsed->labels);
      }
      if (!device) {
        counts.reject("no label names the node", place);
        continue;
      }
      if (const auto visited = visit(*adapter, *parsed, *device); !visited) return visited;
    }
  }

 private:
  const std::string& file_;
  const AdapterTable& adapters_;
  const OpenMetricsOptions& options_;
};

}  // namespace

base::Result<InputCounts> read_open_metrics(const OpenLines& open, const std::string& file,
                                            const AdapterTable& adapters,
                                            const OpenMetricsOptions& options, SampleSink& sink) {
  SideFacts facts;
  auto first = open();
  if (!first) return base::failure(first.error());
  Pass helpers(file, adapters, options);
  const auto helped = helpers.run(**first, [&](const Adapter& adapter, const ExpositionLine& line,
                                               const DeviceKey& device) -> base::Status {
    if (adapter.role == Role::Freshness) {
      facts.add_freshness(device.node, *line.time_ms, line.value);
    } else if (adapter.role == Role::Index) {
      facts.add_index(device.uuid, line.value);
    }
    return {};
  });
  if (!helped) return base::failure(helped.error());
  facts.sort();
  if (helpers.counts.lines > 0 &&
      helpers.counts.rejected["not a line of metrics"] == helpers.counts.lines) {
    return base::bad_data({file, 1, 0, {}}, "not one line is a metric",
                          "give OpenMetrics or Prometheus' text format");
  }

  auto second = open();
  if (!second) return base::failure(second.error());
  Pass samples(file, adapters, options);
  const auto done = samples.run(
      **second,
      [&](const Adapter& adapter, const ExpositionLine& line, DeviceKey& device) -> base::Status {
        if (adapter.role != Role::Sample) return {};
        facts.complete(device);
        Reading reading = reading_of(adapter, line.value);
        if (facts.stale(device.node, *line.time_ms)) reading = {State::Stale, 0};
        ++samples.counts.samples;
        samples.counts.not_available += reading.state == State::NotAvailable;
        samples.counts.stale += reading.state == State::Stale;
        return sink.add(device, adapter.metric, *line.time_ms, reading);
      });
  if (!done) return base::failure(done.error());
  return samples.counts;
}

base::Result<InputCounts> read_open_metrics_file(const std::string& path,
                                                 const AdapterTable& adapters,
                                                 const OpenMetricsOptions& options,
                                                 SampleSink& sink) {
  if (path == "-") {
    return base::usage_error("metrics are read twice, so standard input will not do",
                             "write them to a file first");
  }
  return read_open_metrics([&] { return open_lines(path); }, path, adapters, options, sink);
}

}  // namespace goban::series
