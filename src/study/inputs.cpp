#include "study/inputs.hpp"

#include <algorithm>
#include <cstdio>
#include <fmt/format.h>

#include "base/counted.hpp"
#include "base/number.hpp"
#include "base/random.hpp"
#include "base/reports/job_profile.hpp"
#include "base/text_file.hpp"
#include "core/knowledge/app_class.hpp"
#include "core/knowledge/penalty_model.hpp"
#include "core/scheduler/accounts.hpp"
#include "site/inputs/inputs.hpp"
#include "study/history/incidents.hpp"
#include "study/history/spot_supply.hpp"
#include "study/knowledge_files.hpp"
#include "study/priced_runs.hpp"

namespace goban::study {

using base::Result;
using base::usage_error;

namespace {

/// A penalty given on the command line, `kind:name[@min_gpus]=value`.
Result<PenaltyOption> parse_penalty(const std::string& text, const core::model::Cluster& cluster,
                                    const base::NameTable& models) {
  const auto bad = [&](const std::string& why) {
    return usage_error(fmt::format("--penalty {}: {}", text, why),
                       "such as class:A=1.16, model:PointNet@8=1.10 or level:rack=1.3");
  };
  const size_t colon = text.find(':');
  const size_t equals = text.rfind('=');
  if (colon == std::string::npos || equals == std::string::npos || equals < colon) {
    return bad("must be kind:name=penalty");
  }
  PenaltyOption option;
  const std::string kind = text.substr(0, colon);
  std::string name = text.substr(colon + 1, equals - colon - 1);
  const auto value = base::parse_double(std::string_view(text).substr(equals + 1));
  if (!value || *value < 0.001 || *value > 1000)
    return bad("the penalty must be a number from 0.001 to 1000");
  option.penalty = *value;
  if (const size_t at = name.find('@'); at != std::string::npos) {
    const auto gpus = base::parse_int(std::string_view(name).substr(at + 1));
    if (!gpus || *gpus < 1 || *gpus > 1 << 24)
      return bad("the number after @ must be an integer from 1 to 16777216");
    option.min_gpus = static_cast<int32_t>(*gpus);
    name.resize(at);
  }
  if (kind == "class") {
    const auto app_class = core::knowledge::parse_app_class(name);
    if (!app_class) return bad("unknown class; classes are A, B, ...");
    option.app_class = *app_class;
  } else if (kind == "model") {
    option.model = core::model::ModelId(models.find(name));
    if (!option.model->valid()) return bad(fmt::format("no job has model {}", name));
  } else if (kind == "level") {
    const auto levels = cluster.levels();
    const auto found = std::ranges::find(levels, name, &core::model::TopologyLevel::name);
    if (found == levels.end()) return bad(fmt::format("the cluster has no level {}", name));
    option.level = static_cast<size_t>(found - levels.begin());
  } else {
    return bad(fmt::format("unknown kind {}", kind));
  }
  return option;
}

/// Derived penalties change little with the number of GPUs; each power of two gets its own.
base::Status add_job_profile(const std::string& path, Inputs& inputs, base::Progress& progress) {
  const auto text = base::read_text_file(path);
  if (!text) return base::failure(text.error());
  const auto profile = base::reports::parse_job_profile(*text, path);
  if (!profile) return base::failure(profile.error());
  const core::model::ModelId model(inputs.jobs.history.models.find(profile->model));
  if (!model.valid()) {
    progress.note(fmt::format("no job has model {} of {}", profile->model, path));
    return {};
  }
  for (uint32_t gpus = 2; gpus <= inputs.cluster.num_gpus(); gpus *= 2) {
    auto levels = core::knowledge::derived_penalties(*profile, inputs.cluster, gpus);
    if (!levels) {
      progress.note(fmt::format(
          "{} gives no penalty: it must have bytes_per_step and sync_interval_s, and the "
          "cluster the bandwidth of every level",
          path));
      return {};
    }
    PenaltyOption option;
    option.model = model;
    option.min_gpus = static_cast<int32_t>(gpus);
    option.by_level = std::move(*levels);
    inputs.penalties.push_back(std::move(option));
  }
  return {};
}

/// Reads the site rules. No job may request more than the limit of its account or user.
base::Status add_rules(const std::string& path, Inputs& inputs) {
  core::model::JobHistory& history = inputs.jobs.history;
  auto rules = site::inputs::read_site_rules(path, history);
  if (!rules) return base::failure(rules.error());
  core::scheduler::Accounts nobody_runs(*rules);
  size_t too_large = 0;
  size_t first = 0;
  for (size_t i = 0; i < history.jobs.size(); ++i) {
    const core::model::JobRequest& request = history.jobs[i].request;
    const uint32_t association = nobody_runs.association(request.account, request.user);
    if (nobody_runs.blocking(association, request.num_gpus) == core::scheduler::Accounts::kNone)
      continue;
    if (too_large++ == 0) first = i;
  }
  if (too_large > 0) {
    const core::model::JobRequest& request = history.jobs[first].request;
    return base::bad_data(
        {path, 0, 0, ""},
        fmt::format("{} a hard limit of their account or user; the first is job {} with {} "
                    "(user \"{}\", account \"{}\")",
                    base::counted(too_large, "job exceeds", "jobs exceed"),
                    history.job_names[first], base::counted(request.num_gpus, "GPU"),
                    history.users[request.user.index()], history.accounts[request.account.index()]),
        "raise the limit, or remove the jobs from the history");
  }
  inputs.rules = std::make_shared<core::model::SiteRules>(std::move(*rules));
  return {};
}

/// Node failures, maintenance, and nodes that the supply of spot instances closes.
base::Status add_incidents(const InputFiles& files, Inputs& inputs) {
  history::Incidents incidents;
  const core::model::JobHistory& history = inputs.jobs.history;
  if (!files.incidents.empty()) {
    auto read = history::read_incidents(files.incidents, inputs.cluster, history);
    if (!read) return base::failure(read.error());
    incidents = std::move(*read);
  }
  for (const std::string& option : files.spot_supply) {
    const auto group = history::read_spot_group(option, inputs.cluster);
    if (!group) return base::failure(group.error());
    const base::TimeNs first_ns = history.jobs[0].request.submit_ns;
    if (auto status = history::add_outages(*group, first_ns, incidents.outages); !status) {
      return status;
    }
    if (group->supply.most() > static_cast<int64_t>(group->nodes.size())) {
      inputs.knowledge_notes.push_back(
          {.level = results::NoteLevel::Warning,
           .text = fmt::format("--spot-supply {}: up to {} instances for {}", option,
                               group->supply.most(), base::counted(group->nodes.size(), "node"))});
    }
  }
  inputs.incidents = incidents.events();
  return {};
}

std::string why_empty(const history::ReadResult& read) {
  if (read.rejected > 0) return "first reason: " + read.first_rejections[0].reason;
  if (read.counts.cpu_jobs_left_out == 0) return "the history is empty";
  return "all jobs are CPU-only, and the cluster has no resource type without GPUs";
}

Result<history::ReadResult> read_jobs(InputFiles& files, const core::model::Cluster& cluster,
                                      const std::string& out, base::Progress& progress) {
  history::ReadOptions options;
  static_cast<site::records::ReadOptions&>(options) = files.reading;
  options.cluster = &cluster;
  const bool rejects_named = !files.rejects.empty();
  if (!rejects_named) files.rejects = (out.empty() ? "" : out + "/") + "rejected.csv";
  if (files.keep_rejects) options.rejects_path = files.rejects;
  const base::Phase reading(progress, "reading");
  options.progress = [&progress](int64_t read, int64_t total) { progress.update(read, total); };
  auto result = history::read_history(files.jobs, options);
  if (files.keep_rejects && !rejects_named && (!result || result->rejected == 0))
    std::remove(files.rejects.c_str());
  return result;
}

/// Draws which jobs may be preempted.
void draw_preemptible(double share, uint64_t seed, core::model::JobHistory& history) {
  base::Random random(seed);
  for (size_t i = 0; i < history.jobs.size(); ++i) {
    core::model::Job job = history.jobs[i];
    job.request.stays = random.uniform() >= share;
    history.jobs.put(i, job);
  }
}

}  // namespace

std::vector<std::string> InputFiles::input_paths() const {
  std::vector<std::string> paths;
  if (site::inputs::is_cluster_file(cluster)) paths.push_back(cluster);
  for (const std::string* path :
       {&jobs, &scores, &fillers, &accounts, &incidents, &colocation, &rates}) {
    if (!path->empty()) paths.push_back(*path);
  }
  if (site::inputs::is_power_file(energy)) paths.push_back(energy);
  if (is_deadline_file(deadlines)) paths.push_back(deadlines);
  paths.insert(paths.end(), job_profiles.begin(), job_profiles.end());
  for (const std::string& supply : spot_supply)
    paths.push_back(supply.substr(0, supply.rfind(':')));
  return paths;
}

core::knowledge::LocalityPenalties Inputs::penalties_for(
    const core::policy::Composition& composition, std::optional<double> across_nodes) const {
  if (composition.settings.ideal_speed) {
    core::knowledge::LocalityPenalties ideal(cluster, 1.0);
    ideal.set_across_nodes(1.0);
    return ideal;
  }
  core::knowledge::LocalityPenalties result(cluster, composition.settings.locality_penalty);
  if (across_nodes) result.set_across_nodes(*across_nodes);
  for (const PenaltyOption& option : penalties) {
    if (option.model && !option.by_level.empty()) {
      result.set_model_levels(*option.model, option.min_gpus, option.by_level);
    } else if (option.model) {
      result.set_model(*option.model, option.min_gpus, option.penalty);
    } else if (option.app_class) {
      result.set_class(*option.app_class, option.penalty);
    } else if (option.level) {
      result.set_level(*option.level, option.penalty);
    }
  }
  return result;
}

simulator::FillerSource Inputs::filler_source() const {
  if (!fillers) return {};
  return [this](size_t k) { return fillers->job(k, jobs.history); };
}

Result<Inputs> load_inputs(InputFiles& files, const std::string& out, uint64_t seed,
                           base::Progress& progress) {
  auto cluster = site::inputs::resolve_cluster(files.cluster);
  if (!cluster) return base::failure(cluster.error());
  auto jobs = read_jobs(files, *cluster, out, progress);
  if (!jobs) return base::failure(jobs.error());
  if (jobs->history.jobs.empty()) {
    return base::bad_data({files.jobs, 0, 0, ""},
                          fmt::format("no jobs remain out of {} records", jobs->records),
                          why_empty(*jobs));
  }
  core::knowledge::PmScores ideal = core::knowledge::PmScores::uniform(cluster->num_gpus());
  Inputs inputs{std::move(*cluster), std::move(*jobs), std::move(ideal), {}, {}, {}, {}, {}, {}};
  if (auto status = add_knowledge(files, seed, inputs); !status) {
    return base::failure(status.error());
  }
  if (files.preemptible_share) {
    draw_preemptible(*files.preemptible_share, seed, inputs.jobs.history);
  }
  if (!inputs.jobs.history.staging.empty()) {
    auto tiers = site::inputs::resolve_tiers(files.cluster);
    if (!tiers) return base::failure(tiers.error());
    inputs.tiers = std::move(*tiers);
  }
  inputs.rules = std::make_shared<core::model::SiteRules>();
  if (!files.scores.empty()) {
    auto scores = site::inputs::read_scores(files.scores, inputs.cluster.num_gpus());
    if (!scores) return base::failure(scores.error());
    inputs.scores = std::move(*scores);
  }
  if (!files.accounts.empty()) {
    if (auto status = add_rules(files.accounts, inputs); !status) {
      return base::failure(status.error());
    }
  }
  if (!files.fillers.empty()) {
    auto fillers = history::FillerSource::read(files.fillers);
    if (!fillers) return base::failure(fillers.error());
    inputs.fillers = std::move(*fillers);
  }
  if (auto status = add_incidents(files, inputs); !status) return base::failure(status.error());
  for (const std::string& path : files.job_profiles) {
    if (auto status = add_job_profile(path, inputs, progress); !status)
      return base::failure(status.error());
  }
  for (const std::string& text : files.penalties) {
    auto option = parse_penalty(text, inputs.cluster, inputs.jobs.history.models);
    if (!option) return base::failure(option.error());
    inputs.penalties.push_back(std::move(*option));
  }
  if (!files.prices.empty()) {
    if (auto status = load_prices(files, inputs); !status) return base::failure(status.error());
  }
  return inputs;
}

}  // namespace goban::study
