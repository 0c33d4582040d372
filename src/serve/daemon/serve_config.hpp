// The configuration of `goban serve`: its file (--config FILE, docs/serve.md) and the options of
// the command line.
//
//   state = "/var/lib/goban"        # folder of journal, jobs and history
//   policy = "goban"                # a preset or parts, as in goban policies; a cluster's engine
//                                   # has "easy-backfill+pal" by default
//   engine = "local"                # what runs the jobs; its keys are in the table of that name
//   cluster = "cluster.toml"        # of an engine's cluster: GPU models, links, order of scores
//   virtual_gpus = 4                # instead of those of the driver
//   virtual_slowness = [1, 1, 1.3]  # per virtual GPU; the remaining ones have 1
//   virtual_devices = ["/dev/a"]    # character device of each, for its jobs only
//   tiers = "cluster.toml"          # storage tiers: a file with [[tier]]; default: cluster
//   scores = "scores.csv"           # PM scores, see goban profile
//   accounts = "accounts.toml"      # accounts, limits and weights
//   energy = "dgx-v100"             # power model: preset or file
//   colocation = "pairs.csv"        # co-location history
//   rates = "rates.csv"             # steps per second of elastic jobs
//   interpolate_rates = "no"        # also between measured numbers of GPUs
//   sharing = ["within_account=0"]  # which jobs may share GPUs, see goban simulate --sharing
//   store = "history.sqlite"        # of accounting records
//   series = "series"               # readings of GPUs: folder of a series store, or "none"
//   refresh = "idle"                # measure idle GPUs again from time to time, or "none"
//   learn = "jobs"                  # learn PM scores from finished jobs, or "none"
//   jobs_per_user = 20000           # maximum number of unfinished jobs per user
//   bytes_per_user = "256MiB"       # for scripts and environments of a user's unfinished jobs
//   disk_reserve = "1GiB"           # submissions leave this much of the disk free, or
//   disk_reserve_share = 0.05       # this share, if it is less
//   grace_max = "5m"                # longest --grace of a job: time between SIGTERM and SIGKILL
//   lead_max = "5m"                 # longest time between a job's checkpoint signal and SIGTERM
//   time_default = "1h"             # walltime limit of jobs without --time; default: time_max
//   time_max = "2d"                 # longest --time of a job; default: no limit
//   mem_default = "16GiB"           # memory per node of jobs without --mem; default: mem_max
//   mem_max = "64GiB"               # largest --mem of a job; default: no limit
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
//   [staging]                       # docs/staging.md
//   gateway_command = ["ssh", "-o", "BatchMode=yes", "-o", "ConnectTimeout=10",
//                      "-o", "ServerAliveInterval=15", "{node}", "goban"]
//   user = "stage"                  # copies for owners that are no Unix users of this machine
//   retry = "10s"                   # after a failure; doubles up to
//   retry_max = "10m"
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
#include "live/engine_kind.hpp"
#include "live/staging/stager.hpp"
#include "serve/api/service.hpp"
#include "serve/stores/disk_reserve.hpp"

namespace goban::serve::daemon {

/// An empty string means not set: the default follows from the state folder or the machine.
struct ServeConfig {
  std::string state{};
  std::string policy = "goban";
  std::string node{};  ///< name of this machine, or of the engine's cluster
  live::EngineChoice engine{};
  std::string cluster{};  ///< cluster file, for the engine of a cluster
  int32_t virtual_gpus = 0;
  std::vector<double> virtual_slowness{};
  std::vector<std::string> virtual_devices{};
  std::string tiers{};
  std::string scores{};
  std::string accounts{};
  std::string energy{};
  std::string colocation{};
  std::string rates{};  ///< steps per second of elastic jobs
  bool interpolate_rates = false;
  std::vector<std::string> sharing{};  ///< sharing settings that differ from kLiveSharing
  std::string store{};
  std::string series{};  ///< folder, or "none"
  std::vector<core::model::ResourceType> resource_types{};
  bool refresh = true;  ///< measure idle GPUs again from time to time
  bool learn = true;    ///< learn PM scores from finished jobs
  base::TimeNs keep_ended_ns = 3600 * base::kSecond;
  size_t jobs_per_user_max = 20'000;  ///< maximum number of unfinished jobs; 0 = no limit
  int64_t bytes_per_user_max = int64_t{256}
                               << 20;  ///< of payloads of unfinished jobs; 0 = no limit
  stores::DiskReserve disk_reserve{};
  base::TimeNs grace_max_ns = 300 * base::kSecond;
  base::TimeNs lead_max_ns = 300 * base::kSecond;
  live::controller::JobLimits limits{};
  uint64_t seed = 1;
  live::controller::ReservationRules reservations{};
  std::vector<std::string> gateway_command = live::staging::StagerOptions{}.gateway_command;
  std::string staging_user{};
  base::TimeNs stage_retry_ns = live::controller::StagingRules{}.retry_ns;
  base::TimeNs stage_retry_max_ns = live::controller::StagingRules{}.retry_max_ns;

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
