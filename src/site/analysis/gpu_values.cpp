#include "site/analysis/gpu_values.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <memory>

#include "base/time.hpp"
#include "base/units.hpp"

namespace goban::site::analysis {
namespace {

constexpr double kMibOfGib = 1024;

bool is_uuid(std::string_view gpu) { return gpu.starts_with("GPU-") || gpu.starts_with("MIG-"); }

series::ValueOptions value_options(const UseRules& rules) {
  series::ValueOptions options;
  options.trim = rules.trim;
  options.busy_at = rules.busy_at_pct;
  options.coverage_min = rules.coverage_min;
  options.skip_first = static_cast<uint32_t>(rules.skip_first);
  options.skip_last = static_cast<uint32_t>(rules.skip_last);
  options.delay_ms = rules.delay_ns / (base::kSecond / 1000);
  options.include_start = rules.include_start;
  options.include_end = rules.include_end;
  return options;
}

/// An additional metric besides utilisation.
class Extra {
 public:
  Extra(const series::StoreReader* store, const UseRules& rules) {
    if (store != nullptr)
      values_ = std::make_unique<series::JobValues>(*store, value_options(rules));
  }
  /// Sets `field` of each existing value to the result of `number` on its reduction.
  template <typename Number>
  void fill(const series::SeriesJob& job, std::span<GpuValue> values, float GpuValue::* field,
            const Number& number) {
    if (!values_) return;
    const std::vector<series::DeviceValues> found = values_->of(job);
    for (size_t i = 0; i < found.size() && i < values.size(); ++i) {
      if (found[i].values) values[i].*field = static_cast<float>(number(*found[i].values));
    }
  }

 private:
  std::unique_ptr<series::JobValues> values_;
};

std::optional<series::SeriesJob> series_job(const Population& population, const Job& job) {
  const records::RecordRow& row = population.row(job);
  if (row.start_ns < 0 || row.end_ns < 0) return std::nullopt;
  series::SeriesJob out;
  out.start_ms = row.start_ns / base::kMillisecond;
  out.end_ms = row.end_ns / base::kMillisecond;
  out.devices = devices_of(population, job);
  if (out.devices.empty()) return std::nullopt;
  return out;
}

/// All GPUs of the nodes on which the job ran.
std::vector<series::DeviceKey> devices_of_nodes(const Population& population, const Job& job) {
  const records::RecordTable& table = *population.table;
  const records::RecordRow& row = population.row(job);
  std::vector<uint32_t> nodes(table.nodes_of(row).begin(), table.nodes_of(row).end());
  if (nodes.empty()) {
    for (const records::StoredGpu& gpu : table.gpus_of(row)) {
      if (std::ranges::find(nodes, gpu.node) == nodes.end()) nodes.push_back(gpu.node);
    }
  }
  std::vector<series::DeviceKey> devices;
  for (const uint32_t node : nodes) {
    for (int32_t gpu = 0; gpu < job.node_gpus; ++gpu) {
      devices.push_back({std::string(table.node_names()[node]), fmt::format("{}", gpu), {}});
    }
  }
  return devices;
}

/// Passes if at least one device is in use; fails if all are known and none is.
Verdict use_of(const std::vector<series::DeviceValues>& devices) {
  bool all_known = !devices.empty();
  for (const series::DeviceValues& device : devices) {
    if (device.activity == series::Activity::Busy) return Verdict::Pass;
    all_known = all_known && device.activity != series::Activity::Unknown;
  }
  return all_known ? Verdict::Fail : Verdict::Unknown;
}

/// Utilisation of GPUs; of those without it, the activity of their engines.
class Utilization {
 public:
  Utilization(const SeriesSources& sources, const UseRules& rules) {
    for (const series::StoreReader* store : {sources.utilization, sources.engine_active}) {
      if (store == nullptr) continue;
      values_.push_back(std::make_unique<series::JobValues>(*store, value_options(rules)));
    }
  }
  [[nodiscard]] std::vector<series::DeviceValues> of(const series::SeriesJob& job) {
    std::vector<series::DeviceValues> found(job.devices.size());
    for (const auto& values : values_) {
      const auto missing = [](const series::DeviceValues& device) { return !device.values; };
      if (std::ranges::none_of(found, missing)) break;
      std::vector<series::DeviceValues> more = values->of(job);
      for (size_t i = 0; i < found.size() && i < more.size(); ++i) {
        const bool is_first = values == values_.front();
        if (is_first || (missing(found[i]) && more[i].values)) found[i] = std::move(more[i]);
      }
    }
    return found;
  }

 private:
  std::vector<std::unique_ptr<series::JobValues>> values_;
};

Verdict use_of_nodes(const Population& population, const Job& job, series::SeriesJob asked,
                     Utilization& utilization) {
  asked.devices = devices_of_nodes(population, job);
  return use_of(utilization.of(asked));
}

void add_marks(const Population& population, const Job& job, std::span<GpuValue> values) {
  const auto gpus = population.table->gpus_of(population.row(job));
  for (size_t i = 0; i < gpus.size() && i < values.size(); ++i) {
    if (gpus[i].mem_total_bytes > 0) {
      values[i].mem_total_gib =
          static_cast<float>(static_cast<double>(gpus[i].mem_total_bytes) / base::kGib);
    }
    if (values[i].mem_gib < 0 && gpus[i].mem_used_bytes >= 0) {
      values[i].mem_gib =
          static_cast<float>(static_cast<double>(gpus[i].mem_used_bytes) / base::kGib);
    }
  }
}

}  // namespace

int32_t GpuUse::used(size_t job) const {
  return static_cast<int32_t>(
      std::ranges::count(of(job), series::Activity::Busy, &GpuValue::activity));
}

bool GpuUse::all_known(size_t job) const {
  const auto gpus = of(job);
  return !gpus.empty() && std::ranges::none_of(gpus, [](const GpuValue& value) {
    return value.activity == series::Activity::Unknown;
  });
}

std::vector<series::DeviceKey> devices_of(const Population& population, const Job& job) {
  const records::RecordTable& table = *population.table;
  const records::RecordRow& row = population.row(job);
  std::vector<series::DeviceKey> devices;
  for (const records::StoredGpu& gpu : table.gpus_of(row)) {
    const std::string_view name = table.gpu_names()[gpu.gpu];
    series::DeviceKey& device = devices.emplace_back();
    device.node = table.node_names()[gpu.node];
    (is_uuid(name) ? device.uuid : device.device) = name;
  }
  if (!devices.empty()) return devices;
  const auto nodes = table.nodes_of(row);
  const int32_t of_node = job.node_gpus;
  if (nodes.empty() || job.gpus != static_cast<int64_t>(nodes.size()) * of_node) return devices;
  for (const uint32_t node : nodes) {
    for (int32_t gpu = 0; gpu < of_node; ++gpu) {
      devices.push_back({std::string(table.node_names()[node]), fmt::format("{}", gpu), {}});
    }
  }
  return devices;
}

std::vector<Verdict> software_verdicts(const Population& population, const Rules& rules,
                                       const series::StoreReader& processes) {
  const bool asked_for =
      rules.software == SoftwareEvidence::Any || rules.software == SoftwareEvidence::Process;
  if (!asked_for) return {};
  series::JobValues values(processes, value_options(rules.use));
  std::vector<Verdict> verdicts;
  verdicts.reserve(population.jobs.size());
  for (const Job& job : population.jobs) {
    Verdict& verdict = verdicts.emplace_back(job.verdict(Rule::Software));
    if (verdict == Verdict::Pass) continue;
    const auto asked = series_job(population, job);
    if (!asked) continue;
    bool all_known = true;
    for (const series::DeviceValues& gpu : values.of(*asked)) {
      if (gpu.values && gpu.values->max > 0) verdict = Verdict::Pass;
      all_known = all_known && gpu.finding == series::Finding::Known;
    }
    if (verdict == Verdict::Unknown && all_known) verdict = Verdict::Fail;
  }
  return verdicts;
}

GpuUse gpu_use_of_series(const Population& population, const Rules& rules,
                         const SeriesSources& sources,
                         const std::function<void(int64_t)>& progress) {
  GpuUse use;
  use.source = ValueSource::Series;
  Utilization utilization(sources, rules.use);
  Extra memory(sources.memory, rules.use);
  Extra sm(sources.sm_active, rules.use);
  Extra tensor(sources.tensor_active, rules.use);
  Extra processes(sources.processes, rules.use);
  use.ends.reserve(population.jobs.size());
  for (size_t i = 0; i < population.jobs.size(); ++i) {
    const Job& job = population.jobs[i];
    if (job.selected) {
      if (const auto asked = series_job(population, job)) {
        const std::vector<series::DeviceValues> found = utilization.of(*asked);
        use.counts.add(found);
        const size_t first = use.values.size();
        for (const series::DeviceValues& device : found) {
          GpuValue& value = use.values.emplace_back();
          value.activity = device.activity;
          value.finding = device.finding;
          if (!device.values) continue;
          value.mean_pct = static_cast<float>(device.values->mean);
          value.top_pct = static_cast<float>(device.values->trimmed_max);
        }
        const std::span<GpuValue> values = std::span(use.values).subspan(first);
        memory.fill(*asked, values, &GpuValue::mem_gib,
                    [](const series::Reduction& r) { return r.max / kMibOfGib; });
        sm.fill(*asked, values, &GpuValue::sm_pct,
                [](const series::Reduction& r) { return r.mean; });
        tensor.fill(*asked, values, &GpuValue::tensor_pct,
                    [](const series::Reduction& r) { return r.mean; });
        processes.fill(*asked, values, &GpuValue::processes,
                       [](const series::Reduction& r) { return r.max; });
        add_marks(population, job, values);
      } else {
        ++use.jobs_without_list;
      }
    }
    use.ends.push_back(static_cast<uint32_t>(use.values.size()));
    if (rules.use.gpus == GpusAsked::Nodes) {
      const auto asked = job.selected ? series_job(population, job) : std::nullopt;
      use.node_verdicts.push_back(asked ? use_of_nodes(population, job, *asked, utilization)
                                        : Verdict::Unknown);
    }
    if (progress) progress(static_cast<int64_t>(i) + 1);
  }
  return use;
}

GpuUse gpu_use_of_means(const Population& population, const Rules& rules) {
  GpuUse use;
  use.ends.reserve(population.jobs.size());
  for (const Job& job : population.jobs) {
    const auto gpus = job.selected ? population.table->gpus_of(population.row(job))
                                   : std::span<const records::StoredGpu>();
    const size_t first = use.values.size();
    const auto add = [&](float util_pct) {
      GpuValue& value = use.values.emplace_back();
      if (util_pct < 0) return;
      use.source = ValueSource::Means;
      value.mean_pct = value.top_pct = util_pct;
      value.finding = series::Finding::Known;
      value.activity =
          util_pct >= rules.use.busy_at_pct ? series::Activity::Busy : series::Activity::Idle;
    };
    for (const records::StoredGpu& gpu : gpus) add(gpu.util_pct);
    // One mean for all GPUs of the job (gpu_util_pct of generic CSV).
    const float of_all =
        job.selected ? population.table->usage_of(population.row(job)).gpu_util_pct_mean : -1;
    if (gpus.empty() && of_all >= 0) {
      constexpr int32_t kGpusMost = 100'000;
      for (int32_t gpu = 0; gpu < std::min(job.gpus, kGpusMost); ++gpu) add(of_all);
    }
    add_marks(population, job, std::span(use.values).subspan(first));
    if (job.selected && use.values.size() == first) ++use.jobs_without_list;
    use.ends.push_back(static_cast<uint32_t>(use.values.size()));
  }
  if (use.source == ValueSource::None) return {};
  return use;
}

std::vector<Verdict> use_verdicts(const Population& population, const GpuUse& use) {
  std::vector<Verdict> verdicts(population.jobs.size(), Verdict::Unknown);
  for (size_t i = 0; i < verdicts.size(); ++i) {
    if (use.used(i) > 0) {
      verdicts[i] = Verdict::Pass;
    } else if (!use.node_verdicts.empty()) {
      verdicts[i] = use.node_verdicts[i];
    } else if (use.all_known(i)) {
      verdicts[i] = Verdict::Fail;
    }
  }
  return verdicts;
}

}  // namespace goban::site::analysis
