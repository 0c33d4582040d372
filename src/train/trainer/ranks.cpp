#include "train/trainer/ranks.hpp"

#include <ATen/Parallel.h>
#include <algorithm>
#include <array>
#include <c10/util/Exception.h>
#include <cstdint>
#include <fmt/format.h>
#include <span>
#include <vector>

#include "train/comm/mpi_world.hpp"
#include "train/comm/nccl_world.hpp"
#include "train/comm/thread_world.hpp"
#include "train/mesh/device.hpp"

namespace goban::train::trainer {
namespace {

/// Errors of LibTorch that nobody expected, such as those of a broken driver, end the run like
/// others.
base::Status caught(const RankBody& body, comm::Communicator& end) {
  try {
    return body(end);
  } catch (const c10::Error& error) {
    return base::failed(fmt::format("LibTorch: {}", error.what_without_backtrace()));
  }
}

/// Runs `body` on the communicator that moves the data: `host` itself (threads or MPI), or NCCL
/// started by it.
base::Status on_collectives(const RankOptions& options, const std::string& name,
                            comm::Communicator& host, const RankBody& body) {
  const auto device = mesh::resolve_device(name, host.local_rank());
  if (!device) return base::failure(device.error());
  if (device->is_cuda() && host.size() > 1) mesh::repeat_bits_on_gpus();
  // Ranks that share one GPU by name cannot use NCCL; a single rank does not need it.
  const bool between_gpus = device->is_cuda() && !name.starts_with("cuda:") && host.size() > 1;
  if (options.collectives == "host" || (options.collectives == "auto" && !between_gpus)) {
    return caught(body, host);
  }
  const auto end = comm::start_nccl(host, device->is_cuda() ? device->index() : host.local_rank());
  if (!end) return base::failure(end.error());
  return caught(body, **end);
}

/// For a rank with a usage error. Returns true if all ranks have one: each distinct error is then
/// printed by the first rank that has it. A rank in another operation gets the error as the name of
/// this call.
bool all_are_refused(comm::Communicator& end, const base::Error& error) {
  const std::array<uint64_t, 1> mine = {std::hash<std::string>{}(error.text())};
  std::vector<uint64_t> all(static_cast<size_t>(end.size()));
  const auto met =
      end.all_gather(comm::whole_world(end.size()), std::as_bytes(std::span(mine)),
                     std::as_writable_bytes(std::span(all)), error.message + " (usage error)");
  const auto first = std::ranges::find(all, mine[0]) - all.begin();
  if (!met || first == end.rank()) (void)exit_code(error);
  return met.has_value();
}

}  // namespace

int exit_code(const base::Error& error) {
  fmt::print(stderr, "goban-train: {}\n", error.text());
  return static_cast<int>(error.code);
}

base::Status on_each_thread(const RankOptions& options, const std::string& device,
                            const RankBody& body) {
  return comm::run_threads(
      options.threads, options.comm, [&](comm::Communicator& host) -> base::Status {
        // The ranks share the cores.
        if (const int sharing = options.threads * options.runs_at_once; sharing > 1) {
          at::set_num_threads(std::max(1, at::get_num_threads() / sharing));
          if (const auto used = mesh::resolve_device(device, host.local_rank())) {
            mesh::use_own_stream(*used);
          }
        }
        return on_collectives(options, device, host, body);
      });
}

int on_mpi(const RankOptions& options, const std::string& device, const RankBody& body) {
  auto end = comm::start_mpi(options.comm);
  if (!end) return exit_code(end.error());
  const base::Status status = on_collectives(options, device, **end, body);
  if (status) return 0;
  const base::Error& error = status.error();
  const bool usage = error.code == base::ErrorCode::Usage;
  if (!usage) (void)exit_code(error);
  // A usage error on all ranks: exit cleanly. Any other error must end the other ranks, too.
  if (!usage || !all_are_refused(**end, error)) (*end)->abandon(error.message);
  return static_cast<int>(error.code);
}

}  // namespace goban::train::trainer
