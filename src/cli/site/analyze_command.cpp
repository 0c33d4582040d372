// goban analyze: the operator's report, from accounting records and GPU series.
#include <algorithm>
#include <cstdio>
#include <fmt/format.h>
#include <span>

#include "base/output_file.hpp"
#include "base/printable.hpp"
#include "base/text_file.hpp"
#include "base/units.hpp"
#include "cli/shell/command.hpp"
#include "cli/shell/progress.hpp"
#include "cli/site/analyze_series.hpp"
#include "cli/site/reading_options.hpp"
#include "cli/study/analyze_sizing.hpp"
#include "site/analysis/analyse.hpp"
#include "site/analysis/rules_file.hpp"
#include "site/analysis/what_if.hpp"
#include "site/analysis/why.hpp"
#include "site/analysis/writers.hpp"
#include "site/inputs/inputs.hpp"
#include "site/page/html_report.hpp"
#include "site/page/json_text.hpp"
#include "site/records/record_table.hpp"
#include "site/store/job_store.hpp"

namespace goban::cli {
namespace {

using site::analysis::Labels;
using site::analysis::Population;
using site::analysis::ReportData;

struct AnalyzeArguments {
  std::vector<std::string> files;
  std::vector<std::string> jobs;
  std::vector<std::string> stores;
  ReadingArguments reading;
  std::string cluster;
  std::string rules;
  std::string language = "en";
  std::string out;
  std::string rejects;
  std::vector<std::string> gpu;
  std::string why;
  std::string organisation;
  bool sizing = false;
  std::string wait_target = "1h";
  double wait_share = 0.9;
  bool json = false;
};

/// Where the rejects of the n-th of several files go.
std::string rejects_path(const AnalyzeArguments& arguments, size_t file, size_t files) {
  std::string path = arguments.rejects;
  if (path.empty() && !arguments.out.empty()) path = arguments.out + "/rejects.csv";
  if (path.empty() || files == 1) return path;
  return fmt::format("{}.{}.csv", path.ends_with(".csv") ? path.substr(0, path.size() - 4) : path,
                     file + 1);
}

void add_rejections(const site::records::ReadSummary& read, const std::string& path,
                    const std::string& rejects, ReportData& report) {
  const std::string name = base::input_name(path);
  for (const std::string& note : read.notes)
    report.remarks.push_back({false, fmt::format("{}: {}", name, note)});
  if (read.rejected == 0) return;
  std::string text = fmt::format("{}: {} of {} records were rejected{}{}", name, read.rejected,
                                 read.records, rejects.empty() ? "" : ", see ", rejects);
  constexpr size_t kShown = 3;
  for (size_t i = 0; i < std::min(kShown, read.first_rejections.size()); ++i) {
    text += fmt::format("\n  {}:{}: {}", name, read.first_rejections[i].line,
                        read.first_rejections[i].reason);
  }
  report.remarks.push_back({true, std::move(text)});
}

/// Lets only the records of one account through, if one is named. Nobody can say whose a refused
/// record is: with an account, or with hidden users, none is shown.
class OfAccount final : public site::records::RecordSink {
 public:
  OfAccount(site::records::RecordTable& table, std::string account, bool hide_users)
      : table_(table),
        account_(std::move(account)),
        shows_refused_(account_.empty() && !hide_users) {}
  [[nodiscard]] std::string take(const site::records::AccountingRecord& record) override {
    return account_.empty() || record.account == account_ ? table_.take(record) : std::string();
  }
  void expect(size_t records) override {
    if (account_.empty()) table_.expect(records);
  }
  void begin_file(const site::records::InputFacts& facts) override { table_.begin_file(facts); }
  [[nodiscard]] bool is_full() const override { return table_.is_full(); }
  [[nodiscard]] bool shows_refused() const override { return shows_refused_; }

 private:
  site::records::RecordTable& table_;
  std::string account_;
  bool shows_refused_;
};

/// Reads all files into one table; what readers have to say goes into the remarks.
base::Status read_all(const AnalyzeArguments& arguments, bool hide_users,
                      site::records::RecordTable& table, ReportData& report) {
  std::vector<std::string> files = arguments.files;
  files.insert(files.end(), arguments.jobs.begin(), arguments.jobs.end());
  for (const std::string& each : arguments.stores) {
    if (!site::store::is_store_location(each)) {
      return base::usage_error(fmt::format("{} is no history store", each),
                               "name a SQLite file, mariadb://... or postgresql://...");
    }
    files.push_back(each);
  }
  if (files.empty()) {
    return base::usage_error("there is nothing to analyse",
                             "name a file, or - for standard input: sacct ... | goban analyze -");
  }
  ProgressBar progress("reading", 1);
  for (size_t i = 0; i < files.size(); ++i) {
    site::records::ReadOptions options;
    arguments.reading.apply(options);
    options.rejects_path = rejects_path(arguments, i, files.size());
    options.progress = [&progress](int64_t read, int64_t total) { progress.update(read, total); };
    OfAccount sink(table, arguments.organisation, hide_users);
    const auto read = read_records_input(files[i], options, sink);
    if (!read) return base::failure(read.error());
    add_rejections(*read, files[i], options.rejects_path, report);
    if (table.rows().empty() && read->rejected == read->records && read->rejected > 0 &&
        i + 1 == files.size()) {
      return base::bad_data({files[i], 0, 0, ""},
                            fmt::format("no job is left of {} records", read->records),
                            "the first reason: " + read->first_rejections.front().reason);
    }
  }
  if (table.rows().empty() && !arguments.organisation.empty()) {
    return base::usage_error("no record is of the account " + arguments.organisation,
                             "names are those of the accounting");
  }
  return {};
}

base::Status write_text(const std::string& path, std::string text) {
  auto file = base::OutputFile::create(path);
  if (!file) return base::failure(file.error());
  file->buffer() = std::move(text);
  return file->commit();
}

base::Status write_files(const std::string& folder, const ReportData& report) {
  for (const site::analysis::Table& table : report.tables) {
    const std::string path = fmt::format("{}/tables/{}.csv", folder, table.id);
    if (auto status = write_text(path, site::analysis::table_csv(table)); !status) return status;
  }
  for (const site::analysis::Figure& figure : report.figures) {
    const std::string path = fmt::format("{}/figures/{}.csv", folder, figure.id);
    if (auto status = write_text(path, site::analysis::figure_csv(figure)); !status) return status;
  }
  const std::string scalars = folder + "/tables/scalars.csv";
  if (auto status = write_text(scalars, site::analysis::scalars_csv(report)); !status)
    return status;
  const std::string json = site::analysis::report_json(report);
  if (const base::Status page = site::page::html_available(); !page) {
    fmt::print(stderr, "goban: note: no report.html: {}\n", page.error().message);
  } else if (auto status =
                 site::page::write_html(folder + "/report.html", site::page::html_safe(json));
             !status) {
    return status;
  }
  return write_text(folder + "/report.json", json);
}

/// All that an analysis works on.
struct Analysis {
  site::analysis::Rules rules;
  std::optional<core::model::Cluster> cluster;
  site::records::RecordTable table;
  Population population;
  std::optional<site::analysis::GpuUse> use;
  ReportData remarks;
  [[nodiscard]] const site::analysis::GpuUse* gpu_use() const { return use ? &*use : nullptr; }
};

/// Condition 5: values from the series given, else from the accounting's means, else none.
base::Status use_gpus(const AnalyzeArguments& arguments, Analysis& work) {
  const site::analysis::UseSource source = work.rules.use.source;
  std::optional<site::analysis::GpuUse> use;
  if (!arguments.gpu.empty() && source != site::analysis::UseSource::Means) {
    const auto open = open_gpu_series(arguments.gpu, work.population, work.remarks);
    if (!open) return base::failure(open.error());
    const auto pointer = [](const std::optional<site::series::StoreReader>& reader) {
      return reader ? &*reader : nullptr;
    };
    if (open->processes) {
      const auto verdicts =
          site::analysis::software_verdicts(work.population, work.rules, *open->processes);
      if (!verdicts.empty()) {
        site::analysis::apply_software(work.population, work.rules, verdicts);
      }
    }
    ProgressBar progress("GPU values", static_cast<int64_t>(work.population.jobs.size()));
    use = site::analysis::gpu_use_of_series(
        work.population, work.rules,
        {pointer(open->utilization), pointer(open->memory), pointer(open->sm_active),
         pointer(open->tensor_active), pointer(open->processes)},
        [&progress](int64_t jobs) { progress.done = jobs; });
  } else if (source != site::analysis::UseSource::Series) {
    use = site::analysis::gpu_use_of_means(work.population, work.rules);
    if (use->source == site::analysis::ValueSource::None) use.reset();
  }
  if (!use) return {};
  site::analysis::apply_gpu_use(work.population, work.rules,
                                site::analysis::use_verdicts(work.population, *use), {});
  work.use = std::move(use);
  return {};
}

base::Status prepare(const AnalyzeArguments& arguments, Analysis& work) {
  if (!arguments.rules.empty()) {
    auto read = site::analysis::read_rules(arguments.rules);
    if (!read) return base::failure(read.error());
    work.rules = std::move(*read);
  }
  if (!arguments.cluster.empty()) {
    auto resolved = site::inputs::resolve_cluster(arguments.cluster);
    if (!resolved) return base::failure(resolved.error());
    work.cluster.emplace(std::move(*resolved));
  }
  if (auto status = read_all(arguments, work.rules.hide_users, work.table, work.remarks); !status) {
    return status;
  }
  work.population = site::analysis::make_population(work.table, work.rules,
                                                    work.cluster ? &*work.cluster : nullptr);
  site::analysis::extract(work.population, work.rules);
  return use_gpus(arguments, work);
}

/// The changed histories that the report's commands replay.
base::Status write_histories(const std::string& folder, const Analysis& work) {
  for (int i = 0; i < site::analysis::kNumWhatIfs; ++i) {
    const auto what_if = static_cast<site::analysis::WhatIf>(i);
    if (!site::analysis::applies(what_if, work.gpu_use())) continue;
    auto file = base::OutputFile::create(
        fmt::format("{}/what_if/{}.csv", folder, site::analysis::name(what_if)));
    if (!file) return base::failure(file.error());
    site::analysis::write_history(work.population, work.rules, work.gpu_use(), what_if,
                                  [&file](std::string_view piece) {
                                    file->buffer() += piece;
                                    file->write_out();
                                  });
    if (auto status = file->commit(); !status) return status;
  }
  const std::string shared = site::analysis::colocation_csv(work.population, work.gpu_use());
  if (shared.empty()) return {};
  return write_text(folder + "/what_if/colocation.csv", shared);
}

int explain(const AnalyzeArguments& arguments, const Analysis& work) {
  const std::string text =
      site::analysis::explain_jobs(work.population, work.rules, arguments.why, work.gpu_use());
  if (text.empty()) {
    return report_error({base::ErrorCode::Usage,
                         "no record has the id " + arguments.why,
                         {},
                         "ids are those of the accounting: 123, 123_4 for an array task"});
  }
  std::fwrite(text.data(), 1, text.size(), stdout);
  return 0;
}

base::Status size(const AnalyzeArguments& arguments, const Analysis& work, const Labels& labels,
                  ReportData& report) {
  if (!arguments.sizing) return {};
  const auto wait = base::parse_duration(arguments.wait_target);
  if (!wait) return base::failure(wait.error());
  return add_sizing({work.population, work.rules, labels, report, work.gpu_use(), {}},
                    {base::to_seconds(*wait) / 3600, arguments.wait_share});
}

int analyze(const AnalyzeArguments& arguments) {
  catch_interrupts();
  const auto language = site::analysis::parse_language(arguments.language);
  if (!language) {
    return report_error(
        {base::ErrorCode::Usage, "no such language: " + arguments.language, {}, "give en or ja"});
  }
  const Labels labels(*language);
  Analysis work;
  if (auto status = prepare(arguments, work); !status) return report_error(status.error());
  for (const site::analysis::Remark& remark : work.remarks.remarks) {
    fmt::print(stderr, "goban: {}: {}\n", remark.warning ? "warning" : "note",
               base::printable(remark.text));
  }
  if (!arguments.why.empty()) return explain(arguments, work);
  ReportData report = site::analysis::analyse(work.population, work.rules, labels, work.gpu_use(),
                                              {arguments.cluster, arguments.out});
  report.remarks = std::move(work.remarks.remarks);
  if (auto status = size(arguments, work, labels, report); !status) {
    return report_error(status.error());
  }
  if (!arguments.out.empty()) {
    auto status = write_files(arguments.out, report);
    if (status) status = write_histories(arguments.out, work);
    if (!status) return report_error(status.error());
  }
  const std::string text = arguments.json ? site::analysis::report_json(report)
                                          : site::analysis::terminal_summary(report, labels);
  std::fwrite(text.data(), 1, text.size(), stdout);
  return 0;
}

}  // namespace

void add_analyze(Command& app, Action& action) {
  auto arguments = std::make_shared<AnalyzeArguments>();
  Command* c = app.add_subcommand("analyze", "Report on a site from its job history");
  c->add_option("FILE", arguments->files, "Accounting files, plain or gzip; - reads stdin");
  c->add_option("--jobs", arguments->jobs, "The same");
  c->add_option("--store", arguments->stores, "History stores (goban history), as URL or file");
  add_reading_options(*c, arguments->reading);
  c->add_option("--cluster", arguments->cluster, "The site: TOML file, preset, NxM");
  c->add_option("--rules", arguments->rules, "Which jobs count and how: TOML file");
  c->add_option("--gpu", arguments->gpu,
                "GPU series: stores (goban series import), OpenMetrics or nvidia-smi files, "
                "Prometheus addresses");
  c->add_option("--why", arguments->why, "Say why this job is analysed or left out, and stop");
  c->add_option("--org", arguments->organisation, "Only the records of this account");
  Option* sizing = c->add_flag("--sizing", arguments->sizing,
                               "Simulate the size of a cluster of its own (mostly with --org)");
  c->add_option("--wait-target", arguments->wait_target, "Wait that its jobs may have at most")
      ->capture_default_str()
      ->needs(sizing);
  c->add_option("--wait-share", arguments->wait_share, "Share of the jobs that has to meet it")
      ->range(0.0, 1.0)
      ->capture_default_str()
      ->needs(sizing);
  c->add_option("--lang", arguments->language, "Language of the report: en, ja")
      ->capture_default_str();
  c->add_option("--out", arguments->out,
                "Folder for report.html, report.json, tables/ and figures/");
  c->add_option("--rejects", arguments->rejects,
                "Where rejected records go, with reasons; OUT/rejects.csv if left out");
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
      "What every table and figure means, and the rules: docs/analyze.md.");
  c->callback([arguments, &action] { action = [arguments] { return analyze(*arguments); }; });
}

}  // namespace goban::cli
