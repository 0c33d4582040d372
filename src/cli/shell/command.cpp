#include "cli/shell/command.hpp"

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <ctime>

#include "cli/jobs/hangup.hpp"

namespace goban::cli {
namespace {

std::atomic<bool> interrupt_flag = false;
std::atomic<time_t> interrupted_at_s = 0;

/// Replaces "--" while CLI11 parses; not expected on a command line.
char double_dash[] = "\x01--";

/// timeout(1) and some batch systems signal the process and then its group, so one request to stop
/// arrives twice within microseconds: only a later signal exits immediately.
void on_interrupt(int) {
  constexpr time_t kOneRequest_s = 1;
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  if (!interrupt_flag.exchange(true))
    interrupted_at_s = now.tv_sec;
  else if (now.tv_sec - interrupted_at_s > kOneRequest_s)
    std::_Exit(kExitInterrupted);
}

}  // namespace

void keep_double_dashes(int argc, char** argv) {
  if (argc < 2) return;
  const std::string_view command = argv[1];
  if (command != "run" && command != "submit") return;
  for (int i = 2; i < argc; ++i) {
    if (std::string_view(argv[i]) == "--") argv[i] = double_dash;
  }
}

std::vector<std::string> words_behind_options(const Command& command) {
  std::vector<std::string> words = command.remaining();
  if (!words.empty() && words.front() == double_dash) words.erase(words.begin());
  for (std::string& word : words) {
    if (word == double_dash) word = "--";
  }
  return words;
}

const std::atomic<bool>& interrupted() { return interrupt_flag; }

void catch_interrupts() {
  std::signal(SIGINT, on_interrupt);
  std::signal(SIGTERM, on_interrupt);
}

void interrupt_reads() {
  struct sigaction without_restart{};
  without_restart.sa_handler = on_interrupt;
  for (const int signal : {SIGINT, SIGTERM}) ::sigaction(signal, &without_restart, nullptr);
}

void catch_hangups() {
  if (std::signal(SIGHUP, on_interrupt) == SIG_IGN) std::signal(SIGHUP, SIG_IGN);
}

int report_error(const base::Error& error) {
  if (interrupt_flag) {
    std::fputs("goban: interrupted; no partial output was left behind\n", stderr);
    return kExitInterrupted;
  }
  std::fprintf(stderr, "goban: error: %s\n", error.text().c_str());
  return static_cast<int>(error.code);
}

}  // namespace goban::cli
