#include "site/records/record_csv.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <fmt/format.h>

#include "base/csv.hpp"
#include "base/number.hpp"
#include "site/records/formats/records_columns.hpp"

namespace goban::site::records {
namespace {

/// Appends fields, separated by commas.
class Row {
 public:
  explicit Row(std::string& out) : out_(out) {}

  void text(std::string_view value) {
    comma();
    if (value.find_first_of("\r\n") == value.npos) return base::append_csv_field(out_, value);
    std::string one_line(value);
    std::ranges::replace_if(one_line, [](char c) { return c == '\r' || c == '\n'; }, ' ');
    base::append_csv_field(out_, one_line);
  }
  /// Empty if `value` equals `unknown`.
  void whole(int64_t value, int64_t unknown) {
    comma();
    if (value != unknown) base::append_number(out_, value);
  }
  void time(TimeNs value, TimeNs unknown) {
    comma();
    if (value != unknown) base::append_seconds(out_, value);
  }
  void number(double value) {
    comma();
    if (value >= 0) base::append_number(out_, value);
  }

 private:
  void comma() {
    if (!first_) out_ += ',';
    first_ = false;
  }
  std::string& out_;
  bool first_ = true;
};

/// Removes the text up to a separator from the front and returns it.
std::string_view take_part(std::string_view& text, char separator) {
  const size_t at = std::min(text.find(separator), text.size());
  const std::string_view part = text.substr(0, at);
  text.remove_prefix(std::min(at + 1, text.size()));
  return part;
}

}  // namespace

std::string gpu_list_text(std::span<const HeldGpu> gpus) {
  std::string out;
  const auto name = [&out](std::string_view text) {
    for (const char c : text) out += c == '|' || c == ';' ? '_' : c;
    out += '|';
  };
  for (const HeldGpu& gpu : gpus) {
    if (!out.empty()) out += ';';
    name(gpu.node);
    name(gpu.gpu);
    if (gpu.util_pct >= 0) base::append_number(out, double{gpu.util_pct});
    out += '|';
    if (gpu.mem_used_bytes >= 0) base::append_number(out, gpu.mem_used_bytes);
    out += '|';
    if (gpu.mem_total_bytes >= 0) base::append_number(out, gpu.mem_total_bytes);
  }
  return out;
}

std::string software_text(std::span<const std::string_view> software) {
  std::string out;
  for (const std::string_view name : software) {
    if (!out.empty()) out += ';';
    for (const char c : name) out += c == ';' ? '_' : c;
  }
  return out;
}

bool parse_gpu_list(std::string_view text, std::vector<HeldGpu>& gpus) {
  constexpr double kUtilMax = 1e9;
  gpus.clear();
  while (!text.empty()) {
    std::string_view one = take_part(text, ';');
    HeldGpu gpu;
    gpu.node = take_part(one, '|');
    gpu.gpu = take_part(one, '|');
    const std::string_view util = take_part(one, '|');
    const std::string_view used = take_part(one, '|');
    const std::string_view total = take_part(one, '|');
    const auto util_pct = base::parse_double(util);
    const auto used_bytes = base::parse_int(used);
    const auto total_bytes = base::parse_int(total);
    if ((!util.empty() && (!util_pct || *util_pct < 0 || *util_pct > kUtilMax)) ||
        (!used.empty() && (!used_bytes || *used_bytes < 0)) ||
        (!total.empty() && (!total_bytes || *total_bytes < 0)) || !one.empty()) {
      return false;
    }
    gpu.util_pct = static_cast<float>(util_pct.value_or(-1));
    gpu.mem_used_bytes = used_bytes.value_or(-1);
    gpu.mem_total_bytes = total_bytes.value_or(-1);
    gpus.push_back(gpu);
  }
  return true;
}

void parse_software(std::string_view text, std::vector<std::string_view>& software) {
  software.clear();
  while (!text.empty()) software.push_back(take_part(text, ';'));
}

std::string records_csv_header() {
  std::string out;
  for (const std::string_view name : kRecordsColumns) {
    if (!out.empty()) out += ',';
    out += name;
  }
  return out + '\n';
}

void append_records_csv(std::string& out, const AccountingRecord& r) {
  Row row(out);
  row.text(r.id);
  row.whole(r.job_number, -1);
  row.whole(r.array_task, -1);
  row.whole(r.het_part, -1);
  row.whole(r.run, 0);
  row.whole(r.restarts, -1);
  for (const std::string_view name : {r.cluster, r.user, r.account, r.group, r.partition, r.qos,
                                      r.reservation, r.resource_type}) {
    row.text(name);
  }
  for (const TimeNs time_ns : {r.submit_ns, r.eligible_ns, r.start_ns, r.end_ns}) {
    row.time(time_ns, -1);
  }
  row.number(r.work_s);
  row.time(r.walltime_limit_ns, 0);
  row.text(r.state == RecordedState::Unknown ? std::string_view() : job_state_name(r.state));
  row.text(r.kind == JobKind::Unknown ? std::string_view() : job_kind_name(r.kind));
  row.whole(r.exit_code, -1);
  row.whole(r.signal, -1);
  row.whole(r.failed_code, -1);
  row.whole(r.num_gpus.value_or(-1), -1);
  row.whole(r.gpu_milli, 0);
  row.whole(r.gpu_share ? 1 : 0, 0);
  row.text(r.gpu_type);
  row.whole(r.instances, 0);
  row.whole(r.num_nodes, -1);
  row.whole(r.cpu_cores, 0);
  row.whole(r.mem_bytes, -1);
  row.whole(r.priority, 0);
  row.text(r.node_list);
  row.text(gpu_list_text(r.gpus));
  row.text(software_text(r.software));
  row.number(double{r.usage.gpu_util_pct_max});
  row.whole(r.usage.gpu_mem_bytes_max, -1);
  row.whole(r.usage.mem_bytes_max, -1);
  row.whole(r.usage.read_bytes, -1);
  row.whole(r.usage.write_bytes, -1);
  row.number(r.usage.cpu_s);
  row.number(r.usage.energy_j);
  row.whole(r.array_tasks, 0);
  row.text(r.model);
  row.text(r.job_name);
  row.text(r.command_line);
  out += '\n';
}

std::string SwfWriter::header(TimeNs unix_start_ns) {
  origin_ns_ = unix_start_ns;
  std::string start;
  base::append_seconds(start, unix_start_ns);
  return fmt::format(
      "; Version: 2.2\n; UnixStartTime: {}\n; TimeZoneString: UTC\n"
      "; Note: processors are cores, or GPUs where cores are not known\n"
      "; Note: field 19 = GPUs, field 20 = thousandths held of each if parts were asked for\n"
      "; GpuFields: 19 20\n",
      start);
}

bool SwfWriter::append(std::string& out, const AccountingRecord& r) {
  const bool has_span = r.start_ns >= 0 && r.end_ns >= 0;
  const double run_s = has_span ? base::to_seconds(r.end_ns - r.start_ns) : r.work_s;
  const int64_t procs = r.cpu_cores > 0 ? r.cpu_cores : r.num_gpus.value_or(0);
  if (run_s < 0 || procs <= 0) return false;
  const TimeNs submit_ns = r.submit_ns >= 0 ? r.submit_ns : r.start_ns;
  if (submit_ns < origin_ns_) return false;
  const auto number = [](base::NameTable& names, std::string_view name) {
    return name.empty() ? int64_t{-1} : static_cast<int64_t>(names.intern(name)) + 1;
  };
  const auto seconds = [](double value) {
    return value < 0 ? std::string("-1") : fmt::format("{}", std::round(value * 1000) / 1000);
  };
  const int status = r.state == RecordedState::Completed ? 1
                     : r.state == RecordedState::Cancelled || r.state == RecordedState::Preempted
                         ? 5
                     : has_ended(r.state) ? 0
                                          : -1;
  const double mem_kib =
      r.mem_bytes < 0 ? -1 : static_cast<double>(r.mem_bytes) / 1024 / static_cast<double>(procs);
  fmt::format_to(
      std::back_inserter(out), "{} {} {} {} {} {} {} {} {} {} {} {} {} -1 {} -1 -1 -1 {} {}\n",
      ++jobs_, seconds(base::to_seconds(submit_ns - origin_ns_)),
      r.start_ns < 0 ? "-1" : seconds(base::to_seconds(r.start_ns - submit_ns)), seconds(run_s),
      procs, r.usage.cpu_s < 0 ? "-1" : seconds(r.usage.cpu_s / static_cast<double>(procs)),
      r.usage.mem_bytes_max < 0 ? int64_t{-1} : r.usage.mem_bytes_max / 1024 / procs, procs,
      r.walltime_limit_ns <= 0 ? "-1" : seconds(base::to_seconds(r.walltime_limit_ns)),
      mem_kib < 0 ? int64_t{-1} : static_cast<int64_t>(mem_kib), status, number(users_, r.user),
      number(groups_, r.account), number(partitions_, r.partition), r.num_gpus.value_or(-1),
      r.gpu_milli == 0 ? int64_t{-1} : int64_t{r.gpu_milli});
  return true;
}

}  // namespace goban::site::records
