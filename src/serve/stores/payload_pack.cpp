#include "serve/stores/payload_pack.hpp"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <fcntl.h>
#include <filesystem>
#include <fmt/format.h>
#include <mutex>
#include <thread>
#include <unistd.h>
#include <utility>
#include <vector>

#include "base/files.hpp"
#include "base/http/worker_pool.hpp"
#include "live/journal/file_calls.hpp"
#include "live/journal/journal_text.hpp"

namespace goban::serve::stores {

namespace fs = std::filesystem;
using base::Result;
using base::Status;

namespace {

constexpr std::string_view kPackPrefix = "pack-";
constexpr std::string_view kEnd = ".log";
/// Above this number of files, one sync of the entire file system is cheaper than one per file.
constexpr size_t kFilesOneByOne = 100;

/// Packs use the journal's text format: it has checksums, commits and detection of a torn tail.
std::string header_line() {
  std::string line;
  live::journal::append_line(
      line, {},
      live::journal::to_text(
          {.kind = "payloads", .build = "goban", .generation = {.epoch = 1, .number = 1}}));
  return line;
}

std::vector<fs::path> packs_in(const std::string& folder) {
  std::vector<fs::path> found;
  std::error_code error;
  for (fs::directory_iterator each(folder, error); !error && each != fs::directory_iterator();
       each.increment(error)) {
    const std::string name = each->path().filename().string();
    if (name.starts_with(kPackPrefix) && name.ends_with(kEnd)) found.push_back(each->path());
  }
  std::ranges::sort(found);
  return found;
}

Status restore_pack(const std::string& path, const PayloadPack::Restore& restore) {
  const auto text = live::journal::read_whole(path);
  if (!text) return base::failure(text.error());
  // A torn header was never synced, so no record after it was confirmed.
  const size_t end = text->find('\n');
  if (end == std::string::npos ||
      !live::journal::read_journal_text(text->substr(0, end + 1), path)) {
    return {};
  }
  const auto lines = live::journal::read_journal_text(*text, path);
  if (!lines) return base::failure(lines.error());
  for (const std::string_view record : lines->records) {
    const size_t space = record.find(' ');
    if (space == std::string_view::npos) continue;
    const Status restored = restore(std::string(record.substr(0, space)), record.substr(space + 1));
    if (!restored) return restored;
  }
  return {};
}

}  // namespace

struct PayloadPack::Work {
  /// Lines made durable by one sync.
  struct Batch {
    std::vector<std::string> names{};
    std::vector<std::string> records{};
    bool done = false;
    Status status{};
  };

  Work(std::string in, base::TimeNs every_ns) : folder(std::move(in)), settle_every_ns(every_ns) {}
  Status begin_file();
  Status write(const Batch& batch);
  void lead(std::unique_lock<std::mutex>& lock);
  Status settle();
  Status sync_files(const std::vector<std::string>& some) const;
  void run();

  std::string folder;
  base::TimeNs settle_every_ns;
  std::mutex settling;  ///< taken before `mutex`
  std::mutex mutex;     ///< guards all below
  std::condition_variable changed;
  std::shared_ptr<Batch> filling = std::make_shared<Batch>();
  bool writing = false;  ///< a thread uses the file without holding the mutex
  bool ends = false;
  uint64_t number = 0;
  std::string path;
  base::Descriptor file;           ///< created with the first record
  std::vector<std::string> names;  ///< in packs that are not settled
  int64_t good_bytes = 0;
  uint64_t commits = 0;
  std::thread thread;
};

Status PayloadPack::Work::begin_file() {
  path = fmt::format("{}/{}{}{}", folder, kPackPrefix, ++number, kEnd);
  base::Descriptor fresh(
      ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600));
  live::journal::FileCalls& calls = live::journal::system_files();
  const std::string header = header_line();
  if (!fresh || !live::journal::write_all(calls, fresh.get(), header, 0) ||
      calls.sync(fresh.get()) != 0) {
    return live::journal::file_failure("write", path);
  }
  if (auto safe = live::journal::sync_folder(calls, folder); !safe) return safe;
  file = std::move(fresh);
  good_bytes = static_cast<int64_t>(header.size());
  commits = 0;
  return {};
}

Status PayloadPack::Work::write(const Batch& batch) {
  if (!file) {
    if (auto begun = begin_file(); !begun) return begun;
  }
  std::string lines;
  uint64_t index = 0;
  for (const std::string& record : batch.records) {
    live::journal::append_line(lines, {.commit = commits + 1, .index = index++}, record);
  }
  live::journal::FileCalls& calls = live::journal::system_files();
  if (!live::journal::write_all(calls, file.get(), lines, good_bytes) ||
      calls.sync(file.get()) != 0) {
    auto failure = live::journal::file_failure("write", path);
    // Later records would follow a partial write: start a new file for them.
    if (calls.truncate(file.get(), good_bytes) != 0) file = base::Descriptor();
    return failure;
  }
  good_bytes += static_cast<int64_t>(lines.size());
  ++commits;
  return {};
}

void PayloadPack::Work::lead(std::unique_lock<std::mutex>& lock) {
  writing = true;
  const auto batch = std::exchange(filling, std::make_shared<Batch>());
  lock.unlock();
  Status status = write(*batch);
  lock.lock();
  if (status) names.insert(names.end(), batch->names.begin(), batch->names.end());
  batch->status = std::move(status);
  batch->done = true;
  writing = false;
  changed.notify_all();
}

Status PayloadPack::Work::sync_files(const std::vector<std::string>& some) const {
  const base::Descriptor all(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!all) return live::journal::file_failure("open", folder);
  const bool one_by_one = some.size() <= kFilesOneByOne;
  for (const std::string& name : some) {
    if (!one_by_one) break;
    for (const std::string& path_below : {name + "/" + kPayloadFile, name}) {
      const base::Descriptor each(::openat(all.get(), path_below.c_str(), O_RDONLY | O_CLOEXEC));
      if (each && ::fsync(each.get()) != 0) return live::journal::file_failure("write", path_below);
    }
  }
  const int synced = one_by_one ? ::fsync(all.get()) : ::syncfs(all.get());
  if (synced != 0) return live::journal::file_failure("write", folder);
  return {};
}

Status PayloadPack::Work::settle() {
  const std::scoped_lock one_at_a_time(settling);
  std::vector<fs::path> packs;
  std::vector<std::string> some;
  {
    std::unique_lock lock(mutex);
    changed.wait(lock, [this] { return !writing; });
    file = base::Descriptor();  // later payloads go into a new pack
    packs = packs_in(folder);
    some = names;
  }
  if (packs.empty()) return {};
  if (auto safe = sync_files(some); !safe) return safe;
  std::error_code ignored;
  for (const fs::path& pack : packs) fs::remove(pack, ignored);
  const std::scoped_lock lock(mutex);
  names.erase(names.begin(), names.begin() + static_cast<std::ptrdiff_t>(some.size()));
  return {};
}

void PayloadPack::Work::run() {
  std::unique_lock lock(mutex);
  const std::chrono::nanoseconds pause(settle_every_ns);
  while (!changed.wait_for(lock, pause, [this] { return ends; })) {
    if (!file) continue;
    lock.unlock();
    (void)settle();  // after a failure it is tried again in the next period
    lock.lock();
  }
}

PayloadPack::PayloadPack(std::unique_ptr<Work> work) : work_(std::move(work)) {}

Result<std::unique_ptr<PayloadPack>> PayloadPack::open(const std::string& folder,
                                                       const Restore& restore,
                                                       base::TimeNs settle_every_ns) {
  auto work = std::make_unique<Work>(folder, settle_every_ns);
  for (const fs::path& pack : packs_in(folder)) {
    const Status restored = restore_pack(pack.string(), [&](const auto& name, auto payload) {
      work->names.push_back(name);
      return restore(name, payload);
    });
    if (!restored) {
      return base::failure(restored.error());
    }
  }
  if (auto settled = work->settle(); !settled) return base::failure(settled.error());
  work->thread = base::http::quiet_thread([&on = *work] { on.run(); });
  return std::unique_ptr<PayloadPack>(new PayloadPack(std::move(work)));
}

PayloadPack::~PayloadPack() {
  {
    const std::scoped_lock lock(work_->mutex);
    work_->ends = true;
  }
  work_->changed.notify_all();
  work_->thread.join();
  (void)work_->settle();
}

Status PayloadPack::add(std::string_view name, std::string_view payload) {
  std::unique_lock lock(work_->mutex);
  const auto batch = work_->filling;
  batch->names.emplace_back(name);
  batch->records.push_back(fmt::format("{} {}", name, payload));
  while (!batch->done) {
    if (work_->writing) {
      work_->changed.wait(lock);
    } else {
      work_->lead(lock);
    }
  }
  return batch->status;
}

Status PayloadPack::settle() { return work_->settle(); }

}  // namespace goban::serve::stores
