// goban history import and export: the store of accounting records.
#include <cstdio>
#include <fmt/format.h>

#include "base/date_time.hpp"
#include "base/output_file.hpp"
#include "base/text_file.hpp"
#include "cli/shell/command.hpp"
#include "cli/shell/notes.hpp"
#include "cli/shell/progress.hpp"
#include "cli/site/history_commands.hpp"
#include "cli/site/reading_options.hpp"
#include "site/records/record_csv.hpp"
#include "site/store/job_store.hpp"
#include "site/store/pseudonyms.hpp"
#include "study/notes.hpp"

namespace goban::cli {
namespace {

// ---- import -------------------------------------------------------------------------------------

struct ImportArguments {
  std::vector<std::string> files;
  std::vector<std::string> software;  ///< what hooks saw
  std::string store;
  std::string rejects;
  site::records::ReadOptions reading;
  bool again = false;
  int fiscal_month = site::store::kFiscalMonthDefault;
};

void print_import(const std::string& file, const site::store::ImportSummary& summary,
                  const std::string& rejects) {
  const std::string name = base::input_name(file);
  if (summary.was_imported) {
    fmt::print("{}: the same bytes were imported before (format {}); --again reads them anew\n",
               name, summary.read.format);
    return;
  }
  study::history::ReadResult notes;
  static_cast<site::records::ReadSummary&>(notes) = summary.read;
  print_notes(study::read_notes(notes, file, rejects));
  const bool is_jobs = summary.read.format != site::store::kSeenFormat;
  fmt::print("{}: format {}, {} records, {} rejected; {} {} written", name, summary.read.format,
             summary.read.records, summary.read.rejected, summary.written,
             is_jobs ? "jobs" : "sightings");
  if (summary.unfinished > 0) fmt::print(", {} of them not ended", summary.unfinished);
  if (summary.outdated > 0) {
    fmt::print("; {} not ended here, but the store knows their end", summary.outdated);
  }
  fmt::print("\n");
}

/// Reads a file with `read` under a progress bar and says what came of it.
template <typename Read>
base::Status import_one(const std::string& file, site::store::ImportOptions& options,
                        const Read& read) {
  auto summary = [&] {
    ProgressBar progress("importing", 1);
    options.reading.progress = [&progress](int64_t done, int64_t total) {
      progress.update(done, total);
    };
    return read(file, options);
  }();
  if (!summary) return base::failure(summary.error());
  print_import(file, *summary, options.reading.rejects_path);
  return {};
}

int import(const ImportArguments& arguments) {
  auto jobs = site::store::JobStore::open(arguments.store, true, arguments.fiscal_month);
  if (!jobs) return report_error(jobs.error());
  const size_t num_files = arguments.files.size() + arguments.software.size();
  for (size_t i = 0; i < num_files; ++i) {
    site::store::ImportOptions options;
    options.reading = arguments.reading;
    options.again = arguments.again;
    options.reading.rejects_path = arguments.rejects;
    if (!arguments.rejects.empty() && num_files > 1) {
      options.reading.rejects_path += fmt::format(".{}", i + 1);
    }
    const bool is_jobs = i < arguments.files.size();
    const std::string& file =
        is_jobs ? arguments.files[i] : arguments.software[i - arguments.files.size()];
    auto status = import_one(file, options, [&](const auto& path, const auto& how) {
      return is_jobs ? jobs->import_file(path, how) : jobs->import_seen_file(path, how);
    });
    if (!status) return report_error(status.error());
  }
  return 0;
}

void add_import(Command& history, Action& action) {
  auto arguments = std::make_shared<ImportArguments>();
  Command* c = history.add_subcommand("import", "Read accounting files into a store");
  auto* const files =
      c->add_option("FILE", arguments->files, "Files of any known format; - reads stdin");
  c->add_option("--software", arguments->software,
                "CSV of hooks: modules, containers, GPU processes and GPU lists of jobs");
  c->add_option("--store", arguments->store, kStoreHelp)->required();
  add_reading_options(*c, arguments->reading);
  c->add_option("--rejects", arguments->rejects,
                "Where rejected records go, with reasons (several files: .1, .2, ... behind)");
  c->add_flag("--again", arguments->again, "Read files that were imported before all the same");
  c->add_flag("--keep-job-names", arguments->reading.site.keep_job_names,
              "Store job names, which are users' own data");
  c->add_flag("--keep-command-lines", arguments->reading.site.keep_command_lines,
              "Store command lines, likewise");
  c->add_option("--fiscal-month", arguments->fiscal_month,
                "Month in which the fiscal years of a new store begin (default 4, April)")
      ->range(1, 12);
  c->footer(
      "Examples:\n"
      "  TZ=UTC sacct -a -X -D -P --noconvert -S now-2days -o ALL | goban history import - "
      "--store jobs.db\n"
      "  goban history import accounting accounting.0.gz --store postgresql:///goban\n"
      "  goban history import --software modules.csv --store jobs.db\n"
      "A record that comes again replaces itself, so overlapping dumps are fine, and an import "
      "that\n"
      "was cut short is simply repeated. Details: docs/history.md.");
  c->callback([arguments, files, &action] {
    if (arguments->files.empty() && arguments->software.empty()) {
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
  std::string salt_file;
  bool plain = false;
};

/// Writes each record as a line.
class ExportSink final : public site::records::RecordSink {
 public:
  ExportSink(base::OutputFile* file, bool swf, std::optional<site::store::Pseudonyms> names)
      : file_(file), swf_(swf), names_(std::move(names)) {}

  void begin() { text() += swf_ ? writer_.header(0) : site::records::records_csv_header(); }
  std::string take(const site::records::AccountingRecord& record) override {
    const site::records::AccountingRecord out = names_ ? names_->hide(record) : record;
    if (!swf_) {
      site::records::append_records_csv(text(), out);
    } else if (!writer_.append(text(), out)) {
      ++left_out_;
      return {};
    }
    ++written_;
    constexpr size_t kFlushBytes = 1 << 20;
    if (file_ != nullptr) {
      file_->write_out();
    } else if (buffer_.size() >= kFlushBytes) {
      flush();
    }
    return {};
  }
  void flush() {
    std::fwrite(buffer_.data(), 1, buffer_.size(), stdout);
    buffer_.clear();
  }
  [[nodiscard]] int64_t written() const { return written_; }
  [[nodiscard]] int64_t left_out() const { return left_out_; }

 private:
  std::string& text() { return file_ != nullptr ? file_->buffer() : buffer_; }
  base::OutputFile* file_;
  bool swf_;
  std::optional<site::store::Pseudonyms> names_;
  site::records::SwfWriter writer_;
  std::string buffer_;
  int64_t written_ = 0;
  int64_t left_out_ = 0;
};

base::Result<std::optional<base::TimeNs>> parse_day(const std::string& text, const char* option) {
  if (text.empty()) return std::nullopt;
  const auto moment = base::parse_date_time(text.size() == 10 ? text + " 00:00:00" : text);
  if (moment) return moment->unix_ns;
  return base::usage_error(fmt::format("{} {}: this is no date", option, text),
                           "write 2019-04-01 or 2019-04-01T12:00:00Z");
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
  auto names = open_pseudonyms(*jobs, arguments.plain, arguments.salt_file);
  if (!names) return report_error(names.error());
  std::optional<base::OutputFile> file;
  if (arguments.out != "-") {
    auto created = base::OutputFile::create(arguments.out);
    if (!created) return report_error(created.error());
    file.emplace(std::move(*created));
  }
  ExportSink sink(file ? &*file : nullptr, arguments.format == "swf", std::move(*names));
  sink.begin();
  const auto summary = jobs->read(selection, sink);
  if (!summary) return report_error(summary.error());
  sink.flush();
  if (file) {
    if (auto status = file->commit(); !status) return report_error(status.error());
  }
  fmt::print(stderr, "goban: note: {} jobs written", sink.written());
  if (sink.left_out() > 0) {
    fmt::print(stderr, "; {} left out, as SWF needs a run time and a size", sink.left_out());
  }
  fmt::print(stderr, "{}\n", arguments.plain ? ", WITH THEIR USERS' NAMES" : "");
  return 0;
}

void add_export(Command& history, Action& action) {
  auto arguments = std::make_shared<ExportArguments>();
  Command* c = history.add_subcommand("export", "Write a store's jobs, with pseudonyms for names");
  c->add_option("--store", arguments->store, kStoreHelp)->required();
  c->add_option("--out", arguments->out, "Where to write; - is stdout")->capture_default_str();
  c->add_option("--as", arguments->format, "csv (nothing is lost) or swf (with GPU columns)")
      ->one_of({"csv", "swf"})
      ->capture_default_str();
  c->add_option("--from", arguments->from, "Submitted at or after (UTC): 2019-04-01");
  c->add_option("--to", arguments->to, "Submitted before (UTC)");
  c->add_option("--user", arguments->user, "Of this user only, by the name in the store");
  c->add_option("--salt", arguments->salt_file,
                "File with the key of the pseudonyms; left out, the store's own");
  c->add_flag("--plain", arguments->plain, "Write the names of users, accounts and groups");
  c->footer(
      "Examples:\n"
      "  goban history export --store jobs.db --from 2019-04-01 --to 2020-04-01 --out year.csv\n"
      "  goban history export --store jobs.db --as swf | gzip > year.swf.gz\n"
      "Both read back with every command that takes a history.");
  c->callback([arguments, &action] { action = [arguments] { return export_jobs(*arguments); }; });
}

}  // namespace

void add_history(Command& app, Action& action) {
  Command* history = app.add_subcommand(
      "history", "Keep accounting records in a store: SQLite, MariaDB or PostgreSQL");
  history->require_subcommand(1);
  add_import(*history, action);
  add_export(*history, action);
  add_history_keeping(*history, action);
}

}  // namespace goban::cli
