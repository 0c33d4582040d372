#include "report/simulate_report.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/number.hpp"
#include "base/output_file.hpp"

namespace goban::report {

using base::append_number;
using base::append_seconds;

namespace {

void append_field(std::string& out, const char* name, double value) {
  out += fmt::format(", \"{}\": ", name);
  append_number(out, value);
}
void append_field(std::string& out, const char* name, int64_t value) {
  out += fmt::format(", \"{}\": {}", name, value);
}

/// 93784 -> "26.1 h"; a unit that keeps two to four digits.
std::string human_seconds(double seconds) {
  if (seconds < 120) return fmt::format("{:.1f} s", seconds);
  if (seconds < 7200) return fmt::format("{:.1f} min", seconds / 60);
  if (seconds < 172800) return fmt::format("{:.1f} h", seconds / 3600);
  return fmt::format("{:.1f} d", seconds / 86400);
}

}  // namespace

std::string simulate_json(const std::vector<RunMetrics>& runs) {
  std::string out = "{\"runs\": [";
  for (const RunMetrics& run : runs) {
    out += &run == &runs.front() ? "\n  {" : ",\n  {";
    out += "\"policy\": " + nlohmann::json(run.policy).dump();
    append_field(out, "jobs", run.jobs);
    append_field(out, "rejected", run.rejected);
    append_field(out, "avg_jct_s", run.avg_jct_s);
    append_field(out, "p50_jct_s", run.p50_jct_s);
    append_field(out, "p99_jct_s", run.p99_jct_s);
    append_field(out, "avg_wait_s", run.avg_wait_s);
    append_field(out, "makespan_s", run.makespan_s);
    append_field(out, "gpu_occupancy", run.gpu_occupancy);
    append_field(out, "gpu_hours_consumed", run.gpu_hours_consumed);
    append_field(out, "gpu_hours_ideal", run.gpu_hours_ideal);
    append_field(out, "goodput", run.goodput);
    append_field(out, "preemptions", run.preemptions);
    append_field(out, "wall_s", run.wall_s);
    append_field(out, "timed_out", run.timed_out);
    append_field(out, "gpu_hours_lost", run.gpu_hours_lost);
    const AccountMetrics& worst = run.worst_account;
    if (worst.jobs > 0) {
      out +=
          ", \"worst_account\": {\"name\": " +
          nlohmann::json(worst.name).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
      append_field(out, "jobs", worst.jobs);
      append_field(out, "avg_slowdown", worst.avg_slowdown);
      append_field(out, "avg_wait_s", worst.avg_wait_s);
      append_field(out, "gpu_hours", worst.gpu_hours);
      out += '}';
    }
    out += '}';
  }
  return out + "\n]}\n";
}

std::string comparison_table(const std::vector<RunMetrics>& runs) {
  size_t width = 6;
  for (const RunMetrics& run : runs) width = std::max(width, run.policy.size());
  std::string out =
      fmt::format("{:<{}}  {:>10} {:>7} {:>10} {:>10} {:>10} {:>6} {:>10} {:>7} {:>9}\n", "policy",
                  width, "avg JCT", "ratio", "p50 JCT", "p99 JCT", "avg wait", "busy", "GPU-hours",
                  "goodput", "preempted");
  for (const RunMetrics& run : runs) {
    const double first = runs.front().avg_jct_s;
    out += fmt::format(
        "{:<{}}  {:>10} {:>6.2f}x {:>10} {:>10} {:>10} {:>5.1f}% {:>10.1f} {:>6.1f}% {:>9}\n",
        run.policy, width, human_seconds(run.avg_jct_s), first > 0 ? run.avg_jct_s / first : 1.0,
        human_seconds(run.p50_jct_s), human_seconds(run.p99_jct_s), human_seconds(run.avg_wait_s),
        100 * run.gpu_occupancy, run.gpu_hours_consumed, 100 * run.goodput, run.preemptions);
  }
  if (runs.empty()) return out;
  const auto best = std::ranges::min_element(runs, {}, &RunMetrics::avg_jct_s);
  out += fmt::format(
      "\n{} jobs, {:.1f} ideal GPU-hours, makespan {} under {}. Lowest average JCT: {}", best->jobs,
      best->gpu_hours_ideal, human_seconds(best->makespan_s), best->policy, best->policy);
  if (&*best != &runs.front() && best->avg_jct_s > 0) {
    out += fmt::format(", {:.1f} % below {}", 100 * (1 - best->avg_jct_s / runs.front().avg_jct_s),
                       runs.front().policy);
  }
  return out + ".\n";
}

std::string worst_account_lines(const std::vector<RunMetrics>& runs) {
  size_t width = 0;
  for (const RunMetrics& run : runs) width = std::max(width, run.policy.size());
  std::string out;
  for (const RunMetrics& run : runs) {
    const AccountMetrics& worst = run.worst_account;
    if (worst.jobs == 0) continue;
    out += fmt::format("  {:<{}}  {}: slowdown {:.1f}, average wait {}, {} jobs\n", run.policy,
                       width, worst.name.empty() ? "(no name)" : worst.name, worst.avg_slowdown,
                       human_seconds(worst.avg_wait_s), worst.jobs);
  }
  return out.empty() ? out : "\nThe account served worst, by average slowdown:\n" + out;
}

base::Status write_jobs_csv(const std::string& path, const model::JobHistory& history,
                            const engine::SimulationResult& result) {
  auto file = base::OutputFile::create(path);
  if (!file) return base::failure(file.error());
  std::string& out = file->buffer();
  out += "job_id,submit_s,start_s,finish_s,jct_s,wait_s,num_gpus,preemptions\n";
  for (size_t i = 0; i < history.jobs.size(); ++i) {
    const model::JobRequest& request = history.jobs[i].request;
    const engine::JobOutcome& outcome = result.outcomes[i];
    const base::TimeNs jct_ns = outcome.finish_ns - request.submit_ns;
    out += history.job_names[i];
    for (const base::TimeNs time : {request.submit_ns, outcome.start_ns, outcome.finish_ns, jct_ns,
                                    jct_ns - outcome.held_ns}) {
      out += ',';
      append_seconds(out, time);
    }
    out += ',';
    append_number(out, int64_t{request.num_gpus});
    out += ',';
    append_number(out, int64_t{outcome.preemptions});
    out += '\n';
    file->write_out();
  }
  return file->commit();
}

}  // namespace goban::report
