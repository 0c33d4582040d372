#include "core/knowledge/colocation/colocation_file.hpp"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <map>
#include <optional>

#include "base/csv.hpp"
#include "base/nearest.hpp"
#include "base/number.hpp"
#include "base/text.hpp"
#include "base/units.hpp"

namespace goban::core::knowledge {
namespace {

using base::bad_data;
using base::CsvReader;
using base::Result;
using base::Status;

enum Column : size_t {
  kGpuType,
  kMembers,
  kSlowdowns,
  kSamples,
  kRelStd,
  kUtil,
  kMem,
  kPower,
  kSource,
  kNumColumns,
};
constexpr size_t kNumRequired = kSlowdowns + 1;
constexpr std::array<std::string_view, kNumColumns> kNames = {"gpu_type",  "members", "slowdowns",
                                                              "samples",   "rel_std", "util_pct",
                                                              "mem_bytes", "power_w", "source"};
constexpr std::string_view kNever = "never";

std::vector<std::string_view> split_set(std::string_view text) {
  std::vector<std::string_view> parts;
  for (size_t end = text.find('+'); end != std::string_view::npos; end = text.find('+')) {
    parts.push_back(base::trimmed(text.substr(0, end)));
    text.remove_prefix(end + 1);
  }
  parts.push_back(base::trimmed(text));
  return parts;
}

struct AppName {
  std::string_view model;
  std::string_view input;
};

/// model@input, or model; none if the text is not such a name.
std::optional<AppName> parse_app(std::string_view text) {
  const size_t at = text.find('@');
  if (at == std::string_view::npos) {
    return is_set_name(text) ? std::optional<AppName>({text, {}}) : std::nullopt;
  }
  const AppName app{text.substr(0, at), text.substr(at + 1)};
  if (!is_set_name(app.model) || !is_set_name(app.input)) return std::nullopt;
  return app;
}

/// One file on its way to a history.
class ColocationReader {
 public:
  ColocationReader(std::string_view text, const std::string& file) : csv_(text, file) {}

  Result<ColocationHistory> run() {
    if (Status columns = find_columns(); !columns) return base::failure(columns.error());
    while (csv_.next()) {
      if (Status row = read_row(); !row) return base::failure(row.error());
    }
    if (Status read = csv_.status(); !read) return base::failure(read.error());
    return std::move(history_);
  }

 private:
  Status find_columns() {
    for (size_t i = 0; i < kNumColumns; ++i) {
      if (i >= kNumRequired && !csv_.column(kNames[i])) continue;
      const auto found = csv_.require(kNames[i]);
      if (!found) return base::failure(found.error());
      at_[i] = *found;
    }
    for (const std::string& name : csv_.header()) {
      if (std::ranges::find(kNames, name) != kNames.end()) continue;
      const std::string_view near = base::nearest_name(name, kNames);
      return bad_data({csv_.file(), 1, 0, name}, "is not a column of a co-location history",
                      near.empty() ? fmt::format("known: {}", fmt::join(kNames, ", "))
                                   : fmt::format("did you mean {}?", near));
    }
    return {};
  }

  [[nodiscard]] std::string_view field(Column column) const {
    return at_[column] ? base::trimmed(csv_.field(*at_[column])) : std::string_view();
  }
  Status refuse(Column column, std::string message, std::string remedy) const {
    return bad_data(csv_.place(at_[column].value_or(0)), std::move(message), std::move(remedy));
  }

  Status read_row() {
    MeasuredSet set;
    const std::string_view gpu_type = field(kGpuType);
    if (!is_set_name(gpu_type))
      return refuse(kGpuType, "is not a valid name", "use a name such as V100");
    set.gpu_type = history_.add_gpu_type(gpu_type);
    for (const Status& status : {read_members(set), read_slowdowns(set), read_figures(set)}) {
      if (!status) return status;
    }
    set.source = history_.add_source(field(kSource));
    if (std::string problem = history_.contradiction(set); !problem.empty()) {
      const int earlier = line_of_.at({gpu_type_and_members(set)});
      return refuse(kSlowdowns, fmt::format("contradicts line {}: {}", earlier, problem),
                    "keep the correct row, or merge them into one with rel_std");
    }
    line_of_.emplace(gpu_type_and_members(set), csv_.line());
    history_.merge(set);
    return {};
  }

  static std::vector<uint32_t> gpu_type_and_members(const MeasuredSet& set) {
    std::vector<uint32_t> key;
    for (const AppId app : set.members()) key.push_back(app.value);
    std::ranges::sort(key);
    key.push_back(set.gpu_type.value);
    return key;
  }

  Status read_members(MeasuredSet& set) {
    const auto parts = split_set(field(kMembers));
    if (parts.size() > kSetMax) {
      return refuse(kMembers, fmt::format("has {} members", parts.size()),
                    fmt::format("at most {} can share a GPU here", kSetMax));
    }
    for (const std::string_view part : parts) {
      const auto app = parse_app(part);
      if (!app) {
        return refuse(kMembers, fmt::format("'{}' is not an application", part.substr(0, 60)),
                      "use model or model@input, with + between members");
      }
      set.apps[set.size++] = history_.add_app(app->model, app->input);
    }
    return {};
  }

  Status read_slowdowns(MeasuredSet& set) const {
    const std::string_view text = field(kSlowdowns);
    set.slowdown.fill(1);
    if (text == kNever) {
      set.never = true;
      return {};
    }
    if (set.size == 1) {
      if (text.empty() || base::parse_double(text) == 1.0) return {};
      return refuse(kSlowdowns, fmt::format("'{}' given for a job alone", text.substr(0, 40)),
                    "slowdowns are relative to the job alone; leave it empty");
    }
    const auto parts = split_set(text);
    if (parts.size() != set.size) {
      return refuse(kSlowdowns, fmt::format("{} values for {} members", parts.size(), set.size),
                    "give one per member, with + between them, or never");
    }
    for (size_t i = 0; i < parts.size(); ++i) {
      const auto value = base::parse_double(parts[i]);
      if (!value || *value < kSlowdownMin || *value > kSlowdownMax) {
        return refuse(kSlowdowns,
                      fmt::format("'{}' is not a slowdown from 0.1 to 1e6", parts[i].substr(0, 40)),
                      "give time together / time alone, or never");
      }
      set.slowdown[i] = *value;
    }
    return {};
  }

  Status read_number(Column column, double least, double most, double& out) const {
    const std::string_view text = field(column);
    if (text.empty()) return {};
    const auto value = base::parse_double(text);
    if (!value || *value < least || *value > most) {
      return refuse(
          column,
          fmt::format("'{}' is not a number from {} to {}", text.substr(0, 40), least, most),
          "leave it empty if unknown");
    }
    out = *value;
    return {};
  }

  Status read_figures(MeasuredSet& set) const {
    for (const Status& status :
         {read_number(kSamples, 1, 1e12, set.samples), read_number(kRelStd, 0, 100, set.rel_std),
          read_number(kUtil, 0, 100, set.util_pct), read_number(kPower, 0, 1e6, set.power_w)}) {
      if (!status) return status;
    }
    if (field(kMem).empty()) return {};
    const auto bytes = base::parse_bytes(field(kMem));
    if (!bytes) {
      return refuse(kMem, bytes.error().message,
                    "give bytes, or a size such as 9 GiB; empty = unknown");
    }
    set.mem_bytes = *bytes;
    return {};
  }

  CsvReader csv_;
  std::array<std::optional<size_t>, kNumColumns> at_;
  std::map<std::vector<uint32_t>, int> line_of_;
  ColocationHistory history_;
};

}  // namespace

bool is_set_name(std::string_view name) {
  if (name.empty() || name.front() == ' ' || name.back() == ' ') return false;
  return std::ranges::none_of(name, [](char c) {
    return static_cast<unsigned char>(c) < 0x20 || c == 0x7f || c == '+' || c == '@' || c == ',' ||
           c == '"';
  });
}

Result<ColocationHistory> parse_colocation(std::string_view text, const std::string& file) {
  return ColocationReader(text, file).run();
}

std::string to_csv(const ColocationHistory& history) {
  std::string out = fmt::format("{}\n", fmt::join(kNames, ","));
  const auto known = [&out](double value) {
    out += ',';
    if (value >= 0) base::append_number(out, value);
  };
  for (const MeasuredSet& set : history.sets()) {
    base::append_csv_field(out, history.gpu_type_name(set.gpu_type));
    out += ',';
    for (size_t i = 0; i < set.size; ++i) {
      if (i > 0) out += " + ";
      out += history.app_name(set.apps[i]);
    }
    out += ',';
    if (set.never) out += kNever;
    for (size_t i = 0; i < set.size && set.size > 1 && !set.never; ++i) {
      if (i > 0) out += " + ";
      base::append_number(out, set.slowdown[i]);
    }
    known(set.samples);
    known(set.rel_std);
    known(set.util_pct);
    out += ',';
    if (set.mem_bytes >= 0) base::append_number(out, set.mem_bytes);
    known(set.power_w);
    out += ',';
    base::append_csv_field(out, history.source(set.source));
    out += '\n';
  }
  return out;
}

Result<std::vector<AppId>> parse_members(std::string_view text, const ColocationHistory& history) {
  std::vector<AppId> members;
  for (const std::string_view part : split_set(text)) {
    const auto app = parse_app(part);
    if (!app) {
      return base::usage_error(fmt::format("'{}' is not an application", part.substr(0, 60)),
                               "use model or model@input, with + between members");
    }
    members.push_back(history.find_app(app->model, app->input));
  }
  if (members.size() > kSetMax) {
    return base::usage_error(fmt::format("{} members", members.size()),
                             fmt::format("at most {} can share a GPU here", kSetMax));
  }
  return members;
}

}  // namespace goban::core::knowledge
