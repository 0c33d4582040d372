#include "serve/daemon/backup.hpp"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>
#include <vector>

#include "base/files.hpp"
#include "live/journal/file_calls.hpp"
#include "live/journal/journal_file.hpp"
#include "site/store/sqlite_copy.hpp"

namespace goban::serve::daemon {

namespace fs = std::filesystem;
using base::Result;
using base::Status;

namespace {

tl::unexpected<base::Error> cannot(std::string_view what, const fs::path& path,
                                   const std::error_code& error) {
  return base::failed(fmt::format("cannot {} {}: {}", what, path.string(), error.message()));
}

Status make_private(const fs::path& folder) {
  std::error_code error;
  fs::create_directories(folder, error);
  if (!error) fs::permissions(folder, fs::perms::owner_all, error);
  if (error) return cannot("create", folder, error);
  return {};
}

/// Succeeds if the file no longer exists: then it is no longer needed.
Status copy_one(const fs::path& from, const fs::path& to) {
  std::error_code error;
  fs::copy_file(from, to, fs::copy_options::overwrite_existing, error);
  if (error && error != std::errc::no_such_file_or_directory) return cannot("copy", from, error);
  return {};
}

std::vector<fs::path> entries_of(const fs::path& folder) {
  std::vector<fs::path> found;
  std::error_code error;
  for (fs::directory_iterator each(folder, error); !error && each != fs::directory_iterator();
       each.increment(error)) {
    found.push_back(each->path());
  }
  return found;
}

/// Copies snapshots first: a generation that starts meanwhile is either complete or not needed.
Result<live::journal::Recovered> copy_journal_once(const fs::path& from, const fs::path& to) {
  std::error_code ignored;
  fs::remove_all(to, ignored);
  if (auto made = make_private(to); !made) return base::failure(made.error());
  for (const bool snapshots : {true, false}) {
    for (const fs::path& file : entries_of(from)) {
      const std::string name = file.filename().string();
      if (name.starts_with("snapshot-") != snapshots || name.ends_with(".part")) continue;
      if (auto copied = copy_one(file, to / name); !copied) return base::failure(copied.error());
    }
  }
  return live::journal::read_journal(to.string());
}

/// Repeats the copy if generations that start meanwhile make it inconsistent.
Result<live::journal::Recovered> copy_journal(const fs::path& from, const fs::path& to) {
  constexpr int kTries = 5;
  auto copied = copy_journal_once(from, to);
  for (int i = 1; i < kTries && !copied; ++i) copied = copy_journal_once(from, to);
  return copied;
}

Result<int64_t> copy_payloads(const fs::path& from, const fs::path& to) {
  if (auto made = make_private(to); !made) return base::failure(made.error());
  int64_t count = 0;
  for (const fs::path& folder : entries_of(from)) {
    std::error_code ignored;
    if (!fs::is_directory(folder, ignored)) continue;  // a pack: its payloads also have files
    const fs::path copy = to / folder.filename();
    if (auto made = make_private(copy); !made) return base::failure(made.error());
    if (auto copied = copy_one(folder / "payload.json", copy / "payload.json"); !copied) {
      return base::failure(copied.error());
    }
    ++count;
  }
  return count;
}

Status copy_profiles(const fs::path& from, const fs::path& to) {
  if (auto made = make_private(to); !made) return made;
  for (const fs::path& file : entries_of(from)) {
    std::error_code ignored;
    if (!fs::is_regular_file(file, ignored)) continue;
    if (auto copied = copy_one(file, to / file.filename()); !copied) return copied;
  }
  return {};
}

/// Copies the learned PM scores. Files next to a configured score table belong to the site.
Status copy_scores(const fs::path& from, const fs::path& to) {
  for (const char* name : {"scores.csv", "scores.profile.json", "scores.learned.json"}) {
    if (auto copied = copy_one(from / name, to / name); !copied) return copied;
  }
  return {};
}

Status copy_store(const ServeConfig& config, const fs::path& to, BackupSummary& summary) {
  std::error_code ignored;
  if (config.store.find("://") != std::string::npos) {
    summary.note =
        "the history store is in a database server and not in this copy: back it up with the "
        "server's tools";
    return {};
  }
  if (!fs::exists(config.store, ignored)) return {};
  if (auto copied = site::store::copy_sqlite(config.store, (to / "store.sqlite").string());
      !copied) {
    return copied;
  }
  fs::permissions(to / "store.sqlite", fs::perms::owner_read | fs::perms::owner_write, ignored);
  summary.has_store = true;
  return {};
}

}  // namespace

Result<BackupSummary> back_up(const ServeConfig& config, const std::string& to) {
  const fs::path state = config.state;
  const fs::path target = to;
  std::error_code ignored;
  if (!fs::is_directory(state / "journal", ignored)) {
    return base::failed(fmt::format("{} is not a state folder: it has no journal", config.state),
                        "name the daemon's state folder with --state or --config");
  }
  if (!entries_of(target).empty()) {
    return base::failed(fmt::format("{} is not empty", to), "use a new folder for each backup");
  }
  if (auto made = make_private(target); !made) return base::failure(made.error());
  // While the folder is locked, the daemon removes no payload (live/engine/local/run_folder.hpp),
  // so all unfinished jobs of the journal have theirs.
  const base::Descriptor payloads(
      ::open((state / "payloads").c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!payloads || ::flock(payloads.get(), LOCK_EX) != 0) {
    return live::journal::file_failure("lock", (state / "payloads").string());
  }
  BackupSummary summary;
  const auto journal = copy_journal(state / "journal", target / "journal");
  if (!journal) return base::failure(journal.error());
  summary.records = static_cast<int64_t>(journal->records.size());
  const auto count = copy_payloads(state / "payloads", target / "payloads");
  if (!count) return base::failure(count.error());
  summary.payloads = *count;
  if (auto copied = copy_profiles(state / "profiles", target / "profiles"); !copied) {
    return base::failure(copied.error());
  }
  if (auto copied = copy_scores(state, target); !copied) return base::failure(copied.error());
  // After the journal: jobs that it marks as accounted are then in the store.
  if (auto copied = copy_store(config, target, summary); !copied) {
    return base::failure(copied.error());
  }
  const base::Descriptor folder(::open(target.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!folder || ::syncfs(folder.get()) != 0) return live::journal::file_failure("write", to);
  return summary;
}

}  // namespace goban::serve::daemon
