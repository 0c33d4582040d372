// goban engine slurm observe-report: what Slurm did, what policies of ours would have done, and the
// error of the simulator beside it, from the records of the last days.
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <fmt/format.h>
#include <memory>
#include <sys/wait.h>

#include "base/clock.hpp"
#include "base/date_time.hpp"
#include "base/files.hpp"
#include "base/output_file.hpp"
#include "base/spawn.hpp"
#include "cli/admin/commands.hpp"
#include "cli/shell/notes.hpp"
#include "cli/shell/progress.hpp"
#include "cli/shell/terminal_style.hpp"
#include "site/cluster_import.hpp"
#include "study/study.hpp"

namespace goban::cli {
namespace {

constexpr const char* kSitePolicy = "slurm-multifactor";

struct ReportArguments {
  std::string conf;
  std::string out = ".";
  int days = 1;
  std::vector<std::string> policies = {"easy-backfill+pal"};
  std::string site_policy = kSitePolicy;
  std::string jobs;   ///< what sacct printed; empty: it is asked
  std::string nodes;  ///< what scontrol printed; empty: it is asked
};

/// Writes what a command of Slurm prints to a file. Times are in UTC. Errors: Failed.
base::Status run_into(const std::vector<std::string>& words, const std::string& path,
                      const std::string& conf) {
  const base::Descriptor out(::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644));
  if (!out) {
    return base::failed(fmt::format("cannot write {}: {}", path, std::strerror(errno)),
                        "name another folder with --out");
  }
  const char* search = std::getenv("PATH");
  std::vector<std::string> environment = {
      fmt::format("PATH={}", search != nullptr ? search : "/usr/bin:/bin"), "LC_ALL=C", "TZ=UTC"};
  const char* usual = std::getenv("SLURM_CONF");
  if (!conf.empty() || usual != nullptr) {
    environment.push_back(fmt::format("SLURM_CONF={}", conf.empty() ? usual : conf));
  }
  const pid_t pid =
      base::spawn(words, {.environment = environment, .out = out.get(), .err = STDERR_FILENO});
  if (pid == 0) {
    return base::failed(fmt::format("cannot run {}: {}", words.front(), std::strerror(errno)),
                        "install Slurm's client commands on this machine");
  }
  const int status = base::wait_for(pid);
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return {};
  return base::failed(fmt::format("{} failed", words.front()),
                      words.front() == "sacct"
                          ? "the page needs Slurm's accounting (slurmdbd), or --jobs FILE"
                          : "");
}

/// Records and nodes, asked of Slurm unless they are given.
base::Status gather(ReportArguments& arguments) {
  const std::string& folder = arguments.out;
  if (arguments.nodes.empty()) {
    arguments.nodes = folder + "/nodes.txt";
    const auto status = run_into({"scontrol", "show", "node"}, arguments.nodes, arguments.conf);
    if (!status) return status;
  }
  if (!arguments.jobs.empty()) return {};
  arguments.jobs = folder + "/jobs.txt";
  return run_into({"sacct", "-a", "-X", "-P", "--noconvert", "-S",
                   fmt::format("now-{}days", arguments.days), "-E", "now", "-o", "ALL"},
                  arguments.jobs, arguments.conf);
}

base::Result<std::string> cluster_of(const ReportArguments& arguments) {
  site::NodeSources sources;
  sources.from = "slurm";
  sources.files = {arguments.nodes};
  const auto imported = site::import_cluster(sources);
  if (!imported) return base::failure(imported.error());
  std::string path = arguments.out + "/cluster.toml";
  if (const auto written = base::write_file(path, imported->toml); !written) {
    return base::failure(written.error());
  }
  return path;
}

int report(ReportArguments arguments) {
  std::error_code problem;
  std::filesystem::create_directories(arguments.out, problem);
  if (const auto status = gather(arguments); !status) return report_error(status.error());
  const auto cluster = cluster_of(arguments);
  if (!cluster) return report_error(cluster.error());
  const std::string day = base::date_text(base::wall_ns());
  study::StudyOptions options;
  options.files.cluster = *cluster;
  options.files.jobs = arguments.jobs;
  options.files.reading.format = "slurm";
  options.files.rejects = arguments.out + "/rejects.txt";
  options.policies = arguments.policies;
  options.backtest = arguments.site_policy;
  options.html = fmt::format("{}/observe-{}.html", arguments.out, day);
  study::add_site_policy(options);
  catch_interrupts();
  ProgressBar progress;
  const auto study = study::Study::load(std::move(options), progress);
  if (!study) return report_error(study.error());
  print_notes(study->notes());
  const auto comparison = study->run(progress);
  if (!comparison) return report_error(comparison.error());
  fmt::print("What Slurm did, as {} simulates it, and what others would have done:\n\n{}",
             arguments.site_policy,
             study::results::comparison_table(*comparison, output_style().width));
  if (comparison->backtest) {
    fmt::print("\n{}", study::results::backtest_text(*comparison->backtest));
  }
  fmt::print("Page: {}\n", study->options().html);
  return 0;
}

}  // namespace

void add_slurm_report(Command& slurm, Action& action) {
  auto arguments = std::make_shared<ReportArguments>();
  Command* c = slurm.add_subcommand("observe-report",
                                    "Report what Slurm did and what Goban would have done");
  c->add_option("--out", arguments->out, "Folder for the report and its input (.)")
      ->type_name("DIR");
  c->add_option("--days", arguments->days, "Jobs of the last N days (1)")
      ->type_name("N")
      ->range(1, 3660);
  c->add_option("--policy", arguments->policies, "Policies to compare (easy-backfill+pal)")
      ->type_name("POLICY,...")
      ->delimiter(',');
  c->add_option("--site-policy", arguments->site_policy,
                fmt::format("Policy that represents this Slurm ({})", kSitePolicy))
      ->type_name("POLICY");
  c->add_option("--jobs", arguments->jobs, "Read this output of sacct instead of running it")
      ->type_name("FILE");
  c->add_option("--nodes", arguments->nodes,
                "Read this output of scontrol show node instead of running it")
      ->type_name("FILE");
  c->add_option("--conf", arguments->conf, "slurm.conf; otherwise $SLURM_CONF, Slurm's default")
      ->type_name("FILE");
  c->footer(
      "Example, each night:\n"
      "  goban engine slurm observe-report --out /var/lib/goban/observe\n"
      "The page is observe-DATE.html. The error of the simulator, against the recorded starts, "
      "stands beside each gain;\n"
      "a gain that does not exceed it is not claimed. It writes nothing to Slurm.\n"
      "Exit codes: 0 success, 1 Slurm does not answer or has no accounting, 2 usage error, 3 "
      "invalid records.");
  c->callback([arguments, &action] { action = [arguments] { return report(*arguments); }; });
}

}  // namespace goban::cli
