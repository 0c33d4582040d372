#include "cli/jobs/efficiency.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/counted.hpp"
#include "base/time.hpp"
#include "cli/jobs/live_client.hpp"
#include "cli/jobs/queue_table.hpp"
#include "cli/shell/text_table.hpp"

namespace goban::cli {

using nlohmann::json;

namespace {

/// Below these a use is marked: as seff and reportseff do for their users.
constexpr double kLow_pct = 25;

double share_pct(double used, double held) {
  return used >= 0 && held > 0 ? 100 * used / held : -1;
}

std::string percent_cell(double value) { return value >= 0 ? fmt::format("{:.0f} %", value) : "-"; }

std::string cores_cell(const JobUse& use) {
  if (use.cores_used < 0) return "-";
  if (use.cores_held <= 0) return fmt::format("{:.1f}", use.cores_used);
  return fmt::format("{:.1f} of {:.0f}", use.cores_used, use.cores_held);
}

std::string memory_cell(const JobUse& use) {
  if (use.mem_used_bytes < 0) return "-";
  if (use.mem_held_bytes <= 0) return size_text(use.mem_used_bytes);
  return fmt::format("{} of {}", size_text(use.mem_used_bytes), size_text(use.mem_held_bytes));
}

/// A mean with weights; negative without any.
class Mean {
 public:
  void add(double value, double weight) {
    if (value < 0 || weight <= 0) return;
    sum_ += value * weight;
    weight_ += weight;
  }
  [[nodiscard]] double value() const { return weight_ > 0 ? sum_ / weight_ : -1; }

 private:
  double sum_ = 0;
  double weight_ = 0;
};

struct UseTotal {
  double gpu_hours = 0;
  Mean cpu_pct{};
  Mean mem_pct{};
  Mean gpu_pct{};
  double energy_j = 0;
};

UseTotal total_of(const std::vector<JobUse>& jobs) {
  UseTotal out;
  for (const JobUse& use : jobs) {
    const double gpu_s = use.job.held_s * use.job.num_gpus;
    out.gpu_hours += gpu_s / base::kHour_s;
    out.cpu_pct.add(use.cpu_pct(), use.job.held_s * use.cores_held);
    out.mem_pct.add(use.mem_pct(), use.job.held_s);
    out.gpu_pct.add(use.gpu_util_pct, gpu_s);
    if (use.energy_j > 0) out.energy_j += use.energy_j;
  }
  return out;
}

void put_known(json& out, const char* name, double value) {
  if (value >= 0) out[name] = value;
}

Colour low(double value) { return value >= 0 && value < kLow_pct ? Colour::Bad : Colour::None; }

}  // namespace

double JobUse::cpu_pct() const { return share_pct(cores_used, cores_held); }
double JobUse::mem_pct() const { return share_pct(mem_used_bytes, mem_held_bytes); }

JobUse job_use(const json& details, double now_s) {
  JobUse out{.job = job_row(details)};
  out.job.held_s = out.job.ran_s(now_s);
  const json& spec = part_of(details, "spec");
  const json& usage = part_of(details, "usage");
  const double instances = number_of(spec, "instances", 1);
  if (const double cores = number_of(spec, "cores"); cores > 0) out.cores_held = cores * instances;
  if (const double bytes = number_of(spec, "mem_bytes"); bytes > 0) {
    out.mem_held_bytes = bytes * instances;
  }
  const double cpu_s = number_of(usage, "cpu_s", -1);
  if (cpu_s >= 0 && out.job.held_s > 0) out.cores_used = cpu_s / out.job.held_s;
  out.mem_used_bytes = number_of(usage, "mem_bytes_max", -1);
  if (out.job.num_gpus > 0) {
    out.gpu_util_pct = number_of(usage, "gpu_util_pct", -1);
    out.gpu_mem_bytes = number_of(usage, "gpu_mem_bytes_max", -1);
  }
  out.energy_j = number_of(usage, "energy_j", -1);
  return out;
}

std::string use_table(const std::vector<JobUse>& jobs, const TerminalStyle& style) {
  if (jobs.empty()) return "no finished jobs\n";
  TextTable table({{"JOB", true, 20},
                   {"NAME", false, 24},
                   {"USER", false, 16},
                   {"STATE", false, 16},
                   {"RAN", true, 16},
                   {"GPUS", true, 8},
                   {"GPU USE", true, 8},
                   {"GPU MEMORY", true, 12},
                   {"CPU USE", true, 8},
                   {"CORES", true, 16},
                   {"MEMORY", true, 24}});
  for (const JobUse& use : jobs) {
    table.add({use.job.id, use.job.name.empty() ? "-" : use.job.name, use.job.user,
               state_text(use.job), use.job.held_s > 0 ? clock_text(use.job.held_s) : "-",
               fmt::format("{}", use.job.num_gpus), percent_cell(use.gpu_util_pct),
               use.gpu_mem_bytes >= 0 ? size_text(use.gpu_mem_bytes) : "-",
               percent_cell(use.cpu_pct()), cores_cell(use), memory_cell(use)});
    table.paint(3, colour_of(use.job));
    table.paint(6, low(use.gpu_util_pct));
    table.paint(8, low(use.cpu_pct()));
  }
  const UseTotal total = total_of(jobs);
  return table.text(style) +
         fmt::format("{}, {:.1f} GPU-hours: GPU use {}, CPU use {}, memory {}\n",
                     base::counted(jobs.size(), "job"), total.gpu_hours,
                     percent_cell(total.gpu_pct.value()), percent_cell(total.cpu_pct.value()),
                     percent_cell(total.mem_pct.value()));
}

json use_json(const std::vector<JobUse>& jobs) {
  json list = json::array();
  for (const JobUse& use : jobs) {
    json each = {{"id", use.job.id},
                 {"name", use.job.name},
                 {"user", use.job.user},
                 {"state", state_text(use.job)},
                 {"num_gpus", use.job.num_gpus},
                 {"ran_s", use.job.held_s}};
    put_known(each, "gpu_util_pct", use.gpu_util_pct);
    put_known(each, "gpu_mem_bytes_max", use.gpu_mem_bytes);
    put_known(each, "cores", use.cores_held);
    put_known(each, "cores_used", use.cores_used);
    put_known(each, "cpu_pct", use.cpu_pct());
    put_known(each, "mem_bytes", use.mem_held_bytes);
    put_known(each, "mem_bytes_max", use.mem_used_bytes);
    put_known(each, "mem_pct", use.mem_pct());
    put_known(each, "energy_j", use.energy_j);
    list.push_back(std::move(each));
  }
  const UseTotal total = total_of(jobs);
  json sums = {{"jobs", jobs.size()}, {"gpu_hours", total.gpu_hours}};
  put_known(sums, "gpu_util_pct", total.gpu_pct.value());
  put_known(sums, "cpu_pct", total.cpu_pct.value());
  put_known(sums, "mem_pct", total.mem_pct.value());
  if (total.energy_j > 0) sums["energy_j"] = total.energy_j;
  return {{"jobs", std::move(list)}, {"total", std::move(sums)}};
}

}  // namespace goban::cli
