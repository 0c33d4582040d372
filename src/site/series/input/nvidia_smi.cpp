#include "site/series/input/nvidia_smi.hpp"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <map>
#include <span>

#include "base/date_time.hpp"
#include "base/field_splitter.hpp"
#include "base/line_reader.hpp"
#include "base/number.hpp"
#include "base/text.hpp"
#include "base/time.hpp"

namespace goban::site::series {
namespace {

using enum Metric;

/// A column that is a metric.
struct Column {
  std::string_view name;
  Metric metric = GpuUtilization;
  Unit unit = Unit::Percent;  ///< default, if neither header nor value has one
};
constexpr std::array<Column, 9> kColumns{{
    {"utilization.gpu", GpuUtilization, Unit::Percent},
    {"utilization.memory", GpuMemoryUtilization, Unit::Percent},
    {"memory.used", GpuMemoryUsed, Unit::Mebibyte},
    {"power.draw", GpuPower, Unit::Watt},
    {"temperature.gpu", GpuTemperature, Unit::Celsius},
    {"clocks.current.sm", GpuSmClock, Unit::Megahertz},
    {"clocks.sm", GpuSmClock, Unit::Megahertz},
    {"clocks.current.memory", GpuMemoryClock, Unit::Megahertz},
    {"clocks.mem", GpuMemoryClock, Unit::Megahertz},
}};

/// Units in nvidia-smi's notation.
std::optional<Unit> parse_smi_unit(std::string_view text) {
  if (text == "%") return Unit::Percent;
  if (text == "MiB") return Unit::Mebibyte;
  if (text == "KiB") return Unit::Kibibyte;
  if (text == "W") return Unit::Watt;
  if (text == "mW") return Unit::Milliwatt;
  if (text == "MHz") return Unit::Megahertz;
  if (text == "C") return Unit::Celsius;
  return std::nullopt;
}

/// Splits "utilization.gpu [%]" into name and unit.
std::pair<std::string_view, std::string_view> split_title(std::string_view title) {
  title = base::trimmed(title);
  const size_t open = title.find('[');
  if (open == std::string_view::npos || !title.ends_with(']')) return {title, {}};
  return {base::trimmed(title.substr(0, open)), title.substr(open + 1, title.size() - open - 2)};
}

bool is_identity(std::string_view name) {
  return name == "timestamp" || name == "index" || name == "uuid" || name == "gpu_uuid" ||
         name == "pci.bus_id" || name == "hostname";
}

bool is_header(std::span<const std::string_view> fields) {
  // Rows start with a time, an index, "GPU-..." or a name: most are ruled out by this line.
  const std::string_view first = base::trimmed(fields.front());
  if (first.empty() || first.front() < 'a' || first.front() > 'z') return false;
  bool identity = false;
  for (const std::string_view field : fields) {
    const std::string_view name = split_title(field).first;
    if (std::ranges::find(kColumns, name, &Column::name) != kColumns.end()) return true;
    identity = identity || is_identity(name);
  }
  return identity && fields.size() > 1;
}

struct Measure {
  size_t column = 0;
  Metric metric = GpuUtilization;
  Unit unit = Unit::Percent;
};

/// Positions of the columns of the current header.
struct Layout {
  size_t width = 0;
  std::optional<size_t> timestamp{};
  std::optional<size_t> index{};
  std::optional<size_t> uuid{};
  std::optional<size_t> bus{};
  std::optional<size_t> host{};
  std::vector<Measure> measures{};
};

class Reader {
 public:
  Reader(const std::string& file, const NvidiaSmiOptions& options, Intake& intake)
      : file_(file), options_(options), intake_(intake) {}

  base::Status run(base::ByteSource& source) {
    if (!options_.columns.empty()) {
      (void)splitter_.split(options_.columns);
      if (const auto set = set_layout(splitter_.fields(), 0); !set) return set;
    }
    base::LineReader lines(source, [&] {
      if (intake_.on_progress) intake_.on_progress(source.consumed_bytes(), source.total_bytes());
    });
    base::Line line;
    while (!intake_.stopped() && lines.next(line)) {
      if (base::trimmed(line.text).empty()) continue;
      const auto taken = take(line);
      if (!taken) return taken;
    }
    if (!lines.status()) return lines.status();
    if (!layout_ && !intake_.stopped()) return no_header(1);
    return {};
  }

 private:
  [[nodiscard]] tl::unexpected<base::Error> no_header(int line) const {
    return base::bad_data({file_, line, 0, {}},
                          "no header of nvidia-smi --query-gpu=... --format=csv",
                          "for output made with noheader set the columns (--columns index,...)");
  }

  base::Status take(const base::Line& line) {
    if (line.too_long || !splitter_.split(line.text)) return reject(line, "not a valid CSV row");
    const auto fields = splitter_.fields();
    if (is_header(fields)) return set_layout(fields, line.number);
    if (!layout_) {
      // Output of scripts before the first header ("No devices were found") is not an error.
      constexpr int64_t kLinesBeforeHeaderMax = 20;
      if (line.number > kLinesBeforeHeaderMax) return no_header(static_cast<int>(line.number));
      return reject(line, "before the header");
    }
    ++intake_.counts.lines;
    if (fields.size() != layout_->width) {
      return reject(line, "the number of fields differs from the header");
    }
    return take_row(line, fields);
  }

  base::Status take_row(const base::Line& line, std::span<const std::string_view> fields) {
    const Layout& layout = *layout_;
    DeviceKey device;
    device.node =
        layout.host ? base::trimmed(fields[*layout.host]) : std::string_view(options_.node);
    if (device.node.empty() || device.node.front() == '[') device.node = options_.node;
    if (device.node.empty()) return reject(line, "no node");
    if (options_.short_node_names) {
      device.node.resize(std::min(device.node.find('.'), device.node.size()));
    }
    if (layout.index) device.device = base::trimmed(fields[*layout.index]);
    if (layout.uuid) device.uuid = base::trimmed(fields[*layout.uuid]);
    if (!layout.index && !layout.uuid && layout.bus)
      device.device = base::trimmed(fields[*layout.bus]);
    if (device.device.empty() && device.uuid.empty())
      return reject(line, "has no GPU index or UUID");
    if (device.device.starts_with('[') || device.uuid.starts_with('[')) {
      return reject(line, "has no GPU index or UUID");
    }
    std::optional<int64_t> time_ms = options_.time_ms;
    if (layout.timestamp) {
      const auto clock_ms = parse_nvidia_smi_time(base::trimmed(fields[*layout.timestamp]));
      if (!clock_ms) return reject(line, "timestamp is not YYYY/MM/DD HH:MM:SS.mmm");
      time_ms = moment(device, *clock_ms);
      if (!time_ms) return reject(line, "the time does not exist in the time zone");
    }
    for (const Measure& measure : layout.measures) {
      const auto reading =
          parse_nvidia_smi_cell(fields[measure.column], measure.metric, measure.unit);
      if (!reading) {
        intake_.reject({file_, line.number, "value is not a number with a known unit", line.text});
        continue;
      }
      const auto added = intake_.add(device, measure.metric, *time_ms, *reading);
      if (!added) return added;
    }
    return {};
  }

  /// Converts wall-clock time to UTC. When the clock is set back, an hour occurs twice: the first
  /// occurrence is assumed until the times of a GPU decrease.
  std::optional<int64_t> moment(const DeviceKey& device, int64_t clock_ms) {
    constexpr int64_t kSecond_ms = 1000;
    const int64_t millis = clock_ms % kSecond_ms;
    const auto moments = options_.zone.moments_of(clock_ms / kSecond_ms);
    if (moments.count == 0) return std::nullopt;
    const int64_t first_ms = moments.first_s * kSecond_ms + millis;
    if (options_.zone.is_utc()) return first_ms;
    int64_t& last_ms = last_ms_.try_emplace(device, INT64_MIN).first->second;
    const bool second = moments.count == 2 && first_ms <= last_ms;
    last_ms = second ? moments.second_s * kSecond_ms + millis : first_ms;
    return last_ms;
  }

  base::Status set_layout(std::span<const std::string_view> titles, int64_t line) {
    Layout layout;
    layout.width = titles.size();
    for (size_t i = 0; i < titles.size(); ++i) {
      const auto [name, unit_text] = split_title(titles[i]);
      if (name == "timestamp") layout.timestamp = i;
      if (name == "index") layout.index = i;
      if (name == "uuid" || name == "gpu_uuid") layout.uuid = i;
      if (name == "pci.bus_id") layout.bus = i;
      if (name == "hostname") layout.host = i;
      const auto known = std::ranges::find(kColumns, name, &Column::name);
      if (known == kColumns.end() || !wanted(known->metric)) continue;
      const auto unit = unit_text.empty() ? known->unit : parse_smi_unit(unit_text);
      if (!unit || !factor(*unit, info(known->metric).unit)) {
        return base::bad_data({file_, static_cast<int>(line), 0, std::string(name)},
                              fmt::format("'{}' is not a unit of this column", unit_text), "");
      }
      layout.measures.push_back({i, known->metric, *unit});
    }
    if (const auto checked = check(layout, static_cast<int>(line)); !checked) return checked;
    layout_ = std::move(layout);
    return {};
  }

  [[nodiscard]] bool wanted(Metric metric) const {
    return options_.metrics.empty() ||
           std::ranges::find(options_.metrics, metric) != options_.metrics.end();
  }

  [[nodiscard]] base::Status check(const Layout& layout, int line) const {
    const base::Place place{file_, line, 0, {}};
    if (layout.measures.empty()) {
      return base::bad_data(place, "no column is a requested metric",
                            "query utilization.gpu, memory.used, power.draw, temperature.gpu, ...");
    }
    if (!layout.index && !layout.uuid && !layout.bus) {
      return base::bad_data(place, "no column names the GPU", "query index or uuid");
    }
    if (!layout.host && options_.node.empty()) {
      return base::bad_data(place, "no column names the node",
                            "set the node with --node NAME or --node-from-file");
    }
    if (!layout.timestamp && !options_.time_ms) {
      return base::bad_data(place, "no column 'timestamp'",
                            "query timestamp, or set the time with --time");
    }
    return {};
  }

  base::Status reject(const base::Line& line, std::string_view reason) {
    intake_.reject({file_, line.number, reason, line.text});
    return {};
  }

  const std::string& file_;
  const NvidiaSmiOptions& options_;
  Intake& intake_;
  base::FieldSplitter splitter_;
  std::optional<Layout> layout_;
  std::map<DeviceKey, int64_t> last_ms_;
};

}  // namespace

bool is_nvidia_smi_header(std::string_view line) {
  base::FieldSplitter splitter;
  return splitter.split(line) && is_header(splitter.fields());
}

std::optional<Reading> parse_nvidia_smi_cell(std::string_view cell, Metric metric, Unit unit) {
  cell = base::trimmed(cell);
  if (cell == "[N/A]" || cell == "N/A" || cell == "[Not Supported]" || cell == "[Not Found]") {
    return Reading{State::NotAvailable, 0};
  }
  if (cell.size() >= 2 && cell.front() == '[' && cell.back() == ']') {
    return Reading{State::Missing, 0};
  }
  const size_t blank = cell.find(' ');
  if (blank != std::string_view::npos) {
    const auto own = parse_smi_unit(base::trimmed(cell.substr(blank)));
    if (!own) return std::nullopt;
    unit = *own;
  }
  const auto scale = factor(unit, info(metric).unit);
  const auto number = base::parse_double(cell.substr(0, blank));
  if (!number || !scale) return std::nullopt;
  return Reading{State::Value, *number * *scale};
}

std::optional<int64_t> parse_nvidia_smi_time(std::string_view text) {
  constexpr size_t kDateSize = 10;
  if (text.size() < kDateSize || text[4] != '/' || text[7] != '/') return std::nullopt;
  std::string iso(text);
  iso[4] = iso[7] = '-';
  const auto parsed = base::parse_date_time(iso);
  if (!parsed || parsed->has_zone) return std::nullopt;
  return parsed->unix_ns / base::kMillisecond;
}

base::Status read_nvidia_smi(base::ByteSource& source, const std::string& file,
                             const NvidiaSmiOptions& options, Intake& intake) {
  return Reader(file, options, intake).run(source);
}

}  // namespace goban::site::series
