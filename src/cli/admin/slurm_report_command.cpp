// goban engine slurm observe-report: what Slurm did, what policies of ours would have done, and the
// error of the simulator beside it, from the records of the last days.
#include <cstdlib>
#include <filesystem>
#include <fmt/format.h>
#include <memory>
#include <utility>

#include "cli/admin/commands.hpp"
#include "cli/admin/observe_report.hpp"
#include "cli/shell/command.hpp"

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

base::Status run_into(const std::vector<std::string>& words, const std::string& path,
                      const std::string& conf) {
  std::vector<std::string> environment;
  const char* usual = std::getenv("SLURM_CONF");
  if (!conf.empty() || usual != nullptr) {
    environment.push_back(fmt::format("SLURM_CONF={}", conf.empty() ? usual : conf));
  }
  return print_into(
      words, path, std::move(environment), "install Slurm's client commands on this machine",
      words.front() == "sacct" ? "the page needs Slurm's accounting (slurmdbd), or --jobs FILE"
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

int report(ReportArguments arguments) {
  std::error_code problem;
  std::filesystem::create_directories(arguments.out, problem);
  if (const auto status = gather(arguments); !status) return report_error(status.error());
  auto cluster = cluster_of_nodes("slurm", arguments.nodes, arguments.out);
  if (!cluster) return report_error(cluster.error());
  return write_observe_report({.system = "Slurm",
                               .format = "slurm",
                               .out = arguments.out,
                               .policies = arguments.policies,
                               .site_policy = arguments.site_policy,
                               .jobs = arguments.jobs,
                               .cluster = std::move(*cluster)});
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
