// goban history status, prune, forget and sums: what a store holds, and how it stays small.
#include <fmt/format.h>
#include <iostream>
#include <optional>
#include <unistd.h>

#include "base/csv.hpp"
#include "base/date_time.hpp"
#include "base/text_file.hpp"
#include "cli/site/history_commands.hpp"
#include "serve/api/caller.hpp"
#include "serve/daemon/forget_user.hpp"
#include "site/records/job_state.hpp"
#include "site/records/overlap_check.hpp"
#include "site/records/record_table.hpp"
#include "site/store/retention.hpp"

namespace goban::cli {

base::Result<std::optional<site::store::Pseudonyms>> open_pseudonyms(site::store::JobStore& jobs,
                                                                     bool plain,
                                                                     const std::string& salt_file) {
  if (plain) return std::nullopt;
  auto salt = salt_file.empty() ? jobs.salt() : base::read_text_file(salt_file);
  if (!salt) return base::failure(salt.error());
  constexpr size_t kSaltBytesMin = 16;
  if (salt->size() < kSaltBytesMin) {
    return base::usage_error(fmt::format("{} has fewer than {} bytes", salt_file, kSaltBytesMin),
                             "make one: head -c 32 /dev/urandom > FILE");
  }
  return site::store::Pseudonyms(std::move(*salt));
}

namespace {

struct StatusArguments {
  std::string store;
  bool check = false;
};

base::Status print_years(site::store::JobStore& jobs, int64_t& all) {
  const auto facts = jobs.partition_facts();
  if (!facts) return base::failure(facts.error());
  const auto reduced = site::store::reduced_years(jobs.connection());
  if (!reduced) return base::failure(reduced.error());
  fmt::print("{:>11} {:>12}   begins\n", "fiscal year", "jobs");
  for (const int year : *reduced) fmt::print("{:>11} {:>12}\n", year, "sums only");
  for (const site::store::PartitionFacts& each : *facts) {
    const auto begin_ns = site::store::fiscal_year_begin(each.fiscal_year, jobs.fiscal_month());
    const std::string begin = begin_ns < 0 ? "before 1970" : base::date_time_text(begin_ns);
    fmt::print("{:>11} {:>12}   {}\n", each.fiscal_year, each.jobs, begin.substr(0, 11));
    all += each.jobs;
  }
  return {};
}

/// What jobs say that cannot be, and what hooks saw of jobs that are not there.
int check(site::store::JobStore& jobs, int64_t seen) {
  if (seen > 0) {
    const auto lone = jobs.lone_sightings();
    if (!lone) return report_error(lone.error());
    fmt::print("{} of them are of jobs that the store does not have\n", *lone);
  }
  site::records::RecordTable table;
  const auto read = jobs.read({}, table);
  if (!read) return report_error(read.error());
  const site::records::GpuOverlaps overlaps = site::records::find_gpu_overlaps(table);
  fmt::print("{} times two jobs held one GPU that was not shared\n", overlaps.count);
  for (const site::records::GpuOverlap& each : overlaps.first) {
    fmt::print("  {}\n", site::records::overlap_text(table, each));
  }
  return 0;
}

int status(const StatusArguments& arguments) {
  auto jobs = site::store::JobStore::open(arguments.store, false);
  if (!jobs) return report_error(jobs.error());
  int64_t all = 0;
  if (auto printed = print_years(*jobs, all); !printed) return report_error(printed.error());
  base::Status failure;
  const auto count = [&](const char* what) {
    const auto found = jobs->connection().query_whole(fmt::format("SELECT COUNT(*) FROM {}", what));
    if (!found) failure = base::failure(found.error());
    return found ? found->value_or(0) : 0;
  };
  const int64_t open = count("goban_open");
  // What a daemon appends (JobStore::append) stands for no import: it never begins, nor is done.
  const int64_t imports = count("goban_imports WHERE begun_unix_s > 0");
  const int64_t broken = count("goban_imports WHERE begun_unix_s > 0 AND done_unix_s IS NULL");
  const int64_t seen = count("goban_seen");
  if (!failure) return report_error(failure.error());
  fmt::print("{} jobs, {} of them not ended; {} imports, {} of them cut short\n", all, open,
             imports, broken);
  if (seen > 0) fmt::print("{} sightings of software and GPUs\n", seen);
  return arguments.check ? check(*jobs, seen) : 0;
}

void add_status(Command& history, Action& action) {
  auto arguments = std::make_shared<StatusArguments>();
  Command* c = history.add_subcommand("status", "Say what a store holds");
  c->add_option("--store", arguments->store, kStoreHelp)->required();
  c->add_flag("--check", arguments->check,
              "Also read all jobs: GPUs held twice, software seen of jobs that are not there");
  c->footer("Example:\n  goban history status --store jobs.db");
  c->callback([arguments, &action] { action = [arguments] { return status(*arguments); }; });
}

struct PruneArguments {
  std::string store;
  int before = 0;
  int reduce_before = 0;
};

int prune(const PruneArguments& arguments) {
  auto jobs = site::store::JobStore::open(arguments.store, false);
  if (!jobs) return report_error(jobs.error());
  if (arguments.before > 0) {
    const auto dropped = jobs->drop_before(arguments.before);
    if (!dropped) return report_error(dropped.error());
    for (const int year : *dropped) fmt::print("fiscal year {} removed\n", year);
    if (dropped->empty()) fmt::print("no fiscal year before {} was there\n", arguments.before);
  }
  if (arguments.reduce_before > 0) {
    const auto reduced = jobs->reduce_before(arguments.reduce_before);
    if (!reduced) return report_error(reduced.error());
    for (const int year : *reduced) fmt::print("fiscal year {} reduced to daily sums\n", year);
    if (reduced->empty()) {
      fmt::print("no fiscal year before {} has jobs\n", arguments.reduce_before);
    }
  }
  return 0;
}

void add_prune(Command& history, Action& action) {
  auto arguments = std::make_shared<PruneArguments>();
  Command* c = history.add_subcommand("prune", "Remove or reduce old fiscal years of a store");
  c->add_option("--store", arguments->store, kStoreHelp)->required();
  auto* const before =
      c->add_option("--before", arguments->before, "Remove all that is kept of the years before")
          ->range(1970, 2200);
  c->add_option("--reduce-before", arguments->reduce_before,
                "Replace the jobs of the years before by sums of days (goban history sums)")
      ->range(1970, 2200);
  c->footer(
      "Example (jobs are kept for three years, sums for ten):\n"
      "  goban history prune --store jobs.db --reduce-before 2023 --before 2016");
  c->callback([arguments, before, &action] {
    if (arguments->before == 0 && arguments->reduce_before == 0) {
      refuse_missing(before->name() + " or --reduce-before");
    }
    action = [arguments] { return prune(*arguments); };
  });
}

struct ForgetArguments {
  std::string store;
  std::string user;
  std::string state;
  std::optional<uint32_t> uid;
  bool yes = false;
};

/// Asks at the terminal; false without one.
bool confirm(const std::string& question) {
  if (::isatty(STDIN_FILENO) == 0) return false;
  fmt::print("{} [y/N] ", question);
  std::fflush(stdout);
  std::string answer;
  return std::getline(std::cin, answer) && (answer == "y" || answer == "yes");
}

/// Number of the user whose files go; none: no state folder is named.
base::Result<std::optional<uint32_t>> uid_of(const ForgetArguments& arguments) {
  if (arguments.state.empty()) return std::nullopt;
  if (arguments.uid) return arguments.uid;
  const auto owner = serve::api::find_user(arguments.user);
  if (owner) return std::optional(owner->uid);
  return base::usage_error(owner.error().message, "give the number that the user had: --uid");
}

int forget(const ForgetArguments& arguments) {
  const auto uid = uid_of(arguments);
  if (!uid) return report_error(uid.error());
  auto jobs = site::store::JobStore::open(arguments.store, false);
  if (!jobs) return report_error(jobs.error());
  const auto found = site::store::find_user_records(jobs->connection(), arguments.user);
  if (!found) return report_error(found.error());
  const bool has_records = found->jobs + found->days > 0;
  if (!has_records && !*uid) {
    fmt::print("the store has no job of {}\n", arguments.user);
    return 0;
  }
  const std::string what =
      fmt::format("{} jobs and {} daily sums of {}{}", found->jobs, found->days, arguments.user,
                  *uid ? ", and job profiles" : "");
  if (!arguments.yes && !confirm("forget whose they are: " + what + "?")) {
    return report_error(base::usage_error("not confirmed; nothing is changed: " + what,
                                          "answer y at a terminal, or give --yes")
                            .value());
  }
  if (*uid) {
    const auto files = serve::daemon::forget_in_state(arguments.state, **uid);
    if (!files) return report_error(files.error());
    fmt::print("{} job profiles are removed, {} entries on GPUs are nobody's now\n",
               files->profiles, files->voices);
  }
  if (!has_records) return 0;
  const auto done = jobs->forget(arguments.user);
  if (!done) return report_error(done.error());
  fmt::print("{} jobs and {} daily sums are {}'s now\n", done->jobs, done->days, done->name_now);
  return 0;
}

void add_forget(Command& history, Action& action) {
  auto arguments = std::make_shared<ForgetArguments>();
  Command* c = history.add_subcommand("forget", "Forget whose a user's jobs are; sums stay");
  c->add_option("user", arguments->user, "The user's name")->required();
  c->add_option("--store", arguments->store, kStoreHelp)->required();
  auto* const state = c->add_option(
      "--state", arguments->state,
      "State folder of a daemon that does not run now: profiles of the user's jobs go, too");
  c->add_option("--uid", arguments->uid, "The user's number there, if the machine knows it no more")
      ->needs(state);
  c->add_flag("--yes", arguments->yes, "Do not ask");
  c->footer(
      "Examples:\n"
      "  goban history forget ann --store jobs.db\n"
      "  goban history forget ann --store jobs.db --state ~/.local/state/goban --yes\n"
      "The name becomes a random one; names and command lines of the jobs, groups, reservations\n"
      "and software go. Sources that are imported again bring the names back: clean them first.");
  c->callback([arguments, &action] { action = [arguments] { return forget(*arguments); }; });
}

// ---- sums ---------------------------------------------------------------------------------------

struct SumsArguments {
  std::string store;
  std::string salt_file;
  bool plain = false;
};

int print_sums(const SumsArguments& arguments) {
  auto jobs = site::store::JobStore::open(arguments.store, false);
  if (!jobs) return report_error(jobs.error());
  auto names = open_pseudonyms(*jobs, arguments.plain, arguments.salt_file);
  if (!names) return report_error(names.error());
  fmt::print("day,user,account,partition,resource_type,state,jobs,ran,gpu_h,node_h,wait_h\n");
  const auto status = jobs->daily_sums([&names](const site::store::DailySum& sum) {
    site::records::AccountingRecord who;
    who.user = sum.user;
    who.account = sum.account;
    if (*names) who = (*names)->hide(who);
    const auto state = static_cast<site::records::JobState>(
        sum.state < static_cast<int64_t>(site::records::kNumJobStates) ? sum.state : 0);
    constexpr base::TimeNs kDayNs = int64_t{86'400} * base::kSecond;
    std::string line = base::date_time_text(sum.day * kDayNs).substr(0, 10);
    for (const std::string_view text : {who.user, who.account, sum.partition, sum.resource_type,
                                        site::records::job_state_name(state)}) {
      line += ',';
      base::append_csv_field(line, text);
    }
    constexpr double kHour = 3600;
    fmt::print("{},{},{},{:.4f},{:.4f},{:.4f}\n", line, sum.jobs, sum.ran, sum.gpu_s / kHour,
               sum.node_s / kHour, sum.wait_s / kHour);
  });
  return status ? 0 : report_error(status.error());
}

void add_sums(Command& history, Action& action) {
  auto arguments = std::make_shared<SumsArguments>();
  Command* c = history.add_subcommand("sums", "Print a store's sums by day and user as CSV");
  c->add_option("--store", arguments->store, kStoreHelp)->required();
  c->add_option("--salt", arguments->salt_file, kSaltHelp);
  c->add_flag("--plain", arguments->plain, kPlainHelp);
  c->footer("Example:\n  goban history sums --store jobs.db > sums.csv");
  c->callback([arguments, &action] { action = [arguments] { return print_sums(*arguments); }; });
}

}  // namespace

void add_history_keeping(Command& history, Action& action) {
  add_status(history, action);
  add_prune(history, action);
  add_forget(history, action);
  add_sums(history, action);
}

}  // namespace goban::cli
