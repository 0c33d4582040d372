#include "base/reports/time_table.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/printable.hpp"

namespace goban::base::reports {
namespace {

using Json = nlohmann::json;

constexpr double kNoticeable = 0.05;
constexpr size_t kMostParts = 100, kMostIntervals = 100'000;
constexpr std::string_view kCompute = "compute";

struct Remedy {
  std::string_view part, text;
};
constexpr std::array kRemedies = {
    Remedy{"input",
           "add loader threads (--loader-threads), pack the data into shards, or move them to a "
           "faster tier"},
    Remedy{"host to device", "use larger batches, or let the loader convert ahead"},
    Remedy{"exposed communication",
           "use --overlap buckets, larger batches per device, or a faster link"},
    Remedy{"checkpoint", "save less often, or to a faster disk"},
    Remedy{"evaluation", "evaluate less often, or on fewer samples (--test-limit)"},
    Remedy{"idle",
           "outside of steps the run waited for a processor, a disk or other ranks: look at what "
           "else runs on the machine, and at the disk of --out"},
    Remedy{"other", "look at the time outside of steps: output, checks, agreement between ranks"},
    Remedy{"compute",
           "more devices, a lower precision, or a smaller model; nothing else is worth it"},
};

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

/// Why the parts cannot be those of one run; empty: they can. Times are rounded where they are
/// written, and parts of an interrupted run may overlap a little.
std::string contradiction(const TimeTable& table) {
  if (table.parts.empty()) return "is empty";
  double sum_s = 0;
  for (const TimePart& each : table.parts) {
    if (std::ranges::count(table.parts, each.name, &TimePart::name) > 1) {
      return fmt::format("has '{}' twice", printable(each.name));
    }
    if (!each.inside) sum_s += each.seconds;
  }
  constexpr double kTolerance = 1.01, kRounding_s = 0.01;
  if (sum_s <= kTolerance * table.wall_s + kRounding_s) return "";
  return fmt::format("has {:.3f} s in all, more than wall_s ({:.3f} s)", sum_s, table.wall_s);
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
  const auto found = std::ranges::find(kRemedies, out.part, &Remedy::part);
  if (found != kRemedies.end()) out.remedy = found->text;
  return out;
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
  if (!wall_s) return bad_field(file, "wall_s", "must be a number of seconds");
  out.wall_s = *wall_s;
  const auto parts = document.find("parts");
  if (parts == document.end() || !parts->is_array() || parts->size() > kMostParts) {
    return bad_field(file, "parts", "must be a list");
  }
  for (const Json& each : *parts) {
    const std::string place = fmt::format("parts[{}]", out.parts.size());
    const auto seconds = each.is_object() ? number_in(each, "seconds") : std::nullopt;
    if (!seconds) return bad_field(file, place + ".seconds", "must be a number of seconds");
    const auto word = [&](const char* name) -> std::string {
      const auto found = each.find(name);
      return found != each.end() && found->is_string() ? found->get<std::string>() : "";
    };
    if (word("name").empty()) return bad_field(file, place + ".name", "must be a text");
    const auto inside = each.find("inside");
    out.parts.push_back({word("name"), *seconds, number_in(each, "rate"), number_in(each, "limit"),
                         word("unit"), inside != each.end() && *inside == Json(true)});
  }
  if (const std::string why = contradiction(out); !why.empty()) {
    return bad_field(file, "parts", why);
  }
  const auto intervals = document.find("intervals");
  if (intervals == document.end()) return out;
  if (!intervals->is_array() || intervals->size() > kMostIntervals) {
    return bad_field(file, "intervals", "must be a list");
  }
  for (const Json& each : *intervals) {
    auto interval = interval_of(each);
    if (!interval) {
      return bad_field(file, fmt::format("intervals[{}]", out.intervals.size()),
                       "must have begin_s <= end_s, step, and an object of seconds");
    }
    out.intervals.push_back(std::move(*interval));
  }
  return out;
}

}  // namespace goban::base::reports
