#include "live/engine/local/run_folder.hpp"

#include <cerrno>
#include <fcntl.h>
#include <filesystem>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/sha256.hpp"
#include "live/journal/state_lock.hpp"

namespace goban::live::engine::local {
namespace {

namespace fs = std::filesystem;

struct flock whole_file(int16_t kind) {
  struct flock lock{};
  lock.l_type = kind;
  lock.l_whence = SEEK_SET;
  return lock;
}

/// Locks the file for as long as the descriptor, or a copy of it, is open.
bool try_lock(int file) {
  struct flock lock = whole_file(F_WRLCK);
  return ::fcntl(file, F_OFD_SETLK, &lock) == 0;
}

/// Queries the lock without taking it, so that it does not interfere with a supervisor that locks.
bool is_locked(const std::string& path) {
  const base::Descriptor file(::open(path.c_str(), O_RDWR | O_CLOEXEC));
  if (!file) return false;
  struct flock lock = whole_file(F_WRLCK);
  return ::fcntl(file.get(), F_OFD_GETLK, &lock) == 0 && lock.l_type != F_UNLCK;
}

/// Locks for a supervisor. Retries, as a second supervisor holds the lock briefly while it checks.
bool lock_untaken(const RunFolder& folder, int lock) {
  constexpr int kTries = 100;
  for (int i = 0; i < kTries; ++i) {
    if (try_lock(lock)) return true;
    if (folder.is_decided()) return false;
    ::usleep(10'000);
  }
  return false;
}

base::Status make_folder(const std::string& path) {
  if (::mkdir(path.c_str(), 0700) == 0 || errno == EEXIST) return {};
  return base::system_error("cannot create the folder", path,
                            "the state folder must exist and be writable");
}

}  // namespace

std::string job_folder(const std::string& state, core::model::JobId job) {
  return fmt::format("{}/jobs/{}", state, job::job_number(job));
}

std::string payload_path(const std::string& state, const job::JobSpec& spec) {
  return fmt::format("{}/payloads/{}/payload.json", state, spec.payload);
}

void remove_runs(const std::string& state, core::model::JobId job) {
  std::error_code ignored;
  fs::remove_all(job_folder(state, job), ignored);
}

bool remove_payload(const std::string& state, const std::string& name) {
  if (name.empty() || name.find('/') != std::string::npos || name.starts_with('.')) return true;
  const std::string payloads = state + "/payloads";
  const base::Descriptor folder(::open(payloads.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  const bool copied = folder && ::flock(folder.get(), LOCK_SH | LOCK_NB) != 0;
  if (copied && errno == EWOULDBLOCK) return false;
  std::error_code ignored;
  fs::remove_all(payloads + "/" + name, ignored);
  return true;
}

std::vector<RankTimes> rank_times(const std::string& state, RunId run) {
  const std::string file = RunFolder(state, run).file("progress");
  const auto text = base::read_small_file(file);
  if (!text) return {};
  auto progress = parse_progress(*text, file);
  return progress ? std::move(progress->ranks) : std::vector<RankTimes>{};
}

std::string terminal_socket(const std::string& state, RunId run) {
  const RunFolder folder(state, run);
  std::error_code none;
  const fs::path sockets = fs::read_symlink(folder.file("sockets"), none);
  if (none) return {};
  std::string path = sockets.string() + "/tty.sock";
  return base::exists(path) ? path : std::string{};
}

RunFolder::RunFolder(const std::string& state, RunId run)
    : path_(fmt::format("{}/run-{}", job_folder(state, run.job), run.run)) {}

std::string RunFolder::state() const {
  const std::filesystem::path path = path_;
  return path.parent_path().parent_path().parent_path().string();
}

std::string RunFolder::key() const { return base::hex(base::sha256(path_)).substr(0, 24); }

base::Status RunFolder::make_folders() const {
  const fs::path job = fs::path(path_).parent_path();
  for (const fs::path& folder : {job.parent_path(), job, fs::path(path_)}) {
    if (auto made = make_folder(folder.string()); !made) return made;
  }
  return {};
}

bool RunFolder::is_decided() const {
  return base::exists(file("taken")) || base::exists(file("status")) ||
         base::exists(file("unable"));
}

base::Result<bool> RunFolder::place_order(const RunOrder& order) const {
  if (auto made = make_folders(); !made) return base::failure(made.error());
  if (is_decided()) return false;
  if (::mkfifo(file("control").c_str(), 0600) != 0 && errno != EEXIST) {
    return base::system_error("cannot create the FIFO", file("control"));
  }
  const base::Descriptor lock(::open(file("lock").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
  if (!lock) return base::system_error("cannot create", file("lock"));
  if (auto s = base::replace_file(path_, "order", to_text(order), base::Durable::Yes); !s) {
    return base::failure(s.error());
  }
  const fs::path job = fs::path(path_).parent_path();
  for (const fs::path& folder : {job, job.parent_path()}) {
    if (auto s = base::sync_folder(folder.string()); !s) return base::failure(s.error());
  }
  return true;
}

base::Status RunFolder::check_epoch() const {
  const auto text = base::read_small_file(file("order"));
  if (!text) return base::failure(text.error());
  const auto order = parse_order(*text, file("order"));
  if (!order || !journal::is_shut_out(state(), order->epoch)) return {};
  return base::failed(path_ + ": another daemon has taken over from the one that wrote the order");
}

base::Result<RunFolder::Taken> RunFolder::take() const {
  Taken taken;
  taken.lock.reset(::open(file("lock").c_str(), O_RDWR | O_CLOEXEC));
  if (!taken.lock) return base::system_error("cannot open", file("lock"));
  if (!lock_untaken(*this, taken.lock.get())) {
    return base::failed(path_ + ": another supervisor runs it");
  }
  if (is_decided()) {
    return base::failed(path_ + ": this run was started before");
  }
  // After a takeover, the new daemon decides again about every order that was not taken.
  if (auto s = check_epoch(); !s) return base::failure(s.error());
  if (::rename(file("order").c_str(), file("taken").c_str()) != 0) {
    return base::system_error("no order", file("order"));
  }
  // A power cut must not bring the order back: the job has run.
  if (auto s = base::sync_folder(path_); !s) return base::failure(s.error());
  const auto text = base::read_small_file(file("taken"));
  if (!text) return base::failure(text.error());
  auto order = parse_order(*text, file("taken"));
  if (!order) return base::failure(order.error());
  taken.order = std::move(*order);
  return taken;
}

RunStage RunFolder::stage() const {
  // The supervisor locks before it takes the order, and writes the status before it unlocks.
  if (is_locked(file("lock"))) return RunStage::Running;
  if (base::exists(file("status"))) return RunStage::Over;
  if (base::exists(file("unable"))) return RunStage::Unable;
  if (base::exists(file("taken"))) {
    if (is_locked(file("lock"))) return RunStage::Running;
    if (base::exists(file("unable"))) return RunStage::Unable;
    return base::exists(file("status")) ? RunStage::Over : RunStage::Broken;
  }
  return base::exists(file("order")) ? RunStage::Ordered : RunStage::Absent;
}

bool RunFolder::fence() const {
  const base::Descriptor lock(::open(file("lock").c_str(), O_RDWR | O_CLOEXEC));
  if (lock) {
    if (!try_lock(lock.get()) || is_decided()) return false;
    // A rename needs no space, so this also works on a full disk.
    if (::rename(file("order").c_str(), file("taken").c_str()) == 0) return true;
  }
  // Without an order no supervisor can start. The mark prevents a new order.
  if (!make_folders()) return false;
  const base::Descriptor mark(::open(file("taken").c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
  return static_cast<bool>(mark);
}

bool RunFolder::withdraw() const {
  const base::Descriptor lock(::open(file("lock").c_str(), O_RDWR | O_CLOEXEC));
  // Supervisors open the lock first, and it is created before the order.
  if (!lock && errno != ENOENT && errno != ENOTDIR) return false;
  if (lock) {
    if (!try_lock(lock.get()) || is_decided()) return false;
    if (::unlink(file("order").c_str()) != 0 && errno != ENOENT) return false;
  }
  std::error_code ignored;
  fs::remove_all(path_, ignored);
  return true;
}

void RunFolder::give_back() const {
  // A rename needs no space.
  static_cast<void>(::rename(file("taken").c_str(), file("unable").c_str()));
}

bool RunFolder::tell(ControlByte byte) const {
  const base::Descriptor fifo(
      ::open(file("control").c_str(), O_WRONLY | O_NONBLOCK | O_CLOEXEC | O_NOFOLLOW));
  if (!fifo) return false;
  const char text = static_cast<char>(byte);
  return ::write(fifo.get(), &text, 1) == 1;
}

base::Result<StatusFile> StatusFile::reserve(const std::string& folder) {
  StatusFile out;
  const std::string path = folder + "/status.next";
  out.path_ = folder + "/status";
  // By descriptor, as the folder may be removed and its name reused.
  out.folder_.reset(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (out.folder_) {
    out.file_.reset(
        ::openat(out.folder_.get(), "status.next", O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600));
  }
  if (!out.file_ || !base::write_all(out.file_.get(), std::string(kBytes, ' ')) ||
      ::fsync(out.file_.get()) != 0) {
    return base::system_error("cannot reserve space for", path, "free some space on the disk");
  }
  return out;
}

base::Status StatusFile::write(const RunStatus& status) {
  std::string text = to_text(status);
  if (text.size() > kBytes) {  // detail and ranks can be long
    RunStatus shorter = status;
    shorter.detail.resize(std::min<size_t>(shorter.detail.size(), 1000));
    shorter.progress.ranks.clear();
    text = to_text(shorter);
  }
  const ssize_t count = ::pwrite(file_.get(), text.data(), text.size(), 0);
  if (count != static_cast<ssize_t>(text.size()) ||
      ::ftruncate(file_.get(), static_cast<off_t>(text.size())) != 0 || ::fsync(file_.get()) != 0) {
    return base::system_error("cannot write", path_);
  }
  in_place_ = in_place_ || ::renameat(folder_.get(), "status.next", folder_.get(), "status") == 0;
  if (!in_place_ || ::fsync(folder_.get()) != 0) return base::system_error("cannot write", path_);
  return {};
}

bool StatusFile::has_folder() const {
  struct stat facts{};
  return ::fstat(folder_.get(), &facts) == 0 && facts.st_nlink > 0;
}

}  // namespace goban::live::engine::local
