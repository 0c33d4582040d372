// The queue as squeue prints it, once a poll: fields that no user writes, then the comment of the
// user, which ends at a nonce that nobody can guess. Tasks of arrays have a record each.
//
//   SLURM_TIME_FORMAT=%s squeue -h -a -r -t all -O <job_list_format(nonce)>
//
// Names and requests are user text, too (a name may contain line breaks, a GRES type as well): they
// are read once a job, between nonces (parse_job_words).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "base/time.hpp"

namespace goban::live::engine::slurm {

struct JobRow {
  int64_t job = 0;        ///< Slurm's number; tasks that wait share that of their array
  int64_t array_job = 0;  ///< 0 = not an array task
  int32_t array_task = -1;
  int64_t het_job = 0;   ///< number of the leader of a heterogeneous job; 0 = not part of one
  std::string state{};   ///< PENDING, RUNNING, COMPLETING, ...
  std::string reason{};  ///< JobHeldUser, Resources, ...
  int64_t priority = 0;  ///< 0 = held
  std::string partition{};
  int32_t num_nodes = 0;
  int32_t cpus = 0;
  int32_t tasks = 0;
  int64_t mem_bytes = 0;  ///< of each node; 0 = unknown
  std::string nodes{};    ///< host list; empty if it has none
  base::TimeNs submit_ns = -1;
  base::TimeNs eligible_ns = -1;  ///< its begin time; -1 = unknown
  base::TimeNs start_ns = -1;     ///< of jobs that wait: expected
  base::TimeNs end_ns = -1;
  base::TimeNs limit_ns = 0;  ///< 0 = none
  uint32_t uid = 0;
  uint32_t gid = 0;
  std::string account{};
  std::string qos{};
  std::string dependency{};
  int32_t exit_status = 0;  ///< as of wait(2)
  int32_t restarts = 0;
  bool batch = false;  ///< by sbatch, not salloc or srun
  bool requeue = false;
  int32_t nice = 0;
  std::string mark{};     ///< AdminComment: only operators write it
  std::string comment{};  ///< only if it is a word of job_submit.lua ("goban:...")
  // Set by join_het_jobs().
  int32_t components = 0;        ///< it stands for a heterogeneous job of so many; 0 = for itself
  bool lost_components = false;  ///< it waits, and some of its components have ended
  std::string_view left{};       ///< why a heterogeneous job is left to Slurm
  friend bool operator==(const JobRow&, const JobRow&) = default;

  /// What scontrol takes and the job keeps while it waits, runs and waits again: "12", "8_3".
  [[nodiscard]] std::string id() const;
};

/// The argument of -O. `nonce`: random letters and digits.
[[nodiscard]] std::string job_list_format(std::string_view nonce);
/// Errors: BadData with the number of the record and the field, if one has not these fields. A
/// record without an end is an error, too: the output was cut off.
[[nodiscard]] base::Result<std::vector<JobRow>> parse_job_list(std::string_view text,
                                                               std::string_view nonce);

/// User text of a job.
struct JobWords {
  int64_t job = 0;
  int64_t array_job = 0;
  int32_t array_task = -1;
  std::string user{};
  std::string name{};
  std::string tres_per_job{};  ///< empty if it requests none
  std::string tres_per_node{};
  std::string tres_per_socket{};
  std::string tres_per_task{};
  std::string nodes{};     ///< host list: those that it names, or that Goban named for it
  std::string features{};  ///< of nodes: "ib&hdr"
  [[nodiscard]] std::string id() const;
};

/// As job_list_format(); `nonce` is random, and neither side of it contains ':' or ','.
[[nodiscard]] std::string job_words_format(std::string_view nonce);
/// Errors: BadData if a record has not these fields.
[[nodiscard]] base::Result<std::vector<JobWords>> parse_job_words(std::string_view text,
                                                                  std::string_view nonce);

/// How many tasks of its array run at once, by the record of one (scontrol -o show job 8_3); 0 = no
/// limit.
[[nodiscard]] int32_t array_limit_of(std::string_view record);

/// An entry of a request without what releases of Slurm put before it: "gres:gpu:2", "gres/gpu:2".
[[nodiscard]] std::string_view without_prefix(std::string_view entry);

/// Total of GPUs that a job requests, and the type that it names ("" = any). `sockets` of a node
/// are unknown to us: a request per socket counts once a node. Errors: BadData.
struct GpuRequest {
  int64_t count = 0;
  std::string type{};
  /// It requests so many shards of a GPU of each node in place of whole ones (--gres=shard:2): its
  /// GPU may be shared. `count` is that of the nodes.
  int32_t shards = 0;
};
[[nodiscard]] base::Result<GpuRequest> requested_gpus(const JobWords& words, const JobRow& row);

}  // namespace goban::live::engine::slurm
