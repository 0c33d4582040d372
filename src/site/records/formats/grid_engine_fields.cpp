#include "site/records/formats/grid_engine_fields.hpp"

#include <algorithm>
#include <array>
#include <fmt/format.h>

#include "base/number.hpp"
#include "site/records/slurm_fields.hpp"

namespace goban::site::records::formats {
namespace {

using base::TimeNs;

/// A task on another host of a parallel job: `1.node7`. Numbers such as `60.5` are none.
bool is_task_id(std::string_view text) {
  constexpr std::string_view kDigits = "0123456789";
  const size_t point = std::min(text.find('.'), text.size());
  return point > 0 && text.find_first_not_of(kDigits) == point &&
         text.find_first_not_of(kDigits, point + 1) != text.npos && text.find(' ') == text.npos;
}

/// True if the fields after the category, shifted by `shift`, are plausible: iow, pe_taskid,
/// maxvmem.
bool fits_behind_category(const Fields& fields, size_t shift) {
  if (kMaxVmem + shift >= fields.size()) return false;
  const std::string_view task = fields[kPeTask + shift];
  return (unless_none(task).empty() || is_task_id(task)) &&
         base::parse_double(fields[kCategory + 1 + shift]) &&
         base::parse_double(fields[kMaxVmem + shift]);
}

void take_resources(std::string_view list, const GpuResources& known, Category& out) {
  while (!list.empty()) {
    const size_t comma = std::min(list.find(','), list.size());
    const std::string_view item = list.substr(0, comma);
    list.remove_prefix(std::min(comma + 1, list.size()));
    const size_t equals = std::min(item.find('='), item.size());
    const std::string_view name = item.substr(0, equals);
    const std::string_view value = equals < item.size() ? item.substr(equals + 1) : "1";
    if (name == "h_rt") out.limit_ns = parse_slurm_span(value.substr(0, value.find('.')));
    const GpuResource* const resource = known.find(name);
    if (resource == nullptr) continue;
    constexpr double kAmountMax = 1e6;
    const auto amount = base::parse_double(value);
    if (!amount || !(*amount > 0 && *amount <= kAmountMax)) continue;
    const auto whole = static_cast<int64_t>(*amount);
    out.gpus += whole * resource->gpus;
    out.has_gpus = true;
    out.counted_by = resource->counted_by;
    if (resource->resource_type.empty()) continue;
    out.resource_type = resource->resource_type;
    out.instances = whole;
  }
}

}  // namespace

void split(std::string_view line, Fields& fields) {
  fields.clear();
  size_t begin = 0;
  for (size_t colon = line.find(':'); colon != line.npos; colon = line.find(':', begin)) {
    fields.push_back(line.substr(begin, colon - begin));
    begin = colon + 1;
  }
  fields.push_back(line.substr(begin));
  // Not every version masks a colon in the category (h_rt=1:00:00).
  constexpr size_t kColonsMax = 16;
  size_t shift = 0;
  while (shift <= kColonsMax && !fits_behind_category(fields, shift)) ++shift;
  if (shift == 0 || shift > kColonsMax) return;
  const char* const first = fields[kCategory].data();
  const std::string_view last = fields[kCategory + shift];
  fields[kCategory] = {first, static_cast<size_t>(last.data() + last.size() - first)};
  const auto behind = fields.begin() + kCategory + 1;
  fields.erase(behind, behind + static_cast<std::ptrdiff_t>(shift));
}

std::string damage_of(const Fields& fields) {
  if (fields.size() < kFieldsMin) {
    return fmt::format("{} fields instead of {} or more", fields.size(), kFieldsMin);
  }
  if (fields.size() > kFieldsMax) {
    return fmt::format("{} fields instead of at most {}: several lines in one", fields.size(),
                       kFieldsMax);
  }
  const auto is_number = [](std::string_view text) {
    return base::parse_double(text).has_value() || text.ends_with("nan") ||
           unless_none(text).empty();
  };
  constexpr std::array kAlone = {kCpu, kMem, kIo, kIow, kMaxVmem};
  const auto bad = [&](size_t field) { return !is_number(fields[field]); };
  size_t field = kWallclock + 1;  // the run time is checked where it is used
  while (field < kProject && !bad(field)) ++field;
  if (field == kProject) {
    const auto* const found = std::ranges::find_if(kAlone, bad);
    if (found == kAlone.end()) {
      const std::string_view task = unless_none(fields[kPeTask]);
      if (task.empty() || is_task_id(task)) return {};
      return fmt::format("pe_taskid \"{}\" is neither NONE nor NUMBER.HOST", task.substr(0, 40));
    }
    field = *found;
  }
  return fmt::format("field {} \"{}\" is not a number", field + 1, fields[field].substr(0, 40));
}

std::string_view unless_none(std::string_view text) {
  return text == "NONE" || text == "none" ? std::string_view() : text;
}

Category parse_category(std::string_view text, const GpuResources& known) {
  Category out;
  std::string_view option;
  while (!text.empty()) {
    const size_t blank = std::min(text.find(' '), text.size());
    const std::string_view word = text.substr(0, blank);
    text.remove_prefix(std::min(blank + 1, text.size()));
    if (word.empty()) continue;
    if (word.front() == '-') {
      option = word;
      if (word == "-soft") break;
      continue;
    }
    if (option == "-l") take_resources(word, known, out);
    if (option == "-I") out.interactive = word == "y";
  }
  return out;
}

RecordedState state_of(int64_t failed, int64_t exit, TimeNs run_ns, std::optional<TimeNs> limit_ns,
                       bool deleted) {
  constexpr int64_t kLimitEnforced = 37;
  constexpr int64_t kBySignal = 100;
  constexpr int64_t kKilled = 128 + 9;
  constexpr int64_t kTerminated = 128 + 15;
  if (failed == 0) return exit == 0 ? RecordedState::Completed : RecordedState::Failed;
  if (failed == kLimitEnforced) return RecordedState::TimedOut;
  if (failed == 24 || failed == 25) return RecordedState::Requeued;
  if (failed != kBySignal) return RecordedState::Failed;
  if (limit_ns && run_ns >= *limit_ns) return RecordedState::TimedOut;
  return deleted || exit == kKilled || exit == kTerminated ? RecordedState::Cancelled
                                                           : RecordedState::Failed;
}

}  // namespace goban::site::records::formats
