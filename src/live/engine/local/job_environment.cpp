#include "live/engine/local/job_environment.hpp"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <map>
#include <netinet/in.h>
#include <sys/socket.h>
#include <thread>

#include "base/files.hpp"
#include "base/number.hpp"

namespace goban::live::engine::local {
namespace {

using Names = std::map<std::string, std::string>;

std::string gpu_list(const RunOrder& order) {
  std::vector<int32_t> indexes;
  for (const base::gpus::LocalGpu& gpu : order.gpus) indexes.push_back(gpu.index);
  return fmt::format("{}", fmt::join(indexes, ","));
}

std::string uuid_list(const RunOrder& order) {
  std::vector<std::string> uuids;
  for (const base::gpus::LocalGpu& gpu : order.gpus) uuids.push_back(gpu.uuid);
  return fmt::format("{}", fmt::join(uuids, ","));
}

/// GPU indexes as CUDA numbers them, or UUIDs if one is a MIG instance, as these have no index.
/// CUDA counts only GPUs that it can open: the job's own, if others are denied.
std::string cuda_list(const RunOrder& order) {
  const bool has_slice = std::ranges::any_of(
      order.gpus, [](const base::gpus::LocalGpu& gpu) { return gpu.uuid.starts_with("MIG-"); });
  if (!has_slice && order.denied.empty()) return gpu_list(order);
  if (!has_slice) {
    std::vector<ptrdiff_t> ranks;
    for (const base::gpus::LocalGpu& gpu : order.gpus) {
      ranks.push_back(std::ranges::count_if(
          order.gpus, [&](const base::gpus::LocalGpu& other) { return other.index < gpu.index; }));
    }
    return fmt::format("{}", fmt::join(ranks, ","));
  }
  return uuid_list(order);
}

/// Limits for NVIDIA's MPS server, if one runs. Devices are numbered as visible to the job.
void add_mps_limits(const RunOrder& order, Names& out) {
  const core::model::TrainingFacts& facts = order.spec.training;
  if (facts.gpu_mem_bytes > 0) {
    std::vector<std::string> limits;
    for (size_t i = 0; i < order.gpus.size(); ++i) {
      limits.push_back(fmt::format("{}={}M", i, std::max<int64_t>(1, facts.gpu_mem_bytes >> 20)));
    }
    out["CUDA_MPS_PINNED_DEVICE_MEM_LIMIT"] = fmt::format("{}", fmt::join(limits, ","));
  }
  if (facts.gpu_util_pct > 0) {
    const float share_pct = std::clamp(std::ceil(facts.gpu_util_pct), 1.0F, 100.0F);
    out["CUDA_MPS_ACTIVE_THREAD_PERCENTAGE"] = fmt::format("{:.0f}", share_pct);
  }
}

void add_gpus(const RunOrder& order, Names& out) {
  const std::string list = cuda_list(order);
  out["GOBAN_GPUS"] = gpu_list(order);
  out["GOBAN_GPU_UUIDS"] = uuid_list(order);
  out["CUDA_VISIBLE_DEVICES"] = list;
  out["CUDA_DEVICE_ORDER"] = "PCI_BUS_ID";
  // Containers are started outside the job's cgroup, where its own numbers mean nothing.
  const std::string outside = order.denied.empty() ? list : uuid_list(order);
  out["NVIDIA_VISIBLE_DEVICES"] = outside.empty() ? "void" : outside;
  double slowness = 0;
  for (const base::gpus::LocalGpu& gpu : order.gpus) {
    if (gpu.is_virtual) slowness = std::max(slowness, gpu.slowness);
  }
  if (slowness > 0) out["GOBAN_VIRTUAL_GPU_SLOWNESS"] = base::number_text(slowness);
  if (order.shares && slowness == 0 && !order.gpus.empty()) add_mps_limits(order, out);
}

/// One task on one machine; launchers such as torchrun and mpirun start the ranks. Slurm names no
/// rank in a job: programs take RANK as a sign that a launcher started them.
void add_ranks(const RunPlaces& places, bool is_slurm, Names& out) {
  out["MASTER_ADDR"] = "127.0.0.1";
  out["MASTER_PORT"] = fmt::format("{}", places.master_port);
  if (is_slurm) return;
  for (const char* name :
       {"WORLD_SIZE", "LOCAL_WORLD_SIZE", "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_SIZE"}) {
    out[name] = "1";
  }
  for (const char* name : {"RANK", "LOCAL_RANK", "NODE_RANK", "OMPI_COMM_WORLD_RANK",
                           "OMPI_COMM_WORLD_LOCAL_RANK", "OMPI_COMM_WORLD_NODE_RANK"}) {
    out[name] = "0";
  }
}

/// Cores of the task on this machine: instances without GPUs add up to one task.
int32_t cores_of(const RunOrder& order) {
  const bool adds_up = order.gpus.empty();
  return order.spec.cores * (adds_up ? std::max(1, order.spec.instances) : 1);
}

/// Cores that the run may use: those it asked for or is bound to, else all of the machine.
int64_t usable_cores(const RunOrder& order, const RunPlaces& places) {
  if (order.spec.cores > 0) return cores_of(order);
  if (!places.cpus.empty()) return static_cast<int64_t>(places.cpus.size());
  return std::max(1U, std::thread::hardware_concurrency());
}

/// What Slurm says of an allocation of one node. What it says of the request, such as SLURM_NTASKS,
/// comes with the submission.
void add_slurm(const RunOrder& order, const RunPlaces& places, Names& out) {
  const job::JobSpec& spec = order.spec;
  out["SLURM_JOB_ID"] = out["SLURM_JOBID"] = fmt::format("{}", job::job_number(order.run.job));
  out["SLURM_JOB_NAME"] = spec.name;
  out["SLURM_JOB_NODELIST"] = out["SLURM_NODELIST"] = out["SLURMD_NODENAME"] = order.node;
  out["SLURM_NNODES"] = out["SLURM_JOB_NUM_NODES"] = "1";
  out["SLURM_PROCID"] = out["SLURM_LOCALID"] = out["SLURM_NODEID"] = out["SLURM_GTIDS"] = "0";
  const auto tasks = out.find("SLURM_NTASKS");
  out["SLURM_TASKS_PER_NODE"] = tasks == out.end() ? "1" : tasks->second;
  out["SLURM_CPUS_ON_NODE"] = out["SLURM_JOB_CPUS_PER_NODE"] =
      fmt::format("{}", usable_cores(order, places));
  out["SLURM_CLUSTER_NAME"] = "goban";
  out["SLURM_JOB_USER"] = spec.owner.user;
  out["SLURM_JOB_UID"] = fmt::format("{}", spec.owner.uid);
  out["SLURM_JOB_GID"] = fmt::format("{}", spec.owner.gid);
  out["SLURM_TOPOLOGY_ADDR"] = order.node;
  out["SLURM_TOPOLOGY_ADDR_PATTERN"] = "node";
  out["ENVIRONMENT"] = "BATCH";
  if (!order.gpus.empty()) {
    out["SLURM_GPUS_ON_NODE"] = fmt::format("{}", order.gpus.size());
    out["SLURM_JOB_GPUS"] = gpu_list(order);
  }
  if (order.restarts > 0) out["SLURM_RESTART_COUNT"] = fmt::format("{}", order.restarts);
  out.emplace("SLURM_SUBMIT_DIR", places.work_folder);
  out["SLURM_JOB_PARTITION"] = spec.partition;
  out["SLURM_JOB_ACCOUNT"] = spec.account;
  out["SLURM_JOB_QOS"] = spec.qos.empty() ? "normal" : spec.qos;
  if (spec.array_task < 0) return;
  out["SLURM_ARRAY_TASK_ID"] = fmt::format("{}", spec.array_task);
  out["SLURM_ARRAY_JOB_ID"] = fmt::format("{}", job::job_number(spec.array_first));
}

void add_grid_engine(const RunOrder& order, const RunPlaces& places, Names& out) {
  const job::JobSpec& spec = order.spec;
  out["JOB_ID"] = fmt::format("{}", job::job_number(order.run.job));
  out["JOB_NAME"] = spec.name;
  out["NSLOTS"] = fmt::format("{}", std::max(1, cores_of(order)));
  out["NHOSTS"] = "1";
  out["QUEUE"] = spec.partition;
  out["RESTARTED"] = order.restarts > 0 ? "1" : "0";
  out["SGE_O_WORKDIR"] = places.work_folder;
  out["SGE_TASK_ID"] = spec.array_task < 0 ? "undefined" : fmt::format("{}", spec.array_task);
  if (!spec.resource_type.empty()) out["SGE_RESOURCE_TYPE"] = spec.resource_type;
}

void add_pbs(const RunOrder& order, const RunPlaces& places, Names& out) {
  out["PBS_JOBID"] = fmt::format("{}", job::job_number(order.run.job));
  out["PBS_JOBNAME"] = order.spec.name;
  out["PBS_QUEUE"] = order.spec.partition;
  out["PBS_O_WORKDIR"] = places.work_folder;
  if (order.spec.array_task >= 0) {
    out["PBS_ARRAY_INDEX"] = fmt::format("{}", order.spec.array_task);
  }
}

}  // namespace

std::vector<std::string> job_environment(const RunOrder& order, const Payload& payload,
                                         const RunPlaces& places) {
  Names out{{"PATH", "/usr/local/bin:/usr/bin:/bin"},
            {"HOME", places.user.home},
            {"USER", order.spec.owner.user},
            {"LOGNAME", order.spec.owner.user},
            {"SHELL", places.user.shell},
            {"PWD", places.work_folder}};
  out.insert(places.nccl.begin(), places.nccl.end());
  for (const auto& [name, value] : payload.env) {
    const bool is_name = !name.empty() && name.find('=') == std::string::npos &&
                         name.find('\0') == std::string::npos;
    if (is_name && value.find('\0') == std::string::npos) out[name] = value;
  }
  add_gpus(order, out);
  add_ranks(places, payload.dialect == "slurm", out);
  out["GOBAN_JOB_ID"] = fmt::format("{}", job::job_number(order.run.job));
  out["GOBAN_JOB_NAME"] = order.spec.name;
  out["GOBAN_RUN"] = fmt::format("{}", order.run.run);
  out["GOBAN_RESTARTS"] = fmt::format("{}", order.restarts);
  out["GOBAN_PROGRESS_SOCKET"] = places.progress_socket;
  if (order.spec.training.epochs > 0) {
    out["GOBAN_EPOCHS"] = fmt::format("{}", order.spec.training.epochs);
  }
  for (size_t i = 0; i < order.staged.size(); ++i) {
    out[fmt::format("GOBAN_STAGE_IN_{}", i)] = order.staged[i];
  }
  if (!order.staged.empty()) out["GOBAN_STAGE_IN"] = order.staged.front();
  if (!order.fast_folder.empty()) out["GOBAN_FAST"] = order.fast_folder;
  out[kKeyVariable] = places.key;
  if (order.spec.array_task >= 0) {
    out["GOBAN_ARRAY_TASK_ID"] = fmt::format("{}", order.spec.array_task);
  }
  if (payload.dialect == "slurm") add_slurm(order, places, out);
  if (payload.dialect == "sge") add_grid_engine(order, places, out);
  if (payload.dialect == "pbs") add_pbs(order, places, out);
  std::vector<std::string> entries;
  entries.reserve(out.size());
  for (const auto& [name, value] : out) entries.push_back(fmt::format("{}={}", name, value));
  return entries;
}

uint16_t free_port(uint64_t job) {
  constexpr uint64_t kFirst = 20000;
  constexpr uint64_t kPorts = 12000;
  const base::Descriptor socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  for (uint64_t i = 0; i < 64; ++i) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    const auto port = static_cast<uint16_t>(kFirst + (job * 61 + i) % kPorts);
    address.sin_port = htons(port);
    const auto* plain = reinterpret_cast<const sockaddr*>(&address);
    if (::bind(socket.get(), plain, sizeof address) == 0) return port;
  }
  return static_cast<uint16_t>(kFirst);
}

}  // namespace goban::live::engine::local
