#include "site/records/formats/slurm_header.hpp"

#include <algorithm>
#include <cstring>
#include <fmt/format.h>

#include "base/text.hpp"
#include "site/records/slurm_fields.hpp"

namespace goban::site::records {
namespace {

struct Name {
  std::string_view text;  ///< lower case
  SlurmColumn column;
};

using enum SlurmColumn;

/// Several names may mean one column; if a header has several, the first one in this list is used.
constexpr std::array kNames = {
    Name{"jobid", JobId},
    Name{"jobidraw", JobIdRaw},
    Name{"cluster", Cluster},
    Name{"partition", Partition},
    Name{"qos", Qos},
    Name{"account", Account},
    Name{"group", Group},
    Name{"user", User},
    Name{"submit", Submit},
    Name{"eligible", Eligible},
    Name{"start", Start},
    Name{"end", End},
    Name{"elapsedraw", Elapsed},
    Name{"elapsed", Elapsed},
    Name{"exitcode", ExitCode},
    Name{"state", State},
    Name{"allocnodes", NumNodes},
    Name{"nnodes", NumNodes},
    Name{"alloccpus", NumCpus},
    Name{"ncpus", NumCpus},
    Name{"reqmem", ReqMem},
    Name{"reqtres", ReqTres},
    Name{"alloctres", AllocTres},
    Name{"allocgres", AllocGres},
    Name{"reqgres", AllocGres},
    Name{"timelimitraw", TimeLimitRaw},
    Name{"timelimit", TimeLimit},
    Name{"nodelist", NodeList},
    Name{"submitline", SubmitLine},
    Name{"admincomment", AdminComment},
    Name{"jobname", JobName},
    Name{"reservation", Reservation},
    Name{"priority", Priority},
    Name{"restarts", Restarts},
    Name{"container", Container},
    Name{"tresusageinmax", UsageInMax},
    Name{"tresusageintot", UsageInTot},
    Name{"tresusageouttot", UsageOutTot},
    Name{"maxrss", MaxRss},
    Name{"totalcpu", TotalCpu},
    Name{"suspended", Suspended},
};

/// Texts written by users, which may contain the delimiter.
constexpr std::array<std::string_view, 6> kFreeTexts = {"jobname", "submitline", "comment",
                                                        "workdir", "extra",      "systemcomment"};

constexpr std::array<std::string_view, 26> kXdmod = {
    "jobid",   "jobidraw",  "cluster",   "partition", "qos",      "account", "group",
    "gid",     "user",      "uid",       "submit",    "eligible", "start",   "end",
    "elapsed", "exitcode",  "state",     "nnodes",    "ncpus",    "reqcpus", "reqmem",
    "reqtres", "alloctres", "timelimit", "nodelist",  "jobname"};

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

bool is_known(std::string_view name) {
  return std::ranges::find(kNames, name, &Name::text) != kNames.end();
}

}  // namespace

std::optional<SlurmHeader> SlurmHeader::parse(std::string_view line) {
  constexpr size_t kHeaderBytesMax = 10'000;
  constexpr size_t kKnownMin = 3;
  if (line.size() > kHeaderBytesMax) return std::nullopt;
  // The text between the first and the second name is the delimiter.
  const auto* const name_end = std::ranges::find_if_not(line, is_letter);
  const auto* const next = std::find_if(name_end, line.end(), is_letter);
  if (name_end == line.begin() || next == line.end()) return std::nullopt;
  SlurmHeader header;
  header.delimiter_ = std::string(name_end, next);
  std::vector<std::string> names;
  for (size_t begin = 0; begin <= line.size();) {
    const size_t end = std::min(line.find(header.delimiter_, begin), line.size());
    names.push_back(base::lowered(line.substr(begin, end - begin)));
    begin = end + header.delimiter_.size();
    if (end == line.size()) break;
  }
  if (names.back().empty()) {
    header.ends_with_delimiter_ = true;
    names.pop_back();
  }
  const auto has_id = std::ranges::find(names, "jobid") != names.end() ||
                      std::ranges::find(names, "jobidraw") != names.end();
  const auto known = static_cast<size_t>(std::ranges::count_if(names, is_known));
  if (!has_id || known < std::min(kKnownMin, names.size())) return std::nullopt;
  header.set_columns(names);
  return header;
}

SlurmHeader SlurmHeader::xdmod() {
  SlurmHeader header;
  const std::vector<std::string> names(kXdmod.begin(), kXdmod.end());
  header.set_columns(names);
  header.ignored_.clear();
  return header;
}

bool SlurmHeader::is_xdmod_line(std::string_view line) {
  constexpr size_t kSubmitAt = 10;
  size_t begin = 0;
  for (size_t i = 0; i < kSubmitAt; ++i) {
    const size_t bar = line.find('|', begin);
    if (bar == line.npos) return false;
    if (i == 0 && !parse_slurm_job_id(line.substr(0, bar))) return false;
    begin = bar + 1;
  }
  const std::string_view rest = line.substr(begin);
  const std::string_view submit = rest.substr(0, rest.find('|'));
  const bool is_time = submit == "Unknown" || (submit.size() == 19 && submit[10] == 'T') ||
                       (!submit.empty() && submit.find_first_not_of("0123456789") == submit.npos);
  const auto bars = std::ranges::count(line, '|');
  return is_time && bars >= static_cast<int64_t>(kXdmod.size()) - 1;
}

void SlurmHeader::set_columns(std::span<const std::string> names) {
  num_columns_ = names.size();
  std::array<size_t, kNumSlurmColumns> rank{};
  rank.fill(SIZE_MAX);
  for (size_t i = 0; i < names.size(); ++i) {
    const auto* const found = std::ranges::find(kNames, names[i], &Name::text);
    const bool is_free = std::ranges::find(kFreeTexts, names[i]) != kFreeTexts.end();
    if (is_free) {
      free_texts_together_ &= first_free_ == SIZE_MAX || last_free_ + 1 == i;
      first_free_ = std::min(first_free_, i);
      last_free_ = i;
    }
    if (found == kNames.end()) {
      ignored_.push_back(names[i]);
      continue;
    }
    const auto order = static_cast<size_t>(found - kNames.begin());
    const size_t column = index(found->column);
    if (order >= rank[column]) continue;
    rank[column] = order;
    at_[column] = static_cast<int>(i);
  }
}

void SlurmHeader::cut(std::string_view line) {
  fields_.clear();
  const char* begin = line.data();
  const char* const end = begin + line.size();
  if (delimiter_.size() == 1) {
    const char delimiter = delimiter_[0];
    while (const void* found = std::memchr(begin, delimiter, static_cast<size_t>(end - begin))) {
      const char* const at = static_cast<const char*>(found);
      fields_.emplace_back(begin, static_cast<size_t>(at - begin));
      begin = at + 1;
    }
  } else {
    for (size_t at = line.find(delimiter_); at != line.npos;) {
      fields_.push_back(line.substr(static_cast<size_t>(begin - line.data()),
                                    at - static_cast<size_t>(begin - line.data())));
      begin = line.data() + at + delimiter_.size();
      at = line.find(delimiter_, at + delimiter_.size());
    }
  }
  fields_.emplace_back(begin, static_cast<size_t>(end - begin));
}

std::string SlurmHeader::split(std::string_view line) {
  if (ends_with_delimiter_ && line.ends_with(delimiter_)) line.remove_suffix(delimiter_.size());
  cut(line);
  if (fields_.size() == num_columns_) return {};
  if (fields_.size() > num_columns_ && first_free_ != SIZE_MAX) return join_free_texts(line);
  return fmt::format("{} fields instead of {}", fields_.size(), num_columns_);
}

std::string SlurmHeader::join_free_texts(std::string_view line) {
  if (!free_texts_together_) {
    return fmt::format(
        "{} fields instead of {}: \"{}\" occurs in one of several free-text columns; dump only one "
        "of them and put it last",
        fields_.size(), num_columns_, delimiter_);
  }
  // Fields before and after the free texts are certain; the text between goes to the first of them.
  const size_t extra = fields_.size() - num_columns_;
  const char* const begin = fields_[first_free_].data();
  const std::string_view last = fields_[last_free_ + extra];
  const std::string_view joined =
      line.substr(static_cast<size_t>(begin - line.data()),
                  static_cast<size_t>(last.data() + last.size() - begin));
  fields_.erase(fields_.begin() + static_cast<std::ptrdiff_t>(first_free_ + 1),
                fields_.begin() + static_cast<std::ptrdiff_t>(first_free_ + 1 + extra));
  fields_[first_free_] = joined;
  for (size_t i = first_free_ + 1; i <= last_free_; ++i) fields_[i] = {};
  return {};
}

}  // namespace goban::site::records
