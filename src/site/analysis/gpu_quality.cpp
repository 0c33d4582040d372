// Quality of the GPU values, and the yield of the allocated GPU-hours: in use, busy, and active
// according to the counters of newer GPUs.
#include <algorithm>
#include <array>

#include "site/analysis/gpu_values.hpp"
#include "site/analysis/statistics.hpp"

namespace goban::site::analysis {
namespace {

constexpr std::string_view kGpuQualitySection = "gpu_use";

void add_findings(const Context& context) {
  const GpuUse& use = *context.use;
  std::array<int64_t, 5> findings{};
  std::array<int64_t, 3> activities{};
  for (const GpuValue& value : use.values) {
    ++findings[static_cast<size_t>(value.finding)];
    ++activities[static_cast<size_t>(value.activity)];
  }
  const auto gpus = static_cast<double>(use.values.size());
  Table table = make_table(context, "sampling_quality", kGpuQualitySection);
  table.columns = columns(context, {"what", "gpus_of_jobs"});
  table.columns.push_back(column(context, "share", "%"));
  constexpr std::array kFindings = {"known", "low_coverage", "not_available", "no_samples",
                                    "no_series"};
  for (size_t i = 0; i < kFindings.size(); ++i) {
    table.rows.push_back({context.labels(std::string("word.finding_") + kFindings[i]), findings[i],
                          percent(static_cast<double>(findings[i]), gpus)});
  }
  constexpr std::array kActivities = {"busy", "idle", "unknown"};
  for (size_t i = 0; i < kActivities.size(); ++i) {
    table.rows.push_back({context.labels(std::string("word.activity_") + kActivities[i]),
                          activities[i], percent(static_cast<double>(activities[i]), gpus)});
  }
  const auto watched =
      std::ranges::count_if(use.values, [](const GpuValue& value) { return value.processes >= 0; });
  if (watched > 0) {
    const auto none = std::ranges::count(use.values, 0.0F, &GpuValue::processes);
    table.rows.push_back({context.labels("word.no_process"), static_cast<int64_t>(none),
                          percent(static_cast<double>(none), static_cast<double>(watched))});
  }
  int64_t jobs = use.jobs_without_list;
  for (size_t i = 0; i < context.population.jobs.size(); ++i) jobs += use.of(i).empty() ? 0 : 1;
  table.quality = {
      jobs - use.jobs_without_list, jobs,
      context.labels(use.source == ValueSource::Means ? "word.from_means" : "word.from_series")};
  context.report.tables.push_back(std::move(table));
}

/// GPU-hours of one kind of job.
struct Hours {
  double allocated = 0, known = 0, used = 0, busy = 0, sm = 0, sm_known = 0, tensor = 0,
         tensor_known = 0;
  void add(const GpuValue& value, double hours) {
    constexpr double kPercent = 100;
    if (value.activity == series::Activity::Busy) used += hours;
    if (value.mean_pct >= 0) {
      known += hours;
      busy += hours * value.mean_pct / kPercent;
    }
    if (value.sm_pct >= 0) {
      sm_known += hours;
      sm += hours * value.sm_pct / kPercent;
    }
    if (value.tensor_pct >= 0) {
      tensor_known += hours;
      tensor += hours * value.tensor_pct / kPercent;
    }
  }
};

void add_yield(const Context& context) {
  const Population& population = context.population;
  const JobClasses classes(population.site);
  std::vector<Hours> hours(classes.all().size());
  Hours all;
  int64_t selected = 0;
  int64_t known = 0;
  for (size_t i = 0; i < population.jobs.size(); ++i) {
    const Job& job = population.jobs[i];
    if (!job.selected) continue;
    ++selected;
    known += std::ranges::any_of(context.use->of(i),
                                 [](const GpuValue& value) { return value.mean_pct >= 0; });
    for (Hours* part : {&hours[classes.of(job)], &all}) {
      part->allocated += job.gpu_hours();
      for (const GpuValue& value : context.use->of(i)) part->add(value, job.gpu_part * job.run_h());
    }
  }
  Table table = make_table(context, "gpu_yield", kGpuQualitySection);
  table.columns = columns(context, {"kind"});
  table.columns.push_back(column(context, "gpu_hours", "GPU h"));
  table.columns.push_back(column(context, "known_gpu_hours", "GPU h"));
  for (const std::string_view key :
       {"used_of_known", "busy_of_known", "sm_active", "tensor_active"}) {
    table.columns.push_back(column(context, key, "%"));
  }
  const auto add_row = [&table](const std::string& name, const Hours& part) {
    table.rows.push_back({name, part.allocated, part.known, percent(part.used, part.known),
                          percent(part.busy, part.known), percent(part.sm, part.sm_known),
                          percent(part.tensor, part.tensor_known)});
  };
  for (size_t i = 0; i < hours.size(); ++i) {
    if (hours[i].allocated > 0) add_row(classes.all()[i].name(), hours[i]);
  }
  add_row(context.labels("word.all"), all);
  table.quality = {known, selected, {}};
  add_scalar(context, "used_of_known", kGpuQualitySection, table.quality,
             percent(all.used, all.known), "%");
  add_scalar(context, "busy_of_known", kGpuQualitySection, table.quality,
             percent(all.busy, all.known), "%");
  context.report.tables.push_back(std::move(table));
}

/// GPU memory, and GPU memory against utilisation: which jobs could share a GPU.
void add_memory(const Context& context) {
  std::vector<double> peaks;
  constexpr size_t kCells = 10;
  std::array<std::array<double, kCells>, kCells> joint{};
  float most = 0;
  for (const GpuValue& value : context.use->values) {
    most = std::max({most, value.mem_total_gib, value.mem_gib});
  }
  int64_t both = 0;
  for (const GpuValue& value : context.use->values) {
    if (value.mem_gib < 0) continue;
    peaks.push_back(value.mem_gib);
    if (value.mean_pct < 0) continue;
    const double total = value.mem_total_gib > 0 ? value.mem_total_gib : most;
    const auto cell = [](double share) {
      return std::min(static_cast<size_t>(share * kCells), kCells - 1);
    };
    ++joint[total > 0 ? cell(value.mem_gib / total) : 0][cell(value.mean_pct / 100)];
    ++both;
  }
  if (peaks.empty()) {
    add_absent(context, "gpu_memory", kGpuQualitySection, {}, "reason.no_gpu_memory");
    return;
  }
  Figure figure = make_figure(context, FigureKind::Step, "gpu_memory", kGpuQualitySection);
  figure.x = axis(context, "gpu_memory", "GiB");
  figure.y = axis(context, "share_of_gpus", "%");
  figure.series.push_back(distribution("gpu_memory", context.labels("axis.gpu_memory"), peaks));
  figure.quality = {
      static_cast<int64_t>(peaks.size()), static_cast<int64_t>(context.use->values.size()), {}};
  context.report.figures.push_back(std::move(figure));
  if (both == 0) return;
  Figure heatmap =
      make_figure(context, FigureKind::Heatmap, "memory_and_utilization", kGpuQualitySection);
  heatmap.x = axis(context, "gpu_utilization", "%");
  heatmap.y = axis(context, "gpu_memory_share", "%");
  for (size_t i = 0; i < kCells; ++i) {
    heatmap.categories.push_back(fmt::format("{}-{}", 10 * i, 10 * (i + 1)));
    Series row{.key = fmt::format("memory_{}", 10 * i), .label = heatmap.categories.back()};
    for (const double count : joint[i]) row.y.push_back(100 * count / static_cast<double>(both));
    heatmap.series.push_back(std::move(row));
  }
  heatmap.quality = {both, static_cast<int64_t>(context.use->values.size()), {}};
  context.report.figures.push_back(std::move(heatmap));
}

}  // namespace

void add_gpu_quality(const Context& context) {
  if (context.use == nullptr) {
    for (const char* id : {"sampling_quality", "gpu_yield", "gpu_memory"}) {
      add_absent(context, id, kGpuQualitySection, {}, "reason.needs_series");
    }
    return;
  }
  add_findings(context);
  add_yield(context);
  add_memory(context);
}

}  // namespace goban::site::analysis
