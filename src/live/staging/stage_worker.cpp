#include "live/staging/stage_worker.hpp"

#include <cerrno>
#include <chrono>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/files.hpp"
#include "base/printable.hpp"
#include "base/sha256.hpp"
#include "live/engine/local/as_user.hpp"
#include "live/job/stage_paths.hpp"
#include "live/staging/copy.hpp"
#include "live/staging/copy_notes.hpp"
#include "live/staging/look.hpp"
#include "live/staging/order_check.hpp"
#include "live/staging/removal.hpp"
#include "live/staging_json.hpp"

namespace goban::live::staging {

namespace {

namespace fs = std::filesystem;
using base::Result;
using base::Status;
using Steady = std::chrono::steady_clock;

constexpr size_t kOrderBytesMax = size_t{4} << 20;
constexpr auto kReportEvery = std::chrono::seconds(1);
constexpr mode_t kOwnFolder = 0700;
constexpr mode_t kUmask = 022;

std::string folder_of(const std::string& path) { return fs::path(path).parent_path().string(); }

/// The place of notes on a copy on the fast tier: beside its folder, which has the version's name.
std::string notes_of(const std::string& to) { return folder_of(to) + ".notes"; }

Result<StageOrder> read_order(int in) {
  std::string text;
  char byte = 0;
  while (text.size() < kOrderBytesMax) {
    const ssize_t got = ::read(in, &byte, 1);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return base::failed("the order is incomplete");
    if (byte == '\n') break;
    text += byte;
  }
  const auto document = base::parse_json(text, "order");
  if (!document) return base::failure(document.error());
  StageOrder order;
  base::FieldReader fields(*document, "");
  read_fields(fields, order);
  if (auto status = fields.status("order"); !status) return base::failure(status.error());
  return order;
}

/// The owner's folder on the tier, made by whoever may write there.
Status make_owner_folder(const StageOrder& order) {
  const std::string& folder = order.folder;
  if (::mkdir(folder.c_str(), kOwnFolder) == 0) {
    if (::geteuid() == order.owner.uid) return {};
    const base::Descriptor made(
        ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
    if (!made || ::fchown(made.get(), order.owner.uid, order.owner.gid) != 0) {
      const auto error = passing_error("cannot give to its user", folder);
      ::rmdir(folder.c_str());
      return error;
    }
    return {};
  }
  if (errno != EEXIST) {
    const int code = errno;
    return base::failed(fmt::format("the fast tier cannot be used: cannot make the folder {}: {}",
                                    base::printable(folder), std::strerror(code)));
  }
  struct stat facts{};
  if (::lstat(folder.c_str(), &facts) != 0) return passing_error("cannot read", folder);
  if (S_ISDIR(facts.st_mode) && facts.st_uid == order.owner.uid) return {};
  return base::bad_data(
      {}, fmt::format("{} is not a folder of user {}", base::printable(folder), order.owner.uid));
}

/// The version of the tree, staged under the name of `from`. One source may have several names
/// (symbolic links), and the copy of each leaves the fast tier alone: so each has its own version.
std::string version_of(const Tree& tree, const std::string& from) {
  constexpr size_t kDigits = 32;
  const std::string name = fs::path(from).filename().string();
  if (fs::path(tree.root).filename() == name) return tree.version;
  return base::hex(base::sha256(tree.version + "/" + name)).substr(0, kDigits);
}

class Worker {
 public:
  Worker(StageOrder order, int in, int out) : order_(std::move(order)), in_(in), out_(out) {
    report_.task = order_.task;
    report_.job = order_.job;
  }

  int run() {
    const Status status = carry_out();
    report_.is_over = true;
    if (!status) {
      report_.problem = status.error().message;
      report_.is_final = status.error().code == base::ErrorCode::BadData;
    }
    return write() ? 0 : 1;
  }

 private:
  Status carry_out() {
    if (const std::string problem = order_problem(order_); !problem.empty()) {
      return base::bad_data({}, problem);
    }
    if (auto status = engine::local::may_act_for(order_.owner); !status) {
      return base::bad_data({}, status.error().message);
    }
    if (order_.task == StageTask::In) {
      if (auto status = make_owner_folder(order_); !status) return status;
    }
    const auto facts = engine::local::user_facts(order_.owner);
    if (auto status = engine::local::become(order_.owner, facts); !status) return status;
    ::umask(kUmask);
    switch (order_.task) {
      case StageTask::Measure:
        return measure();
      case StageTask::In:
        return copy_in();
      case StageTask::Out:
        if (order_.gives_up) return give_up();
        return order_.paths.empty() ? clean_up() : copy_out();
      case StageTask::Remove:
        report_.key = order_.paths.front().to;
        return remove_copy(folder_of(report_.key), notes_of(report_.key));
      case StageTask::Look:
        return look();
    }
    return {};
  }

  /// Whether what copy_in() made is still there.
  Status look() {
    for (const StagePath& path : order_.paths) {
      const auto missing =
          missing_of(path.to, notes_of(path.to), [&] { return go_on(report_.done_bytes); });
      if (!missing) return base::failure(missing.error());
      if (missing->empty()) continue;
      return base::failed(
          fmt::format("{} is no longer on the fast tier", base::printable(*missing)));
    }
    struct stat facts{};
    const std::string links = order_.job_folder + "/in";
    if (::lstat(links.c_str(), &facts) != 0 || !S_ISDIR(facts.st_mode)) {
      return base::failed(fmt::format("{} is no longer on the fast tier", links));
    }
    for (const StagePath& path : order_.paths) link(path.to);
    return {};
  }

  Status measure() {
    for (const StagePath& path : order_.paths) {
      if (auto status = check_source(path.from); !status) return status;
      const auto tree = list(path.from);
      if (!tree) return base::failure(tree.error());
      report_.found.push_back(
          {.bytes = tree->bytes, .files = tree->files, .version = version_of(*tree, path.from)});
    }
    return {};
  }

  Result<Tree> list(const std::string& from) {
    return list_tree(from, [&] { return go_on(report_.done_bytes); });
  }

  /// A copy into itself would never end.
  Status check_source(const std::string& from) const {
    const std::string tier = folder_of(order_.folder);
    if (is_at_or_below(tier, from)) {
      return base::bad_data(
          {}, fmt::format("{} contains the fast tier {}", base::printable(from), tier),
          "stage the folders beside it");
    }
    if (!is_at_or_below(from, tier)) return {};
    return base::bad_data({},
                          fmt::format("{} lies on the fast tier {}", base::printable(from), tier),
                          "read it where it is");
  }

  Status copy_in() {
    std::error_code error;
    fs::create_directories(order_.job_folder + "/in", error);
    if (error) {
      errno = error.value();
      return passing_error("cannot make the folder", order_.job_folder);
    }
    std::vector<Tree> trees;
    for (const StagePath& path : order_.paths) {
      if (auto status = check_source(path.from); !status) return status;
      auto tree = list(path.from);
      if (!tree) return base::failure(tree.error());
      if (fs::path(folder_of(path.to)).filename() != version_of(*tree, path.from)) {
        return base::failed(
            fmt::format("{} changed since it was measured", base::printable(path.from)));
      }
      report_.all_bytes += tree->bytes;
      trees.push_back(std::move(*tree));
    }
    for (size_t i = 0; i < trees.size(); ++i) {
      const std::string& to = order_.paths[i].to;
      if (auto status = copy(trees[i], to, notes_of(to)); !status) return status;
      link(to);
    }
    sum_up();
    return {};
  }

  /// A name by which scripts find the data; it is no error if there is another one.
  void link(const std::string& to) const {
    const std::string name = order_.job_folder + "/in/" + fs::path(to).filename().string();
    ::unlink(name.c_str());
    (void)!::symlink(to.c_str(), name.c_str());
  }

  Status copy_out() {
    std::vector<Tree> trees;
    for (size_t i = 0; i < order_.paths.size(); ++i) {
      auto tree = list(order_.paths[i].from);
      // It was copied and removed, and the report got lost.
      const bool is_done = !tree && !completed(out_notes(i)).empty();
      if (!tree && !is_done) return base::failure(tree.error());
      if (!is_done) {
        if (auto status = check_target(*tree, order_.paths[i].to); !status) return status;
        report_.all_bytes += tree->bytes;
      }
      trees.push_back(is_done ? Tree{} : std::move(*tree));
    }
    for (size_t i = 0; i < trees.size(); ++i) {
      if (trees[i].root.empty()) {
        digests_.push_back(completed(out_notes(i)));
        continue;
      }
      if (auto status = copy(trees[i], order_.paths[i].to, out_notes(i)); !status) return status;
    }
    sum_up();
    // Nothing is removed before everything is copied. What a link leads to stays.
    const std::string own = real_job_folder();
    for (size_t i = 0; i < trees.size(); ++i) {
      if (!trees[i].root.starts_with(own + "/")) continue;
      if (auto status = remove_copied(trees[i], out_notes(i)); !status) return status;
    }
    return {};
  }

  /// Results would be copied onto or into themselves, or into data of other jobs.
  Status check_target(const Tree& tree, const std::string& to) const {
    const char* what = nullptr;
    if (is_at_or_below(to, tree.root) || is_at_or_below(tree.root, to)) {
      what = "is in, or contains, what is copied there";
    } else if (is_at_or_below(to, order_.folder)) {
      what = "is on the fast tier";
    }
    if (what == nullptr) return {};
    return base::bad_data({}, fmt::format("{} {}", base::printable(to), what),
                          "make it a path of its own on the slow tier");
  }

  /// Where the job's folder is without symbolic links below the tier, which the job may have made.
  [[nodiscard]] std::string real_job_folder() const {
    std::error_code none;
    const fs::path owner(order_.folder);
    const fs::path tier = fs::canonical(owner.parent_path(), none);
    return (tier / owner.filename() / "jobs" / fs::path(order_.job_folder).filename()).string();
  }

  /// The folder of the job goes, with the links of copy_in(), unless something else is in it.
  Status clean_up() const {
    std::error_code none;
    const std::string links = order_.job_folder + "/in";
    for (fs::directory_iterator each(links, none), end; !none && each != end;
         each.increment(none)) {
      if (each->is_symlink(none)) ::unlink(each->path().c_str());
    }
    ::rmdir(links.c_str());
    ::rmdir(order_.job_folder.c_str());
    fs::remove_all(order_.job_folder + ".notes", none);
    return {};
  }

  /// What was copied whole stays where it is, and so does what was to be
  /// copied.
  Status give_up() const {
    for (size_t i = 0; i < order_.paths.size(); ++i) {
      remove_part(order_.paths[i].to, out_notes(i));
    }
    return clean_up();
  }

  [[nodiscard]] std::string out_notes(size_t path) const {
    return fmt::format("{}.notes/out-{}", order_.job_folder, path);
  }

  Status copy(const Tree& tree, const std::string& to, const std::string& notes) {
    CopyOptions options{.bytes_per_s = order_.bytes_per_s,
                        .keeps_others = order_.task == StageTask::Out};
    const int64_t before = report_.done_bytes;
    options.go_on = [&](int64_t done_bytes) { return go_on(before + done_bytes); };
    const auto copied = copy_tree(tree, to, notes, options);
    if (!copied) return base::failure(copied.error());
    report_.done_bytes = before + copied->bytes;
    report_.copied_bytes += copied->copied_bytes;
    digests_.push_back(copied->sha256);
    return {};
  }

  void sum_up() {
    if (digests_.size() == 1) {
      report_.sha256 = digests_.front();
      return;
    }
    std::string all;
    for (size_t i = 0; i < digests_.size(); ++i) {
      all += fmt::format("{}  {}\n", digests_[i], order_.paths[i].from);
    }
    if (!all.empty()) report_.sha256 = base::hex(base::sha256(all));
  }

  /// False: nobody waits for the result.
  bool go_on(int64_t done_bytes) {
    pollfd input{.fd = in_, .events = POLLIN, .revents = 0};
    if (::poll(&input, 1, 0) > 0) {
      char byte = 0;
      if (::read(in_, &byte, 1) <= 0) return false;
    }
    report_.done_bytes = done_bytes;
    if (Steady::now() < next_report_) return true;
    next_report_ = Steady::now() + kReportEvery;
    return write();
  }

  [[nodiscard]] bool write() const {
    const std::string line =
        to_json(report_).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
    return base::write_all(out_, line);
  }

  StageOrder order_;
  int in_;
  int out_;
  StageReport report_;
  std::vector<std::string> digests_;
  Steady::time_point next_report_ = Steady::now() + kReportEvery;
};

}  // namespace

int run_stage_worker(int in, int out) {
  auto order = read_order(in);
  if (!order) {
    (void)base::write_all(STDERR_FILENO, order.error().text() + "\n");
    return 1;
  }
  return Worker(std::move(*order), in, out).run();
}

}  // namespace goban::live::staging
