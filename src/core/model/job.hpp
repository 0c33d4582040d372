// A job as it was submitted, and a history of jobs as a reader returns it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/name_table.hpp"
#include "base/time.hpp"
#include "core/model/ids.hpp"

namespace goban::core::model {

using base::TimeNs;

/// Everything the core may know of a job when it is submitted. True work is not here.
struct JobRequest {
  TimeNs submit_ns = 0;
  TimeNs walltime_limit_ns = 0;  ///< the job is killed after holding GPUs so long; 0 = no limit
  int32_t num_gpus = 0;          ///< all instances together; 0 = CPU only
  int32_t priority = 0;          ///< larger goes first in the order `priority`
  bool stays = false;            ///< once started it is not interrupted for others
  int32_t instances = 1;         ///< equal parts, each on one node, if it has a resource type
  ModelId model;
  UserId user;
  AccountId account;
  PartitionId partition;
  QosId qos;
  ArrayId array;                 ///< invalid: not part of an array
  ResourceTypeId resource_type;  ///< invalid: GPUs only
  AppClass app_class;
  AppId app;  ///< in the co-location history; invalid: nobody knows it
  ReservationId
      reservation;  ///< it runs there, and only there; invalid: on nodes of no reservation
};

/// A recorded or generated job: the request, and the work it turned out to need.
struct Job {
  JobRequest request;
  /// Seconds of execution at PM score 1 and locality penalty 1.
  double work_s = 0;
};

/// A job array: at most `max_running` of its tasks hold resources at once; 0 = no bound.
struct JobArray {
  int32_t max_running = 0;
};

/// How a job ended at the site it was recorded at.
enum class RecordedEnd : uint8_t { Unknown, Completed, Failed, Cancelled, TimedOut, NodeFailed };

/// What the site itself did with a job: the truth of a back-test.
struct Recorded {
  TimeNs start_ns = -1;   ///< first start, on the clock of the submit times; -1 = not known
  TimeNs finish_ns = -1;  ///< likewise; not known: start + work
  RecordedEnd end = RecordedEnd::Unknown;
};

/// Whether a job may have neighbours on its GPUs, as far as somebody said.
enum class SharingWish : uint8_t { Unsaid, No, Yes };

/// What a training job promises and takes, as far as its submitter or a profile says.
struct TrainingFacts {
  TimeNs deadline_ns = -1;    ///< to be finished so long after the submission; -1 = no deadline
  int64_t gpu_mem_bytes = 0;  ///< peak of one GPU; 0 = not known
  float gpu_util_pct = -1;    ///< of one GPU, alone on it; negative = not known
  int32_t epochs = 0;         ///< of all its work; 0 = not known
  int32_t batch_size = 0;     ///< 0 = not known
  float max_slowdown = 0;     ///< JCT / duration alone at most; 0 = no such promise
  TimeNs max_wait_ns = -1;    ///< without resources at most; -1 = no such promise
  SharingWish sharing = SharingWish::Unsaid;  ///< Unsaid: as its partition says
  friend bool operator==(const TrainingFacts&, const TrainingFacts&) = default;
};

/// Jobs in submit order (stable), dense by JobId, with the names of the input beside them.
struct JobHistory {
  std::vector<Job> jobs;
  base::NameList job_names;  ///< the input's job ids, by JobId
  base::NameTable models;
  base::NameTable users;
  base::NameTable accounts;
  base::NameTable partitions;
  base::NameTable qos;
  std::vector<JobArray> arrays;
  std::vector<Recorded> recorded;       ///< by JobId; empty if the input says nothing of the kind
  std::vector<TrainingFacts> training;  ///< by JobId; empty if the input says nothing of the kind
  /// Some job has a walltime limit.
  bool has_walltime_limits = false;
};

}  // namespace goban::core::model
