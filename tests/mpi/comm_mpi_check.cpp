// Runs under mpirun: the collective checks of the thread tests, and failures (a rank in another
// operation, one that never arrives, one that stops during a transfer).
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <thread>
#include <unistd.h>

#include "train/comm/mpi_world.hpp"
#include "train/comm/test_collectives.hpp"

namespace {

using namespace goban;

base::Status diverge(goban::train::comm::Communicator& end) {
  const goban::train::comm::Group all = goban::train::comm::whole_world(end.size());
  if (end.rank() == end.size() - 1) return end.barrier(all, "save");
  std::vector<std::byte> data(8);
  return end.all_reduce(all, data, goban::train::comm::Element::F64,
                        goban::train::comm::Reduction::Sum, "loss");
}

base::Status go_missing(goban::train::comm::Communicator& end) {
  const goban::train::comm::Group all = goban::train::comm::whole_world(end.size());
  std::vector<std::byte> data(8);
  auto status = end.all_reduce(all, data, goban::train::comm::Element::F64,
                               goban::train::comm::Reduction::Sum, "step0");
  if (!status) return status;
  if (end.rank() == end.size() - 1) {
    while (true) sleep(1);  // ended by the peers' abort
  }
  return end.all_reduce(all, data, goban::train::comm::Element::F64,
                        goban::train::comm::Reduction::Sum, "step1");
}

/// The last rank stops (SIGSTOP) while data move: it spends almost no time outside of collectives.
base::Status stop_within(goban::train::comm::Communicator& end) {
  const goban::train::comm::Group all = goban::train::comm::whole_world(end.size());
  std::vector<std::byte> data(16 << 20);
  auto status = end.barrier(all, "start");
  if (end.rank() == end.size() - 1) {
    std::thread([] {
      std::this_thread::sleep_for(std::chrono::milliseconds(300));
      raise(SIGSTOP);
    }).detach();
  }
  while (status) {
    status = end.all_reduce(all, data, goban::train::comm::Element::F64,
                            goban::train::comm::Reduction::Sum, "large");
  }
  return status;
}

}  // namespace

int main(int argc, char** argv) {
  const char* mode = argc > 1 ? argv[1] : "";
  goban::train::comm::Options options;
  options.fixed_order = std::strstr(mode, "fixed-order") != nullptr;
  // Smaller than almost every buffer of the checks, and not a multiple of an element's size.
  if (std::strstr(mode, "pieces") != nullptr) options.largest_message = 83;
  const bool stop = std::strcmp(mode, "--stop") == 0;
  if (std::strcmp(mode, "--missing") == 0 || stop) options.timeout_s = 1;
  auto end = goban::train::comm::start_mpi(options);
  if (!end) return 1;
  goban::train::comm::Communicator& rank = **end;
  base::Status status = std::strcmp(mode, "--diverge") == 0   ? diverge(rank)
                        : std::strcmp(mode, "--missing") == 0 ? go_missing(rank)
                        : stop                                ? stop_within(rank)
                                                              : check_collectives(rank);
  if (status && *mode == '\0') status = check_nan_wins(rank);
  if (status) return 0;
  rank.abandon(status.error().text());
  return 1;
}
