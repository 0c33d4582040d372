#include "live/engine/kubernetes/kubernetes_kind.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "live/engine/kubernetes/manifests.hpp"

namespace goban::live::engine::kubernetes {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

/// What [kubernetes] with these lines says, and the first problem.
std::pair<KubernetesChoice, std::string> read_lines(const std::string& lines) {
  const auto document = base::parse_config(lines, "goban.toml").value();
  base::ConfigProblems problems("goban.toml");
  base::TableReader table(document, "kubernetes", problems);
  KubernetesChoice choice = read_kubernetes(table);
  table.finish();
  const base::Status status = problems.status();
  return {choice, status ? "" : status.error().text()};
}

TEST(KubernetesKind, Options) {
  const auto [choice, problem] = read_lines(
      "mode = 'namespaces'\nnamespaces = ['ml']\nindices = 'exact'\nstart = '5m'\n"
      "kubeconfig = '/etc/kube'\nversion = 'any'\n");
  ASSERT_EQ(problem, "");
  EXPECT_EQ(choice.options.rules.mode, Mode::Namespaces);
  EXPECT_THAT(choice.options.rules.namespaces, ElementsAre("ml"));
  EXPECT_EQ(choice.options.rules.indices, Indices::Exact);
  EXPECT_EQ(choice.options.patience.start_ns, 300 * base::kSecond);
  EXPECT_EQ(choice.kubeconfig, "/etc/kube");
  EXPECT_TRUE(choice.any_version);
  EXPECT_EQ(read_lines("mode = 'all'\n").first.options.rules.mode, Mode::All);
  EXPECT_EQ(choice.options.lease, "goban/goban");
  EXPECT_EQ(choice.options.terms.takeover_ns, 15 * base::kSecond);
  const auto other = read_lines("mode = 'all'\nlease = 'sched/two'\ntakeover = '30s'\n").first;
  EXPECT_EQ(other.options.lease, "sched/two");
  EXPECT_EQ(other.options.terms.takeover_ns, 30 * base::kSecond);
  EXPECT_EQ(read_lines("mode = 'observe'\n").first.options.lease, "") << "nothing is written";
}

TEST(KubernetesKind, ObservingFencesNoNode) {
  const auto fences = [](const std::string& mode) {
    const auto table = base::parse_config("mode = '" + mode + "'\n", "goban.toml").value();
    return starts_pods({.name = "kubernetes", .table = table});
  };
  EXPECT_TRUE(fences("all"));
  EXPECT_FALSE(fences("observe"));
}

TEST(KubernetesKind, RefusesWhatItDoesNotKnow) {
  const auto error = [](const std::string& lines) { return read_lines(lines).second; };
  EXPECT_THAT(error(""), HasSubstr("mode"));
  EXPECT_THAT(error("mode = 'some'"), HasSubstr("unknown mode some"));
  EXPECT_THAT(error("mode = 'namespaces'"), HasSubstr("namespaces"));
  EXPECT_THAT(error("mode = 'all'\nnamespaces = ['ml']"), HasSubstr("does not fit mode all"));
  EXPECT_THAT(error("mode = 'all'\nscheduler = 'default-scheduler'"), HasSubstr("Kubernetes' own"));
  EXPECT_THAT(error("mode = 'all'\nstart = '1ms'"), HasSubstr("from a second to a day"));
  EXPECT_THAT(error("mode = 'all'\nindexes = 'exact'"), HasSubstr("indices"));
  EXPECT_THAT(error("mode = 'all'\nrequests = 0"), HasSubstr("requests"));
  EXPECT_THAT(error("mode = 'all'\nlease = 'goban'"), HasSubstr("NAMESPACE/NAME"));
  EXPECT_THAT(error("mode = 'all'\nlease = 'a/b/c'"), HasSubstr("NAMESPACE/NAME"));
  EXPECT_THAT(error("mode = 'all'\ntakeover = '1s'"), HasSubstr("from 3 s to an hour"));
}

TEST(KubernetesKind, Versions) {
  EXPECT_TRUE(check_version(R"({"major": "1", "minor": "34"})", false));
  EXPECT_TRUE(check_version(R"({"major": "1", "minor": "34+"})", false));
  EXPECT_FALSE(check_version(R"({"major": "1", "minor": "29"})", false));
  EXPECT_TRUE(check_version(R"({"major": "1", "minor": "29"})", true));
  EXPECT_FALSE(check_version("<html>", false));
}

TEST(KubernetesManifests, EachModeHasItsRights) {
  const std::string observe = manifests({}).value();
  EXPECT_THAT(observe, Not(HasSubstr("goban-decides")));
  EXPECT_THAT(observe, Not(HasSubstr("create")));
  const std::string some =
      manifests({.mode = Mode::Namespaces, .namespaces = {"ml", "vision"}}).value();
  EXPECT_THAT(some, HasSubstr("{name: goban-decides, namespace: vision}"));
  EXPECT_THAT(some, Not(HasSubstr("ClusterRoleBinding\nmetadata: {name: goban-decides")));
  EXPECT_THAT(some, HasSubstr("ValidatingAdmissionPolicy"));
  EXPECT_THAT(some, HasSubstr("resources: [pods, pods/binding, pods/status, bindings]"));
  EXPECT_THAT(manifests({.mode = Mode::All, .home = "sched"}).value(),
              HasSubstr("system:serviceaccount:sched:goban"));
}

TEST(KubernetesManifests, AgentsHaveAnAccountWithoutRights) {
  const std::string text =
      manifests({.mode = Mode::All, .home = "sched", .image = "r/goban:1", .agents = true}).value();
  const std::string agents = text.substr(text.find("name: goban-agent"));
  EXPECT_THAT(agents, HasSubstr("kind: DaemonSet"));
  EXPECT_THAT(agents, HasSubstr("automountServiceAccountToken: false"));
  EXPECT_THAT(agents, HasSubstr("https://goban.sched.svc:6818"));
  EXPECT_THAT(agents, HasSubstr("image: \"r/goban:1\""));
  EXPECT_THAT(agents, Not(HasSubstr("Role")));
  EXPECT_THAT(text, HasSubstr("tokens = \"/etc/goban-service/tokens\""));
  EXPECT_THAT(text, Not(HasSubstr("@")));
  const std::string without = manifests({.mode = Mode::All, .image = "r/goban:1"}).value();
  EXPECT_THAT(without, Not(HasSubstr("goban-service")));
  EXPECT_THAT(without, Not(HasSubstr("@")));
  EXPECT_FALSE(manifests({.mode = Mode::All, .agents = true})) << "without an image";
}

TEST(KubernetesManifests, ScoresComeFromAConfigMap) {
  const std::string text =
      manifests({.mode = Mode::All, .image = "r/goban:1", .scores = true}).value();
  const std::string config = text.substr(text.find("goban.toml: |"));
  EXPECT_LT(config.find("scores = \"/etc/goban-scores/scores.csv\""), config.find("[kubernetes]"))
      << "a key of the whole, not of the table";
  EXPECT_THAT(text, HasSubstr("configMap: {name: goban-scores}"));
  EXPECT_THAT(text, HasSubstr("mountPath: /etc/goban-scores, readOnly: true"));
  EXPECT_THAT(text, Not(HasSubstr("@")));
  EXPECT_THAT(manifests({.mode = Mode::All, .image = "r/goban:1"}).value(),
              Not(HasSubstr("scores")));
  EXPECT_FALSE(manifests({.mode = Mode::All, .scores = true}));
}

TEST(KubernetesManifests, NamesCannotLeaveTheirPlace) {
  const auto error = [](const ManifestOptions& options) {
    const auto text = manifests(options);
    return text ? "" : text.error().text();
  };
  for (const char* name : {"a'b", "a\nb", "-a", "A", "", "a: b"}) {
    EXPECT_THAT(error({.home = name}), HasSubstr("is not a valid name of a namespace")) << name;
    EXPECT_NE(error({.mode = Mode::Namespaces, .namespaces = {name}}), "") << name;
  }
  EXPECT_THAT(error({.image = "x\" evil"}), HasSubstr("--image"));
  EXPECT_THAT(error({.mode = Mode::All, .watchdog = "x\" evil"}), HasSubstr("--watchdog"));
  EXPECT_THAT(error({.watchdog = "x"}), HasSubstr("--watchdog"));
  EXPECT_THAT(error({.mode = Mode::Namespaces}), HasSubstr("--namespaces"));
  EXPECT_THAT(error({.mode = Mode::All, .namespaces = {"ml"}}), HasSubstr("--namespaces"));
}

}  // namespace
}  // namespace goban::live::engine::kubernetes
