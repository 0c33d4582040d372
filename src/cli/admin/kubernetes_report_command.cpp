// goban engine kubernetes observe-report: what kube-scheduler did, what policies of ours would have
// done, and the error of the simulator beside it, from what the cluster still knows.
#include <cstdlib>
#include <filesystem>
#include <fmt/format.h>
#include <memory>

#include "cli/admin/commands.hpp"
#include "cli/admin/observe_report.hpp"
#include "cli/shell/command.hpp"

namespace goban::cli {
namespace {

/// It starts what fits, whoever waits before, and prefers empty nodes.
constexpr const char* kKubeScheduler = "priority+skip+spread";

struct KubeReportArguments {
  ObserveReport report{
      .system = "kube-scheduler", .format = "kubernetes", .site_policy = kKubeScheduler};
  std::string nodes;  ///< what kubectl printed; empty: it is asked
  std::string kubeconfig;
};

/// Records and nodes, asked of kubectl unless they are given.
base::Status gather(KubeReportArguments& arguments) {
  std::vector<std::string> environment;
  const char* usual = std::getenv("KUBECONFIG");
  if (!arguments.kubeconfig.empty() || usual != nullptr) {
    environment.push_back("KUBECONFIG=" +
                          (arguments.kubeconfig.empty() ? usual : arguments.kubeconfig));
  }
  // kubectl looks for its configuration, and keeps what the server can do, below it.
  if (const char* home = std::getenv("HOME")) environment.push_back(std::string("HOME=") + home);
  const auto ask = [&](const std::vector<std::string>& words, std::string& file, const char* name) {
    if (!file.empty()) return base::Status{};
    file = arguments.report.out + "/" + name;
    return print_into(words, file, environment, "install kubectl on this machine",
                      "kubectl said why; --jobs and --nodes read files instead");
  };
  if (auto asked = ask({"kubectl", "get", "nodes", "-o", "json"}, arguments.nodes, "nodes.json");
      !asked) {
    return asked;
  }
  return ask({"kubectl", "get", "jobs.batch,pods", "--all-namespaces", "-o", "json"},
             arguments.report.jobs, "jobs.json");
}

int report_kubernetes(KubeReportArguments arguments) {
  std::error_code problem;
  std::filesystem::create_directories(arguments.report.out, problem);
  if (const auto status = gather(arguments); !status) return report_error(status.error());
  auto cluster = cluster_of_nodes("kubernetes", arguments.nodes, arguments.report.out);
  if (!cluster) return report_error(cluster.error());
  arguments.report.cluster = std::move(*cluster);
  return write_observe_report(arguments.report);
}

}  // namespace

void add_kubernetes_report(Command& kubernetes, Action& action) {
  auto arguments = std::make_shared<KubeReportArguments>();
  Command* c = kubernetes.add_subcommand(
      "observe-report", "Report what kube-scheduler did and what Goban would have done");
  c->add_option("--out", arguments->report.out, "Folder for the report and its input (.)")
      ->type_name("DIR");
  c->add_option("--policy", arguments->report.policies, "Policies to compare (easy-backfill+pal)")
      ->type_name("POLICY,...")
      ->delimiter(',');
  c->add_option("--site-policy", arguments->report.site_policy,
                fmt::format("Policy that represents this kube-scheduler ({})", kKubeScheduler))
      ->type_name("POLICY");
  c->add_option("--jobs", arguments->report.jobs,
                "Read this output of kubectl get jobs,pods -A -o json, or a watch of them, instead "
                "of running it")
      ->type_name("FILE");
  c->add_option("--nodes", arguments->nodes,
                "Read this output of kubectl get nodes -o json instead of running it")
      ->type_name("FILE");
  c->add_option("--kubeconfig", arguments->kubeconfig,
                "For kubectl; otherwise $KUBECONFIG, kubectl's default")
      ->type_name("FILE");
  c->footer(
      "Example, each night:\n"
      "  goban engine kubernetes observe-report --out /var/lib/goban/observe\n"
      "The page is observe-DATE.html. The error of the simulator, against the recorded starts, "
      "stands beside each gain;\n"
      "a gain that does not exceed it is not claimed. It writes nothing to the cluster. Jobs and "
      "pods that were deleted\n"
      "are missing; --jobs reads a watch, which has them.\n"
      "Exit codes: 0 success, 1 kubectl is missing or failed, 2 usage error, 3 invalid records.");
  c->callback(
      [arguments, &action] { action = [arguments] { return report_kubernetes(*arguments); }; });
}

}  // namespace goban::cli
