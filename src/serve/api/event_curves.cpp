#include "serve/api/event_curves.hpp"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fmt/format.h>
#include <map>
#include <utility>

#include "serve/api/log_file.hpp"
#include "serve/api/owners_eyes.hpp"

namespace goban::serve::api {

namespace {

namespace fs = std::filesystem;

constexpr size_t kFolderBytesMax = 1000;
constexpr size_t kTagBytesMax = 200;
constexpr int kDepthMax = 4;
constexpr int64_t kEntriesMax = 5'000;
constexpr size_t kFilesMax = 100;
constexpr size_t kCurvesMax = 64;
constexpr size_t kProblemsMax = 8;
constexpr int64_t kBytesMax = int64_t{32} << 20;

bool is_blank(char each) { return each == ' ' || each == '\t'; }
bool is_quote(char each) { return each == '\'' || each == '"' || each == '`'; }

/// The word at the beginning of `text`: in quotes, or up to a blank or a quote.
std::string_view first_word(std::string_view text) {
  if (!text.empty() && is_quote(text.front())) {
    const size_t end = text.find(text.front(), 1);
    return end == std::string_view::npos ? std::string_view{} : text.substr(1, end - 1);
  }
  const auto end = std::ranges::find_if(text, [](char c) { return is_blank(c) || is_quote(c); });
  std::string_view word = text.substr(0, static_cast<size_t>(end - text.begin()));
  constexpr std::string_view kAfterWords = ".,;:)";
  while (word.size() > 1 && kAfterWords.find(word.back()) != std::string_view::npos)
    word.remove_suffix(1);
  return word;
}

bool is_folder(std::string_view word) {
  return !word.empty() && word.size() <= kFolderBytesMax &&
         word.find("://") == std::string_view::npos && std::ranges::none_of(word, [](char c) {
           return static_cast<uint8_t>(c) < 0x20 || c == 0x7f;
         });
}

struct FoundFile {
  std::string run{};
  std::string path{};
};

/// Collects the event files below a folder, sorted by run and name: names contain the time.
class Search {
 public:
  explicit Search(fs::path root) : root_(std::move(root)) {}
  void look() {
    look_into(root_, ".", 0);
    std::ranges::sort(files_, {},
                      [](const FoundFile& file) { return std::pair(file.run, file.path); });
    if (files_.size() > kFilesMax) files_.resize(kFilesMax);
  }
  [[nodiscard]] const std::vector<FoundFile>& files() const { return files_; }
  [[nodiscard]] bool was_cut() const { return was_cut_; }

 private:
  void look_into(const fs::path& folder, const std::string& run, int depth) {
    std::error_code problem;
    fs::directory_iterator at(folder, problem);
    std::vector<std::string> below;
    for (; !problem && at != fs::directory_iterator(); at.increment(problem)) {
      if (++entries_ > kEntriesMax || files_.size() > kFilesMax) {
        was_cut_ = true;
        return;
      }
      std::error_code unknown;
      const fs::file_status status = at->symlink_status(unknown);
      const std::string name = at->path().filename().string();
      if (fs::is_directory(status)) below.push_back(name);
      if (fs::is_regular_file(status) && name.find("tfevents") != std::string::npos) {
        files_.push_back({.run = run, .path = at->path().string()});
      }
    }
    if (depth == kDepthMax) {
      was_cut_ = was_cut_ || !below.empty();
      return;
    }
    std::ranges::sort(below);
    for (const std::string& name : below) {
      look_into(folder / name, run == "." ? name : fmt::format("{}/{}", run, name), depth + 1);
    }
  }
  fs::path root_;
  std::vector<FoundFile> files_{};
  int64_t entries_ = 0;
  bool was_cut_ = false;
};

/// Reads files one after another.
class Collector {
 public:
  explicit Collector(EventCurves& out) : out_(out) {}

  void take(const live::job::Owner& owner, const FoundFile& found) {
    const base::Result<LogFile> file = LogFile::open(owner, found.path);
    if (!file || !file->there()) {
      complain(found, "is not a file that its owner can read");
      return;
    }
    ++out_.files;
    for (EventCurve& each : out_.curves) each.curve.begin_file();
    std::string buffer;
    const base::ReadAt read_at = [&](int64_t offset, std::span<char> to) {
      buffer.clear();
      const int64_t count = file->read(offset, to.size(), buffer);
      std::ranges::copy(buffer, to.begin());
      return static_cast<size_t>(count);
    };
    const base::EventFilePart part = base::read_scalars(
        read_at, [&](std::string_view tag, const base::Scalar& each) { add(found.run, tag, each); },
        {.bytes_max = kBytesMax - bytes_});
    bytes_ += part.bytes_read;
    if (part.was_cut) out_.was_cut = true;
    if (!part.problem.empty()) complain(found, part.problem);
  }
  [[nodiscard]] bool is_full() const { return bytes_ >= kBytesMax; }

 private:
  void add(const std::string& run, std::string_view tag, const base::Scalar& scalar) {
    const auto key = std::pair(run, std::string(tag.substr(0, kTagBytesMax)));
    auto known = by_name_.find(key);
    if (known == by_name_.end()) {
      if (out_.curves.size() == kCurvesMax) {
        out_.was_cut = true;
        return;
      }
      known = by_name_.emplace(key, out_.curves.size()).first;
      out_.curves.push_back({.run = key.first, .tag = key.second});
    }
    out_.curves[known->second].curve.add(scalar);
  }
  void complain(const FoundFile& found, std::string_view what) {
    if (out_.problems.size() < kProblemsMax) {
      out_.problems.push_back(fmt::format("{}: {}", found.path, what));
    }
  }
  EventCurves& out_;
  std::map<std::pair<std::string, std::string>, size_t> by_name_{};
  int64_t bytes_ = 0;
};

}  // namespace

std::optional<std::string> events_folder(std::string_view log) {
  constexpr std::string_view kProgram = "tensorboard ";
  constexpr std::string_view kOption = "--logdir";
  while (!log.empty()) {
    const size_t end = std::min(log.find('\n'), log.size());
    std::string_view line = log.substr(0, end);
    log.remove_prefix(std::min(end + 1, log.size()));
    if (line.ends_with('\r')) line.remove_suffix(1);
    const size_t program = line.find(kProgram);
    if (program == std::string_view::npos) continue;
    const size_t option = line.find(kOption, program);
    if (option == std::string_view::npos) continue;
    std::string_view rest = line.substr(option + kOption.size());
    if (rest.empty() || (rest.front() != '=' && !is_blank(rest.front()))) continue;
    rest.remove_prefix(1);
    while (!rest.empty() && is_blank(rest.front())) rest.remove_prefix(1);
    const std::string_view word = first_word(rest);
    if (is_folder(word)) return std::string(word);
  }
  return std::nullopt;
}

void ScalarCurve::add(const base::Scalar& scalar) {
  if (std::exchange(new_file_, false)) {
    std::erase_if(kept_, [&](const base::Scalar& each) { return each.step >= scalar.step; });
    if (last_ && last_->step >= scalar.step) last_.reset();
  }
  if (!std::isfinite(scalar.value) || !std::isfinite(scalar.at_s)) {
    ++not_finite_;
    return;
  }
  last_ = scalar;
  if (seen_++ % stride_ != 0) return;
  kept_.push_back(scalar);
  if (kept_.size() < 2 * kMost) return;
  for (size_t i = 1; 2 * i < kept_.size(); ++i) kept_[i] = kept_[2 * i];
  kept_.resize(kept_.size() / 2);
  stride_ *= 2;
}

std::vector<base::Scalar> ScalarCurve::points() const {
  std::vector<base::Scalar> all = kept_;
  if (last_) all.push_back(*last_);
  std::ranges::stable_sort(all, {}, &base::Scalar::step);
  std::vector<base::Scalar> out;
  for (const base::Scalar& each : all) {
    if (!out.empty() && out.back().step == each.step) out.pop_back();  // the last one counts
    out.push_back(each);
  }
  while (out.size() > kMost) {
    const base::Scalar last = out.back();
    for (size_t i = 1; 2 * i < out.size(); ++i) out[i] = out[2 * i];
    out.resize((out.size() + 1) / 2);
    out.back() = last;
  }
  return out;
}

base::Result<EventCurves> read_event_curves(const live::job::Owner& owner,
                                            const std::string& folder) {
  if (!owner.realm.empty()) {
    return base::failed(fmt::format("{} is not a user of this machine", full_name(owner)),
                        "the event files are where the cluster wrote them");
  }
  Search search(folder);
  {
    const OwnersEyes eyes(owner);
    if (!eyes.good()) return base::failed("cannot read the job's event files as its owner");
    search.look();
  }
  EventCurves out;
  out.was_cut = search.was_cut();
  Collector collector(out);
  for (const FoundFile& each : search.files()) {
    if (collector.is_full()) {
      out.was_cut = true;
      break;
    }
    collector.take(owner, each);
  }
  return out;
}

}  // namespace goban::serve::api
