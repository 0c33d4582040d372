#include "site/series/input/philly_util.hpp"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <optional>
#include <utility>

#include "base/date_time.hpp"
#include "base/field_splitter.hpp"
#include "base/line_reader.hpp"
#include "base/number.hpp"
#include "base/units.hpp"

namespace goban::site::series {
namespace {

constexpr std::string_view kHeader = "time,machineId,gpu0_util";
constexpr size_t kFirstGpu = 2;

/// `2017-10-03 00:08:00 PDT` in milliseconds since 1970.
std::optional<int64_t> time_of(std::string_view text) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 4> kZones = {
      {{" PDT", "-07:00"}, {" PST", "-08:00"}, {" UTC", "Z"}, {" GMT", "Z"}}};
  for (const auto& [name, offset] : kZones) {
    if (!text.ends_with(name)) continue;
    std::string zoned(text.substr(0, text.size() - name.size()));
    zoned += offset;
    const auto parsed = base::parse_date_time(zoned);
    if (!parsed) return std::nullopt;
    return parsed->unix_ns / (base::kSecond / 1000);
  }
  return std::nullopt;
}

class Reader {
 public:
  Reader(const std::string& file, Intake& intake) : file_(file), intake_(intake) {}

  base::Status run(base::ByteSource& source) {
    base::LineReader lines(source, [&] {
      if (intake_.on_progress) intake_.on_progress(source.consumed_bytes(), source.total_bytes());
    });
    base::Line line;
    bool header = false;
    while (!intake_.stopped() && lines.next(line)) {
      if (line.text.empty()) continue;
      if (!header) {
        header = is_philly_util_header(line.text);
        if (!header) {
          return base::bad_data({file_, static_cast<int>(line.number), 0, {}},
                                "no header of Philly's cluster_gpu_util",
                                "the first line must be time,machineId,gpu0_util,gpu1_util,...");
        }
        continue;
      }
      if (const auto taken = take(line); !taken) return taken;
    }
    return lines.status();
  }

 private:
  base::Status take(const base::Line& line) {
    ++intake_.counts.lines;
    if (line.too_long || !splitter_.split(line.text)) return reject(line, "not a valid CSV row");
    const auto fields = splitter_.fields();
    if (fields.size() <= kFirstGpu) return reject(line, "no GPU");
    const auto time_ms = time_of(fields[0]);
    if (!time_ms) return reject(line, "time is not YYYY-MM-DD HH:MM:SS with PDT, PST or UTC");
    DeviceKey device;
    device.node = fields[1];
    if (device.node.empty()) return reject(line, "no machine");
    for (size_t i = kFirstGpu; i < fields.size(); ++i) {
      if (fields[i].empty() && i + 1 == fields.size()) break;
      const auto reading = reading_of(fields[i]);
      if (!reading) {
        intake_.reject({file_, line.number, "a value is not a number from 0 to 100", line.text});
        continue;
      }
      device.device = fmt::format("{}", i - kFirstGpu);
      const auto added = intake_.add(device, Metric::GpuUtilization, *time_ms, *reading);
      if (!added) return added;
    }
    return {};
  }

  static std::optional<Reading> reading_of(std::string_view cell) {
    if (cell == "NA") return Reading{State::Missing, 0};
    const auto number = base::parse_double(cell);
    if (!number || !(*number >= 0 && *number <= base::kPercentMax)) return std::nullopt;
    return Reading{State::Value, *number};
  }

  base::Status reject(const base::Line& line, std::string_view reason) {
    intake_.reject({file_, line.number, reason, line.text});
    return {};
  }

  const std::string& file_;
  Intake& intake_;
  base::FieldSplitter splitter_;
};

}  // namespace

bool is_philly_util_header(std::string_view line) { return line.starts_with(kHeader); }

base::Status read_philly_util(base::ByteSource& source, const std::string& file,
                              const std::vector<Metric>& metrics, Intake& intake) {
  if (!metrics.empty() && !std::ranges::count(metrics, Metric::GpuUtilization)) {
    return base::bad_data({file, 0, 0, {}}, "the file has no requested metric",
                          "Philly's file contains gpu_utilization only");
  }
  return Reader(file, intake).run(source);
}

}  // namespace goban::site::series
