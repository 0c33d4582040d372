// The configuration of `goban serve`: its file (--config FILE, docs/serve.md) and the options of
// the command line.
//
//   state = "/var/lib/goban"        # folder of journal, jobs and history
//   policy = "goban"                # a preset or parts, as in goban policies
//   virtual_gpus = 4                # instead of those of the driver
//   virtual_slowness = [1, 1, 1.3]  # per virtual GPU; the remaining ones have 1
//   scores = "scores.csv"           # PM scores, see goban profile
//   accounts = "accounts.toml"      # accounts, limits and weights
//   energy = "dgx-v100"             # power model: preset or file
//   colocation = "pairs.csv"        # co-location history
//   sharing = ["within_account=0"]  # which jobs may share GPUs, see goban simulate --sharing
//   store = "history.sqlite"        # of accounting records
//   series = "series"               # readings of GPUs: folder of a series store, or "none"
//   refresh = "idle"                # measure idle GPUs again from time to time, or "none"
//   learn = "jobs"                  # learn PM scores from finished jobs, or "none"
//   jobs_per_user = 20000           # maximum number of unfinished jobs per user
//   keep_ended = "1h"               # how long finished jobs stay in the job list
//
//   [[resource_type]]               # a part of the machine that jobs request by name; keys as in
//   name = "rt_small"               # cluster files (cluster_file.hpp)
//   gpus = 1
//
//   [reservations]                  # docs/jobs.md
//   who = "users"                   # users may reserve for themselves; default: "operators"
//   unit = "1d"                     # the duration must be a multiple of this
//   longest = "30d"
//   ahead = "1d"                    # minimum time between the request and the start
//   nodes_max = 0                   # maximum number of nodes per reservation; 0: no limit
//
//   [service]                       # listeners and roles: docs/security.md
//   socket = "/run/goban.sock"
//   listen = "127.0.0.1:8080"       # beyond loopback only with TLS
//   certificate = "cert.pem"
//   key = "key.pem"
//   tokens = "tokens"
//   operators = ["alice"]
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "base/time.hpp"
#include "core/model/cluster.hpp"
#include "core/policy/policy_options.hpp"
#include "serve/api/service.hpp"

namespace goban::serve::daemon {

/// An empty string means not set: the default follows from the state folder or the machine.
struct ServeConfig {
  std::string state{};
  std::string policy = "goban";
  std::string node{};  ///< name of this machine
  int32_t virtual_gpus = 0;
  std::vector<double> virtual_slowness{};
  std::string scores{};
  std::string accounts{};
  std::string energy{};
  std::string colocation{};
  std::vector<std::string> sharing{};  ///< sharing settings that differ from kLiveSharing
  std::string store{};
  std::string series{};  ///< folder, or "none"
  std::vector<core::model::ResourceType> resource_types{};
  bool refresh = true;  ///< measure idle GPUs again from time to time
  bool learn = true;    ///< learn PM scores from finished jobs
  base::TimeNs keep_ended_ns = 3600 * base::kSecond;
  size_t jobs_per_user_max = 20'000;  ///< maximum number of unfinished jobs; 0 = no limit
  uint64_t seed = 1;
  live::controller::ReservationRules reservations{};

  api::ServiceOptions service{};
};

/// Errors: BadData with line, column, field and remedy.
[[nodiscard]] base::Result<ServeConfig> parse_serve_config(std::string_view toml,
                                                           const std::string& file);
/// Sets which jobs may share GPUs: only jobs of one account that requested it, unless
/// `config.sharing` changes that. Errors: Usage with the setting.
[[nodiscard]] base::Status set_sharing(const ServeConfig& config,
                                       core::policy::PolicyOptions& options);
/// Relative paths in the file are relative to its folder. Errors: also Failed if it cannot be read.
[[nodiscard]] base::Result<ServeConfig> read_serve_config(const std::string& path);

/// Fills in the defaults: the state folder (api_client.hpp), the stores in it, and the socket:
/// kSystemSocket if root uses the default folder, which other users cannot enter; otherwise
/// `goban.sock` in the state folder.
void add_defaults(ServeConfig& config);

/// Changed keys that take effect only at the next start: all except roles, tokens and certificate.
[[nodiscard]] std::vector<std::string> keys_for_restart(const ServeConfig& running,
                                                        const ServeConfig& fresh);

}  // namespace goban::serve::daemon
