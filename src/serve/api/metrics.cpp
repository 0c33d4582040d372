// /metrics for Prometheus. The number of series depends only on the cluster: there are no user or
// job labels. docs/api.md documents the names.
#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <vector>

#include "base/number.hpp"
#include "serve/api/api.hpp"
#include "serve/api/job_view.hpp"
#include "serve/api/metrics_page.hpp"

namespace goban::serve::api {

namespace {
/// Maximum number of nodes with their own series.
constexpr size_t kNodesMax = 2000;

struct Figures {
  ClusterView view{};
  std::array<int64_t, live::controller::kNumJobStages> stages{};
  int64_t waiting_gpus = 0;
  double wait_s_max = 0;
  size_t held_nodes = 0;  ///< launches there are held
  DeadlineCounts deadlines{};
};

Figures figures_of(const live::loop::SchedulerClient& scheduler) {
  Figures out;
  scheduler.look([&](const live::loop::SchedulerSnapshot& snapshot) {
    out.view = view_cluster(snapshot, true);
    if (snapshot.holds != nullptr) out.held_nodes = snapshot.holds->size();
    for (const auto& [id, job] : snapshot.book.jobs) {
      ++out.stages[static_cast<size_t>(shown_stage(job))];
      out.deadlines.add(job, snapshot.now_ns);
      if (job.stage != live::controller::JobStage::Waiting) continue;
      out.waiting_gpus += job.spec.num_gpus;
      out.wait_s_max = std::max(out.wait_s_max, base::to_seconds(snapshot.now_ns - job.submit_ns));
    }
  });
  return out;
}

void write_queue(MetricsPage& page, const Figures& figures) {
  page.family("goban_jobs", "gauge", "Jobs by state.");
  for (size_t i = 0; i < figures.stages.size(); ++i) {
    page.value(static_cast<double>(figures.stages[i]),
               metric_labels({{"state", stage_name(static_cast<live::controller::JobStage>(i))}}));
  }
  page.single("goban_waiting_gpus", "gauge", "GPUs that waiting jobs request.",
              static_cast<double>(figures.waiting_gpus));
  page.single("goban_wait_seconds_max", "gauge",
              "Time since the submission of the oldest waiting job.", figures.wait_s_max);
  page.single("goban_launches_held", "gauge",
              "Nodes on which no job starts for a while, as the machine could not make the last "
              "launch.",
              static_cast<double>(figures.held_nodes));
}

void write_starts(MetricsPage& page, const StartTable& table) {
  std::vector<double> waits_s;
  for (const auto& [job, start] : table.starts) {
    if (start.p50_ns == base::kNever) continue;
    waits_s.push_back(base::to_seconds(std::max<base::TimeNs>(start.p50_ns - table.made_ns, 0)));
  }
  std::ranges::sort(waits_s);
  page.single("goban_start_forecasts", "gauge", "Waiting jobs with a forecast start.",
              static_cast<double>(waits_s.size()));
  if (!waits_s.empty()) {
    page.family("goban_forecast_wait_seconds", "gauge",
                "Quantiles over waiting jobs of the time until their forecast start.");
    for (const double share : {0.5, 0.9, 1.0}) {
      const auto at = static_cast<size_t>(share * static_cast<double>(waits_s.size() - 1));
      page.value(waits_s[at], metric_labels({{"quantile", fmt::format("{:g}", share)}}));
    }
  }
  page.single("goban_starts_forecast_total", "counter", "Starts of jobs that had a forecast start.",
              static_cast<double>(table.known));
  page.single("goban_starts_inside_total", "counter",
              "Of them, starts inside the 80 % interval that was forecast first.",
              static_cast<double>(table.inside));
  page.single("goban_start_forecast_seconds", "gauge",
              "Time that the latest forecast of all starts took.", table.took_s);
}

void write_cluster(MetricsPage& page, const ClusterView& view) {
  constexpr std::array<const char*, 6> kStates = {"free",    "busy",   "shared",
                                                  "drained", "asleep", "down"};
  std::array<int64_t, kStates.size()> counts{};
  for (uint32_t gpu = 0; gpu < view.cluster->num_gpus(); ++gpu) {
    const std::string_view state = view.gpu_state(core::model::GpuId(gpu));
    for (size_t i = 0; i < kStates.size(); ++i) counts[i] += state == kStates[i] ? 1 : 0;
  }
  page.family("goban_gpus", "gauge", "GPUs by state.");
  for (size_t i = 0; i < kStates.size(); ++i) {
    page.value(static_cast<double>(counts[i]), metric_labels({{"state", kStates[i]}}));
  }
  const auto nodes = view.cluster->nodes();
  const size_t shown = std::min(nodes.size(), kNodesMax);
  page.family("goban_node_gpus", "gauge", "GPUs of a node.");
  for (size_t i = 0; i < shown; ++i)
    page.value(nodes[i].num_gpus, metric_labels({{"node", nodes[i].name}}));
  page.family("goban_node_gpus_held", "gauge", "GPUs of a node that jobs hold.");
  for (size_t i = 0; i < shown; ++i)
    page.value(view.held_gpus(i), metric_labels({{"node", nodes[i].name}}));
  const auto by_node = [&](auto get) {
    for (size_t i = 0; i < shown; ++i) {
      page.value(get(std::string_view(view.node_state(i))) ? 1 : 0,
                 metric_labels({{"node", nodes[i].name}}));
    }
  };
  page.family("goban_node_up", "gauge",
              "1 if jobs may start on a node (a sleeping node wakes first), otherwise 0.");
  by_node([](std::string_view state) { return state == "up" || state == "asleep"; });
  page.family("goban_node_asleep", "gauge", "1 while a node is asleep.");
  by_node([](std::string_view state) { return state == "asleep"; });
  page.single("goban_nodes_without_series", "gauge", "Nodes omitted from the per-node families.",
              static_cast<double>(nodes.size() - shown));
}

void write_daemon(MetricsPage& page, const live::loop::DaemonStats& stats) {
  page.single("goban_inputs_total", "counter", "Inputs taken since the start.",
              static_cast<double>(stats.inputs));
  page.single("goban_turns_total", "counter", "Commit cycles since the start.",
              static_cast<double>(stats.turns));
  page.single("goban_journal_failures_total", "counter", "Failed writes of the journal.",
              static_cast<double>(stats.journal_failures));
  page.single("goban_journal_stuck", "gauge", "1 while the journal cannot be written.",
              stats.journal_is_stuck ? 1 : 0);
  page.family("goban_decision_seconds", "summary",
              "Duration of a scheduling decision; quantiles of the last 1000.");
  for (const double part : {0.5, 0.9, 0.99}) {
    if (stats.decide_s_last.empty()) break;
    page.value(stats.decide_s(part), metric_labels({{"quantile", base::number_text(part)}}));
  }
  page.value(stats.decide_s_sum, {}, "_sum");
  page.value(static_cast<double>(stats.decisions), {}, "_count");
}

void write_http(MetricsPage& page, const base::http::HttpStats& stats) {
  page.single("goban_http_requests_total", "counter", "HTTP requests since the start.",
              static_cast<double>(stats.requests));
  page.single("goban_http_refused_total", "counter", "HTTP requests refused by a limit.",
              static_cast<double>(stats.refused));
  page.single("goban_http_connections", "gauge", "Open connections.",
              static_cast<double>(stats.connections));
  page.single("goban_http_streams", "gauge", "Open streams of events and logs.",
              static_cast<double>(stats.streams));
}
}  // namespace

void add_metrics_route(Router& router, const ApiContext& context) {
  router.add("GET", "/metrics", Access::Known, {}, [&context](const Call&) {
    MetricsPage page;
    const Figures figures = figures_of(context.scheduler);
    write_queue(page, figures);
    if (context.parts.starts != nullptr) write_starts(page, *context.parts.starts->latest());
    write_cluster(page, figures.view);
    write_deadlines(page, figures.deadlines);
    write_gpus(page, figures.view,
               context.parts.gpus != nullptr ? context.parts.gpus->latest() : GpuReadings{});
    if (context.parts.agents != nullptr) write_agents(page, context.parts.agents->stands());
    if (context.parts.scores != nullptr) {
      write_scores(page, figures.view, context.parts.scores->report());
    }
    write_daemon(page, context.scheduler.stats());
    const base::http::HttpServer* const server = context.server;
    write_http(page, server != nullptr ? server->stats() : base::http::HttpStats{});
    return base::http::Response{.content_type = "text/plain; version=0.0.4; charset=utf-8",
                                .body = page.take()};
  });
}

}  // namespace goban::serve::api
