// goban history status, prune, forget and sums: contents and retention of a store.
#include <cstdio>
#include <fmt/format.h>
#include <iostream>
#include <nlohmann/json.hpp>
#include <optional>
#include <unistd.h>

#include "base/counted.hpp"
#include "base/date_time.hpp"
#include "cli/shell/csv_as_json.hpp"
#include "cli/site/history_commands.hpp"
#include "serve/api/caller.hpp"
#include "serve/daemon/forget_user.hpp"
#include "site/store/export.hpp"
#include "site/store/status.hpp"

namespace goban::cli {

namespace {

struct StatusArguments {
  std::string store;
  bool check = false;
  bool json_out = false;
};

nlohmann::json status_json(const site::store::StoreStatus& status) {
  nlohmann::json years = nlohmann::json::array();
  for (const int year : status.reduced_years)
    years.push_back({{"year", year}, {"sums_only", true}});
  for (const site::store::FiscalYear& each : status.years) {
    nlohmann::json year = {{"year", each.year}, {"jobs", each.jobs}};
    if (each.begin_ns >= 0) year["begin_s"] = base::to_seconds(each.begin_ns);
    years.push_back(std::move(year));
  }
  return {{"fiscal_years", std::move(years)},
          {"jobs", status.jobs},
          {"unfinished", status.not_ended},
          {"imports", status.imports},
          {"imports_interrupted", status.imports_cut},
          {"software_records", status.sightings}};
}

int print_status_json(site::store::JobStore& jobs, const site::store::StoreStatus& status,
                      bool checks) {
  nlohmann::json out = status_json(status);
  if (checks) {
    const auto found = site::store::check_store(jobs);
    if (!found) return report_error(found.error());
    out["check"] = {{"lone_software_records", found->lone_sightings},
                    {"gpu_overlaps", found->gpu_overlaps},
                    {"first_overlaps", found->first_overlaps}};
  }
  fmt::print("{}\n", out.dump(2));
  return 0;
}

void print_years(const site::store::StoreStatus& status) {
  fmt::print("{:>11} {:>12}   begins\n", "fiscal year", "jobs");
  for (const int year : status.reduced_years) fmt::print("{:>11} {:>12}\n", year, "sums only");
  for (const site::store::FiscalYear& each : status.years) {
    const std::string begin =
        each.begin_ns < 0 ? "before 1970" : base::date_time_text(each.begin_ns);
    fmt::print("{:>11} {:>12}   {}\n", each.year, each.jobs, begin.substr(0, 11));
  }
}

int check(site::store::JobStore& jobs, bool has_sightings) {
  const auto found = site::store::check_store(jobs);
  if (!found) return report_error(found.error());
  if (has_sightings) {
    fmt::print("{} of them belong to jobs that are not in the store\n", found->lone_sightings);
  }
  fmt::print("{} two jobs held the same GPU without sharing it\n",
             base::counted(found->gpu_overlaps, "time"));
  for (const std::string& each : found->first_overlaps) fmt::print("  {}\n", each);
  return 0;
}

int status(const StatusArguments& arguments) {
  auto jobs = site::store::JobStore::open(arguments.store, false);
  if (!jobs) return report_error(jobs.error());
  const auto status = site::store::store_status(*jobs);
  if (!status) return report_error(status.error());
  if (arguments.json_out) return print_status_json(*jobs, *status, arguments.check);
  print_years(*status);
  fmt::print("{}, {} of them unfinished; {}, {} of them interrupted\n",
             base::counted(status->jobs, "job"), status->not_ended,
             base::counted(status->imports, "import"), status->imports_cut);
  if (status->sightings > 0) {
    fmt::print("{} of software and GPUs used\n", base::counted(status->sightings, "record"));
  }
  return arguments.check ? check(*jobs, status->sightings > 0) : 0;
}

void add_status(Command& history, Action& action) {
  auto arguments = std::make_shared<StatusArguments>();
  Command* c = history.add_subcommand("status", "Print what a store contains");
  c->add_option("--store", arguments->store, kStoreHelp)->required();
  c->add_flag(
      "--check", arguments->check,
      "Also check all jobs: GPUs held twice, software records of jobs that are not in the store");
  c->add_flag("--json", arguments->json_out, "Print JSON only");
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
    if (dropped->empty()) fmt::print("no fiscal year before {} to remove\n", arguments.before);
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
      c->add_option("--before", arguments->before,
                    "Remove everything stored about the fiscal years before this one")
          ->range(1970, 2200);
  c->add_option("--reduce-before", arguments->reduce_before,
                "Replace the jobs of the fiscal years before this one by daily sums (see goban "
                "history sums)")
      ->range(1970, 2200);
  c->footer(
      "Example (keep jobs for three years, sums for ten):\n"
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

/// Asks for confirmation at the terminal; false without a terminal.
bool confirm(const std::string& question) {
  if (::isatty(STDIN_FILENO) == 0) return false;
  fmt::print("{} [y/N] ", question);
  std::fflush(stdout);
  std::string answer;
  return std::getline(std::cin, answer) && (answer == "y" || answer == "yes");
}

/// Numeric id of the user whose files are removed; none if no state folder is given.
base::Result<std::optional<uint32_t>> uid_of(const ForgetArguments& arguments) {
  if (arguments.state.empty()) return std::nullopt;
  if (arguments.uid) return arguments.uid;
  const auto owner = serve::api::find_user(arguments.user);
  if (owner) return std::optional(owner->uid);
  return base::usage_error(owner.error().message, "give the numeric user id with --uid");
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
    fmt::print("the store has no jobs of {}\n", arguments.user);
    return 0;
  }
  const std::string what = fmt::format("{} and {} of {}{}", base::counted(found->jobs, "job"),
                                       base::counted(found->days, "daily sum"), arguments.user,
                                       *uid ? ", and job profiles" : "");
  if (!arguments.yes && !confirm("remove the user's identity from " + what + "?")) {
    return report_error(base::usage_error("not confirmed; nothing was changed: " + what,
                                          "answer y at the prompt, or give --yes")
                            .value());
  }
  if (*uid) {
    const auto files = serve::daemon::forget_in_state(arguments.state, **uid);
    if (!files) return report_error(files.error());
    fmt::print("removed {} job profiles, anonymised {} speed reports of GPUs\n", files->profiles,
               files->voices);
  }
  if (!has_records) return 0;
  const auto done = jobs->forget(arguments.user);
  if (!done) return report_error(done.error());
  fmt::print("{} and {} now belong to {}\n", base::counted(done->jobs, "job"),
             base::counted(done->days, "daily sum"), done->name_now);
  return 0;
}

void add_forget(Command& history, Action& action) {
  auto arguments = std::make_shared<ForgetArguments>();
  Command* c =
      history.add_subcommand("forget", "Remove a user's identity from a store; aggregates remain");
  c->add_option("USER", arguments->user, "Name of the user")->required();
  c->add_option("--store", arguments->store, kStoreHelp)->required();
  auto* const state =
      c->add_option("--state", arguments->state,
                    "State folder of a stopped daemon; the user's job profiles are removed from it")
          ->type_name("FOLDER");
  c->add_option("--uid", arguments->uid,
                "Numeric user id, if the account no longer exists on this machine")
      ->needs(state);
  c->add_flag("--yes", arguments->yes, "Do not ask for confirmation");
  c->footer(
      "Examples:\n"
      "  goban history forget ann --store jobs.db\n"
      "  goban history forget ann --store jobs.db --state ~/.local/state/goban --yes\n"
      "The user's name is replaced by a random one. Names and command lines of the jobs, groups,\n"
      "reservations and software are removed. Importing the sources again restores the names:\n"
      "remove them there first.");
  c->callback([arguments, &action] { action = [arguments] { return forget(*arguments); }; });
}

// ---- sums ---------------------------------------------------------------------------------------

struct SumsArguments {
  std::string store;
  bool json_out = false;
  site::store::NameOptions names;
};

int print_sums(const SumsArguments& arguments) {
  auto jobs = site::store::JobStore::open(arguments.store, false);
  if (!jobs) return report_error(jobs.error());
  auto names = site::store::open_pseudonyms(*jobs, arguments.names);
  if (!names) return report_error(names.error());
  CsvAsJson as_json({"day", "user", "account", "partition", "resource_type", "state"});
  const auto status =
      site::store::export_sums(*jobs, std::move(*names), [&](std::string_view text) {
        if (arguments.json_out) return as_json.take(text);
        std::fwrite(text.data(), 1, text.size(), stdout);
      });
  if (!status) return report_error(status.error());
  if (arguments.json_out) as_json.finish();
  return 0;
}

void add_sums(Command& history, Action& action) {
  auto arguments = std::make_shared<SumsArguments>();
  Command* c = history.add_subcommand("sums", "Print a store's sums by day and user as CSV");
  c->add_option("--store", arguments->store, kStoreHelp)->required();
  c->add_option("--salt", arguments->names.salt_file, kSaltHelp);
  c->add_flag("--plain", arguments->names.plain, kPlainHelp);
  c->add_flag("--json", arguments->json_out, "Print JSON only");
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
