#include "study/rivals/replay.hpp"

#include <algorithm>
#include <array>
#include <fmt/format.h>

#include "base/number.hpp"
#include "base/text_file.hpp"

namespace goban::study::rivals {
namespace {

using base::Result;

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

/// Start, time with GPUs and preemptions of each job, from the decisions.
void add_times(std::vector<RivalJob>& jobs, const std::vector<Decision>& decisions) {
  std::vector<size_t> last(jobs.size(), SIZE_MAX);  // the last decision in which it held GPUs
  for (size_t k = 0; k < decisions.size(); ++k) {
    const double now_s = decisions[k].now_s;
    for (const Holding& holding : decisions[k].holdings) {
      const auto id = static_cast<size_t>(holding.job);
      RivalJob& job = jobs[id];
      if (last[id] == SIZE_MAX) {
        job.start_s = now_s;
      } else if (last[id] + 1 != k) {
        ++job.preemptions;
      }
      last[id] = k;
      const double next_s = k + 1 < decisions.size() ? decisions[k + 1].now_s : job.finish_s;
      job.held_s += std::max(0.0, std::min(next_s, job.finish_s) - now_s);
    }
  }
}

/// Its position among the presets: Gavel's policies, then ElasticFlow's.
size_t index_of(const RivalPreset& preset) {
  return static_cast<size_t>(&preset - rival_presets().data());
}

Result<RivalReplay> replay_shockwave(const ShockwaveInputs& inputs, const RivalPreset& preset,
                                     const RealGpus& real) {
  const auto policy = static_cast<GavelPolicy>(index_of(preset));
  auto run = run_shockwave(inputs, policy, real);
  if (!run) return base::failure(run.error());
  RivalReplay out{.summary = {.policy = preset.name,
                              .mean_jct_s = run->mean_jct_s,
                              .makespan_s = run->makespan_s,
                              .computations = run->shares.size()}};
  if (policy != GavelPolicy::GandivaFair) {
    out.summary.shares = inputs.shares ? "recorded" : "own solver";
  }
  for (size_t i = 0; i < inputs.jobs.size(); ++i) {
    const double submit_s = inputs.jobs[i].submit_s;
    out.jobs.push_back({.submit_s = submit_s,
                        .gpus = inputs.jobs[i].gpus,
                        .finish_s = submit_s + run->jct_s[i],
                        .alone_s = run->alone_s[i]});
  }
  out.decisions = std::move(run->rounds);
  return out;
}

Result<RivalReplay> replay_elasticflow(const ElasticInputs& inputs, const RivalPreset& preset) {
  constexpr std::array kRuns = {run_elastic_edf, run_elastic_gandiva, run_elastic_themis};
  constexpr size_t kFirst = static_cast<size_t>(GavelPolicy::Allox) + 1;
  auto run = kRuns[index_of(preset) - kFirst](inputs);
  if (!run) return base::failure(run.error());
  RivalReplay out{.summary = {.policy = preset.name,
                              .mean_jct_s = run->mean_jct_s,
                              .makespan_s = run->makespan_s,
                              .computations = run->shares.size()}};
  if (preset.takes_shares) out.summary.shares = inputs.shares ? "recorded" : "own solver";
  for (const ElasticJob& job : inputs.jobs) {
    out.jobs.push_back({.submit_s = job.submit_s, .gpus = job.gpus, .alone_s = job.duration_s});
  }
  for (const ElasticRow& row : run->rows) {
    out.jobs[static_cast<size_t>(row.job)].finish_s = row.end_s;
  }
  out.rows = run->rows_csv(inputs.jobs);
  out.decisions = std::move(run->maps);
  return out;
}

}  // namespace

RivalFormat rival_format_of(const RivalOptions& options) {
  return options.format == rival_format_name(RivalFormat::Shockwave) ? RivalFormat::Shockwave
                                                                     : RivalFormat::ElasticFlow;
}

Result<RealGpus> real_gpus(const RivalOptions& options) {
  if (!options.restart_cost_s) return RealGpus{};
  if (rival_format_of(options) != RivalFormat::Shockwave) {
    return base::usage_error("--restart-cost: the programs of elasticflow have costs of their own",
                             "leave it out");
  }
  constexpr double kMost_s = 1e6;
  const double cost_s = *options.restart_cost_s;
  if (!(cost_s >= 0 && cost_s <= kMost_s)) {
    return base::usage_error("--restart-cost: not a number of seconds from 0 to 1e6",
                             "give 0 to 1e6");
  }
  return RealGpus{.restart_s = {cost_s}};
}

Result<const RivalPreset*> find_rival(const std::string& name, RivalFormat format) {
  std::string names;
  for (const RivalPreset& preset : rival_presets()) {
    if (preset.format != format) continue;
    if (preset.name == name) return &preset;
    names += names.empty() ? "" : ", ";
    names += preset.name;
  }
  return base::usage_error(
      fmt::format("--policy: {} is not a policy of format {}", name, rival_format_name(format)),
      "one of " + names);
}

Result<RivalInputs> RivalInputs::read(const RivalOptions& options) {
  const bool shockwave = rival_format_of(options) == RivalFormat::Shockwave;
  if (options.rates.empty()) {
    return base::usage_error(fmt::format("--rates is required with format {}", options.format),
                             "give the measured steps per second");
  }
  if (!shockwave && !options.batch_sizes.empty()) {
    return base::usage_error("--batch-sizes: format elasticflow has none", "leave it out");
  }
  std::optional<ShareRecord> shares;
  if (!options.shares.empty()) {
    auto record = read_rival_file(options.shares, parse_shares);
    if (!record) return base::failure(record.error());
    shares = std::move(*record);
  }
  const auto nodes =
      cluster_nodes(options.cluster, options.format, shockwave ? 1 : kElasticNodeGpus);
  if (!nodes) return base::failure(nodes.error());
  RivalInputs out;
  out.jobs_file_ = options.jobs;
  const auto read_rest = [&](auto& inputs, const auto& parse) -> base::Status {
    auto jobs = read_rival_file(options.jobs, parse);
    if (!jobs) return base::failure(jobs.error());
    inputs.jobs = std::move(*jobs);
    auto rates = read_rival_file(options.rates, parse_rates);
    if (!rates) return base::failure(rates.error());
    inputs.rates = std::move(*rates);
    inputs.shares = std::move(shares);
    return {};
  };
  if (!shockwave) {
    ElasticInputs& inputs = out.inputs_.emplace<ElasticInputs>();
    inputs.num_nodes = *nodes;
    if (auto done = read_rest(inputs, parse_elasticflow_trace); !done) {
      return base::failure(done.error());
    }
    return out;
  }
  ShockwaveInputs& inputs = out.inputs_.emplace<ShockwaveInputs>();
  inputs.num_gpus = *nodes;
  if (auto done = read_rest(inputs, parse_shockwave_trace); !done) {
    return base::failure(done.error());
  }
  if (options.batch_sizes.empty()) return out;
  auto phases = read_rival_file(options.batch_sizes, parse_batch_sizes);
  if (!phases) return base::failure(phases.error());
  inputs.batch_sizes = std::move(*phases);
  return out;
}

Result<RivalReplay> RivalInputs::replay(const RivalPreset& preset, const RealGpus& real) const {
  const auto* shockwave = std::get_if<ShockwaveInputs>(&inputs_);
  auto out = shockwave != nullptr ? replay_shockwave(*shockwave, preset, real)
                                  : replay_elasticflow(std::get<ElasticInputs>(inputs_), preset);
  if (!out) return base::failure(in_file(out.error(), jobs_file_));
  out->summary.jobs = out->jobs.size();
  out->summary.decisions = out->decisions.size();
  for (const Decision& decision : out->decisions) {
    out->summary.placements += decision.holdings.size();
  }
  add_times(out->jobs, out->decisions);
  return out;
}

}  // namespace goban::study::rivals
