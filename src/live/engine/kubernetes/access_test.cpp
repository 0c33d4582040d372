#include "live/engine/kubernetes/access.hpp"

#include <cstdlib>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/test_folder.hpp"
#include "live/engine/kubernetes/api.hpp"

namespace goban::live::engine::kubernetes {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr const char* kConfig = R"(
apiVersion: v1
kind: Config
current-context: lab
contexts:
- name: lab
  context: {cluster: here, user: me}
- name: plugin
  context: {cluster: here, user: by-program}
- name: short
  context: {cluster: here, user: by-short}
- name: bad
  context: {cluster: plain, user: me}
- name: blind
  context: {cluster: blind, user: me}
clusters:
- name: here
  cluster: {server: "https://10.0.0.1:6443/", certificate-authority-data: UEVN}
- name: plain
  cluster: {server: "http://10.0.0.1"}
- name: blind
  cluster: {server: "https://10.0.0.1", insecure-skip-tls-verify: true}
users:
- name: me
  user: {token: secret}
- name: by-short
  user: {exec: {command: login}}
- name: by-program
  user:
    exec: {command: ./login, args: [a, b], env: [{name: X, value: "1"}]}
)";

std::string problem_of(const std::string& text, const std::string& context = "") {
  const auto access = access_from_kubeconfig(text, "/etc/kube/config", context);
  return access ? "" : access.error().text();
}

TEST(KubernetesApi, WhatIsRefusedNamesItsKindAndARemedy) {
  EXPECT_EQ(kind_of_request("POST", "/api/v1/namespaces/ml/pods/a/binding"), "POST pods/binding");
  EXPECT_EQ(kind_of_request("DELETE", "/apis/batch/v1/namespaces/ml/jobs/a"), "DELETE jobs");
  EXPECT_TRUE(is_refusal({.status = 403, .problem = "HTTP 403: no"}));
  EXPECT_FALSE(is_refusal({.status = 409, .problem = "HTTP 409: changed"}));
  EXPECT_FALSE(is_refusal({.status = 201}));
  EXPECT_THAT(with_remedy("HTTP 403: no"), ::testing::HasSubstr("kubernetes manifests"));
  EXPECT_THAT(with_remedy("HTTP 401: no"), ::testing::HasSubstr("not valid any more"));
  EXPECT_EQ(with_remedy("HTTP 500: no"), "HTTP 500: no");
}

TEST(KubernetesAccess, AKubeconfig) {
  const auto access = access_from_kubeconfig(kConfig, "/etc/kube/config", "").value();
  EXPECT_EQ(access.server, "https://10.0.0.1:6443");
  EXPECT_EQ(access.ca, "PEM");
  EXPECT_EQ(access.token, "secret");
  const auto plugin = access_from_kubeconfig(kConfig, "/etc/kube/config", "plugin").value();
  EXPECT_THAT(plugin.plugin, ElementsAre("/etc/kube/./login", "a", "b"));
  EXPECT_THAT(plugin.plugin_environment, ElementsAre("X=1"));
}

TEST(KubernetesAccess, WhatIsAbsentIsNoError) {
  const auto plugin = access_from_kubeconfig(kConfig, "/etc/kube/config", "short").value();
  EXPECT_THAT(plugin.plugin, ElementsAre("login"));
  EXPECT_THAT(problem_of("current-context: a"), HasSubstr("contexts: has no context \"a\""));
}

TEST(KubernetesAccess, RefusesWhatIsNotVerified) {
  EXPECT_THAT(problem_of(kConfig, "bad"), HasSubstr("server: does not begin with https://"));
  EXPECT_THAT(problem_of(kConfig, "blind"), HasSubstr("insecure-skip-tls-verify"));
  EXPECT_THAT(problem_of(kConfig, "other"), HasSubstr("has no context \"other\""));
  EXPECT_THAT(problem_of("x: [1"), HasSubstr("/etc/kube/config:1:"));
  EXPECT_THAT(problem_of("- 1"), HasSubstr("is not a kubeconfig"));
  EXPECT_THAT(problem_of(std::string(20'000, '[')), HasSubstr("/etc/kube/config"));
  EXPECT_THAT(problem_of(std::string(kConfig) + "- name: x\n"), "");
}

TEST(KubernetesAccess, AsAPod) {
  const base::TestFolder folder;
  ::unsetenv("KUBERNETES_SERVICE_HOST");
  EXPECT_THAT(access_in_cluster(folder.path()).error().text(), HasSubstr("not running in a pod"));
  (void)folder.write("ca.crt", "PEM");
  ::setenv("KUBERNETES_SERVICE_HOST", "fd00::1", 1);
  ::setenv("KUBERNETES_SERVICE_PORT", "443", 1);
  const auto access = access_in_cluster(folder.path()).value();
  EXPECT_EQ(access.server, "https://[fd00::1]:443");
  EXPECT_THAT(access.token_file, HasSubstr("token"));
  ::unsetenv("KUBERNETES_SERVICE_HOST");
}

TEST(KubernetesAccess, APluginsToken) {
  EXPECT_EQ(token_of_plugin(R"({"status": {"token": "t"}})").value(), "t");
  EXPECT_FALSE(token_of_plugin(R"({"status": {}})"));
  EXPECT_FALSE(token_of_plugin("secret"));
}

}  // namespace
}  // namespace goban::live::engine::kubernetes
