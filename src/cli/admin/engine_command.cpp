// goban engine slurm: the configuration of a Slurm site for Goban, and the way back.
#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <memory>
#include <pwd.h>
#include <sys/stat.h>
#include <thread>
#include <unistd.h>

#include "base/clock.hpp"
#include "base/files.hpp"
#include "base/text_file.hpp"
#include "cli/admin/commands.hpp"
#include "live/engine/slurm/release_all.hpp"
#include "live/engine/slurm/setup.hpp"
#include "live/engine/slurm/task_prolog.hpp"
#include "live/engine/slurm/typed_check.hpp"
#include "live/engine/slurm/watchdog.hpp"
#include "live/job/request_values.hpp"

namespace goban::cli {
namespace {

namespace slurm = live::engine::slurm;

struct EngineArguments {
  std::string conf;
  std::vector<std::string> partitions;
  bool all = false;
  bool check = false;
  bool undo = false;
  bool print_lua = false;
  bool print_prolog = false;
  bool agents = false;
  std::string agent_folder = "/run/goban";
  std::string heartbeat;
  std::string after = "60s";
};

std::string conf_path(const EngineArguments& arguments) {
  if (!arguments.conf.empty()) return arguments.conf;
  const char* variable = std::getenv("SLURM_CONF");
  return variable != nullptr && *variable != '\0' ? variable : "/etc/slurm/slurm.conf";
}

base::Result<slurm::SlurmFiles> read_files(const std::filesystem::path& conf) {
  auto text = base::read_text_file(conf);
  if (!text) return base::failure(text.error());
  slurm::SlurmFiles files{.conf = std::move(*text)};
  const auto read = [&](std::string_view name, std::optional<std::string>& into) -> base::Status {
    const std::filesystem::path path = conf.parent_path() / name;
    if (!std::filesystem::exists(path)) return {};
    auto found = base::read_text_file(path);
    if (!found) return base::failure(found.error());
    into = std::move(*found);
    return {};
  };
  if (auto status = read("job_submit.lua", files.lua); !status)
    return base::failure(status.error());
  if (auto status = read(slurm::kPrologFile, files.prolog); !status)
    return base::failure(status.error());
  return files;
}

/// Keeps mode and owner of slurm.conf, also for the file beside it.
base::Status write_files(const std::filesystem::path& conf, const slurm::SlurmFiles& files) {
  const std::string folder = conf.has_parent_path() ? conf.parent_path().string() : ".";
  struct stat facts{};
  if (::stat(conf.c_str(), &facts) != 0) return base::failed("cannot read " + conf.string());
  const auto write = [&](const std::string& name, const std::string& text,
                         mode_t more = 0) -> base::Status {
    auto status = base::replace_file(folder, name, text, base::Durable::Yes);
    const std::string path = folder + "/" + name;
    if (status && (::chown(path.c_str(), facts.st_uid, facts.st_gid) != 0 ||
                   ::chmod(path.c_str(), (facts.st_mode & 07777) | more) != 0)) {
      return base::failed("cannot give " + path + " the owner and mode of slurm.conf");
    }
    return status;
  };
  // First what is asked, then who asks: slurmctld does not start without the file.
  if (files.lua) {
    if (auto status = write("job_submit.lua", *files.lua); !status) return status;
  }
  const std::string prolog(slurm::kPrologFile);
  constexpr mode_t kRunnable = 0555;  // by the users of jobs
  if (files.prolog) {
    if (auto status = write(prolog, *files.prolog, kRunnable); !status) return status;
  }
  if (auto status = write(conf.filename(), files.conf); !status) return status;
  if (!files.lua) std::filesystem::remove(folder + "/job_submit.lua");
  if (!files.prolog) std::filesystem::remove(folder + "/" + prolog);
  return {};
}

/// " --partitions gpu,long", " --all", or nothing if they are not known.
std::string partition_option(const slurm::SlurmFiles& files) {
  const auto managed = slurm::managed_partitions(files.lua.value_or(""));
  if (!managed) return {};
  return managed->empty() ? " --all" : fmt::format(" --partitions {}", fmt::join(*managed, ","));
}

int undo(const std::string& conf, const slurm::SlurmFiles& files) {
  if (const auto status = write_files(conf, slurm::undo_setup(files)); !status) {
    return report_error(status.error());
  }
  fmt::print(
      "{} is as it was before the setup, and job_submit.lua is removed.\n"
      "Next: scontrol reconfigure; goban engine slurm release-all{}\n",
      conf, partition_option(files));
  return 0;
}

slurm::Client client_of(const EngineArguments& arguments) {
  constexpr double kPatience_s = 120;
  const bool has_default = arguments.conf.empty() && std::getenv("SLURM_CONF") == nullptr;
  return slurm::Client(has_default ? std::string{} : conf_path(arguments), kPatience_s);
}

/// What a GRES type per GPU index would break, if Slurm answers.
void print_typed(const EngineArguments& arguments, const std::vector<std::string>& index_types) {
  const slurm::Client client = client_of(arguments);
  const std::string nonce = slurm::Client::nonce();
  const auto waiting = client.run(
      {"squeue", "-h", "-a", "-r", "-t", "PENDING", "-O", slurm::job_words_format(nonce)});
  const auto limits = client.run({"scontrol", "-o", "show", "assoc_mgr", "flags=assoc,qos"});
  const auto words = slurm::parse_job_words(waiting.out, nonce);
  if (!waiting.problem.empty() || !words) {
    fmt::print("Slurm does not answer: waiting jobs were not checked.\n");
    return;
  }
  const auto broken = slurm::broken_by_types(*words, limits.out, index_types);
  if (broken.empty()) return;
  fmt::print("A GRES type per GPU index (indices = \"types\") would break:\n");
  constexpr size_t kMost = 100;
  for (size_t i = 0; i < std::min(broken.size(), kMost); ++i) fmt::print("  {}\n", broken[i]);
  if (broken.size() > kMost) fmt::print("  and {} more\n", broken.size() - kMost);
}

int print_prolog(const std::string& folder) {
  const auto script = slurm::task_prolog(folder);
  if (!script) return report_error(script.error());
  fmt::print("{}", *script);
  return 0;
}

int setup(const EngineArguments& arguments) {
  if (arguments.print_prolog) return print_prolog(arguments.agent_folder);
  const std::string conf = conf_path(arguments);
  const auto files = read_files(conf);
  if (!files) return report_error(files.error());
  if (arguments.undo) return undo(conf, *files);
  if (arguments.partitions.empty() && !arguments.all) {
    return report_error({.code = base::ErrorCode::Usage,
                         .message = "which partitions does Goban manage?",
                         .place = {},
                         .remedy = "name them with --partitions, or all of them with --all"});
  }
  const std::string name = slurm::slurm_user(files->conf);
  const passwd* user = ::getpwnam(name.c_str());
  auto plan = slurm::plan_setup(*files, arguments.partitions, user != nullptr ? user->pw_uid : 0);
  if (!plan) return report_error(plan.error());
  if (arguments.print_lua) {
    fmt::print("{}", *plan->files.lua);
    return 0;
  }
  if (arguments.agents) {
    const auto folder = std::filesystem::absolute(conf).parent_path().string();
    if (const auto status = slurm::plan_agents(*plan, folder, arguments.agent_folder); !status)
      return report_error(status.error());
  }
  for (const std::string& warning : plan->warnings) fmt::print(stderr, "warning: {}\n", warning);
  for (const std::string& reason : plan->reasons) fmt::print("{}\n", reason);
  const bool same = plan->files.conf == files->conf && plan->files.lua == files->lua &&
                    plan->files.prolog == files->prolog;
  if (arguments.check) {
    print_typed(arguments, plan->rules.index_types);
    fmt::print("{}\n", same ? "Check: the configuration is complete."
                            : "Check: not set up yet, or changed since; run it without --check.");
    return same ? 0 : 1;
  }
  if (same) {
    fmt::print("Nothing was changed: the configuration is complete.\n");
    return 0;
  }
  if (const auto status = write_files(conf, plan->files); !status)
    return report_error(status.error());
  fmt::print(
      "Written: {0} and job_submit.lua beside it. Next: scontrol reconfigure\n"
      "The way back: goban engine slurm setup --undo\n",
      conf);
  return 0;
}

/// In other partitions users hold jobs for themselves, so what is Goban's must be known.
base::Status find_partitions(EngineArguments& arguments) {
  if (!arguments.partitions.empty() || arguments.all) return {};
  const auto files = read_files(conf_path(arguments));
  const auto managed = files ? slurm::managed_partitions(files->lua.value_or("")) : std::nullopt;
  if (!managed) {
    return base::usage_error("which partitions did Goban manage? It has no job_submit.lua here",
                             "name them with --partitions, or all of them with --all");
  }
  arguments.partitions = *managed;
  arguments.all = managed->empty();
  return {};
}

int release(EngineArguments arguments) {
  if (const auto known = find_partitions(arguments); !known) return report_error(known.error());
  const auto released = slurm::release_all(client_of(arguments), arguments.partitions);
  if (!released) return report_error(released.error());
  fmt::print("Released {} jobs; {} stay held by their users or an administrator.\n", released->jobs,
             released->kept_held);
  for (const std::string& problem : released->problems) fmt::print(stderr, "{}\n", problem);
  return released->problems.empty() ? 0 : 1;
}

/// What changes with every beat; empty: there is no such file.
std::string beat_of(const std::string& path) {
  struct stat facts{};
  if (::stat(path.c_str(), &facts) != 0) return {};
  return fmt::format("{}.{} {}", facts.st_mtim.tv_sec, facts.st_mtim.tv_nsec, facts.st_ino);
}

int watch(EngineArguments arguments) {
  const auto after_ns = live::job::parse_span(arguments.after);
  if (!after_ns) return report_error(after_ns.error());
  if (const auto known = find_partitions(arguments); !known) return report_error(known.error());
  slurm::Heartbeat heartbeat(*after_ns);
  constexpr auto kLook = std::chrono::seconds(1);
  constexpr int kLooksBetweenReleases = 10;
  for (int looks = 0;; std::this_thread::sleep_for(kLook)) {
    if (!heartbeat.is_late(beat_of(arguments.heartbeat), base::steady_ns())) {
      looks = 0;
      continue;
    }
    // New jobs are held by job_submit.lua until the daemon is back, so they are released, too.
    if (looks++ % kLooksBetweenReleases != 0) continue;
    if (looks == 1)
      fmt::print("No heartbeat in {}: scheduling goes back to Slurm.\n", arguments.heartbeat);
    release(arguments);
    std::fflush(stdout);
  }
}

void add_partitions(Command* c, EngineArguments& arguments) {
  Command* which = c->add_group_of_one("Released");
  which
      ->add_option("--partitions", arguments.partitions,
                   "Only jobs of these partitions (default: those of job_submit.lua)")
      ->type_name("NAME,...")
      ->delimiter(',');
  which->add_flag("--all", arguments.all, "Jobs of all partitions");
}

void add_conf(Command* c, EngineArguments& arguments) {
  c->add_option("--conf", arguments.conf,
                "slurm.conf; otherwise $SLURM_CONF, /etc/slurm/slurm.conf")
      ->type_name("FILE");
}

}  // namespace

void add_engine(Command& app, Action& action) {
  Command* engine = app.add_subcommand("engine", "Prepare a cluster for scheduling by Goban");
  engine->require_subcommand(1);
  Command* slurm = engine->add_subcommand("slurm", "A Slurm cluster");
  slurm->require_subcommand(1);
  add_kubernetes_engine(*engine, action);

  auto arguments = std::make_shared<EngineArguments>();
  Command* c = slurm->add_subcommand("setup", "Configure Slurm for Goban and explain the changes");
  add_conf(c, *arguments);
  Command* which = c->add_group_of_one("Managed");
  which->add_option("--partitions", arguments->partitions, "Only these partitions")
      ->type_name("NAME,...")
      ->delimiter(',');
  which->add_flag("--all", arguments->all, "All partitions");
  Command* how = c->add_group_of_one("Action");
  how->add_flag("--check", arguments->check,
                "Change nothing; exit with code 1 if changes are needed");
  how->add_flag("--print-lua", arguments->print_lua, "Print job_submit.lua");
  how->add_flag("--print-task-prolog", arguments->print_prolog,
                "Print the TaskProlog of --agents, for sites that have one of their own");
  how->add_flag("--undo", arguments->undo, "Undo the changes of an earlier setup");
  c->add_flag("--agents", arguments->agents,
              "Nodes run goban agent: also write a TaskProlog, so that jobs find its socket");
  c->add_option("--agent-folder", arguments->agent_folder,
                "Folder of the agents' sockets on the nodes")
      ->type_name("DIR")
      ->capture_default_str();
  c->footer(
      "Examples:\n"
      "  goban engine slurm setup --partitions gpu && scontrol reconfigure\n"
      "  goban engine slurm setup --partitions gpu --check\n"
      "  goban engine slurm setup --undo && scontrol reconfigure && goban engine slurm "
      "release-all --partitions gpu\n"
      "It adds one line to slurm.conf and writes job_submit.lua beside it; with --agents also the "
      "line TaskProlog\n"
      "and its script.\n"
      "Exit codes: 0 success, 1 failure, 2 usage error, 3 slurm.conf has an unexpected form.");
  c->callback([arguments, &action] { action = [arguments] { return setup(*arguments); }; });

  add_slurm_report(*slurm, action);
  Command* r = slurm->add_subcommand(
      "release-all", "Hand scheduling back to Slurm: release every job that waits for Goban");
  add_conf(r, *arguments);
  add_partitions(r, *arguments);
  r->footer(
      "Example:\n"
      "  goban engine slurm release-all --partitions gpu\n"
      "Jobs that their users or an administrator hold stay held. A job that was preempted loses "
      "the nodes and GPUs\n"
      "that Goban chose. Requires the rights of SlurmUser or an operator of Slurm.\n"
      "Exit codes: 0 success, 1 Slurm does not answer or refuses a job, 2 usage error.");
  r->callback([arguments, &action] { action = [arguments] { return release(*arguments); }; });

  Command* w = slurm->add_subcommand("watchdog",
                                     "Hand scheduling back to Slurm when the daemon has stopped");
  add_conf(w, *arguments);
  w->add_option("--heartbeat", arguments->heartbeat,
                "File that the daemon touches while it decides")
      ->type_name("FILE")
      ->required();
  w->add_option("--after", arguments->after,
                "Time without a heartbeat after which it does so (60s)")
      ->type_name("SPAN");
  add_partitions(w, *arguments);
  w->footer(
      "Example:\n"
      "  goban engine slurm watchdog --heartbeat /var/lib/goban/heartbeat --partitions gpu\n"
      "Run it as a service of its own. Without a heartbeat it releases every job that waits for\n"
      "Goban, as release-all does. It shares nothing with the daemon but this file.\n"
      "It runs until it gets a signal. Exit code: 2 usage error.");
  w->callback([arguments, &action] { action = [arguments] { return watch(*arguments); }; });
}

}  // namespace goban::cli
