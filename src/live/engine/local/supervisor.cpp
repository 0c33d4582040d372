#include "live/engine/local/supervisor.hpp"

#include <csignal>
#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <unistd.h>

#include "live/engine/local/supervised_run.hpp"
#include "live/machine/process_tree.hpp"

namespace goban::live::engine::local {
namespace {

/// Receives SIGCHLD and SIGTERM by signalfd; ignores signals of terminals, limits and full disks,
/// and those that mean nothing here.
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

/// Protects the supervisor from the OOM killer, so that its job is killed instead. Requires root.
void be_spared() {
  const base::Descriptor file(::open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC));
  if (file) static_cast<void>(base::write_all(file.get(), "-900"));
}

/// Retries until it succeeds, so that the run is not lost because of a full disk.
void write_status(StatusFile& file, const RunStatus& status) {
  constexpr unsigned kAgain_s = 1;
  bool said = false;
  while (file.has_folder()) {
    const auto written = file.write(status);
    if (written) return;
    if (!said) complain(written.error().text() + "; retrying");
    said = true;
    ::sleep(kAgain_s);
  }
}

}  // namespace

int supervise(const std::string& folder) {
  machine::close_files(STDERR_FILENO + 1, ~0U);
  // A session of its own, so that signals to the daemon's session do not reach it.
  ::setsid();
  if (::chdir("/") != 0) return 1;
  ::umask(077);
  const base::Descriptor signals = receive_signals();
  ::prctl(PR_SET_CHILD_SUBREAPER, 1);
  be_spared();
  const RunFolder run_folder(folder);
  auto taken = run_folder.take();
  if (!taken) {
    complain(taken.error().text());
    return kNotOurs;
  }
  auto status_file = StatusFile::reserve(folder);
  if (!status_file) {
    complain(status_file.error().text());
    run_folder.give_back();
    return 1;
  }
  RunStatus status;
  {
    SupervisedRun run(run_folder, std::move(taken->order), signals.get());
    status = run.run();
  }
  write_status(*status_file, status);
  return kSupervised;
}

}  // namespace goban::live::engine::local
