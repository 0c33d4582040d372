// goban analyze: the operator's report, from accounting records and GPU series.
#include <cstdio>
#include <fmt/format.h>

#include "base/clock.hpp"
#include "base/date_time.hpp"
#include "base/printable.hpp"
#include "base/units.hpp"
#include "cli/shell/progress.hpp"
#include "cli/shell/text_table.hpp"
#include "cli/site/commands.hpp"
#include "cli/site/reading_options.hpp"
#include "site/analysis/writers.hpp"
#include "site/site_report.hpp"
#include "study/sizing.hpp"

namespace goban::cli {
namespace {

using site::analysis::Labels;
using site::analysis::ReportData;

struct AnalyzeArguments {
  site::ReportOptions report;
  std::vector<std::string> jobs;  ///< further files
  std::string language = "en";
  std::string why;
  bool sizing = false;
  std::string wait_target = "1h";
  double wait_share = 0.9;
  bool json = false;
};

void print_remarks(const std::vector<site::analysis::Remark>& remarks) {
  for (const site::analysis::Remark& remark : remarks) {
    fmt::print(stderr, "goban: {}: {}\n", remark.warning ? "warning" : "note",
               base::printable(remark.text));
  }
}

int print(const std::string& text) {
  std::fwrite(text.data(), 1, text.size(), stdout);
  return 0;
}

base::Status add_sizing(const AnalyzeArguments& arguments, const site::analysis::Context& context,
                        const base::Progress& progress) {
  const auto wait = base::parse_duration(arguments.wait_target);
  if (!wait) return base::failure(wait.error());
  return study::add_sizing(context, {base::to_seconds(*wait) / 3600, arguments.wait_share},
                           progress);
}

int analyze(const AnalyzeArguments& arguments) {
  catch_interrupts();
  interrupt_reads();
  const auto language = site::analysis::parse_language(arguments.language);
  if (!language) {
    return report_error({base::ErrorCode::Usage,
                         "unknown language '" + arguments.language + "'",
                         {},
                         "known languages: en, ja"});
  }
  const Labels labels(*language);
  ProgressBar progress;
  const auto site = site::SiteReport::load(arguments.report, progress);
  if (!site) return report_error(site.error());
  print_remarks((*site)->remarks());
  if (!arguments.why.empty()) {
    const auto why = (*site)->explain(arguments.why);
    return why ? print(*why) : report_error(why.error());
  }
  ReportData report = (*site)->make(labels);
  base::Status status;
  if (arguments.sizing) {
    status = add_sizing(arguments, (*site)->context(labels, report), progress);
  }
  if (status && !arguments.report.out.empty()) {
    status = (*site)->write(arguments.report.out, report, progress);
  }
  if (!status) return report_error(status.error());
  const size_t width = output_style().width;
  (void)print(arguments.json
                  ? site::analysis::report_json(report)
                  : wrapped(site::analysis::terminal_summary(report, labels, width), width));
  const base::Status& few = (*site)->check_rejects();
  return few ? 0 : report_error(few.error());
}

}  // namespace

void add_analyze(Command& app, Action& action) {
  auto arguments = std::make_shared<AnalyzeArguments>();
  Command* c =
      app.add_subcommand("analyze", "Analyse a site's accounting records and write a report");
  site::ReportOptions& report = arguments->report;
  c->add_option("FILE", report.files, "Accounting files, plain or gzip; - for standard input");
  c->add_option("--jobs", arguments->jobs, "Further accounting files, like FILE");
  c->add_option("--store", report.stores,
                "History stores (see goban history): SQLite files or URLs");
  add_reading_options(*c, report.reading);
  c->add_option("--cluster", report.cluster, "Cluster of the site: TOML file, preset or NxM");
  c->add_option("--rules", report.rules,
                "Rules that determine which jobs are analysed, and how (TOML file)")
      ->type_name("FILE");
  c->add_option("--gpu", report.gpu,
                "GPU series: series stores (see goban series), OpenMetrics or nvidia-smi files, "
                "Prometheus URLs");
  c->add_option("--why", arguments->why, "Explain why this job is included or excluded, and exit");
  c->add_option("--org", report.account, "Include only the records of this account");
  Option* sizing = c->add_flag(
      "--sizing", arguments->sizing,
      "Estimate by simulation the size of a dedicated cluster for these jobs, usually with --org");
  c->add_option("--wait-target", arguments->wait_target,
                "Maximum wait time of a job, such as 30m or 2h")
      ->capture_default_str()
      ->needs(sizing);
  c->add_option("--wait-share", arguments->wait_share,
                "Share of the jobs that must meet --wait-target")
      ->range(0.0, 1.0)
      ->capture_default_str()
      ->needs(sizing);
  c->add_option("--site", report.site,
                "Name of the site in the head of the report (default: that of the cluster)");
  c->add_option("--site-zone", report.site_zone,
                "Time zone of days, hours and weekdays in the report (default: --zone, or UTC)");
  c->add_option("--date", report.date, "Date in the head of the report (default: today)");
  c->add_option("--lang", arguments->language, "Language of the report: en or ja")
      ->capture_default_str();
  c->add_option("--out", report.out,
                "Output folder for report.html, report.json, tables/ and figures/")
      ->type_name("FOLDER");
  c->add_option("--rejects", report.rejects,
                "File for rejected records, with reasons (default: FOLDER/rejects.csv)")
      ->type_name("FILE");
  add_max_rejects(*c, report.max_rejects_pct);
  c->add_flag("--json", arguments->json, "Print report.json instead of the summary");
  c->footer(
      "Examples:\n"
      "  sacct -a -X -P --noconvert -S 2019-04-01 -o jobid,user,account,partition,submit,start,\\\n"
      "    end,elapsedraw,state,exitcode,nnodes,ncpus,alloctres,timelimitraw,nodelist \\\n"
      "    | goban analyze - --out report\n"
      "  goban analyze accounting.gz --format grid-engine --cluster abci --out report\n"
      "  goban analyze jobs.csv --cluster 32x8 --gpu series --rules rules.toml --lang ja\n"
      "  goban analyze jobs.csv --why 1234_5\n"
      "  goban analyze jobs.csv --org physics --sizing --wait-target 2h\n"
      "docs/analyze.md explains the tables, the figures and the rules.");
  c->callback([arguments, &action] {
    std::vector<std::string>& files = arguments->report.files;
    files.insert(files.end(), arguments->jobs.begin(), arguments->jobs.end());
    std::string& date = arguments->report.date;
    if (date.empty()) date = base::date_text(base::wall_ns());
    action = [arguments] { return analyze(*arguments); };
  });
}

}  // namespace goban::cli
