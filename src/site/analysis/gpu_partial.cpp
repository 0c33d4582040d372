// Jobs that used only a part of their GPUs, and the probable cause: they needed the host memory of
// all their GPUs, their work was imbalanced, they did not address all GPUs, or the cause is
// unknown.
#include <algorithm>
#include <array>

#include "site/analysis/gpu_values.hpp"
#include "site/analysis/statistics.hpp"

namespace goban::site::analysis {
namespace {

constexpr std::string_view kGpuPartialSection = "gpu_use";
/// A CUDA context alone takes a few hundred MiB; computations take more.
constexpr float kTouchedGib = 0.5F;

enum class Cause : uint8_t {
  HostMemory,  ///< used more host memory than its used GPUs' share of its request
  Imbalance,   ///< unused GPUs had memory allocated, or a process
  Untouched,   ///< unused GPUs had neither
  Unknown,
};
constexpr std::array<std::string_view, 4> kCauses = {"host_memory", "imbalance", "untouched",
                                                     "unknown"};

Cause cause_of(const Context& context, size_t index) {
  const Population& population = context.population;
  const Job& job = population.jobs[index];
  const auto values = context.use->of(index);
  const int32_t used = context.use->used(index);
  const records::RecordRow& row = population.row(job);
  const int64_t peak = population.table->usage_of(row).mem_bytes_max;
  if (peak >= 0 && row.mem_bytes > 0) {
    const double share = static_cast<double>(used) / static_cast<double>(values.size());
    if (static_cast<double>(peak) > share * static_cast<double>(row.mem_bytes)) {
      return Cause::HostMemory;
    }
  }
  bool known = true;
  bool touched = false;
  for (const GpuValue& value : values) {
    if (value.activity == series::Activity::Busy) continue;
    known &= value.mem_gib >= 0 || value.processes >= 0;
    touched |= value.mem_gib >= kTouchedGib || value.processes > 0;
  }
  if (touched) return Cause::Imbalance;
  return known ? Cause::Untouched : Cause::Unknown;
}

}  // namespace

void add_gpu_partial(const Context& context) {
  if (context.use == nullptr) {
    add_absent(context, "partial_gpus", kGpuPartialSection, {}, "reason.needs_series");
    return;
  }
  struct Part {
    int64_t jobs = 0;
    double idle_hours = 0;
  };
  std::array<Part, kCauses.size()> parts;
  int64_t several = 0;
  double all_hours = 0;
  for (size_t i = 0; i < context.population.jobs.size(); ++i) {
    const Job& job = context.population.jobs[i];
    const auto values = context.use->of(i);
    if (!job.selected || values.size() < 2 || !context.use->all_known(i)) continue;
    ++several;
    const int32_t used = context.use->used(i);
    const auto held = static_cast<int32_t>(values.size());
    all_hours += held * job.gpu_part * job.run_h();
    if (used == 0 || used == held) continue;
    Part& part = parts[static_cast<size_t>(cause_of(context, i))];
    ++part.jobs;
    part.idle_hours += (held - used) * job.gpu_part * job.run_h();
  }
  if (several == 0) {
    add_absent(context, "partial_gpus", kGpuPartialSection, {}, "reason.no_such_jobs");
    return;
  }
  Table table = make_table(context, "partial_gpus", kGpuPartialSection);
  table.columns = columns(context, {"cause", "jobs"});
  table.columns.push_back(column(context, "share", "%"));
  table.columns.push_back(column(context, "idle_gpu_hours", "GPU h"));
  table.columns.push_back(column(context, "share_gpu_hours", "%"));
  for (size_t i = 0; i < parts.size(); ++i) {
    table.rows.push_back({context.labels(std::string("word.cause_").append(kCauses[i])),
                          parts[i].jobs,
                          percent(static_cast<double>(parts[i].jobs), static_cast<double>(several)),
                          parts[i].idle_hours, percent(parts[i].idle_hours, all_hours)});
  }
  table.quality = {several, context.population.num_selected(), {}};
  context.report.tables.push_back(std::move(table));
}

}  // namespace goban::site::analysis
