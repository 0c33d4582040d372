#include "live/journal/journal_file.hpp"

#include <algorithm>
#include <cerrno>
#include <fcntl.h>
#include <filesystem>
#include <fmt/format.h>
#include <optional>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

#include "base/check.hpp"
#include "base/files.hpp"
#include "live/journal/journal_folder.hpp"
#include "live/journal/state_lock.hpp"

namespace goban::live::journal {
namespace {

/// Writes a journal's header and these records, one commit each. The file is complete or does not
/// exist.
base::Status write_journal(FileCalls& calls, const std::string& folder, const JournalHeader& header,
                           const std::vector<std::string>& records) {
  std::string text;
  append_line(text, {}, to_text(header));
  for (size_t i = 0; i < records.size(); ++i) {
    append_line(text, {.commit = i + 1, .index = 0}, records[i]);
  }
  return write_safely(calls, journal_path(folder, header.generation), text);
}

class JournalFile final : public RecordLog {
 public:
  JournalFile(std::string folder, const JournalOptions& options, Generation generation)
      : folder_(std::move(folder)),
        build_(options.build),
        made_with_(options.made_with),
        calls_(options.calls == nullptr ? &system_files() : options.calls),
        epoch_(generation.epoch),
        generation_(generation) {}

  /// Opens the generation's file to continue after its last record.
  base::Status open(uint64_t last_commit) {
    const std::string path = journal_path(folder_, generation_);
    base::Descriptor file(::open(path.c_str(), O_WRONLY | O_CLOEXEC | O_NOFOLLOW));
    struct stat facts{};
    if (!file || ::fstat(file.get(), &facts) != 0) return file_failure("open", path);
    file_ = std::move(file);
    good_bytes_ = facts.st_size;
    last_commit_ = last_commit;
    return {};
  }

  void append(std::string_view record) override {
    GOBAN_CHECK(record.find('\n') == std::string_view::npos, "a record with a line break");
    waiting_.emplace_back(record);
  }

  base::Status commit() override {
    if (waiting_.empty()) return {};
    if (auto mine = check_epoch(); !mine) return mine;
    if (auto clean = clean_up(); !clean) return clean;
    std::string lines;
    uint64_t index = 0;
    for (const std::string& record : waiting_) {
      append_line(lines, {.commit = last_commit_ + 1, .index = index++}, record);
    }
    const std::string path = journal_path(folder_, generation_);
    if (!write_all(*calls_, file_.get(), lines, good_bytes_) || calls_->sync(file_.get()) != 0) {
      auto failure = file_failure("write", path);
      has_remains_ = true;
      (void)clean_up();  // if this fails: again before the next commit
      return failure;
    }
    // A daemon that took over in the meantime may not have seen these records.
    if (auto mine = check_epoch(); !mine) {
      has_remains_ = true;
      return mine;
    }
    good_bytes_ += static_cast<int64_t>(lines.size());
    record_bytes_ += static_cast<int64_t>(lines.size());
    ++last_commit_;
    waiting_.clear();
    return {};
  }

  base::Status compact(std::string_view snapshot) override {
    GOBAN_CHECK(!snapshot.empty());
    if (auto safe = commit(); !safe) return safe;
    if (auto mine = check_epoch(); !mine) return mine;
    if (auto clean = clean_up(); !clean) return clean;
    const Generation next{generation_.epoch, generation_.number + 1};
    auto begun = begin(next, snapshot, {}, generation_, {{.facts = made_with_}});
    if (!begun) return begun;
    return check_epoch();
  }

  int64_t bytes_since_snapshot() const override { return record_bytes_; }

  bool was_taken_over() const override {
    const auto epoch = read_epoch(folder_);
    return epoch && *epoch > epoch_;
  }

  /// Starts a generation and switches to it: writes its journal, then its snapshot, which makes it
  /// independent of older ones. Then removes older ones.
  base::Status begin(Generation next, std::string_view snapshot,
                     const std::vector<std::string>& records, Generation before,
                     std::vector<MadeWith> made_with, bool repeats = false) {
    JournalFile fresh(folder_, {.build = build_, .calls = calls_}, next);
    std::erase_if(made_with, [](const MadeWith& each) { return each.facts.empty(); });
    const JournalHeader header{.kind = "journal",
                               .build = build_,
                               .generation = next,
                               .before = snapshot.empty() ? Generation{} : before,
                               .repeats = repeats,
                               .made_with = std::move(made_with)};
    auto status = write_journal(*calls_, folder_, header, records);
    if (status && !snapshot.empty()) {
      status = write_safely(*calls_, snapshot_path(folder_, next),
                            snapshot_text(next, build_, snapshot));
    }
    if (status) status = sync_folder(*calls_, folder_);
    if (status) status = fresh.open(records.size());
    if (!status) {
      void_ = next;
      (void)clean_up();  // if this fails: again before the next commit
      return status;
    }
    generation_ = next;
    file_ = std::move(fresh.file_);
    good_bytes_ = fresh.good_bytes_;
    last_commit_ = fresh.last_commit_;
    record_bytes_ = records.empty() ? 0 : good_bytes_;
    has_remains_ = false;
    remove_older();
    return {};
  }

 private:
  base::Status check_epoch() const {
    const auto epoch = read_epoch(folder_);
    if (!epoch) return tl::unexpected(epoch.error());
    if (*epoch == generation_.epoch) return {};
    if (*epoch < generation_.epoch) {
      return base::failed(
          fmt::format("the journal in {} was removed or replaced by an older one while in use",
                      folder_),
          "restart goban");
    }
    return base::failed(fmt::format("another daemon took over {}: its epoch is {}, ours was {}",
                                    folder_, *epoch, generation_.epoch),
                        "stop this daemon; its jobs belong to the other");
  }

  /// Removes the remains of failed writes: no commit may be confirmed before, as they would be read
  /// as valid.
  base::Status clean_up() {
    if (has_remains_ && calls_->truncate(file_.get(), good_bytes_) != 0) {
      return file_failure("truncate an unfinished write in", journal_path(folder_, generation_));
    }
    has_remains_ = false;
    if (!void_) return {};
    for (const std::string& path :
         {snapshot_path(folder_, *void_), journal_path(folder_, *void_)}) {
      if (calls_->remove(path) != 0 && errno != ENOENT) return file_failure("remove", path);
    }
    if (auto safe = sync_folder(*calls_, folder_); !safe) return safe;
    void_.reset();
    return {};
  }

  void forget(Generation generation) const {
    (void)calls_->remove(snapshot_path(folder_, generation));
    (void)calls_->remove(journal_path(folder_, generation));
  }

  /// Keeps the previous generation as a backup. Files that cannot be removed do no harm.
  void remove_older() const {
    const auto all = generations_in(folder_);
    if (!all) return;
    const auto mine = std::ranges::lower_bound(*all, generation_) - all->begin();
    for (auto i = mine - 2; i >= 0; --i) forget((*all)[static_cast<size_t>(i)]);
  }

  std::string folder_;
  std::string build_;
  InputFacts made_with_;
  FileCalls* calls_;
  uint64_t epoch_;
  Generation generation_;
  base::Descriptor file_;
  std::vector<std::string> waiting_;
  int64_t good_bytes_ = 0;    ///< of the file: all confirmed lines
  int64_t record_bytes_ = 0;  ///< of these, since the last snapshot
  uint64_t last_commit_ = 0;
  bool has_remains_ = false;        ///< remains of a failed write after good_bytes_
  std::optional<Generation> void_;  ///< a generation whose start failed
};

std::string torn_path(const std::string& folder, Generation generation) {
  std::filesystem::path path = journal_path(folder, generation);
  return path.replace_extension(".torn").string();
}

/// Stores the discarded bytes, for inspection.
base::Status keep_tail(FileCalls& calls, const std::string& folder, Generation generation,
                       std::string_view tail) {
  if (tail.empty()) return {};
  return write_safely(calls, torn_path(folder, generation), tail);
}

/// Removes unfinished files of earlier writers.
void remove_parts(const std::string& folder) {
  std::error_code ignored;
  std::filesystem::directory_iterator each(folder, ignored);
  for (; each != std::filesystem::directory_iterator(); each.increment(ignored)) {
    if (each->path().extension() == ".part") std::filesystem::remove(each->path(), ignored);
  }
}

base::Status make_folder(FileCalls& calls, const std::string& folder) {
  if (::mkdir(folder.c_str(), 0700) != 0) {
    return errno == EEXIST ? base::Status{} : file_failure("create", folder);
  }
  const std::string above = std::filesystem::path(folder).parent_path().string();
  return sync_folder(calls, above.empty() ? "." : above);
}

}  // namespace

base::Result<OpenJournal> open_journal(const std::string& folder, const JournalOptions& options) {
  FileCalls& calls = options.calls == nullptr ? system_files() : *options.calls;
  if (auto made = make_folder(calls, folder); !made) return tl::unexpected(made.error());
  auto found = generations_in(folder);
  if (!found) return tl::unexpected(std::move(found.error()));
  const uint64_t least = found->empty() ? 1 : found->back().epoch + 1;
  const auto epoch = raise_epoch(calls, folder, least);
  if (!epoch) return tl::unexpected(epoch.error());

  // Earlier writers are fenced only now, so list again.
  found = generations_in(folder);
  if (!found) return tl::unexpected(std::move(found.error()));
  JournalContents contents;
  Generation before;
  if (!found->empty()) {
    before = found->back();
    auto read = read_generation(folder, before);
    if (!read) return tl::unexpected(std::move(read.error()));
    contents = std::move(*read);
  }
  if (auto kept = keep_tail(calls, folder, before, contents.tail); !kept) {
    return tl::unexpected(std::move(kept.error()));
  }
  if (!contents.tail.empty()) {
    contents.recovered.notes.push_back(
        fmt::format("the discarded bytes are stored in {}", torn_path(folder, before)));
  }
  const Generation mine{*epoch, before.number + 1};
  auto log = std::make_unique<JournalFile>(folder, options, mine);
  Recovered& recovered = contents.recovered;
  std::vector<MadeWith> made_with = contents.made_with;
  add_made_with(made_with, {.from = recovered.records.size(), .facts = options.made_with});
  auto begun =
      log->begin(mine, recovered.snapshot, recovered.records, before, std::move(made_with), true);
  if (!begun) return tl::unexpected(std::move(begun.error()));
  remove_parts(folder);
  return OpenJournal{.log = std::move(log),
                     .recovered = std::move(recovered),
                     .epoch = *epoch,
                     .made_with = std::move(contents.made_with)};
}

base::Result<std::vector<std::string>> journals_in(const std::string& folder) {
  const auto found = generations_in(folder);
  if (!found) return tl::unexpected(found.error());
  std::vector<std::string> out;
  for (const Generation& each : *found) {
    const std::string path = journal_path(folder, each);
    if (std::filesystem::exists(path)) out.push_back(path);
  }
  if (out.empty()) return base::failed(fmt::format("there is no journal in {}", folder));
  return out;
}

base::Result<Recovered> read_journal(const std::string& path) {
  auto contents = read_journal_contents(path);
  if (!contents) return tl::unexpected(std::move(contents.error()));
  return std::move(contents->recovered);
}

base::Result<JournalContents> read_journal_contents(const std::string& path) {
  namespace fs = std::filesystem;
  std::error_code ignored;
  const bool is_folder = fs::is_directory(path, ignored);
  const std::string folder = is_folder ? path : fs::path(path).parent_path().string();
  const auto found = generations_in(folder.empty() ? "." : folder);
  if (!found) return tl::unexpected(found.error());
  for (auto each = found->rbegin(); each != found->rend(); ++each) {
    const std::string journal = journal_path(folder.empty() ? "." : folder, *each);
    if (!is_folder && fs::path(journal).filename() != fs::path(path).filename()) continue;
    auto contents = read_generation(folder.empty() ? "." : folder, *each);
    return contents;
  }
  return base::failed(fmt::format("there is no journal in {}", path),
                      "give the folder `journal` of a state folder, or a file in it");
}

}  // namespace goban::live::journal
