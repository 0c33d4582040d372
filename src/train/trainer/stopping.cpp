#include "train/trainer/stopping.hpp"

#include <csignal>
#include <pthread.h>
#include <thread>

#include "train/comm/call_watch.hpp"

namespace goban::train::trainer {

std::atomic<bool> stop_requested = false;

namespace {

void on_signal(int signal) {
  stop_requested = true;
  if (signal == SIGTERM) comm::note_termination();
}

}  // namespace

void stop_on(const std::vector<int>& signals) {
  sigset_t taken{};
  sigemptyset(&taken);
  for (const int signal : signals) {
    sigaddset(&taken, signal);
    std::signal(signal, on_signal);  // for threads that libraries have started before, as OpenBLAS
  }
  pthread_sigmask(SIG_BLOCK, &taken, nullptr);
  std::thread([taken] {
    for (int signal = 0; sigwait(&taken, &signal) == 0;) on_signal(signal);
  }).detach();
}

base::Result<bool> agreed_to_stop(comm::Communicator& end) {
  const auto stop = comm::reduced(end, stop_requested ? 1 : 0, comm::Reduction::Max, "stop?");
  if (!stop) return base::failure(stop.error());
  return *stop != 0;
}

}  // namespace goban::train::trainer
