// Work on files of users, which may lie on a file system that does not answer. It is done by
// threads that nobody has to wait for: callers wait for a limited time, one user's hanging files
// occupy few threads, and the daemon ends without those that hang.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>

#include "base/http/reply.hpp"
#include "base/result.hpp"
#include "base/time.hpp"
#include "live/job/job_spec.hpp"

namespace goban::serve::api {

struct FileWorkLimits {
  base::TimeNs timeout_ns = 10 * base::kSecond;  ///< a caller waits at most this long
  base::TimeNs suspect_ns = base::kSecond;  ///< a task that takes longer may hang: nobody queues
  size_t threads_max = 64;
  size_t threads_user_max = 4;
  size_t waiting_user_max = 24;  ///< callers of one user that wait for a thread
};

/// Why work on files has no result.
struct FileTrouble {
  base::Error error{};
  bool is_busy = false;  ///< many tasks of this user are in progress, and none of them hangs
};

/// 504 if the file system does not answer, 503 if the daemon is busy.
[[nodiscard]] base::http::Response refusal_of(const FileTrouble& trouble);

/// Thread-safe.
class FileWork {
 public:
  explicit FileWork(FileWorkLimits limits = {});
  /// As stop().
  ~FileWork();
  FileWork(const FileWork&) = delete;
  FileWork& operator=(const FileWork&) = delete;

  /// A task that was started.
  class Task;
  /// Starts work on files of this user. It may continue after everything else has ended, so it owns
  /// what it uses, opens its files itself (those of the process are closed for it), and must not
  /// use static objects. An exception ends it without a result. Null: no
  /// thread is free for the user.
  [[nodiscard]] std::shared_ptr<Task> start(const live::job::Owner& owner,
                                            std::function<void()> task);
  /// Waits until the task has finished. False: it has not within this time.
  [[nodiscard]] bool wait(const Task& task, base::TimeNs most_ns) const;

  /// Runs `task` and returns its result. Errors: it does not return in time; no thread is free, as
  /// earlier tasks hang or many are in progress.
  template <typename T>
  [[nodiscard]] tl::expected<T, FileTrouble> run(const live::job::Owner& owner,
                                                 std::function<T()> task) {
    auto result = std::make_shared<std::optional<T>>();
    const auto done =
        run_task(owner, [result, task = std::move(task)] { result->emplace(task()); });
    if (!done) return tl::unexpected<FileTrouble>(done.error());
    return std::move(**result);
  }
  [[nodiscard]] const FileWorkLimits& limits() const;

  /// Ends all waiting, starts no more, and waits briefly for the threads. Returns how many hang.
  size_t stop();

 private:
  struct Pool;
  [[nodiscard]] tl::expected<void, FileTrouble> run_task(const live::job::Owner& owner,
                                                         std::function<void()> task);
  std::shared_ptr<Pool> pool_;  ///< shared with the threads
};

}  // namespace goban::serve::api
