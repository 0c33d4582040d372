// goban history: the store of accounting records. import, export, status, prune.
#include <algorithm>
#include <cstdio>
#include <fmt/format.h>

#include "base/date_time.hpp"
#include "base/number.hpp"
#include "base/output_file.hpp"
#include "base/text_file.hpp"
#include "cli/command.hpp"
#include "cli/progress.hpp"
#include "cli/read_notes.hpp"
#include "cli/reading_options.hpp"
#include "records/record_csv.hpp"
#include "store/job_store.hpp"
#include "store/pseudonyms.hpp"

namespace goban::cli {
namespace {

constexpr const char* kStoreHelp =
    "The store: a SQLite file, mariadb://USER@HOST/DATABASE or postgresql://...";

// ---- import -------------------------------------------------------------------------------------

struct ImportArguments {
  std::vector<std::string> files;
  std::string store;
  std::string rejects;
  ReadingArguments reading;
  bool again = false;
  int fiscal_month = store::kFiscalMonthDefault;
};

void print_import(const std::string& file, const store::ImportSummary& summary,
                  const std::string& rejects) {
  const std::string name = base::input_name(file);
  if (summary.was_imported) {
    fmt::print("{}: the same bytes were imported before (format {}); --again reads them anew\n",
               name, summary.read.format);
    return;
  }
  history::ReadResult notes;
  static_cast<records::ReadSummary&>(notes) = summary.read;
  print_read_notes(notes, file, rejects);
  fmt::print("{}: format {}, {} records, {} rejected; {} jobs written", name, summary.read.format,
             summary.read.records, summary.read.rejected, summary.written);
  if (summary.unfinished > 0) fmt::print(", {} of them not ended", summary.unfinished);
  if (summary.outdated > 0) {
    fmt::print("; {} not ended here, but the store knows their end", summary.outdated);
  }
  fmt::print("\n");
}

int import(const ImportArguments& arguments) {
  auto jobs = store::JobStore::open(arguments.store, true, arguments.fiscal_month);
  if (!jobs) return report_error(jobs.error());
  for (size_t i = 0; i < arguments.files.size(); ++i) {
    const std::string& file = arguments.files[i];
    store::ImportOptions options;
    arguments.reading.apply(options.reading);
    options.again = arguments.again;
    options.reading.rejects_path = arguments.rejects;
    if (!arguments.rejects.empty() && arguments.files.size() > 1) {
      options.reading.rejects_path += fmt::format(".{}", i + 1);
    }
    auto summary = [&] {
      ProgressBar progress("importing", 1);
      options.reading.progress = [&progress](int64_t read, int64_t total) {
        progress.update(read, total);
      };
      return jobs->import_file(file, options);
    }();
    if (!summary) return report_error(summary.error());
    print_import(file, *summary, options.reading.rejects_path);
  }
  return 0;
}

void add_import(CLI::App& history, Action& action) {
  auto arguments = std::make_shared<ImportArguments>();
  CLI::App* c = history.add_subcommand("import", "Read accounting files into a store");
  c->add_option("FILE", arguments->files, "Files of any known format; - reads stdin")->required();
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
      ->check(CLI::Range(1, 12));
  c->footer(
      "Examples:\n"
      "  TZ=UTC sacct -a -X -D -P --noconvert -S now-2days -o ALL | goban history import - "
      "--store jobs.db\n"
      "  goban history import accounting accounting.0.gz --store postgresql:///goban\n"
      "A record that comes again replaces itself, so overlapping dumps are fine, and an import "
      "that\n"
      "was cut short is simply repeated. Details: docs/history.md.");
  c->callback([arguments, &action] { action = [arguments] { return import(*arguments); }; });
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
class ExportSink final : public records::RecordSink {
 public:
  ExportSink(base::OutputFile* file, bool swf, std::optional<store::Pseudonyms> names)
      : file_(file), swf_(swf), names_(std::move(names)) {}

  void begin() { text() += swf_ ? writer_.header(0) : records::records_csv_header(); }
  std::string take(const records::AccountingRecord& record) override {
    const records::AccountingRecord out = names_ ? names_->hide(record) : record;
    if (!swf_) {
      records::append_records_csv(text(), out);
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
  std::optional<store::Pseudonyms> names_;
  records::SwfWriter writer_;
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
  auto jobs = store::JobStore::open(arguments.store, false);
  if (!jobs) return report_error(jobs.error());
  store::Selection selection;
  selection.user = arguments.user;
  auto from = parse_day(arguments.from, "--from");
  if (!from) return report_error(from.error());
  auto to = parse_day(arguments.to, "--to");
  if (!to) return report_error(to.error());
  selection.from_ns = *from;
  selection.to_ns = *to;
  std::optional<store::Pseudonyms> names;
  if (!arguments.plain) {
    auto salt =
        arguments.salt_file.empty() ? jobs->salt() : base::read_text_file(arguments.salt_file);
    if (!salt) return report_error(salt.error());
    constexpr size_t kSaltBytesMin = 16;
    if (salt->size() < kSaltBytesMin) {
      return report_error(base::usage_error(fmt::format("{} has fewer than {} bytes",
                                                        arguments.salt_file, kSaltBytesMin),
                                            "make one: head -c 32 /dev/urandom > FILE")
                              .value());
    }
    names.emplace(std::move(*salt));
  }
  std::optional<base::OutputFile> file;
  if (arguments.out != "-") {
    auto created = base::OutputFile::create(arguments.out);
    if (!created) return report_error(created.error());
    file.emplace(std::move(*created));
  }
  ExportSink sink(file ? &*file : nullptr, arguments.format == "swf", std::move(names));
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

void add_export(CLI::App& history, Action& action) {
  auto arguments = std::make_shared<ExportArguments>();
  CLI::App* c = history.add_subcommand("export", "Write a store's jobs, with pseudonyms for names");
  c->add_option("--store", arguments->store, kStoreHelp)->required();
  c->add_option("--out", arguments->out, "Where to write; - is stdout")->capture_default_str();
  c->add_option("--as", arguments->format, "csv (nothing is lost) or swf (with GPU columns)")
      ->check(CLI::IsMember({"csv", "swf"}))
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

// ---- status and prune ---------------------------------------------------------------------------

int status(const std::string& location) {
  auto jobs = store::JobStore::open(location, false);
  if (!jobs) return report_error(jobs.error());
  const auto facts = jobs->partition_facts();
  if (!facts) return report_error(facts.error());
  fmt::print("{:>11} {:>12}   begins\n", "fiscal year", "jobs");
  int64_t all = 0;
  for (const store::PartitionFacts& each : *facts) {
    const auto begin_ns = store::fiscal_year_begin(each.fiscal_year, jobs->fiscal_month());
    const std::string begin = begin_ns < 0 ? "before 1970" : base::date_time_text(begin_ns);
    fmt::print("{:>11} {:>12}   {}\n", each.fiscal_year, each.jobs, begin.substr(0, 11));
    all += each.jobs;
  }
  const auto open = jobs->connection().query_whole("SELECT COUNT(*) FROM goban_open");
  const auto imports = jobs->connection().query_whole(
      "SELECT COUNT(*) FROM goban_imports WHERE done_unix_s IS NOT NULL");
  const auto broken = jobs->connection().query_whole(
      "SELECT COUNT(*) FROM goban_imports WHERE done_unix_s IS NULL");
  if (!open || !imports || !broken) return report_error((!open ? open : imports).error());
  fmt::print("{} jobs, {} of them not ended; {} imports, {} of them cut short\n", all,
             open->value_or(0), imports->value_or(0) + broken->value_or(0), broken->value_or(0));
  return 0;
}

void add_status(CLI::App& history, Action& action) {
  auto location = std::make_shared<std::string>();
  CLI::App* c = history.add_subcommand("status", "Say what a store holds");
  c->add_option("--store", *location, kStoreHelp)->required();
  c->footer("Example:\n  goban history status --store jobs.db");
  c->callback([location, &action] { action = [location] { return status(*location); }; });
}

struct PruneArguments {
  std::string store;
  int before = 0;
};

int prune(const PruneArguments& arguments) {
  auto jobs = store::JobStore::open(arguments.store, false);
  if (!jobs) return report_error(jobs.error());
  const auto dropped = jobs->drop_before(arguments.before);
  if (!dropped) return report_error(dropped.error());
  for (const int year : *dropped) fmt::print("fiscal year {} removed\n", year);
  if (dropped->empty()) fmt::print("no fiscal year before {} was there\n", arguments.before);
  return 0;
}

void add_prune(CLI::App& history, Action& action) {
  auto arguments = std::make_shared<PruneArguments>();
  CLI::App* c = history.add_subcommand("prune", "Remove old fiscal years from a store");
  c->add_option("--store", arguments->store, kStoreHelp)->required();
  c->add_option("--before", arguments->before, "Remove the jobs submitted in fiscal years before")
      ->required()
      ->check(CLI::Range(1970, 2200));
  c->footer("Example (ten years are kept):\n  goban history prune --store jobs.db --before 2016");
  c->callback([arguments, &action] { action = [arguments] { return prune(*arguments); }; });
}

}  // namespace

void add_history(CLI::App& app, Action& action) {
  CLI::App* history = app.add_subcommand(
      "history", "Keep accounting records in a store: SQLite, MariaDB or PostgreSQL");
  history->require_subcommand(1);
  add_import(*history, action);
  add_export(*history, action);
  add_status(*history, action);
  add_prune(*history, action);
}

}  // namespace goban::cli
