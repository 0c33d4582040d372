#include "live/journal/journal_folder.hpp"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <fmt/format.h>
#include <set>

#include "live/journal/file_calls.hpp"

namespace goban::live::journal {
namespace {

constexpr std::string_view kJournal = "journal-";
constexpr std::string_view kSnapshot = "snapshot-";
constexpr std::string_view kEnd = ".log";

/// The generation in a file name such as journal-3-17.log.
std::optional<Generation> generation_of(std::string_view name, std::string_view kind) {
  if (!name.starts_with(kind) || !name.ends_with(kEnd)) return {};
  const char* at = name.data() + kind.size();
  const char* last = name.data() + name.size() - kEnd.size();
  Generation generation;
  const auto epoch = std::from_chars(at, last, generation.epoch);
  if (epoch.ec != std::errc{} || epoch.ptr == last || *epoch.ptr != '-') return {};
  const auto number = std::from_chars(epoch.ptr + 1, last, generation.number);
  if (number.ec != std::errc{} || number.ptr != last) return {};
  return generation;
}

base::Result<JournalContents> read_generation_below(const std::string& folder,
                                                    Generation generation, int depth);

/// The state before the first record: the snapshot, or the previous generation.
base::Result<JournalContents> read_start(const std::string& folder, const JournalHeader& header,
                                         int depth) {
  JournalContents start;
  if (header.before.epoch == 0) return start;
  const std::string path = snapshot_path(folder, header.generation);
  auto text = read_whole(path);
  auto snapshot = text ? parse_snapshot(*text, path) : tl::unexpected(text.error());
  if (snapshot) {
    start.recovered.snapshot = std::move(*snapshot);
    return start;
  }
  // If this journal repeats the records of the previous one, only the start of that one is needed.
  constexpr int kMost = 64;
  auto before = depth < kMost ? read_generation_below(folder, header.before, depth + 1)
                              : base::failed("too many generations");
  if (!before) {
    base::Error error = std::move(snapshot.error());
    error.message +=
        fmt::format("; and the previous generation cannot replace it: {}", before.error().message);
    error.remedy = "nothing was changed; restore the folder from a backup";
    return base::failure(std::move(error));
  }
  start = std::move(*before);
  if (header.repeats) {
    start.recovered.records.clear();
    start.made_with.clear();
  }
  start.recovered.notes.push_back(
      fmt::format("{}: the previous generation was used instead", snapshot.error().text()));
  return start;
}

base::Result<JournalContents> read_generation_below(const std::string& folder,
                                                    Generation generation, int depth) {
  const std::string path = journal_path(folder, generation);
  auto text = read_whole(path);
  if (!text) return tl::unexpected(std::move(text.error()));
  const auto lines = read_journal_text(*text, path);
  if (!lines) return tl::unexpected(lines.error());
  if (lines->header.kind != "journal" || lines->header.generation != generation) {
    return base::bad_data({.file = path, .line = 1, .column = 0, .field = {}},
                          "the first line belongs to another file", "restore the name of the file");
  }
  auto start = read_start(folder, lines->header, depth);
  if (!start) return tl::unexpected(std::move(start.error()));
  JournalContents contents = std::move(*start);
  contents.tail = text->substr(lines->good_bytes);
  auto& records = contents.recovered.records;
  for (MadeWith each : lines->header.made_with) {
    each.from += records.size();
    add_made_with(contents.made_with, std::move(each));
  }
  records.insert(records.end(), lines->records.begin(), lines->records.end());
  if (!contents.tail.empty()) {
    contents.recovered.notes.push_back(fmt::format(
        "{}: discarded the last {} bytes, from byte {} on: the remains of an unfinished "
        "write",
        path, contents.tail.size(), lines->good_bytes));
  }
  return contents;
}

}  // namespace

std::string journal_path(const std::string& folder, Generation generation) {
  return fmt::format("{}/{}{}-{}{}", folder, kJournal, generation.epoch, generation.number, kEnd);
}

std::string snapshot_path(const std::string& folder, Generation generation) {
  return fmt::format("{}/{}{}-{}{}", folder, kSnapshot, generation.epoch, generation.number, kEnd);
}

base::Result<std::vector<Generation>> generations_in(const std::string& folder) {
  std::set<Generation> all;
  std::error_code error;
  std::filesystem::directory_iterator each(folder, error);
  for (; !error && each != std::filesystem::directory_iterator(); each.increment(error)) {
    const std::string name = each->path().filename().string();
    for (const std::string_view kind : {kJournal, kSnapshot}) {
      if (const auto generation = generation_of(name, kind)) all.insert(*generation);
    }
  }
  if (error) return base::failed(fmt::format("cannot read {}: {}", folder, error.message()));
  return std::vector<Generation>(all.begin(), all.end());
}

base::Result<JournalContents> read_generation(const std::string& folder, Generation generation) {
  return read_generation_below(folder, generation, 0);
}

void add_made_with(std::vector<MadeWith>& all, MadeWith next) {
  if (!all.empty() && all.back().from >= next.from) all.pop_back();
  if (all.empty() || all.back().facts != next.facts) all.push_back(std::move(next));
}

std::string snapshot_text(Generation generation, const std::string& build,
                          std::string_view snapshot) {
  std::string text;
  append_line(text, {}, to_text({.kind = "snapshot", .build = build, .generation = generation}));
  append_line(text, {.commit = 1, .index = 0}, snapshot);
  return text;
}

base::Result<std::string> parse_snapshot(std::string_view text, const std::string& file) {
  const auto lines = read_journal_text(text, file);
  if (!lines) return tl::unexpected(lines.error());
  if (lines->header.kind != "snapshot" || lines->records.size() != 1 ||
      lines->good_bytes != text.size()) {
    return base::bad_data({.file = file, .line = 0, .column = 0, .field = {}},
                          "the snapshot is damaged");
  }
  return std::string(lines->records.front());
}

}  // namespace goban::live::journal
