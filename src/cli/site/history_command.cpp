// goban history import and export: the store of accounting records.
#include <cstdio>
#include <fmt/format.h>

#include "base/counted.hpp"
#include "base/date_time.hpp"
#include "base/output_file.hpp"
#include "base/text_file.hpp"
#include "cli/shell/notes.hpp"
#include "cli/shell/progress.hpp"
#include "cli/site/commands.hpp"
#include "cli/site/history_commands.hpp"
#include "cli/site/reading_options.hpp"
#include "site/records/reject_limit.hpp"
#include "site/store/export.hpp"
#include "site/store/import_files.hpp"
#include "study/notes.hpp"

namespace goban::cli {
namespace {

// ---- import -------------------------------------------------------------------------------------

void print_import(const site::store::ImportedFile& imported) {
  const site::store::ImportSummary& summary = imported.summary;
  const std::string name = base::input_name(imported.file);
  if (summary.was_imported) {
    fmt::print("{}: this content was imported before (format {}); --again imports it again\n", name,
               summary.read.format);
    return;
  }
  study::history::ReadResult notes;
  static_cast<site::records::ReadSummary&>(notes) = summary.read;
  print_notes(study::read_notes(notes, imported.file, imported.rejects));
  const bool is_jobs = summary.read.format != site::store::kSeenFormat;
  fmt::print("{}: format {}, {}, {} rejected; {} written", name, summary.read.format,
             base::counted(summary.read.records, "record"), summary.read.rejected,
             base::counted(summary.written, is_jobs ? "job" : "software record"));
  if (summary.unfinished > 0) fmt::print(", {} of them unfinished", summary.unfinished);
  if (summary.outdated > 0) {
    fmt::print("; {} unfinished here, but finished in the store", summary.outdated);
  }
  fmt::print("\n");
}

struct HistoryImportArguments {
  site::store::ImportRequest request;
  double max_rejects_pct = site::records::kMaxRejectsPct;
};

int import(const HistoryImportArguments& arguments) {
  ProgressBar progress;
  int exit_code = 0;
  const auto take = [&](const site::store::ImportedFile& imported) {
    print_import(imported);
    if (imported.summary.was_imported) return;
    const auto few = site::records::check_rejects(imported.summary.read, imported.file,
                                                  arguments.max_rejects_pct);
    if (!few) exit_code = report_error(few.error());
  };
  const auto status = site::store::import_files(arguments.request, progress, take);
  return status ? exit_code : report_error(status.error());
}

void add_history_import(Command& history, Action& action) {
  auto arguments = std::make_shared<HistoryImportArguments>();
  site::store::ImportRequest& request = arguments->request;
  Command* c = history.add_subcommand("import", "Import accounting files into a store");
  auto* const files =
      c->add_option("FILE", request.files, "Accounting files, plain or gzip; - for standard input");
  c->add_option("--software", request.software,
                "CSV from job hooks: modules, containers, GPU processes and GPU lists");
  c->add_option("--store", request.store, kStoreHelp)->required();
  add_reading_options(*c, request.reading);
  c->add_option(
       "--rejects", request.rejects,
       "File for rejected records, with reasons; with several inputs, .1, .2, ... is appended")
      ->type_name("FILE");
  add_max_rejects(*c, arguments->max_rejects_pct);
  c->add_flag("--again", request.again, "Import files again that were imported before");
  c->add_flag("--keep-job-names", request.reading.site.keep_job_names,
              "Store job names (private data of users)");
  c->add_flag("--keep-command-lines", request.reading.site.keep_command_lines,
              "Store command lines (private data of users)");
  c->add_option("--fiscal-month", request.fiscal_month,
                "First month of the fiscal year, for a new store (default 4: April)")
      ->range(1, 12);
  c->footer(
      "Examples:\n"
      "  TZ=UTC sacct -a -X -D -P --noconvert -S now-2days -o ALL | goban history import - --store "
      "jobs.db\n"
      "  goban history import accounting accounting.0.gz --store postgresql:///goban\n"
      "  goban history import --software modules.csv --store jobs.db\n"
      "Importing a record again replaces it, so dumps may overlap, and an interrupted import\n"
      "can be repeated. Details: docs/history.md.");
  c->callback([arguments, files, &action] {
    if (arguments->request.files.empty() && arguments->request.software.empty()) {
      refuse_missing(files->name());
    }
    action = [arguments] { return import(*arguments); };
  });
}

// ---- export -------------------------------------------------------------------------------------

struct ExportArguments {
  std::string store;
  std::string out = "-";
  std::string format = "csv";
  std::string from;
  std::string to;
  std::string user;
  site::store::NameOptions names;
};

/// Calls `write` with standard output ("-") or a file, which appears complete or not at all.
template <typename Write>
auto write_output(const std::string& path, const Write& write)
    -> decltype(write(site::store::TextSink())) {
  if (path == "-") {
    return write([](std::string_view text) { std::fwrite(text.data(), 1, text.size(), stdout); });
  }
  auto file = base::OutputFile::create(path);
  if (!file) return base::failure(file.error());
  auto written = write([&file](std::string_view text) {
    file->buffer() += text;
    file->write_out();
  });
  if (!written) return written;
  if (auto status = file->commit(); !status) return base::failure(status.error());
  return written;
}

int export_jobs(const ExportArguments& arguments) {
  auto jobs = site::store::JobStore::open(arguments.store, false);
  if (!jobs) return report_error(jobs.error());
  site::store::Selection selection;
  selection.user = arguments.user;
  auto from = parse_day(arguments.from, "--from");
  if (!from) return report_error(from.error());
  auto to = parse_day(arguments.to, "--to");
  if (!to) return report_error(to.error());
  selection.from_ns = *from;
  selection.to_ns = *to;
  auto names = site::store::open_pseudonyms(*jobs, arguments.names);
  if (!names) return report_error(names.error());
  const auto format = arguments.format == "swf" ? site::store::ExportFormat::Swf
                                                : site::store::ExportFormat::Records;
  const auto summary = write_output(arguments.out, [&](const site::store::TextSink& sink) {
    return site::store::export_jobs(*jobs, selection, format, std::move(*names), sink);
  });
  if (!summary) return report_error(summary.error());
  fmt::print(stderr, "goban: note: {} written", base::counted(summary->written, "job"));
  if (summary->left_out > 0) {
    fmt::print(stderr, "; {} excluded: SWF requires a run time and a size", summary->left_out);
  }
  fmt::print(stderr, "{}\n", arguments.names.plain ? ", WITH THE REAL NAMES OF USERS" : "");
  return 0;
}

void add_export(Command& history, Action& action) {
  auto arguments = std::make_shared<ExportArguments>();
  Command* c =
      history.add_subcommand("export", "Export a store's jobs, with pseudonyms instead of names");
  c->add_option("--store", arguments->store, kStoreHelp)->required();
  c->add_option("--out", arguments->out, "Output file; - for standard output")
      ->type_name("FILE")
      ->capture_default_str();
  c->add_option("--as", arguments->format,
                "Output format: csv (complete) or swf (with GPU columns)")
      ->one_of({"csv", "swf"})
      ->capture_default_str();
  c->add_option("--from", arguments->from,
                "Include jobs submitted at or after this time (UTC), such as 2019-04-01");
  c->add_option("--to", arguments->to, "Include jobs submitted before this time (UTC)");
  c->add_option("--user", arguments->user,
                "Include only jobs of this user, by the name in the store");
  c->add_option("--salt", arguments->names.salt_file, kSaltHelp);
  c->add_flag("--plain", arguments->names.plain, kPlainHelp);
  c->footer(
      "Examples:\n"
      "  goban history export --store jobs.db --from 2019-04-01 --to 2020-04-01 --out year.csv\n"
      "  goban history export --store jobs.db --as swf | gzip > year.swf.gz\n"
      "Every command that reads a job history accepts both formats.");
  c->callback([arguments, &action] { action = [arguments] { return export_jobs(*arguments); }; });
}

}  // namespace

base::Result<std::optional<base::TimeNs>> parse_day(const std::string& text, const char* option) {
  if (text.empty()) return std::nullopt;
  const auto moment = base::parse_date_time(text.size() == 10 ? text + " 00:00:00" : text);
  if (moment) return moment->unix_ns;
  return base::usage_error(fmt::format("{}: '{}' is not a valid date", option, text),
                           "write 2019-04-01 or 2019-04-01T12:00:00Z");
}

void add_history(Command& app, Action& action) {
  Command* history =
      app.add_subcommand("history", "Store accounting records in SQLite, MariaDB or PostgreSQL");
  history->require_subcommand(1);
  history->footer(
      "Examples:\n"
      "  goban history import accounting.gz --format grid-engine --store jobs.db\n"
      "  goban history status --store jobs.db\n"
      "  goban history jobs --from 2024-04-01\n"
      "  goban analyze --store jobs.db --out report");
  add_history_jobs(*history, action);
  add_history_import(*history, action);
  add_export(*history, action);
  add_history_keeping(*history, action);
}

}  // namespace goban::cli
