#include "live/engine/local/supervisor.hpp"

#include <csignal>
#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "live/engine/local/supervised_run.hpp"

namespace goban::live::engine::local {
namespace {

void close_other_files() {
  constexpr unsigned kFirst = 3;
  if (::syscall(SYS_close_range, kFirst, ~0U, 0U) == 0) return;
  const auto count = static_cast<int>(::sysconf(_SC_OPEN_MAX));
  for (int file = kFirst; file < count; ++file) ::close(file);
}

/// Receives SIGCHLD and SIGTERM by signalfd; ignores signals of terminals and full disks.
base::Descriptor receive_signals() {
  for (const int ignored : {SIGPIPE, SIGXFSZ, SIGHUP, SIGINT, SIGQUIT, SIGTSTP, SIGTTOU}) {
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
  close_other_files();
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
