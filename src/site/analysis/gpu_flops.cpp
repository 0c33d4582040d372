// FLOPS of the allocated GPUs: peak, peak x utilisation, and achieved.
#include "site/analysis/gpu_values.hpp"
#include "site/analysis/statistics.hpp"

namespace goban::site::analysis {
namespace {

constexpr std::string_view kGpuFlopsSection = "gpu_use";
constexpr double kPercent = 100;

/// Peak of a job's GPUs in TFLOPS; 0 = unknown.
double peak_of(const Context& context, const Job& job) {
  std::string_view model =
      context.population.table->gpu_types()[context.population.row(job).gpu_type];
  if (model.empty()) model = context.rules.gpu_model;
  for (const PeakRule& peak : context.rules.peaks) {
    if (!model.empty() && matches(peak.model, model)) return peak.tflops;
  }
  return 0;
}

/// Sums of TFLOPS x GPU-hours.
struct Work {
  double hours = 0, peak = 0;
  double busy_hours = 0, busy = 0;
  double tensor_hours = 0, achieved = 0, tensor_peak = 0;
  void add(const GpuValue& value, double h, double tflops) {
    hours += h;
    peak += h * tflops;
    if (value.mean_pct >= 0) {
      busy_hours += h;
      busy += h * tflops * value.mean_pct / kPercent;
    }
    if (value.tensor_pct >= 0) {
      tensor_hours += h;
      tensor_peak += h * tflops;
      achieved += h * tflops * value.tensor_pct / kPercent;
    }
  }
};

Cell mean_of(double sum, double hours) { return hours > 0 ? Cell(sum / hours) : Cell(); }

}  // namespace

void add_gpu_flops(const Context& context) {
  if (context.use == nullptr) {
    add_absent(context, "gpu_flops", kGpuFlopsSection, {}, "reason.needs_series");
    return;
  }
  const Population& population = context.population;
  const JobClasses classes(population.site);
  std::vector<Work> works(classes.all().size());
  Work all;
  Quality quality;
  for (size_t i = 0; i < population.jobs.size(); ++i) {
    const Job& job = population.jobs[i];
    if (!job.selected) continue;
    const auto values = context.use->of(i);
    quality.of += static_cast<int64_t>(values.size());
    const double tflops = values.empty() ? 0 : peak_of(context, job);
    if (tflops <= 0) continue;
    quality.used += static_cast<int64_t>(values.size());
    for (const GpuValue& value : values) {
      const double hours = job.gpu_part * job.run_h();
      works[classes.of(job)].add(value, hours, tflops);
      all.add(value, hours, tflops);
    }
  }
  if (all.hours <= 0) {
    add_absent(context, "gpu_flops", kGpuFlopsSection, {}, "reason.no_gpu_models");
    return;
  }
  Table table = make_table(context, "gpu_flops", kGpuFlopsSection);
  table.columns = columns(context, {"kind"});
  table.columns.push_back(column(context, "gpu_hours", "GPU h"));
  for (const std::string_view key : {"peak_flops", "busy_flops", "achieved_flops"}) {
    table.columns.push_back(column(context, key, "TFLOPS"));
  }
  table.columns.push_back(column(context, "achieved_of_peak", "%"));
  const auto add_row = [&table](const std::string& name, const Work& work) {
    table.rows.push_back(
        {name, work.hours, mean_of(work.peak, work.hours), mean_of(work.busy, work.busy_hours),
         mean_of(work.achieved, work.tensor_hours), percent(work.achieved, work.tensor_peak)});
  };
  for (size_t i = 0; i < works.size(); ++i) {
    if (works[i].hours > 0) add_row(classes.all()[i].name(), works[i]);
  }
  add_row(context.labels("word.all"), all);
  table.quality = quality;
  context.report.tables.push_back(std::move(table));
}

}  // namespace goban::site::analysis
