#include "live/machine/subreaper.hpp"

#include <csignal>
#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <unistd.h>

#include "live/machine/process_tree.hpp"

namespace goban::live::machine {
namespace {

base::Descriptor receive_signals() {
  for (const int ignored : {SIGPIPE, SIGXFSZ, SIGXCPU, SIGHUP, SIGINT, SIGQUIT, SIGTSTP, SIGTTOU,
                            SIGUSR1, SIGUSR2, SIGALRM, SIGVTALRM, SIGPROF, SIGIO}) {
    ::signal(ignored, SIG_IGN);
  }
  ::signal(SIGCHLD, SIG_DFL);
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGCHLD);
  sigaddset(&set, SIGTERM);
  ::sigprocmask(SIG_SETMASK, &set, nullptr);
  return base::Descriptor(::signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK));
}

/// Protects this process from the OOM killer, so that one of its children is killed instead.
/// Requires root.
void be_spared() {
  const base::Descriptor file(::open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC));
  if (file) static_cast<void>(base::write_all(file.get(), "-900"));
}

}  // namespace

base::Descriptor become_subreaper() {
  close_files(STDERR_FILENO + 1, ~0U);
  // A session of its own, so that signals to the session of its parent do not reach it.
  ::setsid();
  if (::chdir("/") != 0) return {};
  ::umask(077);
  base::Descriptor signals = receive_signals();
  ::prctl(PR_SET_CHILD_SUBREAPER, 1);
  be_spared();
  return signals;
}

}  // namespace goban::live::machine
