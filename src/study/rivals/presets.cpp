#include "study/rivals/presets.hpp"

#include <array>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/number.hpp"
#include "base/output_file.hpp"
#include "study/rivals/replay.hpp"

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

/// The presets that were asked for.
Result<std::vector<const RivalPreset*>> chosen_presets(const RivalOptions& options) {
  std::vector<const RivalPreset*> chosen;
  for (const std::string& name : options.policies) {
    const auto found = find_rival(name, rival_format_of(options));
    if (!found) return base::failure(found.error());
    if (!options.shares.empty() && !(*found)->takes_shares) {
      return base::usage_error(fmt::format("--shares: {} takes no recorded shares", name),
                               "leave it out");
    }
    chosen.push_back(*found);
  }
  if (!options.shares.empty() && chosen.size() != 1) {
    return base::usage_error("--shares: a record belongs to one policy", "give one policy");
  }
  return chosen;
}

std::string jobs_csv(const std::vector<RivalJob>& jobs) {
  std::string out = "job_id,submit_s,start_s,finish_s,jct_s,wait_s,num_gpus,preemptions\n";
  for (size_t i = 0; i < jobs.size(); ++i) {
    const RivalJob& job = jobs[i];
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

Status write_replay(const RivalOptions& options, const RivalReplay& replay) {
  const std::string folder = options.out + "/" + replay.summary.policy + "/";
  if (auto written = base::write_file(folder + "jobs.csv", jobs_csv(replay.jobs)); !written) {
    return written;
  }
  if (!replay.rows.empty()) {
    if (auto written = base::write_file(folder + "rows.csv", replay.rows); !written) return written;
  }
  if (!options.decisions) return {};
  auto file = base::OutputFile::create(folder + "decisions.jsonl");
  if (!file) return base::failure(file.error());
  for (const Decision& decision : replay.decisions) {
    append_decision(file->buffer(), decision);
    file->write_out();
  }
  return file->commit();
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
  const auto chosen = chosen_presets(options);
  if (!chosen) return base::failure(chosen.error());
  const auto inputs = RivalInputs::read(options);
  if (!inputs) return base::failure(inputs.error());
  const auto real = real_gpus(options);
  if (!real) return base::failure(real.error());
  std::vector<RivalSummary> summaries;
  for (const RivalPreset* preset : *chosen) {
    const auto replay = inputs->replay(*preset, *real);
    if (!replay) return base::failure(replay.error());
    if (!options.out.empty()) {
      if (auto written = write_replay(options, *replay); !written) {
        return base::failure(written.error());
      }
    }
    summaries.push_back(replay->summary);
  }
  return summaries;
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
