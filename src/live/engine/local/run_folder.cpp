#include "live/engine/local/run_folder.hpp"

#include <array>
#include <cerrno>
#include <fcntl.h>
#include <filesystem>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/json_fields.hpp"
#include "base/sha256.hpp"
#include "live/job/job_spec.hpp"
#include "live/journal/state_lock.hpp"

namespace goban::live::engine::local {
namespace {

namespace fs = std::filesystem;
using base::FieldReader;
using base::Result;
using nlohmann::json;

constexpr int32_t kVersion = 1;  ///< of orders; fields added since may be missing
constexpr double kMost = 1e300;

/// User text may be invalid UTF-8, which becomes the replacement character.
std::string text_of(const json& document) {
  return document.dump(-1, ' ', false, json::error_handler_t::replace);
}

json gpu_json(const base::gpus::LocalGpu& gpu) {
  return {{"index", gpu.index},
          {"uuid", gpu.uuid},
          {"name", gpu.name},
          {"pci", gpu.pci},
          {"mem_bytes", gpu.mem_bytes},
          {"power_idle_w", gpu.power_idle_w},
          {"power_max_w", gpu.power_max_w},
          {"power_exponent", gpu.power_exponent},
          {"virtual", gpu.is_virtual},
          {"cpus", gpu.cpus},
          {"slowness", gpu.slowness}};
}

void read_gpu(FieldReader& in, base::gpus::LocalGpu& gpu) {
  in.field("index", gpu.index, 0, INT32_MAX);
  in.field("uuid", gpu.uuid);
  in.field("name", gpu.name);
  in.field("pci", gpu.pci);
  in.field("mem_bytes", gpu.mem_bytes, int64_t{0}, INT64_MAX);
  in.field("power_idle_w", gpu.power_idle_w, -kMost, kMost);
  in.field("power_max_w", gpu.power_max_w, -kMost, kMost);
  in.field("power_exponent", gpu.power_exponent, -kMost, kMost);
  in.field("virtual", gpu.is_virtual);
  in.field("cpus", gpu.cpus, 0, INT32_MAX);
  in.field("slowness", gpu.slowness, 0, kMost);
}

void read_spec(FieldReader& in, job::JobSpec& spec) {
  const json* given = in.find("spec");
  if (given == nullptr) return;
  auto read = job::job_spec_from_json(*given);
  if (!read) return in.fail("spec." + read.error().place.field, read.error().message);
  spec = std::move(*read);
}

void read_order(FieldReader& in, RunOrder& order) {
  uint32_t job = 0;
  int64_t epoch = 0;
  in.field("job", job, uint32_t{1}, UINT32_MAX);
  if (job == 0) return in.fail("job", "is missing");
  order.run.job = core::model::JobId(job - 1);
  in.field("run", order.run.run, uint32_t{0}, UINT32_MAX);
  in.field("epoch", epoch, int64_t{0}, INT64_MAX);
  order.epoch = static_cast<uint64_t>(epoch);
  read_spec(in, order.spec);
  in.list("gpus", [&](FieldReader& gpu) { read_gpu(gpu, order.gpus.emplace_back()); });
  in.list("denied", [&](FieldReader& device) {
    base::gpus::DeviceNumber& number = order.denied.emplace_back();
    device.field("major", number.major, uint32_t{0}, UINT32_MAX);
    device.field("minor", number.minor, uint32_t{0}, UINT32_MAX);
  });
  in.field("shares", order.shares);
  in.field("restarts", order.restarts, uint32_t{0}, UINT32_MAX);
  in.field("run_instances", order.run_instances, uint32_t{0}, UINT32_MAX);
  in.field("limit_ns", order.limit_ns, TimeNs{0}, base::kNever);
  in.field("node", order.node);
  in.field("payload", order.payload);
  in.field("staged", order.staged);
  in.field("fast_folder", order.fast_folder);
  in.field("cgroup_root", order.cgroup_root);
  in.field("socket_root", order.socket_root);
  in.field("attach_timeout_s", order.attach_timeout_s, -kMost, kMost);
}

/// By StopReason.
constexpr std::array<ControlByte, 4> kStopBytes = {ControlByte::Preempted, ControlByte::Cancelled,
                                                   ControlByte::TimedOut, ControlByte::Broken};

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

std::string to_text(const RunOrder& order) {
  json gpus = json::array();
  for (const base::gpus::LocalGpu& gpu : order.gpus) gpus.push_back(gpu_json(gpu));
  json denied = json::array();
  for (const base::gpus::DeviceNumber& each : order.denied) {
    denied.push_back({{"major", each.major}, {"minor", each.minor}});
  }
  json out{{"version", kVersion},
           {"job", job::job_number(order.run.job)},
           {"run", order.run.run},
           {"epoch", order.epoch},
           {"spec", job::to_json(order.spec)},
           {"gpus", std::move(gpus)},
           {"denied", std::move(denied)},
           {"shares", order.shares},
           {"restarts", order.restarts},
           {"run_instances", order.run_instances},
           {"limit_ns", order.limit_ns},
           {"node", order.node},
           {"payload", order.payload},
           {"cgroup_root", order.cgroup_root},
           {"socket_root", order.socket_root},
           {"attach_timeout_s", order.attach_timeout_s}};
  if (!order.staged.empty()) out["staged"] = order.staged;
  if (!order.fast_folder.empty()) out["fast_folder"] = order.fast_folder;
  return text_of(out);
}

Result<RunOrder> parse_order(std::string_view text, const std::string& file) {
  const auto document = base::parse_json(text, file);
  if (!document) return base::failure(document.error());
  FieldReader in(*document, "");
  int32_t version = kVersion;
  in.field("version", version, 0, INT32_MAX);
  if (version > kVersion) {
    return base::bad_data(
        {file, 0, 0, "version"},
        fmt::format("the order has version {}; this release reads up to {}", version, kVersion),
        "start the release that wrote it; nothing was changed");
  }
  RunOrder order;
  read_order(in, order);
  if (const auto status = in.status(file); !status) return base::failure(status.error());
  return order;
}

std::string to_text(const Payload& payload) {
  return text_of({{"script", payload.script},
                  {"args", payload.args},
                  {"env", payload.env},
                  {"dialect", payload.dialect}});
}

Result<Payload> parse_payload(std::string_view text, const std::string& file) {
  const auto document = base::parse_json(text, file);
  if (!document) return base::failure(document.error());
  FieldReader in(*document, "");
  Payload payload;
  in.field("script", payload.script);
  in.field("args", payload.args);
  in.field("env", payload.env);
  in.field("dialect", payload.dialect);
  if (const auto status = in.status(file); !status) return base::failure(status.error());
  return payload;
}

ControlByte byte_of(StopReason reason) { return kStopBytes[static_cast<size_t>(reason)]; }

std::optional<StopReason> stop_reason(ControlByte byte) {
  const auto found = std::ranges::find(kStopBytes, byte);
  if (found == kStopBytes.end()) return std::nullopt;
  return static_cast<StopReason>(found - kStopBytes.begin());
}

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

}  // namespace goban::live::engine::local
