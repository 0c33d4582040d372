#include "live/engine/local/run_status.hpp"

#include <cerrno>
#include <fcntl.h>
#include <nlohmann/json.hpp>
#include <sys/stat.h>
#include <unistd.h>

#include "base/reports/run_reports_json.hpp"

namespace goban::live::engine::local {
namespace {

using base::FieldReader;
using base::Result;
using nlohmann::json;

constexpr TimeNs kKeepEvery = base::kSecond;
constexpr unsigned kRetryAfter_s = 1;

/// User text may be invalid UTF-8, which becomes the replacement character.
std::string dump(const json& document) {
  return document.dump(-1, ' ', false, json::error_handler_t::replace);
}

/// Reads a file into a value by `read(FieldReader&, value)`.
template <typename Value, typename Read>
Result<Value> parse_file(std::string_view text, const std::string& file, const Read& read) {
  const auto document = base::parse_json(text, file);
  if (!document) return base::failure(document.error());
  Value value;
  FieldReader in(*document, "");
  read(in, value);
  if (const auto status = in.status(file); !status) return base::failure(status.error());
  return value;
}

}  // namespace

std::string to_text(const RunningNote& note) {
  return dump({{"supervisor_pid", note.supervisor_pid},
               {"pid", note.pid},
               {"started_ns", note.started_ns},
               {"cgroup", note.cgroup},
               {"device_cgroup", note.device_cgroup},
               {"limited", note.limited}});
}

Result<RunningNote> parse_note(std::string_view text, const std::string& file) {
  return parse_file<RunningNote>(text, file, [](FieldReader& in, RunningNote& note) {
    in.field("supervisor_pid", note.supervisor_pid, int64_t{0}, INT64_MAX);
    in.field("pid", note.pid, int64_t{0}, INT64_MAX);
    in.field("started_ns", note.started_ns, TimeNs{0}, base::kNever);
    in.field("cgroup", note.cgroup);
    in.field("device_cgroup", note.device_cgroup);
    in.field("limited", note.limited);
  });
}

std::string to_text(const RunStatus& status) {
  return dump({{"refused", status.refused},
               {"unable", status.unable},
               {"exit_code", status.exit_code},
               {"signal", status.signal},
               {"out_of_memory", status.out_of_memory},
               {"acknowledged", status.acknowledged},
               {"limited", status.limited},
               {"usage", to_json(status.usage)},
               {"progress", to_json(status.progress)},
               {"started_ns", status.started_ns},
               {"ended_ns", status.ended_ns},
               {"ran_ns", status.ran_ns},
               {"detail", status.detail}});
}

Result<RunStatus> parse_status(std::string_view text, const std::string& file) {
  return parse_file<RunStatus>(text, file, [](FieldReader& in, RunStatus& status) {
    in.field("refused", status.refused);
    in.field("unable", status.unable);
    in.field("exit_code", status.exit_code, INT32_MIN, INT32_MAX);
    in.field("signal", status.signal, INT32_MIN, INT32_MAX);
    in.field("out_of_memory", status.out_of_memory);
    in.field("acknowledged", status.acknowledged);
    in.field("limited", status.limited);
    in.object("usage", [&](FieldReader& part) { read_fields(part, status.usage); });
    in.object("progress", [&](FieldReader& part) { read_fields(part, status.progress); });
    in.field("started_ns", status.started_ns, INT64_MIN, base::kNever);
    in.field("ended_ns", status.ended_ns, INT64_MIN, base::kNever);
    in.field("ran_ns", status.ran_ns, TimeNs{-1}, base::kNever);
    in.field("detail", status.detail);
  });
}

std::string to_text(const RunProgress& progress) { return dump(to_json(progress)); }

Result<RunProgress> parse_progress(std::string_view text, const std::string& file) {
  return parse_file<RunProgress>(
      text, file, [](FieldReader& in, RunProgress& progress) { read_fields(in, progress); });
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

void StatusFile::write_patiently(const RunStatus& status) {
  bool said = false;
  while (has_folder()) {
    const auto written = write(status);
    if (written) return;
    if (!said) complain(written.error().text() + "; retrying");
    said = true;
    ::sleep(kRetryAfter_s);
  }
}

void ProgressFile::keep(const RunProgress& progress, TimeNs now_ns, bool at_once) {
  if (progress == kept_ || (!at_once && now_ns < next_ns_)) return;
  next_ns_ = now_ns + kKeepEvery;
  if (base::replace_file(folder_.path(), "progress", to_text(progress), base::Durable::No)) {
    kept_ = progress;
  }
}

void complain(const std::string& text) {
  static_cast<void>(base::write_all(STDERR_FILENO, text + "\n"));
}

std::vector<RankTimes> rank_times(const std::string& state, RunId run) {
  const std::string file = RunFolder(state, run).file("progress");
  const auto text = base::read_small_file(file);
  if (!text) return {};
  auto progress = parse_progress(*text, file);
  return progress ? std::move(progress->ranks) : std::vector<RankTimes>{};
}

}  // namespace goban::live::engine::local
