#include "serve/api/file_work.hpp"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <exception>
#include <fmt/format.h>
#include <list>
#include <map>
#include <mutex>
#include <sched.h>
#include <thread>
#include <unistd.h>
#include <utility>

#include "base/clock.hpp"
#include "base/http/worker_pool.hpp"

namespace goban::serve::api {

using base::TimeNs;
using Steady = std::chrono::steady_clock;

namespace {

/// Gives this thread a table of open files of its own, without the daemon's. If it hangs where no
/// signal ends it, a killed daemon would otherwise keep its lock and its listeners until then.
void leave_the_daemons_files() {
  constexpr unsigned int kFirst = 3;  // after the standard streams
  if (::unshare(CLONE_FILES) == 0) static_cast<void>(::close_range(kFirst, ~0U, 0));
}

}  // namespace

base::http::Response refusal_of(const FileTrouble& trouble) {
  if (!trouble.is_busy) return base::http::refusal(base::http::kNoAnswer, trouble.error);
  base::http::Response response = base::http::refusal(base::http::kUnavailable, trouble.error);
  response.headers.emplace_back("Retry-After", "1");
  return response;
}

class FileWork::Task {
 public:
  Task(uint32_t user, std::function<void()> todo) : uid(user), work(std::move(todo)) {}
  const uint32_t uid;
  const TimeNs begin_ns = base::steady_ns();
  std::function<void()> work;  ///< used by its thread only
  bool failed = false;         ///< by an exception; valid when it is done
  bool done = false;           ///< guarded by Pool::mutex
};

struct FileWork::Pool {
  explicit Pool(FileWorkLimits chosen) : limits(chosen) {}

  [[nodiscard]] size_t count(uint32_t uid) const {
    return static_cast<size_t>(
        std::ranges::count_if(running, [uid](const auto& task) { return task->uid == uid; }));
  }
  [[nodiscard]] bool has_room(uint32_t uid) const {
    return running.size() < limits.threads_max && count(uid) < limits.threads_user_max;
  }
  /// Tasks of the user, or of all if there are too many, that have run for so long that they may
  /// hang.
  [[nodiscard]] size_t suspects(uint32_t uid) const {
    const TimeNs before = base::steady_ns() - limits.suspect_ns;
    const bool all = running.size() >= limits.threads_max;
    return static_cast<size_t>(std::ranges::count_if(running, [&](const auto& task) {
      return (all || task->uid == uid) && task->begin_ns <= before;
    }));
  }
  /// Whether waiting for a thread is in vain.
  [[nodiscard]] bool is_blocked(uint32_t uid) const {
    const size_t most = std::min(count(uid), limits.threads_user_max);
    return suspects(uid) >= (running.size() >= limits.threads_max ? limits.threads_max : most);
  }
  std::shared_ptr<Task> add(uint32_t uid, std::function<void()> task_work,
                            const std::shared_ptr<Pool>& self);

  const FileWorkLimits limits;
  std::mutex mutex;
  std::condition_variable changed;  ///< a task has finished, or stopping
  std::condition_variable posted;
  std::list<std::shared_ptr<Task>> running;  ///< begun or waiting for the thread that takes it
  std::deque<std::shared_ptr<Task>> todo;    ///< of those, not begun
  std::map<uint32_t, size_t> waiting;        ///< callers that wait for a thread, by uid
  size_t threads = 0;
  size_t idle = 0;
  bool stopping = false;
};

std::shared_ptr<FileWork::Task> FileWork::Pool::add(uint32_t uid, std::function<void()> task_work,
                                                    const std::shared_ptr<Pool>& self) {
  auto task = std::make_shared<Task>(uid, std::move(task_work));
  running.push_back(task);
  todo.push_back(task);
  if (todo.size() <= idle) {
    posted.notify_one();
    return task;
  }
  ++threads;
  base::http::quiet_thread([self] {
    leave_the_daemons_files();
    std::unique_lock lock(self->mutex);
    while (!self->stopping) {
      if (self->todo.empty()) {
        ++self->idle;
        self->posted.wait(lock, [&] { return self->stopping || !self->todo.empty(); });
        --self->idle;
        continue;
      }
      const std::shared_ptr<Task> next = self->todo.front();
      self->todo.pop_front();
      lock.unlock();
      try {
        next->work();
      } catch (const std::exception&) {
        next->failed = true;
      }
      next->work = {};
      lock.lock();
      next->done = true;
      self->running.remove(next);
      self->changed.notify_all();
    }
    --self->threads;
    self->changed.notify_all();
  }).detach();
  return task;
}

FileWork::FileWork(FileWorkLimits limits) : pool_(std::make_shared<Pool>(limits)) {}
FileWork::~FileWork() { stop(); }

std::shared_ptr<FileWork::Task> FileWork::start(const live::job::Owner& owner,
                                                std::function<void()> task) {
  const std::scoped_lock lock(pool_->mutex);
  if (pool_->stopping || !pool_->has_room(owner.uid)) return nullptr;
  return pool_->add(owner.uid, std::move(task), pool_);
}

bool FileWork::wait(const Task& task, TimeNs most_ns) const {
  std::unique_lock lock(pool_->mutex);
  pool_->changed.wait_for(lock, std::chrono::nanoseconds(most_ns),
                          [&] { return task.done || pool_->stopping; });
  return task.done;
}

tl::expected<void, FileTrouble> FileWork::run_task(const live::job::Owner& owner,
                                                   std::function<void()> task) {
  const auto trouble = [](std::string message, bool is_busy = false) {
    return tl::unexpected<FileTrouble>(
        {.error = base::failed(std::move(message), "try again later").value(), .is_busy = is_busy});
  };
  Pool& pool = *pool_;
  std::unique_lock lock(pool.mutex);
  const auto queue_end = Steady::now() + std::chrono::nanoseconds(pool.limits.suspect_ns);
  while (!pool.stopping && !pool.has_room(owner.uid)) {
    if (pool.is_blocked(owner.uid) || Steady::now() >= queue_end) {
      return trouble(
          fmt::format("earlier reads of files of {} have not returned: their file "
                      "system does not answer",
                      owner.user));
    }
    size_t& waiting = pool.waiting[owner.uid];
    if (waiting >= pool.limits.waiting_user_max) {
      return trouble(fmt::format("many reads of files of {} are in progress", owner.user), true);
    }
    ++waiting;
    pool.changed.wait_until(lock, queue_end);
    const auto found = pool.waiting.find(owner.uid);
    if (--found->second == 0) pool.waiting.erase(found);
  }
  if (pool.stopping) return trouble("the daemon is shutting down", true);
  const std::shared_ptr<Task> begun = pool.add(owner.uid, std::move(task), pool_);
  pool.changed.wait_for(lock, std::chrono::nanoseconds(pool.limits.timeout_ns),
                        [&] { return begun->done || pool.stopping; });
  if (begun->done && begun->failed) return trouble("cannot read files: out of memory");
  if (begun->done) return {};
  if (pool.stopping) return trouble("the daemon is shutting down", true);
  return trouble(fmt::format("the file system of the file did not answer within {:g} s",
                             base::to_seconds(pool.limits.timeout_ns)));
}

const FileWorkLimits& FileWork::limits() const { return pool_->limits; }

size_t FileWork::stop() {
  constexpr auto kPatience = std::chrono::milliseconds(300);
  std::unique_lock lock(pool_->mutex);
  if (std::exchange(pool_->stopping, true)) return pool_->threads;
  pool_->changed.notify_all();
  pool_->posted.notify_all();
  pool_->changed.wait_for(lock, kPatience, [&] { return pool_->threads == 0; });
  return pool_->threads;
}

}  // namespace goban::serve::api
