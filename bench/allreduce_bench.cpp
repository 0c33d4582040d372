// All-reduce of fp32: our collectives over MPI against the MPI library's own in-place call,
// alternating on the same ranks and buffers; then with ranks as threads. Prints the median time per
// call and the bus bandwidth, 2 (n-1)/n bytes / time. Without mpirun the program starts itself
// under it.
#include <algorithm>
#include <array>
#include <chrono>
#include <cstdlib>
#include <fmt/format.h>
#include <mpi.h>
#include <span>
#include <string>
#include <vector>

#include "train/comm/launcher.hpp"
#include "train/comm/mpi_world.hpp"
#include "train/comm/thread_world.hpp"

namespace goban::bench {
namespace {

constexpr int kTurns = 15;
constexpr std::array<size_t, 7> kSizes = {
    1 << 10, 1 << 13,  1 << 16, 1 << 18,
    1 << 20, 11 << 18, 1 << 24};  // 11 << 18: the MLP's gradients

/// Floats in a 64-byte aligned block.
using Data = std::vector<float>;

template <typename Call>
double seconds_of(int calls, const Call& call) {
  const auto start = std::chrono::steady_clock::now();
  for (int i = 0; i < calls; ++i) call();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count() / calls;
}

int calls_of(size_t bytes) {
  return static_cast<int>(std::clamp<size_t>((16U << 20) / bytes, 3, 500));
}

double median(std::vector<double> all) {
  std::ranges::sort(all);
  return all[all.size() / 2];
}

double bus_gb_s(size_t bytes, int ranks, double seconds) {
  return 2.0 * (ranks - 1) / ranks * static_cast<double>(bytes) / seconds / 1e9;
}

base::Status reduce(train::comm::Communicator& end, const train::comm::Group& group, Data& data) {
  return end.all_reduce(group, std::as_writable_bytes(std::span(data)), train::comm::Element::F32,
                        train::comm::Reduction::Sum, "gradient");
}

base::Status over_mpi(train::comm::Communicator& end) {
  const train::comm::Group group = train::comm::whole_world(end.size());
  if (end.rank() == 0) {
    fmt::print("{} ranks over {}; median of {} turns\n", end.size(), train::comm::mpi_library(),
               kTurns);
    fmt::print("{:>10} {:>12} {:>12} {:>8} {:>12} {:>12}\n", "bytes", "goban us", "MPI us", "ratio",
               "goban GB/s", "MPI GB/s");
  }
  for (const size_t bytes : kSizes) {
    Data data(bytes / sizeof(float), 0.0F);
    base::Status status;
    const auto ours = [&] {
      if (status) status = reduce(end, group, data);
    };
    const auto theirs = [&] {
      MPI_Allreduce(MPI_IN_PLACE, data.data(), static_cast<int>(data.size()), MPI_FLOAT, MPI_SUM,
                    MPI_COMM_WORLD);
    };
    std::vector<double> a, b, ratios;
    for (int turn = 0; turn <= kTurns; ++turn) {
      MPI_Barrier(MPI_COMM_WORLD);
      const double mine = seconds_of(calls_of(bytes), ours);
      MPI_Barrier(MPI_COMM_WORLD);
      const double library = seconds_of(calls_of(bytes), theirs);
      if (turn == 0) continue;  // warm-up
      a.push_back(mine);
      b.push_back(library);
      ratios.push_back(mine / library);
    }
    if (!status) return status;
    if (end.rank() != 0) continue;
    fmt::print("{:>10} {:>12.1f} {:>12.1f} {:>8.2f} {:>12.2f} {:>12.2f}\n", bytes, median(a) * 1e6,
               median(b) * 1e6, median(ratios), bus_gb_s(bytes, end.size(), median(a)),
               bus_gb_s(bytes, end.size(), median(b)));
  }
  return {};
}

base::Status over_threads(train::comm::Communicator& end) {
  const train::comm::Group group = train::comm::whole_world(end.size());
  if (end.rank() == 0) {
    fmt::print("{} ranks as threads; median of {} turns\n{:>10} {:>12} {:>12}\n", end.size(),
               kTurns, "bytes", "goban us", "goban GB/s");
  }
  for (const size_t bytes : kSizes) {
    Data data(bytes / sizeof(float), 0.0F);
    base::Status status;
    std::vector<double> all;
    for (int turn = 0; turn <= kTurns; ++turn) {
      const double took = seconds_of(calls_of(bytes), [&] {
        if (status) status = reduce(end, group, data);
      });
      if (turn > 0) all.push_back(took);
    }
    if (!status) return status;
    if (end.rank() != 0) continue;
    fmt::print("{:>10} {:>12.1f} {:>12.2f}\n", bytes, median(all) * 1e6,
               bus_gb_s(bytes, end.size(), median(all)));
  }
  return {};
}

int run(int argc, char** argv) {
  if (train::comm::launched_by_mpi()) {
    auto end = train::comm::start_mpi({});
    if (!end) return 1;
    const auto status = over_mpi(**end);
    if (!status) (*end)->abandon(status.error().message);
    return 0;
  }
  const int ranks = argc > 1 ? std::atoi(argv[1]) : 2;
  if (ranks < 2) {
    fmt::print(stderr, "usage: allreduce_bench [RANKS]     (2)\n");
    return 2;
  }
  if (const auto status = train::comm::run_threads(ranks, {}, over_threads); !status) return 1;
  std::fflush(stdout);
  const std::string command = fmt::format(
      "OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 mpirun --oversubscribe -n {} '{}'",
      ranks, argv[0]);
  return std::system(command.c_str()) == 0 ? 0 : 1;
}

}  // namespace
}  // namespace goban::bench

int main(int argc, char** argv) { return goban::bench::run(argc, argv); }
