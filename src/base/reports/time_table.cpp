#include "base/reports/time_table.hpp"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/printable.hpp"

namespace goban::base::reports {
namespace {

using Json = nlohmann::json;

constexpr double kNoticeable = 0.05;
constexpr size_t kMostParts = 100;
constexpr double kTolerance = 1.01, kRounding_s = 0.01;
constexpr std::string_view kCompute = "compute";

/// What to do about the largest part. Options that are in use are not advised, but named.
std::string remedy_of(const std::string& part, const std::vector<std::string>& options) {
  const auto used = [&](std::string_view name) -> std::string {
    for (const std::string& each : options) {
      if (each == name || each.starts_with(std::string(name) + " ")) return each;
    }
    return {};
  };
  if (part == "input") {
    const std::string threads = used("--loader-threads"), shards = used("--data");
    return (threads.empty() ? "add loader threads (--loader-threads)"
                            : threads + " is on already: more threads need more cores") +
           (shards.empty() ? ", pack the data into shards (goban-train data pack)" : "") +
           ", or move the data to a faster disk";
  }
  if (part == "exposed communication") {
    const std::string overlap = used("--overlap");
    return (overlap.empty() ? "use --overlap buckets, " : overlap + " is on already: use ") +
           "larger batches per device (--batch-size), or a faster link";
  }
  if (part == "checkpoint") return "save to a faster disk (--checkpoint)";
  if (part == "evaluation") {
    const std::string limit = used("--test-limit");
    return "evaluate on fewer samples " + (limit.empty() ? "(--test-limit)" : "than " + limit);
  }
  if (part == "idle") {
    return "outside of steps the run waited for a processor, a disk or other ranks: look at what "
           "else runs on the machine, and at the disk of --out";
  }
  if (part == "other") {
    return "look at the time outside of steps: output, checks, agreement between ranks";
  }
  if (part != kCompute) return {};
  const bool lower = used("--precision").empty();
  return std::string("use more devices (--mesh), ") +
         (lower ? "a lower precision (--precision), " : "") +
         "or a smaller model; nothing else is worth it";
}

tl::unexpected<Error> bad_field(const std::string& file, std::string field, std::string why) {
  return bad_data({file, 0, 0, std::move(field)}, std::move(why),
                  "the file is written by goban-train with --out; run it again");
}

/// A finite number >= 0; nullopt if there is another value.
std::optional<double> number_in(const Json& object, const char* name) {
  const auto found = object.find(name);
  if (found == object.end() || !found->is_number()) return std::nullopt;
  const auto value = found->get<double>();
  return std::isfinite(value) && value >= 0 ? std::optional(value) : std::nullopt;
}

/// Times are rounded where they are written, and parts of an interrupted run may overlap a little.
bool exceeds(double part_s, double whole_s) { return part_s > kTolerance * whole_s + kRounding_s; }

/// nullopt if it is no interval.
std::optional<TimeInterval> interval_of(const Json& each) {
  if (!each.is_object()) return std::nullopt;
  const auto begin_s = number_in(each, "begin_s"), end_s = number_in(each, "end_s"),
             step = number_in(each, "step");
  const auto seconds = each.find("seconds");
  constexpr double kMostSteps = 9e15;  // integers that a double holds exactly
  if (!begin_s || !end_s || *end_s < *begin_s || !step || *step > kMostSteps ||
      seconds == each.end() || !seconds->is_object() || seconds->size() > kMostParts) {
    return std::nullopt;
  }
  TimeInterval out{*begin_s, *end_s, static_cast<int64_t>(*step), {}};
  for (const auto& [name, value] : seconds->items()) {
    const auto part_s = number_in(*seconds, name.c_str());
    if (!part_s) return std::nullopt;
    out.parts.emplace_back(name, *part_s);
  }
  return out;
}

/// Why an interval cannot follow those before it; empty: it can.
std::string contradiction(const TimeInterval& interval, const TimeTable& before) {
  if (!before.intervals.empty()) {
    const TimeInterval& last = before.intervals.back();
    if (interval.begin_s < last.begin_s || exceeds(last.end_s, interval.begin_s)) {
      return fmt::format("begins at {:.3f} s, before the end of the one before it ({:.3f} s)",
                         interval.begin_s, last.end_s);
    }
    if (interval.step < last.step) {
      return fmt::format("ends at step {}, before that of the one before it ({})", interval.step,
                         last.step);
    }
  }
  if (exceeds(interval.end_s, before.wall_s)) {
    return fmt::format("ends at {:.3f} s, later than wall_s ({:.3f} s)", interval.end_s,
                       before.wall_s);
  }
  double sum_s = 0;
  for (const auto& part : interval.parts) sum_s += part.second;
  const double length_s = interval.end_s - interval.begin_s;
  if (!exceeds(sum_s, length_s)) return "";
  return fmt::format("has parts of {:.3f} s in all, more than its length ({:.3f} s)", sum_s,
                     length_s);
}

/// Why the parts cannot be those of one run; empty: they can.
std::string contradiction(const TimeTable& table) {
  if (table.parts.empty()) return "is empty";
  double sum_s = 0;
  const TimePart* whole = nullptr;
  for (const TimePart& each : table.parts) {
    if (std::ranges::count(table.parts, each.name, &TimePart::name) > 1) {
      return fmt::format("has '{}' twice", printable(each.name));
    }
    if (!each.inside) {
      whole = &each;
      sum_s += each.seconds;
    } else if (whole == nullptr) {
      return fmt::format("begins with '{}', which is inside of no other part",
                         printable(each.name));
    } else if (exceeds(each.seconds, whole->seconds)) {
      return fmt::format("has {:.3f} s of '{}' inside of '{}', which has {:.3f} s", each.seconds,
                         printable(each.name), printable(whole->name), whole->seconds);
    }
  }
  // What is not of another part is "other": then all of the run is in one.
  const bool has_rest =
      std::ranges::find(table.parts, "other", &TimePart::name) != table.parts.end();
  if (has_rest && exceeds(table.wall_s, sum_s)) {
    return fmt::format("has {:.3f} s in all, less than wall_s ({:.3f} s)", sum_s, table.wall_s);
  }
  if (!exceeds(sum_s, table.wall_s)) return "";
  return fmt::format("has {:.3f} s in all, more than wall_s ({:.3f} s)", sum_s, table.wall_s);
}

/// Reads parts[N]. Errors: BadData with the field.
Result<TimePart> part_of(const Json& each, const std::string& place, const std::string& file) {
  const auto bad = [&](const char* name, const char* why) {
    return bad_field(file, place + "." + name, why);
  };
  const auto is = [&](const char* name, bool (Json::*type)() const noexcept) {
    const auto found = each.find(name);
    return found == each.end() || (*found.*type)();
  };
  TimePart out;
  const auto seconds = each.is_object() ? number_in(each, "seconds") : std::nullopt;
  if (!seconds) return bad("seconds", "must be a number of seconds");
  out.seconds = *seconds;
  if (!is("name", &Json::is_string) || each.value("name", "").empty()) {
    return bad("name", "must be a text");
  }
  out.name = each.value("name", "");
  out.rate = number_in(each, "rate");
  out.limit = number_in(each, "limit");
  if (!out.rate && each.contains("rate")) return bad("rate", "must be a number >= 0");
  if (!out.limit && each.contains("limit")) return bad("limit", "must be a number >= 0");
  if (!is("unit", &Json::is_string)) return bad("unit", "must be a text");
  out.unit = each.value("unit", "");
  if (!is("inside", &Json::is_boolean)) return bad("inside", "must be true or false");
  out.inside = each.value("inside", false);
  return out;
}

std::string rate_text(const TimePart& part) {
  if (!part.rate && !part.limit) return "";
  const std::string reached = part.rate ? fmt::format("{:.4g}", *part.rate) : "?";
  std::string out = part.limit ? fmt::format("{} of {:.4g} {}", reached, *part.limit, part.unit)
                               : fmt::format("{} {}", reached, part.unit);
  if (part.rate && part.limit && *part.limit > 0) {
    out += fmt::format(" ({:.0f} %)", 100 * *part.rate / *part.limit);
  }
  return out;
}

}  // namespace

Bottleneck bottleneck_of(const TimeTable& table) {
  const TimePart* largest = nullptr;
  for (const TimePart& each : table.parts) {
    if (each.inside || each.name == kCompute) continue;
    if (largest == nullptr || each.seconds > largest->seconds) largest = &each;
  }
  const double wall_s = std::max(table.wall_s, 1e-9);
  Bottleneck out{std::string(kCompute), 0, ""};
  for (const TimePart& each : table.parts) {
    if (each.name == kCompute) out.share = each.seconds / wall_s;
  }
  if (largest != nullptr && largest->seconds >= kNoticeable * wall_s) {
    out.part = largest->name;
    out.share = largest->seconds / wall_s;
  }
  out.remedy = remedy_of(out.part, table.options);
  return out;
}

void join_neighbours(std::vector<TimeInterval>& intervals, size_t most) {
  const size_t group = (intervals.size() + most - 1) / most;
  if (group <= 1) return;
  std::vector<TimeInterval> out;
  for (size_t i = 0; i < intervals.size(); ++i) {
    TimeInterval& each = intervals[i];
    if (i % group == 0) {
      out.push_back(std::move(each));
      continue;
    }
    TimeInterval& joined = out.back();
    joined.end_s = each.end_s;
    joined.step = each.step;
    for (const auto& [name, seconds] : each.parts) {
      const auto found =
          std::ranges::find(joined.parts, name, [](const auto& part) { return part.first; });
      if (found == joined.parts.end()) {
        joined.parts.emplace_back(name, seconds);
      } else {
        found->second += seconds;
      }
    }
  }
  intervals = std::move(out);
}

std::string to_text(const TimeTable& table) {
  std::string out = fmt::format("where the time went ({:.2f} s)\n", table.wall_s);
  const double wall_s = std::max(table.wall_s, 1e-9);
  for (const TimePart& each : table.parts) {
    const std::string name = (each.inside ? "  of it " : "") + each.name;
    out += fmt::format("  {:<24}{:>10.3f} s {:>6.1f} %  {}", printable(name), each.seconds,
                       100 * each.seconds / wall_s, printable(rate_text(each)));
    out.erase(out.find_last_not_of(' ') + 1);
    out += '\n';
  }
  const Bottleneck held = bottleneck_of(table);
  out += fmt::format("bottleneck: {} ({:.1f} %){}\n", printable(held.part), 100 * held.share,
                     held.remedy.empty() ? "" : ": " + held.remedy);
  return out;
}

std::string to_json(const TimeTable& table) {
  Json parts = Json::array();
  for (const TimePart& each : table.parts) {
    Json part = {{"name", each.name}, {"seconds", each.seconds}};
    if (each.rate) part["rate"] = *each.rate;
    if (each.limit) part["limit"] = *each.limit;
    if (!each.unit.empty()) part["unit"] = each.unit;
    if (each.inside) part["inside"] = true;
    parts.push_back(std::move(part));
  }
  Json out = {{"version", TimeTable::kVersion}, {"wall_s", table.wall_s}, {"parts", parts}};
  if (!table.options.empty()) out["options"] = table.options;
  for (const TimeInterval& each : table.intervals) {
    Json seconds = Json::object();
    for (const auto& [name, part_s] : each.parts) seconds[name] = part_s;
    out["intervals"].push_back({{"begin_s", each.begin_s},
                                {"end_s", each.end_s},
                                {"step", each.step},
                                {"seconds", std::move(seconds)}});
  }
  return out.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

Result<TimeTable> parse_time_table(std::string_view text, const std::string& file) {
  const Json document = Json::parse(text, nullptr, false);
  if (!document.is_object()) return bad_field(file, "", "is not a JSON object");
  const auto version = number_in(document, "version");
  if (!version || *version < 1) return bad_field(file, "version", "must be an integer >= 1");
  if (*version > TimeTable::kVersion) {
    return bad_data({file, 0, 0, "version"},
                    fmt::format("is {}; this program reads {}", *version, TimeTable::kVersion),
                    "use a newer Goban");
  }
  TimeTable out;
  const auto wall_s = number_in(document, "wall_s");
  constexpr double kMostSeconds = 1e10;
  if (!wall_s || *wall_s > kMostSeconds) {
    return bad_field(file, "wall_s", "must be a number of seconds");
  }
  out.wall_s = *wall_s;
  const auto parts = document.find("parts");
  if (parts == document.end() || !parts->is_array() || parts->size() > kMostParts) {
    return bad_field(file, "parts", "must be a list");
  }
  for (const Json& each : *parts) {
    auto part = part_of(each, fmt::format("parts[{}]", out.parts.size()), file);
    if (!part) return failure(part.error());
    out.parts.push_back(std::move(*part));
  }
  if (const std::string why = contradiction(out); !why.empty()) {
    return bad_field(file, "parts", why);
  }
  if (const auto options = document.find("options"); options != document.end()) {
    const auto is_text = [](const Json& each) { return each.is_string(); };
    if (!options->is_array() || !std::ranges::all_of(*options, is_text)) {
      return bad_field(file, "options", "must be a list of texts");
    }
    out.options = options->get<std::vector<std::string>>();
  }
  const auto intervals = document.find("intervals");
  if (intervals == document.end()) return out;
  if (!intervals->is_array()) {
    return bad_field(file, "intervals", "must be a list");
  }
  for (const Json& each : *intervals) {
    const std::string place = fmt::format("intervals[{}]", out.intervals.size());
    auto interval = interval_of(each);
    if (!interval) {
      return bad_field(file, place, "must have begin_s <= end_s, step, and an object of seconds");
    }
    if (const std::string why = contradiction(*interval, out); !why.empty()) {
      return bad_field(file, place, why);
    }
    out.intervals.push_back(std::move(*interval));
  }
  return out;
}

}  // namespace goban::base::reports
