// goban predict: how well the run times of a site's jobs can be predicted.
#include <cstdio>
#include <fmt/format.h>

#include "cli/shell/notes.hpp"
#include "cli/shell/progress.hpp"
#include "cli/shell/text_table.hpp"
#include "cli/site/reading_options.hpp"
#include "cli/study/commands.hpp"
#include "site/analysis/writers.hpp"
#include "site/inputs/inputs.hpp"
#include "site/records/reject_limit.hpp"
#include "site/site_report.hpp"
#include "study/duration_report.hpp"
#include "study/history/job_reader.hpp"
#include "study/notes.hpp"

namespace goban::cli {
namespace {

struct PredictArguments {
  std::string file;
  std::string cluster;
  std::string out;
  std::string rejects;
  study::history::ReadOptions reading;
  double max_rejects_pct = site::records::kMaxRejectsPct;
  bool json = false;
};

int predict(const PredictArguments& arguments) {
  study::history::ReadOptions options = arguments.reading;
  options.rejects_path = arguments.rejects;
  options.cpu_jobs = study::history::CpuJobs::Keep;
  std::optional<core::model::Cluster> cluster;
  if (!arguments.cluster.empty()) {
    auto read = site::inputs::resolve_cluster(arguments.cluster);
    if (!read) return report_error(read.error());
    cluster.emplace(std::move(*read));
    options.cluster = &*cluster;
  }
  ProgressBar progress("reading", 1);
  options.progress = [&progress](int64_t done, int64_t total) { progress.update(done, total); };
  const auto read = study::history::read_history(arguments.file, options);
  if (!read) return report_error(read.error());
  print_notes(study::read_notes(*read, arguments.file, arguments.rejects));
  const auto report = study::duration_report(study::study_durations(read->history), read->history);
  std::vector<study::results::Note> remarks;
  for (const site::analysis::Remark& remark : report.remarks) {
    remarks.push_back({.text = remark.text});
  }
  print_notes(remarks);
  if (!arguments.out.empty()) {
    if (auto status = site::write_report(arguments.out, report, progress); !status) {
      return report_error(status.error());
    }
  }
  const size_t width = output_style().width;
  const site::analysis::Labels english(site::analysis::Language::English);
  const std::string text =
      arguments.json ? site::analysis::report_json(report)
                     : wrapped(site::analysis::terminal_summary(report, english, width), width);
  std::fwrite(text.data(), 1, text.size(), stdout);
  const auto few = site::records::check_rejects(*read, arguments.file, arguments.max_rejects_pct);
  return few ? 0 : report_error(few.error());
}

}  // namespace

void add_predict(Command& app, Action& action) {
  auto arguments = std::make_shared<PredictArguments>();
  Command* c = app.add_subcommand("predict", "Test how well run times can be predicted");
  c->add_option("FILE", arguments->file,
                "Job history, plain or gzip, or a history store; - for standard input")
      ->required();
  add_reading_options(*c, arguments->reading);
  c->add_option("--cluster", arguments->cluster,
                "Reject jobs that do not fit on this cluster: TOML file, preset or NxM");
  c->add_option("--out", arguments->out, "Folder for report.html, report.json and CSV files");
  c->add_option("--rejects", arguments->rejects, "File for rejected records, with reasons");
  add_max_rejects(*c, arguments->max_rejects_pct);
  c->add_flag("--json", arguments->json, "Print JSON only");
  c->footer(
      "Replays the history: each job is predicted at its submission from the runs that had ended\n"
      "by then. The first 20 % of the jobs are for learning only; the others are evaluated.\n"
      "Examples:\n"
      "  goban predict jobs.csv\n"
      "  sacct -aPX -o ALL | goban predict - --out prediction\n"
      "docs/predict.md explains the method and the columns.");
  c->callback([arguments, &action] { action = [arguments] { return predict(*arguments); }; });
}

}  // namespace goban::cli
