// A sampling in Prometheus' text format. Names and units match the adapters of series/input.
#include <array>
#include <fmt/format.h>

#include "base/number.hpp"
#include "site/series/input/exposition.hpp"
#include "site/telemetry/gpu_sampler.hpp"

namespace goban::site::telemetry {
namespace {

using series::Metric;
using series::State;
using series::Unit;

struct PageMetric {
  Metric metric = Metric::GpuUtilization;
  std::string_view name;
  Unit unit = Unit::Percent;
};
constexpr std::array<PageMetric, 7> kPage{{
    {Metric::GpuUtilization, "goban_gpu_utilization_percent", Unit::Percent},
    {Metric::GpuMemoryUtilization, "goban_gpu_memory_utilization_percent", Unit::Percent},
    {Metric::GpuMemoryUsed, "goban_gpu_memory_used_bytes", Unit::Byte},
    {Metric::GpuPower, "goban_gpu_power_watts", Unit::Watt},
    {Metric::GpuTemperature, "goban_gpu_temperature_celsius", Unit::Celsius},
    {Metric::GpuSmClock, "goban_gpu_sm_clock_hertz", Unit::Hertz},
    {Metric::GpuMemoryClock, "goban_gpu_memory_clock_hertz", Unit::Hertz},
}};

class Page {
 public:
  void title(std::string_view name, std::string_view help) {
    text_ += fmt::format("# HELP {} {}\n# TYPE {} gauge\n", name, help, name);
  }
  void line(std::string_view name, double value) {
    text_ += fmt::format("{} {}\n", name, base::number_text(value));
  }
  using Extra = std::pair<std::string_view, std::string_view>;
  void line(std::string_view name, const SampledGpu& gpu, std::initializer_list<Extra> extras,
            double value) {
    text_ += name;
    text_ += "{gpu=";
    series::append_label_value(text_, gpu.index);
    text_ += ",uuid=";
    series::append_label_value(text_, gpu.uuid);
    for (const auto& [label, label_value] : extras) {
      text_ += fmt::format(",{}=", label);
      series::append_label_value(text_, label_value);
    }
    text_ += fmt::format("}} {}\n", base::number_text(value));
  }
  std::string take() { return std::move(text_); }

 private:
  std::string text_;
};

void add_values(Page& page, const Sampling& sampling) {
  for (const PageMetric& metric : kPage) {
    bool titled = false;
    for (const SampledGpu& gpu : sampling.gpus) {
      for (const auto& [kind, reading] : gpu.readings) {
        if (kind != metric.metric || reading.state != State::Value) continue;
        if (!titled) page.title(metric.name, series::info(kind).meaning);
        titled = true;
        const double scale = series::factor(series::info(kind).unit, metric.unit).value_or(1);
        page.line(metric.name, gpu, {}, reading.value * scale);
      }
    }
  }
}

void add_marks(Page& page, const Sampling& sampling) {
  page.title("goban_gpu_not_available", "1: the GPU does not provide this metric (it is not zero)");
  for (const SampledGpu& gpu : sampling.gpus) {
    for (const auto& [kind, reading] : gpu.readings) {
      if (reading.state != State::NotAvailable) continue;
      page.line("goban_gpu_not_available", gpu, {{"metric", series::info(kind).name}}, 1);
    }
  }
  page.title("goban_gpu_processes", "compute processes on the GPU");
  for (const SampledGpu& gpu : sampling.gpus) {
    if (!gpu.processes) continue;
    page.line("goban_gpu_processes", gpu, {}, static_cast<double>(*gpu.processes));
  }
  page.title("goban_gpu_info", "1, with the GPU's properties as labels");
  for (const SampledGpu& gpu : sampling.gpus) {
    page.line("goban_gpu_info", gpu, {{"name", gpu.name}, {"mig", gpu.mig ? "on" : "off"}}, 1);
  }
}

}  // namespace

std::string metrics_page(const Sampling& sampling) {
  Page page;
  const bool good = sampling.problem.empty();
  if (good) {
    add_values(page, sampling);
    add_marks(page, sampling);
    constexpr std::string_view kTime = "goban_gpu_sample_time_seconds";
    page.title(kTime, "time at which the driver responded, seconds since 1970");
    page.line(kTime, static_cast<double>(sampling.time_ms) / 1000);
  }
  if (sampling.cpu_util_pct) {
    page.title("goban_cpu_utilization_percent", "share of CPU time not idle");
    page.line("goban_cpu_utilization_percent", *sampling.cpu_util_pct);
  }
  if (sampling.host_mem_used_bytes) {
    page.title("goban_host_memory_used_bytes", "host memory in use");
    page.line("goban_host_memory_used_bytes", static_cast<double>(*sampling.host_mem_used_bytes));
  }
  page.title("goban_gpu_collect_success", "1, or 0 if the GPUs could not be read");
  page.line("goban_gpu_collect_success", good ? 1 : 0);
  page.title("goban_gpu_collect_duration_seconds", "duration of reading the GPUs");
  page.line("goban_gpu_collect_duration_seconds", sampling.duration_s);
  return page.take();
}

}  // namespace goban::site::telemetry
