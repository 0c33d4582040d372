#include "live/job/request_values.hpp"

#include <algorithm>
#include <array>
#include <csignal>
#include <fmt/format.h>
#include <limits>
#include <optional>

#include "base/number.hpp"
#include "base/units.hpp"
#include "core/model/import/host_list.hpp"

namespace goban::live::job {

using base::Result;

tl::unexpected<base::Error> refused_value(std::string_view text, const char* what,
                                          std::string remedy) {
  return base::bad_data({}, fmt::format("'{}' is {}", text, what), std::move(remedy));
}

namespace {

/// One to three non-negative numbers separated by colons; nothing if the text has another form.
std::optional<std::vector<int64_t>> clock_parts(std::string_view text) {
  std::vector<int64_t> parts;
  for (size_t from = 0; from <= text.size();) {
    const size_t colon = std::min(text.find(':', from), text.size());
    const std::string_view part = text.substr(from, colon - from);
    const auto number = base::parse_int(part);
    const bool digits =
        !part.empty() && part.find_first_not_of("0123456789") == std::string_view::npos;
    if (!digits || !number || *number > 1'000'000'000 || parts.size() == 3) return {};
    parts.push_back(*number);
    from = colon + 1;
  }
  return parts;
}

Result<TimeNs> span_of(std::string_view text, int64_t seconds) {
  if (static_cast<double>(seconds) > base::kMaxSeconds) {
    return refused_value(text, "too long", "at most 53,000 days can be requested");
  }
  return seconds * base::kSecond;
}

/// D-HH[:MM[:SS]].
Result<TimeNs> parse_days(std::string_view text, const char* forms) {
  const size_t dash = text.find('-');
  const auto days = clock_parts(text.substr(0, dash));
  const auto clock = clock_parts(text.substr(dash + 1));
  if (!days || days->size() != 1 || days->front() > 100'000 || !clock) {
    return refused_value(text, "not a valid time", forms);
  }
  int64_t seconds = days->front() * 86'400;
  int64_t unit = 3'600;
  for (const int64_t part : *clock) {
    seconds += part * unit;
    unit /= 60;
  }
  return span_of(text, seconds);
}

/// The parts as H:M:S, M:S or S, in seconds.
int64_t seconds_of(const std::vector<int64_t>& parts) {
  int64_t seconds = 0;
  for (const int64_t part : parts) seconds = seconds * 60 + part;
  return seconds;
}

struct SignalName {
  std::string_view name;
  int number;
};
constexpr auto kSignals = std::to_array<SignalName>({{"HUP", SIGHUP},
                                                     {"INT", SIGINT},
                                                     {"QUIT", SIGQUIT},
                                                     {"USR1", SIGUSR1},
                                                     {"USR2", SIGUSR2},
                                                     {"TERM", SIGTERM},
                                                     {"CONT", SIGCONT},
                                                     {"URG", SIGURG},
                                                     {"XCPU", SIGXCPU}});

Result<JobId> parse_job(std::string_view text) {
  const auto number = base::parse_int(text);
  if (!number || *number < 1 || *number >= std::numeric_limits<uint32_t>::max()) {
    return refused_value(text, "not a valid job number",
                         "write job numbers, as printed by goban submit");
  }
  return JobId(static_cast<uint32_t>(*number - 1));
}

}  // namespace

Result<TimeNs> parse_slurm_time(std::string_view text) {
  constexpr const char* kForms =
      "write minutes, MM:SS, H:MM:SS, D-HH, D-HH:MM, D-HH:MM:SS or UNLIMITED";
  if (text == "UNLIMITED" || text == "INFINITE" || text == "unlimited") return 0;
  if (text.find('-') != std::string_view::npos) return parse_days(text, kForms);
  const auto parts = clock_parts(text);
  if (!parts) return refused_value(text, "not a valid time", kForms);
  return span_of(text, parts->size() == 1 ? parts->front() * 60 : seconds_of(*parts));
}

Result<TimeNs> parse_batch_time(std::string_view text) {
  const auto parts = clock_parts(text);
  if (!parts) return refused_value(text, "not a valid time", "write seconds, MM:SS or H:MM:SS");
  return span_of(text, seconds_of(*parts));
}

Result<TimeNs> parse_span(std::string_view text) {
  constexpr const char* kForms = "write it as 90m, 12h, 1d 12h, 1:30:00 or 1-12:00:00";
  const bool bare =
      !text.empty() && text.find_first_not_of("0123456789.") == std::string_view::npos;
  if (bare) return refused_value(text, "a time without a unit", kForms);
  const auto colons = std::count(text.begin(), text.end(), ':');
  const bool with_days = text.find('-') != std::string_view::npos;
  if (with_days) return parse_days(text, kForms);
  if (colons > 0) {
    const auto parts = clock_parts(text);
    if (!parts || colons != 2) return refused_value(text, "not a valid time", kForms);
    return span_of(text, seconds_of(*parts));
  }
  const auto span = base::parse_duration(text);
  if (!span) return refused_value(text, "not a valid time", kForms);
  return *span;
}

Result<int64_t> parse_memory(std::string_view text, int64_t unit) {
  constexpr std::string_view kUnits = "KMGTP";
  constexpr const char* kForms = "write it as 16G, 16GiB or 500M";
  std::string_view digits = text;
  int64_t scale = unit;
  if (digits.ends_with("iB") || digits.ends_with("ib")) {
    digits.remove_suffix(2);
  } else if (digits.ends_with('B') || digits.ends_with('b')) {
    digits.remove_suffix(1);
    if (!digits.empty() && digits.back() >= '0' && digits.back() <= '9') scale = 1;
  }
  if (!digits.empty()) {
    const char last = static_cast<char>(digits.back() & ~0x20);
    if (const size_t at = kUnits.find(last); at != std::string_view::npos) {
      scale = int64_t{1} << (10 * (at + 1));
      digits.remove_suffix(1);
    }
  }
  const auto number = base::parse_double(digits);
  if (!number || *number < 0) return refused_value(text, "not a valid size", kForms);
  const double bytes = *number * static_cast<double>(scale);
  if (bytes > 0x1p50) return refused_value(text, "too large", "at most 1P can be requested");
  return static_cast<int64_t>(bytes);
}

Result<int32_t> parse_count(std::string_view text, int32_t least) {
  constexpr int32_t kMost = 1'000'000;
  const auto number = base::parse_int(text);
  if (!number || *number < least || *number > kMost) {
    return refused_value(text, "not a valid number",
                         fmt::format("write an integer from {} to {}", least, kMost));
  }
  return static_cast<int32_t>(*number);
}

Result<ArrayRequest> parse_array(std::string_view text) {
  constexpr const char* kForms = "write it as 0-9, 0-9%2 (two at once), 1-10:2 or 1,4,7-9";
  constexpr int32_t kTaskMax = 4'000'000;
  ArrayRequest request;
  const size_t percent = text.find('%');
  if (percent != std::string_view::npos) {
    const auto limit = parse_count(text.substr(percent + 1));
    if (!limit) return refused_value(text, "not a valid array", kForms);
    request.limit = *limit;
  }
  const auto task = [](std::string_view part) -> int32_t {
    const auto number = base::parse_int(part);
    return number && *number >= 0 && *number <= kTaskMax ? static_cast<int32_t>(*number) : -1;
  };
  const auto ranges = split_list(text.substr(0, percent));
  for (std::string_view range : ranges) {
    int32_t step = 1;
    if (const size_t colon = range.find(':'); colon != std::string_view::npos) {
      step = task(range.substr(colon + 1));
      range = range.substr(0, colon);
    }
    const size_t dash = range.find('-');
    const int32_t first = task(range.substr(0, dash));
    const int32_t last = dash == std::string_view::npos ? first : task(range.substr(dash + 1));
    if (first < 0 || last < first || step < 1)
      return refused_value(text, "not a valid array", kForms);
    if ((last - first) / step >= kArrayTasksMax - static_cast<int32_t>(request.tasks.size())) {
      return refused_value(text, "too large",
                           fmt::format("an array has at most {} tasks", kArrayTasksMax));
    }
    for (int32_t each = first; each <= last; each += step) request.tasks.push_back(each);
    request.step = ranges.size() == 1 ? step : 1;
  }
  std::sort(request.tasks.begin(), request.tasks.end());
  request.tasks.erase(std::unique(request.tasks.begin(), request.tasks.end()), request.tasks.end());
  if (request.tasks.empty()) return refused_value(text, "not a valid array", kForms);
  return request;
}

Result<std::vector<Dependency>> parse_dependencies(std::string_view text) {
  constexpr const char* kForms =
      "write afterok:12:13,afterany:14 or singleton; kinds are after, afterany, afterok, "
      "afternotok";
  std::vector<Dependency> dependencies;
  for (const std::string_view each : split_list(text)) {
    const auto parts = split_list(each, ':');
    if (parts.empty()) return refused_value(text, "not a valid dependency", kForms);
    const auto kind = parse_dependency_kind(parts[0]);
    const bool named = kind.has_value();
    if (kind == DependencyKind::Singleton) {
      if (parts.size() > 1) return refused_value(text, "not a valid dependency", kForms);
      dependencies.push_back({*kind, {}});
      continue;
    }
    if (!named && parts.size() > 1) return refused_value(text, "not a valid dependency", kForms);
    if (named && parts.size() == 1)
      return refused_value(text, "a dependency without a job number", kForms);
    for (size_t i = named ? 1 : 0; i < parts.size(); ++i) {
      const auto job = parse_job(parts[i]);
      if (!job) return refused_value(text, "not a valid dependency", kForms);
      dependencies.push_back({kind.value_or(DependencyKind::AfterAny), *job});
    }
  }
  if (dependencies.empty()) return refused_value(text, "not a valid dependency", kForms);
  return dependencies;
}

Result<int32_t> parse_signal(std::string_view text) {
  std::string_view name = text;
  if (name.starts_with("SIG")) name.remove_prefix(3);
  for (const SignalName& each : kSignals) {
    if (each.name == name) return each.number;
  }
  const auto number = base::parse_int(name);
  if (number && *number >= 1 && *number < SIGRTMAX && *number != SIGKILL && *number != SIGSTOP) {
    return static_cast<int32_t>(*number);
  }
  return refused_value(text, "not a valid signal", "write USR1, SIGUSR1 or a signal number");
}

Result<GpuRequest> parse_gpus(std::string_view text) {
  constexpr const char* kForms = "write 4, gpu:4 or gpu:MODEL:4";
  constexpr int64_t kGpusMax = 1'000'000;
  GpuRequest request;
  const auto items = split_list(text);
  for (const std::string_view item : items) {
    auto parts = split_list(item, ':');
    if (item.ends_with(':')) return refused_value(text, "a request without a number", kForms);
    if (!parts.empty() && parts.front() == "gpu") parts.erase(parts.begin());
    std::string_view model;
    if (!parts.empty() && !base::parse_int(parts.front())) {
      model = parts.front();
      parts.erase(parts.begin());
    }
    if (parts.size() > 1) return refused_value(text, "not a valid number of GPUs", kForms);
    const auto count = parts.empty() ? Result<int32_t>(1) : parse_count(parts.front());
    if (!count) return base::failure(count.error());
    if (request.count > 0 && request.model != model) {
      return refused_value(text, "a request for GPUs of several models",
                           "submit a job for each model");
    }
    if (int64_t{request.count} + *count > kGpusMax) {
      return refused_value(text, "too large", "request fewer");
    }
    request.count += *count;
    request.model = model;
  }
  if (items.empty()) return refused_value(text, "not a valid number of GPUs", kForms);
  return request;
}

Result<std::vector<std::string>> parse_nodes(std::string_view text) {
  constexpr size_t kNodesMax = 10'000;
  auto checked = checked_text(text);
  if (!checked) return base::failure(checked.error());
  auto names = core::model::expand_host_list(*checked);
  if (!names) return names;
  if (names->empty() || names->size() > kNodesMax) {
    return refused_value(text, "not a valid list of nodes", "write n1,n2 or g[003-007]");
  }
  return names;
}

Result<EnvironmentRequest> parse_export(std::string_view text) {
  EnvironmentRequest environment{.all = false, .names = {}, .values = {}};
  for (const std::string_view each : split_list(text)) {
    if (each == "ALL") {
      environment.all = true;
    } else if (each != "NONE" && each != "NIL") {
      const size_t sign = each.find('=');
      const auto name = checked_text(each.substr(0, sign));
      if (!name)
        return refused_value(text, "not a valid list of variables",
                             "write ALL, NONE or NAME,NAME=value");
      if (sign == std::string_view::npos) {
        environment.names.push_back(*name);
      } else {
        environment.values.emplace_back(*name, std::string(each.substr(sign + 1)));
      }
    }
  }
  return environment;
}

std::vector<std::string_view> split_list(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  while (!text.empty()) {
    const size_t end = std::min(text.find(separator), text.size());
    if (end > 0) parts.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return parts;
}

Result<std::string> checked_text(std::string_view text) {
  constexpr size_t kBytesMax = 4096;
  const auto control = [](char c) {
    return static_cast<unsigned char>(c) < 0x20 || static_cast<unsigned char>(c) == 0x7f;
  };
  if (text.empty()) return base::bad_data({}, "the value is empty", "remove the option");
  if (text.size() > kBytesMax || std::any_of(text.begin(), text.end(), control)) {
    return base::bad_data({}, "the value contains control characters or is longer than 4,096 bytes",
                          "use printable characters");
  }
  return std::string(text);
}

}  // namespace goban::live::job
