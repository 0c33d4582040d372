#include "study/rivals/presets.hpp"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <optional>

#include "base/number.hpp"
#include "base/output_file.hpp"
#include "base/text_file.hpp"
#include "study/rivals/elasticflow.hpp"
#include "study/rivals/shockwave.hpp"

namespace goban::study::rivals {
namespace {

using base::Result;
using base::Status;

constexpr auto kShockwave = RivalFormat::Shockwave;
constexpr auto kElasticFlow = RivalFormat::ElasticFlow;
constexpr const char* kRoundQuirks =
    "a new job's room may stay idle; short rounds pay no restart; progress rounds up to epochs";

/// In the order of GavelPolicy, then ElasticFlow's.
constexpr std::array kRivalPresets = {
    RivalPreset{"gavel-gandiva-fair", kShockwave, "equal shares of time, in rounds of 120 s",
                kRoundQuirks, false},
    RivalPreset{"gavel-max-min-fairness", kShockwave, "the least GPU share as large as possible",
                kRoundQuirks, true},
    RivalPreset{"gavel-max-sum-throughput", kShockwave, "most steps per second in all",
                "as the others; the order of equal jobs hangs on a solver's noise", true},
    RivalPreset{"gavel-min-total-duration", kShockwave, "all steps done as early as possible",
                kRoundQuirks, true},
    RivalPreset{"gavel-finish-time-fairness", kShockwave,
                "least slowdown against an equal share; equal in outcome only", kRoundQuirks,
                false},
    RivalPreset{"gavel-allox", kShockwave, "least sum of completion times; equal in outcome only",
                kRoundQuirks, false},
    RivalPreset{"elasticflow-edf", kElasticFlow, "elastic, earliest deadline first",
                "the list is sorted without new jobs only; a plan's end overwrites its slot",
                false},
    RivalPreset{"elasticflow-gandiva", kElasticFlow, "time slicing of the GPUs asked for",
                "loads never fall; one-node sets take no jobs from others", false},
    RivalPreset{"elasticflow-themis", kElasticFlow, "leases of 240 s by finish-time fairness",
                "a share stands for a rate, the last event for now; no overhead", true},
};
constexpr size_t kElasticFirst = 6;

Result<std::vector<size_t>> chosen_presets(const RivalOptions& options, RivalFormat format) {
  std::vector<size_t> chosen;
  std::string names;
  for (const RivalPreset& preset : kRivalPresets) {
    if (preset.format != format) continue;
    names += names.empty() ? "" : ", ";
    names += preset.name;
  }
  for (const std::string& name : options.policies) {
    const auto found = std::ranges::find_if(kRivalPresets, [&](const RivalPreset& preset) {
      return preset.format == format && preset.name == name;
    });
    if (found == kRivalPresets.end()) {
      return base::usage_error(
          fmt::format("--policy: {} is no policy of format {}", name, options.format),
          "one of " + names);
    }
    if (!options.shares.empty() && !found->takes_shares) {
      return base::usage_error(fmt::format("--shares: {} takes no recorded shares", name),
                               "leave it out");
    }
    chosen.push_back(static_cast<size_t>(found - kRivalPresets.begin()));
  }
  if (!options.shares.empty() && chosen.size() != 1) {
    return base::usage_error("--shares: a record belongs to one policy", "give one policy");
  }
  return chosen;
}

/// Nodes of a cluster such as 16x8, whose nodes must have `gpus` GPUs.
Result<int32_t> cluster_nodes(const std::string& text, const std::string& format, int32_t gpus) {
  constexpr int64_t kNodesMax = 4096;
  const size_t x = text.find('x');
  const auto nodes = base::parse_int(std::string_view(text).substr(0, std::min(x, text.size())));
  if (x != std::string::npos && nodes && *nodes >= 1 && *nodes <= kNodesMax &&
      text.substr(x + 1) == std::to_string(gpus)) {
    return static_cast<int32_t>(*nodes);
  }
  return base::usage_error(fmt::format("--cluster: '{}' does not fit format {}", text, format),
                           fmt::format("give Nx{}, N up to {}", gpus, kNodesMax));
}

/// Reads a file and parses it.
template <typename Parse>
auto read_rival_file(const std::string& path, const Parse& parse)
    -> decltype(parse(std::string_view(), std::string())) {
  constexpr size_t kBytesMax = size_t{1} << 28;
  const auto text = base::read_text_file(path, kBytesMax);
  if (!text) return base::failure(text.error());
  return parse(*text, base::input_name(path));
}

/// Errors of a policy in a job have no file.
base::Error in_file(base::Error error, const std::string& jobs) {
  if (error.code == base::ErrorCode::BadData && error.place.file.empty()) {
    error.place.file = base::input_name(jobs);
  }
  return error;
}

struct JobRow {
  double submit_s = 0;
  int32_t gpus = 1;
  double finish_s = 0;
  double start_s = 0;
  double held_s = 0;
  int32_t preemptions = 0;
  size_t last = SIZE_MAX;  ///< the last decision in which it held GPUs
};

/// Start, time with GPUs and preemptions of each job, from the decisions.
void add_times(std::vector<JobRow>& jobs, const std::vector<Decision>& decisions) {
  for (size_t k = 0; k < decisions.size(); ++k) {
    const double now_s = decisions[k].now_s;
    for (const Holding& holding : decisions[k].holdings) {
      JobRow& job = jobs[static_cast<size_t>(holding.job)];
      if (job.last == SIZE_MAX) {
        job.start_s = now_s;
      } else if (job.last + 1 != k) {
        ++job.preemptions;
      }
      job.last = k;
      const double next_s = k + 1 < decisions.size() ? decisions[k + 1].now_s : job.finish_s;
      job.held_s += std::max(0.0, std::min(next_s, job.finish_s) - now_s);
    }
  }
}

std::string jobs_csv(const std::vector<JobRow>& jobs) {
  std::string out = "job_id,submit_s,start_s,finish_s,jct_s,wait_s,num_gpus,preemptions\n";
  for (size_t i = 0; i < jobs.size(); ++i) {
    const JobRow& job = jobs[i];
    const double jct_s = job.finish_s - job.submit_s;
    base::append_number(out, static_cast<int64_t>(i));
    for (const double number : {job.submit_s, job.start_s, job.finish_s, jct_s, jct_s - job.held_s,
                                double(job.gpus), double(job.preemptions)}) {
      out += ',';
      base::append_number(out, number);
    }
    out += '\n';
  }
  return out;
}

/// Writes the files of a run, and counts its decisions and placements.
Status write_run(const RivalOptions& options, RivalSummary& summary, std::vector<JobRow> jobs,
                 const std::vector<Decision>& decisions, const std::string& rows) {
  summary.jobs = jobs.size();
  summary.decisions = decisions.size();
  for (const Decision& decision : decisions) summary.placements += decision.holdings.size();
  if (options.out.empty()) return {};
  const std::string folder = options.out + "/" + summary.policy + "/";
  add_times(jobs, decisions);
  if (auto written = base::write_file(folder + "jobs.csv", jobs_csv(jobs)); !written) {
    return written;
  }
  if (!rows.empty()) {
    if (auto written = base::write_file(folder + "rows.csv", rows); !written) return written;
  }
  if (!options.decisions) return {};
  auto file = base::OutputFile::create(folder + "decisions.jsonl");
  if (!file) return base::failure(file.error());
  for (const Decision& decision : decisions) {
    append_decision(file->buffer(), decision);
    file->write_out();
  }
  return file->commit();
}

Result<std::vector<RivalSummary>> run_shockwave_presets(const RivalOptions& options,
                                                        const std::vector<size_t>& chosen,
                                                        std::optional<ShareRecord> shares) {
  ShockwaveInputs inputs;
  const auto nodes = cluster_nodes(options.cluster, options.format, 1);
  if (!nodes) return base::failure(nodes.error());
  inputs.num_gpus = *nodes;
  auto jobs = read_rival_file(options.jobs, parse_shockwave_trace);
  if (!jobs) return base::failure(jobs.error());
  inputs.jobs = std::move(*jobs);
  auto rates = read_rival_file(options.rates, parse_rates);
  if (!rates) return base::failure(rates.error());
  inputs.rates = std::move(*rates);
  if (!options.batch_sizes.empty()) {
    auto phases = read_rival_file(options.batch_sizes, parse_batch_sizes);
    if (!phases) return base::failure(phases.error());
    inputs.batch_sizes = std::move(*phases);
  }
  inputs.shares = std::move(shares);
  std::vector<RivalSummary> summaries;
  for (const size_t index : chosen) {
    const auto run = run_shockwave(inputs, static_cast<GavelPolicy>(index));
    if (!run) return base::failure(in_file(run.error(), options.jobs));
    RivalSummary summary{.policy = kRivalPresets[index].name,
                         .mean_jct_s = run->mean_jct_s,
                         .makespan_s = run->makespan_s,
                         .computations = run->shares.size()};
    if (static_cast<GavelPolicy>(index) != GavelPolicy::GandivaFair) {
      summary.shares = inputs.shares ? "recorded" : "own solver";
    }
    std::vector<JobRow> rows;
    for (size_t i = 0; i < inputs.jobs.size(); ++i) {
      const double submit_s = inputs.jobs[i].submit_s;
      rows.push_back({.submit_s = submit_s,
                      .gpus = inputs.jobs[i].gpus,
                      .finish_s = submit_s + run->jct_s[i]});
    }
    if (auto written = write_run(options, summary, std::move(rows), run->rounds, {}); !written) {
      return base::failure(written.error());
    }
    summaries.push_back(std::move(summary));
  }
  return summaries;
}

Result<std::vector<RivalSummary>> run_elastic_presets(const RivalOptions& options,
                                                      const std::vector<size_t>& chosen,
                                                      std::optional<ShareRecord> shares) {
  ElasticInputs inputs;
  const auto nodes = cluster_nodes(options.cluster, options.format, kElasticNodeGpus);
  if (!nodes) return base::failure(nodes.error());
  inputs.num_nodes = *nodes;
  auto jobs = read_rival_file(options.jobs, parse_elasticflow_trace);
  if (!jobs) return base::failure(jobs.error());
  inputs.jobs = std::move(*jobs);
  auto rates = read_rival_file(options.rates, parse_rates);
  if (!rates) return base::failure(rates.error());
  inputs.rates = std::move(*rates);
  inputs.shares = std::move(shares);
  constexpr std::array kRuns = {run_elastic_edf, run_elastic_gandiva, run_elastic_themis};
  std::vector<RivalSummary> summaries;
  for (const size_t index : chosen) {
    const auto run = kRuns[index - kElasticFirst](inputs);
    if (!run) return base::failure(in_file(run.error(), options.jobs));
    RivalSummary summary{.policy = kRivalPresets[index].name,
                         .mean_jct_s = run->mean_jct_s,
                         .makespan_s = run->makespan_s,
                         .computations = run->shares.size()};
    if (kRivalPresets[index].takes_shares) {
      summary.shares = inputs.shares ? "recorded" : "own solver";
    }
    std::vector<JobRow> rows;
    for (const ElasticJob& job : inputs.jobs) {
      rows.push_back({.submit_s = job.submit_s, .gpus = job.gpus});
    }
    for (const ElasticRow& row : run->rows) rows[static_cast<size_t>(row.job)].finish_s = row.end_s;
    if (auto written =
            write_run(options, summary, std::move(rows), run->maps, run->rows_csv(inputs.jobs));
        !written) {
      return base::failure(written.error());
    }
    summaries.push_back(std::move(summary));
  }
  return summaries;
}

}  // namespace

std::span<const RivalPreset> rival_presets() { return kRivalPresets; }

const char* rival_format_name(RivalFormat format) {
  return format == RivalFormat::Shockwave ? "shockwave" : "elasticflow";
}

bool is_rival_format(std::string_view name) {
  return name == rival_format_name(kShockwave) || name == rival_format_name(kElasticFlow);
}

Result<std::vector<RivalSummary>> run_rivals(const RivalOptions& options) {
  const RivalFormat format =
      options.format == rival_format_name(kShockwave) ? kShockwave : kElasticFlow;
  const auto chosen = chosen_presets(options, format);
  if (!chosen) return base::failure(chosen.error());
  if (options.rates.empty()) {
    return base::usage_error(fmt::format("--rates is required with format {}", options.format),
                             "give the measured steps per second");
  }
  if (format == kElasticFlow && !options.batch_sizes.empty()) {
    return base::usage_error("--batch-sizes: format elasticflow has none", "leave it out");
  }
  std::optional<ShareRecord> shares;
  if (!options.shares.empty()) {
    auto record = read_rival_file(options.shares, parse_shares);
    if (!record) return base::failure(record.error());
    shares = std::move(*record);
  }
  return format == kShockwave ? run_shockwave_presets(options, *chosen, std::move(shares))
                              : run_elastic_presets(options, *chosen, std::move(shares));
}

std::string rivals_table(const std::vector<RivalSummary>& summaries) {
  std::string out = fmt::format("{:26} {:>6} {:>13} {:>13} {:>10} {:>11}  {}\n", "policy", "jobs",
                                "mean JCT s", "makespan s", "decisions", "placements", "shares");
  for (const RivalSummary& each : summaries) {
    out +=
        fmt::format("{:26} {:>6} {:>13.1f} {:>13.1f} {:>10} {:>11}  {}\n", each.policy, each.jobs,
                    each.mean_jct_s, each.makespan_s, each.decisions, each.placements, each.shares);
  }
  return out;
}

std::string rivals_json(const std::vector<RivalSummary>& summaries) {
  nlohmann::ordered_json document{{"rivals", nlohmann::json::array()}};
  for (const RivalSummary& each : summaries) {
    document["rivals"].push_back({{"policy", each.policy},
                                  {"jobs", each.jobs},
                                  {"mean_jct_s", each.mean_jct_s},
                                  {"makespan_s", each.makespan_s},
                                  {"decisions", each.decisions},
                                  {"placements", each.placements},
                                  {"computations", each.computations},
                                  {"shares", each.shares}});
  }
  return document.dump(2) + "\n";
}

}  // namespace goban::study::rivals
