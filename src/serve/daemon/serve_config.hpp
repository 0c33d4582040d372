// What `goban serve --config FILE` reads (docs/serve.md), and what of it the command line says.
//
//   state = "/var/lib/goban"        # folder of journal, jobs and history
//   policy = "goban"                # a preset or parts, as in goban policies
//   virtual_gpus = 4                # instead of those of the driver
//   virtual_slowness = [1, 1, 1.3]  # of each virtual GPU; the rest has 1
//   scores = "scores.csv"           # PM scores, see goban profile
//   accounts = "accounts.toml"      # accounts, limits and weights
//   energy = "dgx-v100"             # power model: preset or file
//   colocation = "pairs.csv"        # who was measured beside whom
//   sharing = ["within_account=0"]  # who may share GPUs, see goban simulate --sharing
//   store = "history.sqlite"        # of accounting records
//   series = "series"               # readings of GPUs: folder of a series store, or "none"
//   refresh = "idle"                # measure idle GPUs again now and then, or "none"
//   learn = "jobs"                  # scores learn from jobs that are over, or "none"
//   jobs_per_user = 20000           # that are not over
//   keep_ended = "1h"               # jobs stay in the queue's list so long after their end
//
//   [[resource_type]]               # a part of the machine that jobs ask for by name, with the
//   name = "rt_small"               # keys of cluster files (cluster_file.hpp)
//   gpus = 1
//
//   [reservations]                  # docs/jobs.md
//   who = "users"                   # everybody for oneself; "operators" if not given
//   unit = "1d"                     # a reservation is a whole number of these
//   longest = "30d"
//   ahead = "1d"                    # made at least so long before it begins
//   nodes_max = 0                   # nodes of one; 0: all there are
//
//   [service]                       # who may ask, and where: docs/security.md
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

/// Empty texts: not given, a default follows from the state folder or the machine.
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
  std::vector<std::string> sharing{};  ///< settings of sharing that differ from kLiveSharing
  std::string store{};
  std::string series{};  ///< folder, or "none"
  std::vector<core::model::ResourceType> resource_types{};
  bool refresh = true;  ///< idle GPUs are measured again
  bool learn = true;    ///< jobs that are over say what they saw of GPUs
  base::TimeNs keep_ended_ns = 3600 * base::kSecond;
  size_t jobs_per_user_max = 20'000;  ///< that are not over; 0 = no limit
  uint64_t seed = 1;
  live::controller::ReservationRules reservations{};

  api::ServiceOptions service{};
};

/// Errors: BadData with line, column, field and remedy.
[[nodiscard]] base::Result<ServeConfig> parse_serve_config(std::string_view toml,
                                                           const std::string& file);
/// Sets who may share GPUs: only jobs of one account that asked for it, unless `config.sharing`
/// says otherwise. Errors: Usage, naming the setting.
[[nodiscard]] base::Status set_sharing(const ServeConfig& config,
                                       core::policy::PolicyOptions& options);
/// Paths in it are relative to the file's folder. Errors: also Failed if it cannot be read.
[[nodiscard]] base::Result<ServeConfig> read_serve_config(const std::string& path);

/// Fills in what follows from the state folder: the folder itself (api_client.hpp), the stores, and
/// the socket: kSystemSocket for root's own folder, for others cannot look into it; else
/// `goban.sock` in the folder.
void add_defaults(ServeConfig& config);

/// Keys that differ and that a running daemon does not take over: all but who may ask, the tokens
/// and the certificate.
[[nodiscard]] std::vector<std::string> keys_for_restart(const ServeConfig& running,
                                                        const ServeConfig& fresh);

}  // namespace goban::serve::daemon
