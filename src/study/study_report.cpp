#include "study/study_report.hpp"

#include <fmt/format.h>

#include "base/number.hpp"
#include "site/page/html_report.hpp"

namespace goban::study {

namespace {

constexpr size_t kHeatRowsMax = 256;

std::string seconds_text(double seconds) { return base::number_text(seconds) + " s"; }

std::vector<std::pair<std::string, std::string>> settings_of(const simulator::BatchRun& run) {
  const core::policy::RunSettings& settings = run.options.settings;
  return {{"decides", settings.round_s > 0 ? "every " + seconds_text(settings.round_s)
                                           : std::string("at events")},
          {"restart cost", seconds_text(settings.restart_cost_s)},
          {"locality penalty", base::number_text(settings.locality_penalty)}};
}

}  // namespace

StudyReport::StudyReport(const StudyOptions& options, const Inputs& inputs,
                         std::vector<results::Note> notes)
    : path_(options.html) {
  if (path_.empty()) return;
  report_.notes = std::move(notes);
  report_.warmup_ns = options.warmup_ns;
  const InputFiles& files = options.files;
  rows_ = results::heat_rows(inputs.cluster, kHeatRowsMax);
  report_.title = fmt::format("{} on {}", files.jobs, inputs.cluster.name());
  report_.goban_version = GOBAN_VERSION;
  report_.cluster = &inputs.cluster;
  report_.history = &inputs.jobs.history;
  report_.rows = &rows_;
  report_.knowledge = inputs.knowledge.get();
  const auto setting = [this](const char* name, std::string value) {
    if (!value.empty()) report_.settings.emplace_back(name, std::move(value));
  };
  setting("job history", fmt::format("{} ({})", files.jobs, inputs.jobs.format));
  setting("cluster", files.cluster);
  setting("PM scores", files.scores.empty() ? "all 1" : files.scores);
  setting("accounts", files.accounts);
  setting("incidents", files.incidents);
  for (const std::string& supply : files.spot_supply) setting("spot supply", supply);
  setting("filler jobs", files.fillers);
  setting("power model", files.energy);
  setting("co-location history", files.colocation);
  setting("deadlines", files.deadlines);
  setting("prices", files.prices);
  if (options.prediction_noise_pct > 0) {
    setting("prediction noise", base::number_text(options.prediction_noise_pct) + " %");
  }
  for (const std::string& penalty : files.penalties) setting("penalty", penalty);
  for (const std::string& profile : files.job_profiles) setting("job profile", profile);
  setting("order", options.order.value_or(""));
  setting("checkpoint every", seconds_text(options.checkpoint_interval_s));
  if (options.warmup_ns > 0) {
    setting("warm-up, not counted", seconds_text(base::to_seconds(options.warmup_ns)));
  }
  setting("seed", std::to_string(options.seed));
}

void StudyReport::watch(simulator::BatchRun& run) {
  if (path_.empty()) return;
  recorders_.push_back(
      std::make_unique<results::RunRecorder>(*report_.history, rows_, run.options.observer));
  run.options.observer = recorders_.back().get();
  if (report_.knowledge != nullptr) {
    pairs_.push_back(
        std::make_unique<results::PairRecorder>(*report_.cluster, run.options.observer));
    run.options.observer = pairs_.back().get();
  }
  report_.runs.push_back({.settings = settings_of(run)});
}

base::Status StudyReport::write(const results::Comparison& comparison, const FinishedRuns& runs) {
  if (path_.empty()) return {};
  report_.comparison = comparison;
  for (size_t i = 0; i < report_.runs.size(); ++i) {
    report_.runs[i].result = &runs.simulated[i].simulation;
    report_.runs[i].recorder = recorders_[i].get();
    if (!runs.energy.empty()) report_.runs[i].energy = runs.energy[i].get();
    if (!pairs_.empty()) report_.runs[i].pairs = pairs_[i].get();
  }
  return site::page::write_html(path_, results::report_document(report_));
}

}  // namespace goban::study
