#include "live/engine/local/progress_lines.hpp"

#include <algorithm>
#include <cmath>

#include "base/field_splitter.hpp"
#include "base/number.hpp"

namespace goban::live::engine::local {
namespace {

/// Larger values are invalid.
constexpr double kCountMax = 1e15;

struct Word {
  std::string_view name;
  std::string_view value;
};

Word split_word(std::string_view text) {
  const size_t sign = text.find('=');
  if (sign == std::string_view::npos) return {text, {}};
  return {text.substr(0, sign), text.substr(sign + 1)};
}

/// Reads a finite number >= 0; otherwise returns false and leaves `out` unchanged.
bool read_amount(std::string_view text, double& out) {
  const auto value = base::parse_double(text);
  if (!value || !(*value >= 0) || *value > kCountMax) return false;
  out = *value;
  return true;
}

bool read_percent(std::string_view text, double& out) {
  double value = 0;
  if (!read_amount(text, value) || value > 100) return false;
  out = value;
  return true;
}

bool read_count(std::string_view text, int64_t& out) {
  const auto value = base::parse_int(text);
  if (!value || *value < 0 || static_cast<double>(*value) > kCountMax) return false;
  out = *value;
  return true;
}

}  // namespace

void PaceMark::heard(double value, base::TimeNs now_ns, Pace& pace) {
  if (first < 0 || value < last) {
    first = value;
    first_ns = now_ns;
    pace = {};
  } else if (value > last) {
    pace = {.done = value - first, .over_s = base::to_seconds(now_ns - first_ns)};
  }
  last = value;
}

bool ProgressSum::take_progress(std::string_view words, base::TimeNs now_ns) {
  base::FieldSplitter fields;
  fields.split_blanks(words);
  ProgressReport& latest = progress.latest;
  double current_epoch = -1;
  bool says_step = false;
  bool any = false;
  for (const std::string_view field : fields.fields()) {
    const auto [name, value] = split_word(field);
    if (name == "epoch") any |= read_amount(value, current_epoch);
    if (name == "epochs") any |= read_amount(value, latest.epochs);
    if (name == "step") says_step |= read_count(value, latest.step);
    if (name == "steps") any |= read_count(value, latest.steps);
    if (name == "samples_per_s") any |= read_amount(value, latest.samples_per_s);
    if (name == "input_stall_pct") any |= read_percent(value, latest.input_stall_pct);
    if (name == "loss") {
      const auto loss = base::parse_double(value);
      if (loss) latest.loss = *loss;
      any |= loss.has_value();
    }
  }
  if (latest.step >= 0 && latest.steps > 0 && latest.epochs > 0) {
    const double part = static_cast<double>(latest.step) / static_cast<double>(latest.steps);
    latest.epoch = latest.epochs * std::min(1.0, part);
  } else if (current_epoch >= 0) {
    latest.epoch = std::max(0.0, current_epoch - 1);  // the current epoch is not done
  }
  if (says_step) steps_.heard(static_cast<double>(latest.step), now_ns, progress.pace.steps);
  if (latest.epoch >= 0 && (says_step || current_epoch >= 0)) {
    epochs_.heard(latest.epoch, now_ns, progress.pace.epochs);
  }
  return any || says_step;
}

bool ProgressSum::take_rank(std::string_view words) {
  base::FieldSplitter fields;
  fields.split_blanks(words);
  RankTimes said;
  int64_t rank = -1;
  int64_t ranks = -1;
  for (const std::string_view field : fields.fields()) {
    const auto [name, value] = split_word(field);
    if (name == "rank") read_count(value, rank);
    if (name == "ranks") read_count(value, ranks);
    if (name == "steps") read_count(value, said.steps);
    if (name == "busy_s") read_amount(value, said.busy_s);
    if (name == "wait_s") read_amount(value, said.wait_s);
    if (name == "data_s") read_amount(value, said.data_s);
  }
  if (rank < 0 || ranks <= rank) return false;
  if (ranks > base::reports::kRanksMax) return true;
  said.rank = static_cast<int32_t>(rank);
  said.ranks = static_cast<int32_t>(ranks);
  std::vector<RankTimes>& known = progress.ranks;
  // Discard ranks of an earlier training in the same run.
  std::erase_if(known, [&](const RankTimes& each) { return each.ranks != said.ranks; });
  const auto place = std::ranges::lower_bound(known, said.rank, {}, &RankTimes::rank);
  if (place != known.end() && place->rank == said.rank) {
    *place = said;
  } else {
    known.insert(place, said);
  }
  return true;
}

void ProgressSum::take(std::string_view line, base::TimeNs now_ns) {
  while (!line.empty() && (line.back() == '\r' || line.back() == ' ')) line.remove_suffix(1);
  const size_t blank = std::min(line.find(' '), line.size());
  const std::string_view verb = line.substr(0, blank);
  const std::string_view rest = line.substr(blank);
  bool understood = true;
  if (verb == "progress") {
    understood = take_progress(rest, now_ns);
  } else if (verb == "checkpoint") {
    const auto [name, value] = split_word(rest.substr(std::min<size_t>(1, rest.size())));
    understood = name == "step" && read_count(value, progress.checkpoint_step);
    acknowledged |= understood;
  } else if (verb == "stopping") {
    acknowledged = true;
  } else if (verb == "end") {
    ended = true;
    if (rest == " done" && progress.latest.epochs >= 0) {
      progress.latest.epoch = progress.latest.epochs;
      epochs_.heard(progress.latest.epoch, now_ns, progress.pace.epochs);
    }
  } else if (verb == "rank") {
    understood = take_rank(rest);
  } else if (verb != "goban-progress") {
    understood = false;
  }
  (understood ? lines : refused) += 1;
}

void LineCutter::feed(std::string_view bytes, ProgressSum& sum, base::TimeNs now_ns) {
  while (!bytes.empty()) {
    const size_t end = bytes.find('\n');
    const std::string_view part = bytes.substr(0, end);
    if (line_.size() + part.size() > kLineMax) too_long_ = true;
    if (!too_long_) line_ += part;
    if (end == std::string_view::npos) return;
    bytes.remove_prefix(end + 1);
    if (too_long_) {
      ++sum.refused;
    } else if (!line_.empty()) {
      sum.take(line_, now_ns);
    }
    line_.clear();
    too_long_ = false;
  }
}

}  // namespace goban::live::engine::local
