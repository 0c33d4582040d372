#include "serve/api/metrics_page.hpp"

#include <algorithm>
#include <fmt/format.h>

#include "base/number.hpp"

namespace goban::serve::api {

namespace {

/// Maximum number of GPUs with their own series.
constexpr size_t kGpusMax = 2000;

/// Labels of a GPU: its node, and its index there.
struct GpuName {
  std::string_view node{};
  std::string index{};
};

std::vector<GpuName> gpu_names(const ClusterView& view) {
  std::vector<GpuName> out;
  const size_t count = std::min<size_t>(view.cluster->num_gpus(), kGpusMax);
  out.reserve(count);
  for (uint32_t gpu = 0; gpu < count; ++gpu) {
    const core::model::Node& node =
        view.cluster->node(view.cluster->node_of(core::model::GpuId(gpu)));
    out.push_back({.node = node.name, .index = fmt::format("{}", gpu - node.first_gpu)});
  }
  return out;
}

/// Writes one family of readings, if any GPU has a value.
template <typename Get>
void write_reading(MetricsPage& page, const char* name, const char* help,
                   const std::vector<GpuName>& names, const GpuReadings& readings, Get get) {
  bool titled = false;
  for (size_t i = 0; i < std::min(names.size(), readings.gpus.size()); ++i) {
    const auto value = static_cast<double>(get(readings.gpus[i]));
    if (value < 0) continue;
    if (!titled) page.family(name, "gauge", help);
    titled = true;
    page.value(value, metric_labels({{"node", names[i].node}, {"gpu", names[i].index}}));
  }
}

/// Remaining work in seconds, by the job's progress or otherwise its walltime limit; negative =
/// unknown.
double left_s(const live::controller::LiveJob& job, base::TimeNs now_ns) {
  const bool runs = job.stage == live::controller::JobStage::Running ||
                    job.stage == live::controller::JobStage::Suspended;
  const base::TimeNs run_ns = runs && job.run_start_ns >= 0
                                  ? now_ns - job.run_start_ns - job.suspensions.total_ns(now_ns)
                                  : 0;
  const double held_s = base::to_seconds(job.held_ns + run_ns);
  const live::ProgressReport& said = job.progress;
  if (said.epoch > 0 && said.epochs > 0) return held_s * (said.epochs - said.epoch) / said.epoch;
  if (said.step > 0 && said.steps > 0) {
    return held_s * static_cast<double>(said.steps - said.step) / static_cast<double>(said.step);
  }
  if (job.spec.walltime_limit_ns <= 0) return -1;
  return base::to_seconds(job.spec.walltime_limit_ns - run_ns);
}

}  // namespace

void MetricsPage::family(const char* name, const char* kind, const char* help) {
  name_ = name;
  text_ += fmt::format("# HELP {} {}\n# TYPE {} {}\n", name, help, name, kind);
}

void MetricsPage::value(double number, std::string_view labels, const char* suffix) {
  text_ += name_;
  text_ += suffix;
  text_ += labels;
  text_ += ' ';
  base::append_number(text_, number);
  text_ += '\n';
}

void MetricsPage::single(const char* name, const char* kind, const char* help, double number) {
  family(name, kind, help);
  value(number);
}

std::string metric_labels(
    std::initializer_list<std::pair<std::string_view, std::string_view>> labels) {
  std::string out = "{";
  for (const auto& [name, value] : labels) {
    if (out.size() > 1) out += ',';
    out += name;
    out += "=\"";
    for (const char c : value) {
      if (c == '"' || c == '\\') out += '\\';
      if (c == '\n') {
        out += "\\n";
      } else {
        out += c;
      }
    }
    out += '"';
  }
  return out + "}";
}

void DeadlineCounts::add(const live::controller::LiveJob& job, base::TimeNs now_ns) {
  if (job.spec.training.deadline_ns < 0 || job.stage == live::controller::JobStage::Done) return;
  const double time_s = base::to_seconds(job.submit_ns + job.spec.training.deadline_ns - now_ns);
  if (time_s < 0) {
    ++missed;
  } else if (left_s(job, now_ns) > time_s) {
    ++in_danger;
  } else {
    ++in_time;
  }
}

void write_deadlines(MetricsPage& page, const DeadlineCounts& counts) {
  page.family("goban_deadline_jobs", "gauge", "Unfinished jobs with a deadline.");
  page.value(static_cast<double>(counts.missed), metric_labels({{"state", "missed"}}));
  page.value(static_cast<double>(counts.in_danger), metric_labels({{"state", "in_danger"}}));
  page.value(static_cast<double>(counts.in_time), metric_labels({{"state", "in_time"}}));
}

void write_gpus(MetricsPage& page, const ClusterView& view, const GpuReadings& readings) {
  const std::vector<GpuName> names = gpu_names(view);
  const auto labels = [&](size_t gpu) {
    return metric_labels({{"node", names[gpu].node}, {"gpu", names[gpu].index}});
  };
  page.family("goban_gpu_holders", "gauge", "Number of jobs that hold a GPU.");
  for (size_t i = 0; i < names.size(); ++i) {
    page.value(static_cast<double>(view.holders[i].size()), labels(i));
  }
  page.family("goban_gpu_score", "gauge",
              "PM score: time of an application class on a GPU / time on the median GPU.");
  for (size_t kind = 0; kind < view.scores.size(); ++kind) {
    const std::string letter(1, static_cast<char>('A' + kind));
    for (size_t i = 0; i < std::min(names.size(), view.scores[kind].size()); ++i) {
      page.value(
          view.scores[kind][i],
          metric_labels({{"node", names[i].node}, {"gpu", names[i].index}, {"class", letter}}));
    }
  }
  page.single("goban_gpus_without_series", "gauge", "GPUs omitted from the per-GPU families.",
              static_cast<double>(view.cluster->num_gpus() - names.size()));
  if (readings.at_ns <= 0) return;
  page.single("goban_gpu_sample_time_seconds", "gauge",
              "Unix time of the last reading of the GPUs.", base::to_seconds(readings.at_ns));
  write_reading(page, "goban_gpu_utilization_percent", "GPU utilisation.", names, readings,
                [](const GpuReading& each) { return each.util_pct; });
  write_reading(page, "goban_gpu_memory_used_bytes", "GPU memory in use.", names, readings,
                [](const GpuReading& each) { return each.mem_used_bytes; });
  write_reading(page, "goban_gpu_power_watts", "GPU power; of virtual GPUs by the power model.",
                names, readings, [](const GpuReading& each) { return each.power_w; });
  write_reading(page, "goban_gpu_temperature_celsius", "GPU temperature.", names, readings,
                [](const GpuReading& each) { return each.temperature_c; });
}

void write_agents(MetricsPage& page, const std::map<std::string, AgentStand>& stands) {
  if (stands.empty()) return;
  const auto by_node = [&](const char* name, const char* kind, const char* help, auto get) {
    page.family(name, kind, help);
    for (const auto& [node, stand] : stands) {
      page.value(static_cast<double>(get(stand)), metric_labels({{"node", node}}));
    }
  };
  by_node("goban_agent_up", "gauge", "1 if the agent on a node reports, 0 if it is lost.",
          [](const AgentStand& each) { return each.lost ? 0 : 1; });
  by_node("goban_agent_report_time_seconds", "gauge", "Unix time of the last report of an agent.",
          [](const AgentStand& each) { return each.report_s; });
  by_node("goban_agent_clock_skew_seconds", "gauge",
          "How far the clock of a node is ahead, by its agent's last report.",
          [](const AgentStand& each) { return each.clock_skew_s; });
  by_node("goban_agent_samples_dropped_total", "counter",
          "Samples that an agent lost, as its queue was full.",
          [](const AgentStand& each) { return each.dropped; });
}

void write_scores(MetricsPage& page, const ClusterView& view, const ScoreReport& report) {
  if (report.gpus.empty()) return;
  const std::vector<GpuName> names = gpu_names(view);
  const size_t count = std::min(names.size(), report.gpus.size());
  const auto by_gpu = [&](const char* name, const char* help, auto get) {
    page.family(name, "gauge", help);
    for (size_t i = 0; i < count; ++i) {
      page.value(static_cast<double>(get(report.gpus[i])),
                 metric_labels({{"node", names[i].node}, {"gpu", names[i].index}}));
    }
  };
  by_gpu("goban_gpu_score_expired",
         "1 if the PM score of a GPU has expired: it is 1 until the GPU is measured again.",
         [](const core::knowledge::ScoreFacts& each) { return each.expired; });
  by_gpu("goban_gpu_score_suspect", "1 if the PM score of a GPU disagrees with what jobs report.",
         [](const core::knowledge::ScoreFacts& each) { return each.suspect; });
  by_gpu("goban_gpu_measured_time_seconds",
         "Unix time of the last valid measurement of a GPU; 0 = none.",
         [](const core::knowledge::ScoreFacts& each) { return each.measured_unix_s; });
  page.single("goban_measurements_total", "counter", "Measurements of GPUs since the start.",
              static_cast<double>(report.measurements));
  page.single("goban_scores_moved_by_jobs_total", "counter",
              "PM scores changed by agreeing evidence from jobs since the start.",
              static_cast<double>(report.moved_by_jobs));
  page.single("goban_measuring_gpu_seconds", "gauge",
              "GPU time of all measurements in the measurement log.", report.spent_s);
  page.single("goban_measuring_budget_gpu_seconds", "gauge",
              "GPU time allowed so far for repeated measurements.", report.budget_s);
}

}  // namespace goban::serve::api
