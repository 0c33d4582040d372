// goban engine kubernetes: what an administrator applies to a cluster.
#include <fmt/format.h>
#include <memory>

#include "cli/admin/commands.hpp"
#include "live/engine/kubernetes/manifests.hpp"

namespace goban::cli {
namespace {

namespace kubernetes = live::engine::kubernetes;

struct ManifestArguments {
  std::string mode;
  kubernetes::ManifestOptions options;
};

int print_manifests(const ManifestArguments& arguments) {
  kubernetes::ManifestOptions options = arguments.options;
  if (arguments.mode == "namespaces") {
    options.mode = kubernetes::Mode::Namespaces;
  } else if (arguments.mode == "all") {
    options.mode = kubernetes::Mode::All;
  } else if (arguments.mode != "observe") {
    return report_error({.code = base::ErrorCode::Usage,
                         .message = fmt::format("--mode: unknown mode \"{}\"", arguments.mode),
                         .place = {},
                         .remedy = "known: observe, namespaces, all"});
  }
  const auto text = kubernetes::manifests(options);
  if (!text) return report_error(text.error());
  fmt::print("{}", *text);
  return 0;
}

}  // namespace

void add_kubernetes_engine(Command& engine, Action& action) {
  Command* kubernetes = engine.add_subcommand("kubernetes", "A Kubernetes cluster");
  kubernetes->require_subcommand(1);
  add_kubernetes_report(*kubernetes, action);
  auto arguments = std::make_shared<ManifestArguments>();
  Command* c = kubernetes->add_subcommand("manifests", "Print manifests for kubectl apply");
  c->add_option("--mode", arguments->mode,
                "observe: read-only rights; namespaces, all: also the rights to schedule pods")
      ->type_name("MODE")
      ->required();
  c->add_option("--namespaces", arguments->options.namespaces,
                "With --mode namespaces: the namespaces to manage")
      ->type_name("NAME,...")
      ->delimiter(',');
  c->add_option("--home", arguments->options.home, "Namespace in which Goban runs (goban)")
      ->type_name("NAME");
  c->add_option("--image", arguments->options.image, "Add a Deployment that runs this image")
      ->type_name("IMAGE");
  c->add_flag("--agents", arguments->options.agents,
              "Add a DaemonSet of goban agent on managed nodes; needs --image, and Secrets "
              "(docs/agent.md)");
  c->add_flag("--scores", arguments->options.scores,
              "Read PM scores of GPUs from the ConfigMap goban-scores (cluster.toml, scores.csv); "
              "needs --image");
  c->add_option("--watchdog", arguments->options.watchdog,
                "Add a kube-scheduler with this image, which schedules pods while Goban is down")
      ->type_name("IMAGE");
  c->footer(
      "Examples:\n"
      "  goban engine kubernetes manifests --mode observe | kubectl apply -f -\n"
      "  goban engine kubernetes manifests --mode namespaces --namespaces ml,vision | kubectl "
      "apply -f -\n"
      "  goban engine kubernetes manifests --mode all | kubectl delete -f -\n"
      "It prints a namespace, a service account with its rights, and a policy by which only this "
      "account writes\n"
      "annotations of goban.dev. It does not contact a cluster.\n"
      "Exit codes: 0 success, 2 usage error.");
  c->callback(
      [arguments, &action] { action = [arguments] { return print_manifests(*arguments); }; });
}

}  // namespace goban::cli
