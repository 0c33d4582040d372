#include "cli/command.hpp"

#include <csignal>
#include <cstdio>
#include <cstdlib>

namespace goban::cli {
namespace {

std::atomic<bool> interrupt_flag = false;

void on_interrupt(int) {
  if (interrupt_flag.exchange(true)) std::_Exit(kExitInterrupted);
}

}  // namespace

const std::atomic<bool>& interrupted() { return interrupt_flag; }

void catch_interrupts() {
  std::signal(SIGINT, on_interrupt);
  std::signal(SIGTERM, on_interrupt);
}

int report_error(const base::Error& error) {
  if (interrupt_flag) {
    std::fputs("goban: interrupted; nothing half-written was left behind\n", stderr);
    return kExitInterrupted;
  }
  std::fprintf(stderr, "goban: error: %s\n", error.text().c_str());
  return static_cast<int>(error.code);
}

}  // namespace goban::cli
