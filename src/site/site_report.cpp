#include "site/site_report.hpp"

#include <filesystem>
#include <fmt/format.h>
#include <utility>

#include "base/output_file.hpp"
#include "base/text_file.hpp"
#include "site/analysis/analyse.hpp"
#include "site/analysis/rules_file.hpp"
#include "site/analysis/what_if.hpp"
#include "site/analysis/why.hpp"
#include "site/analysis/writers.hpp"
#include "site/gpu_series.hpp"
#include "site/inputs/inputs.hpp"
#include "site/page/html_report.hpp"
#include "site/page/json_text.hpp"
#include "site/records/formats/slurm_allocation.hpp"
#include "site/store/read_location.hpp"
#include "site/store/sql.hpp"

namespace goban::site {

using analysis::ReportData;

namespace {

/// Path of the rejects of the n-th of several files.
std::string rejects_path(const ReportOptions& options, size_t file, size_t files) {
  std::string path = options.rejects;
  if (path.empty() && !options.out.empty()) path = options.out + "/rejects.csv";
  if (path.empty() || files == 1) return path;
  return fmt::format("{}.{}.csv", path.ends_with(".csv") ? path.substr(0, path.size() - 4) : path,
                     file + 1);
}

void add_rejections(const records::ReadSummary& read, const std::string& path,
                    const std::string& rejects, ReportData& report) {
  const std::string name = base::input_name(path);
  for (const std::string& note : read.notes)
    report.remarks.push_back({false, fmt::format("{}: {}", name, note)});
  if (read.rejected == 0) return;
  report.remarks.push_back({true, name + ": " + records::rejections_text(read, name, rejects)});
}

/// Passes on only the records of one account, if one is given. The account of a rejected record is
/// unknown, so with an account, or with hidden users, rejected records are not shown.
class OfAccount final : public records::RecordSink {
 public:
  OfAccount(records::RecordTable& table, std::string account, bool hide_users)
      : table_(table),
        account_(std::move(account)),
        shows_refused_(account_.empty() && !hide_users) {}
  [[nodiscard]] std::string take(const records::AccountingRecord& record) override {
    return account_.empty() || record.account == account_ ? table_.take(record) : std::string();
  }
  void expect(size_t records) override {
    if (account_.empty()) table_.expect(records);
  }
  void begin_file(const records::InputFacts& facts) override { table_.begin_file(facts); }
  [[nodiscard]] bool is_full() const override { return table_.is_full(); }
  [[nodiscard]] bool shows_refused() const override { return shows_refused_; }

 private:
  records::RecordTable& table_;
  std::string account_;
  bool shows_refused_;
};

/// Reads all files into one table; the readers' notes are added to the remarks. `rejects` gets the
/// first error of records::check_rejects.
base::Status read_all(const ReportOptions& options, bool hide_users, records::RecordTable& table,
                      ReportData& report, base::Status& rejects, base::Progress& progress) {
  std::vector<std::string> files = options.files;
  for (const std::string& each : options.stores) {
    if (!store::is_store_location(each)) {
      constexpr const char* kRemedy = "use a SQLite file, mariadb://... or postgresql://...";
      std::error_code none;
      if (!std::filesystem::exists(each, none)) {
        return base::failed("no store at " + each, kRemedy);
      }
      return base::bad_data({each, 0, 0, {}}, "is not a history store", kRemedy);
    }
    files.push_back(each);
  }
  if (files.empty()) {
    return base::usage_error("there is nothing to analyse",
                             "name a file, or - for standard input: sacct ... | goban analyze -");
  }
  const base::Phase phase(progress, "reading");
  for (size_t i = 0; i < files.size(); ++i) {
    records::ReadOptions reading = options.reading;
    reading.rejects_path = rejects_path(options, i, files.size());
    reading.progress = [&progress](int64_t read, int64_t total) { progress.update(read, total); };
    OfAccount sink(table, options.account, hide_users);
    const auto read = store::read_location(files[i], reading, sink);
    if (!read) return base::failure(read.error());
    add_rejections(*read, files[i], reading.rejects_path, report);
    if (rejects) rejects = records::check_rejects(*read, files[i], options.max_rejects_pct);
    if (table.rows().empty() && read->rejected == read->records && read->rejected > 0 &&
        i + 1 == files.size()) {
      return base::bad_data({files[i], 0, 0, ""},
                            fmt::format("no jobs remain out of {} records", read->records),
                            "the first reason: " + read->first_rejections.front().reason);
    }
  }
  if (table.rows().empty() && !options.account.empty()) {
    return base::usage_error("no record belongs to account " + options.account,
                             "use the account name of the accounting records");
  }
  return {};
}

/// Writes the modified histories that the report's commands replay.
base::Status write_histories(const std::string& folder, const analysis::Population& population,
                             const analysis::Rules& rules, const analysis::GpuUse* use) {
  for (int i = 0; i < analysis::kNumScenarios; ++i) {
    const auto scenario = static_cast<analysis::Scenario>(i);
    if (!analysis::applies(scenario, use)) continue;
    auto file = base::OutputFile::create(
        fmt::format("{}/what_if/{}.csv", folder, analysis::name(scenario)));
    if (!file) return base::failure(file.error());
    analysis::write_history(population, rules, use, scenario, [&file](std::string_view piece) {
      file->buffer() += piece;
      file->write_out();
    });
    if (auto status = file->commit(); !status) return status;
  }
  const std::string shared = analysis::colocation_csv(population, use);
  if (shared.empty()) return {};
  return base::write_file(folder + "/what_if/colocation.csv", shared);
}

}  // namespace

/// Condition 5: values from the given series, otherwise from the accounting's means, otherwise
/// none.
base::Status SiteReport::use_gpus(const ReportOptions& options, base::Progress& progress) {
  const analysis::UseSource source = rules_.use.source;
  std::optional<analysis::GpuUse> use;
  if (!options.gpu.empty() && source != analysis::UseSource::Means) {
    const auto open = open_gpu_series(options.gpu, population_, said_, progress);
    if (!open) return base::failure(open.error());
    const auto pointer = [](const std::optional<series::StoreReader>& reader) {
      return reader ? &*reader : nullptr;
    };
    if (open->processes) {
      const auto verdicts = analysis::software_verdicts(population_, rules_, *open->processes);
      if (!verdicts.empty()) {
        analysis::apply_software(population_, rules_, verdicts);
      }
    }
    const base::Phase phase(progress, "GPU values", static_cast<int64_t>(population_.jobs.size()));
    use = analysis::gpu_use_of_series(
        population_, rules_,
        {pointer(open->utilization), pointer(open->memory), pointer(open->sm_active),
         pointer(open->tensor_active), pointer(open->processes), pointer(open->engine_active)},
        [&progress](int64_t jobs) { progress.done = jobs; });
  } else if (source != analysis::UseSource::Series) {
    use = analysis::gpu_use_of_means(population_, rules_);
    if (use->source == analysis::ValueSource::None) use.reset();
  }
  if (!use) return {};
  analysis::apply_gpu_use(population_, rules_, analysis::use_verdicts(population_, *use), {});
  use_ = std::move(use);
  return {};
}

/// Zone, name and node sizes of the site, as given.
base::Status SiteReport::set_site(const ReportOptions& options) {
  const std::string& zone =
      options.site_zone.empty() ? options.reading.site.zone : options.site_zone;
  if (!zone.empty()) {
    auto loaded = base::TimeZone::load(zone);
    if (!loaded) return base::failure(loaded.error());
    rules_.zone = zone;
    rules_.time_zone = std::move(*loaded);
  }
  const auto sizes = records::parse_gpus_per_node(options.reading.site.gpus_per_node);
  if (!sizes) return base::failure(sizes.error());
  for (const auto& [partition, gpus] : *sizes) {
    rules_.gpus_per_node_of[std::string(partition)] = static_cast<int32_t>(gpus);
  }
  names_.site = options.site;
  if (names_.site.empty() && cluster_) names_.site = cluster_->name();
  names_.date = options.date;
  return {};
}

base::Status SiteReport::prepare(const ReportOptions& options, base::Progress& progress) {
  if (!options.rules.empty()) {
    auto read = analysis::read_rules(options.rules);
    if (!read) return base::failure(read.error());
    rules_ = std::move(*read);
  }
  if (!options.cluster.empty()) {
    auto resolved = site::inputs::resolve_cluster(options.cluster);
    if (!resolved) return base::failure(resolved.error());
    cluster_.emplace(std::move(*resolved));
  }
  if (auto status = set_site(options); !status) return status;
  if (auto status = read_all(options, rules_.hide_users, table_, said_, rejects_, progress);
      !status) {
    return status;
  }
  population_ = analysis::make_population(table_, rules_, cluster_ ? &*cluster_ : nullptr);
  analysis::extract(population_, rules_);
  if (!population_.site.guessed_nodes.empty()) {
    said_.remarks.push_back(
        {false, fmt::format("GPUs per node were guessed from the jobs ({}); state them with "
                            "--cluster, or with --gpus-per-node PARTITION=GPUS",
                            population_.site.guessed_nodes)});
  }
  if (names_.site.empty() && table_.clusters().size() == 1) names_.site = table_.clusters()[0];
  return use_gpus(options, progress);
}

base::Result<std::unique_ptr<SiteReport>> SiteReport::load(const ReportOptions& options,
                                                           base::Progress& progress) {
  auto report = std::unique_ptr<SiteReport>(new SiteReport());
  report->names_ = {.cluster = options.cluster, .folder = options.out};
  if (auto status = report->prepare(options, progress); !status) {
    return base::failure(status.error());
  }
  return report;
}

base::Result<std::string> SiteReport::explain(const std::string& job_id) const {
  std::string text = analysis::explain_jobs(population_, rules_, job_id, gpu_use());
  if (!text.empty()) return text;
  return base::failed("no record has the id " + job_id,
                      "use the job id of the accounting records: 123, or 123_4 for an array task");
}

ReportData SiteReport::make(const analysis::Labels& labels) const {
  ReportData data = analysis::analyse(population_, rules_, labels, gpu_use(), names_);
  data.remarks = said_.remarks;
  return data;
}

analysis::Context SiteReport::context(const analysis::Labels& labels, ReportData& data) const {
  return {population_, rules_, labels, data, gpu_use(), {}};
}

base::Status write_report(const std::string& folder, const ReportData& report,
                          base::Progress& progress) {
  for (const analysis::Table& table : report.tables) {
    const std::string path = fmt::format("{}/tables/{}.csv", folder, table.id);
    if (auto status = base::write_file(path, analysis::table_csv(table)); !status) return status;
  }
  for (const analysis::Figure& figure : report.figures) {
    const std::string path = fmt::format("{}/figures/{}.csv", folder, figure.id);
    if (auto status = base::write_file(path, analysis::figure_csv(figure)); !status) return status;
  }
  const std::string scalars = folder + "/tables/scalars.csv";
  if (auto status = base::write_file(scalars, analysis::scalars_csv(report)); !status)
    return status;
  const std::string json = analysis::report_json(report);
  if (const base::Status page = page::html_available(); !page) {
    progress.note("report.html was not written: " + page.error().message);
  } else if (auto status = page::write_html(folder + "/report.html", page::html_safe(json));
             !status) {
    return status;
  }
  return base::write_file(folder + "/report.json", json);
}

base::Status SiteReport::write(const std::string& folder, const ReportData& data,
                               base::Progress& progress) const {
  if (auto status = write_report(folder, data, progress); !status) return status;
  return write_histories(folder, population_, rules_, gpu_use());
}

}  // namespace goban::site
