#include "cli/jobs/pod_log_output.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/files.hpp"
#include "base/http/http_client.hpp"
#include "base/text_file.hpp"
#include "cli/jobs/live_client.hpp"
#include "cli/shell/command.hpp"
#include "cli/shell/notes.hpp"
#include "live/engine/kubernetes/pod_logs.hpp"

namespace goban::cli {

namespace {

namespace kubernetes = live::engine::kubernetes;

/// The first file of $KUBECONFIG, else ~/.kube/config. Empty: there is none.
std::string callers_kubeconfig() {
  const char* named = std::getenv("KUBECONFIG");
  if (named != nullptr && *named != '\0') {
    const std::string_view list = named;
    return std::string(list.substr(0, list.find(':')));
  }
  const char* home = std::getenv("HOME");
  return home == nullptr ? std::string() : std::string(home) + "/.kube/config";
}

/// As kubectl would reach the cluster.
base::Result<kubernetes::Access> callers_access() {
  constexpr size_t kMost = size_t{4} << 20;
  const std::string path = callers_kubeconfig();
  if (path.empty() || !base::exists(path)) {
    auto access = kubernetes::access_in_cluster();
    if (access) return access;
    return base::failed(
        "the output of pods is read with your own access to Kubernetes, and there "
        "is no kubeconfig",
        "set KUBECONFIG, as for kubectl");
  }
  const auto text = base::read_text_file(path, kMost);
  if (!text) return base::failure(text.error());
  return kubernetes::access_from_kubeconfig(*text, path, "");
}

}  // namespace

base::Status print_pod_log(serve::api::ApiClient& client, const std::string& job,
                           const LogChoice& choice, const base::Error& refusal, int out) {
  const auto shown = get_json(client, "/v1/jobs/" + base::http::url_part(job));
  const std::string gang = shown ? text_of(*shown, "engine_id") : std::string();
  if (!kubernetes::is_gang_id(gang)) return base::failure(refusal);
  const auto access = callers_access();
  if (!access) return base::failure(access.error());
  catch_interrupts();
  base::Status written;
  const auto take = [&](std::string_view piece) {
    if (!base::write_all(out, piece)) {
      written = base::failed(fmt::format("cannot write the output: {}", std::strerror(errno)));
    }
    return written.has_value() && !interrupted();
  };
  const auto problems =
      kubernetes::read_logs(*access,
                            {.gang = gang,
                             .job = static_cast<uint64_t>(std::max(number_of(*shown, "job"), 0.0)),
                             .container = choice.container,
                             .follow = choice.follow,
                             .lines = choice.lines},
                            take, interrupted());
  if (!written) return written;
  if (!problems) return interrupted() ? base::Status{} : base::failure(problems.error());
  std::vector<study::results::Note> notes;
  for (const std::string& problem : *problems) notes.push_back({.text = problem});
  print_notes(notes);
  return {};
}

}  // namespace goban::cli
