#include "base/reports/job_profile.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <fmt/format.h>
#include <limits>
#include <nlohmann/json.hpp>

#include "base/check.hpp"
#include "base/json_fields.hpp"
#include "base/units.hpp"

namespace goban::base::reports {
namespace {

using base::bad_data;
using base::Place;
using base::Result;
using base::Status;
using Json = nlohmann::json;

/// A measured field: its name in the document, and the largest value that makes sense.
struct MeasuredField {
  const char* name;
  std::optional<Measured> JobProfile::* member;
  double value_max;
};
constexpr double kNoMax = std::numeric_limits<double>::max();
constexpr std::array kMeasuredFields = {
    MeasuredField{"iteration_s", &JobProfile::iteration_s, kNoMax},
    MeasuredField{"epoch_s", &JobProfile::epoch_s, kNoMax},
    MeasuredField{"bytes_per_step", &JobProfile::bytes_per_step, kNoMax},
    MeasuredField{"sync_interval_s", &JobProfile::sync_interval_s, kNoMax},
    MeasuredField{"peak_mem_bytes", &JobProfile::peak_mem_bytes, kNoMax},
    MeasuredField{"utilisation_pct", &JobProfile::utilisation_pct, kPercentMax},
    MeasuredField{"memory_busy_pct", &JobProfile::memory_busy_pct, kPercentMax},
    MeasuredField{"dram_utilisation_pct", &JobProfile::dram_utilisation_pct, kPercentMax},
    MeasuredField{"fu_utilisation_pct", &JobProfile::fu_utilisation_pct, kPercentMax},
    MeasuredField{"power_w", &JobProfile::power_w, kNoMax},
    MeasuredField{"input_stall_pct", &JobProfile::input_stall_pct, kPercentMax},
};

struct TextField {
  const char* name;
  std::string JobProfile::* member;
  bool required;
};
constexpr std::array kTextFields = {
    TextField{"model", &JobProfile::model, true},
    TextField{"input", &JobProfile::input, false},
    TextField{"gpu_type", &JobProfile::gpu_type, false},
    TextField{"source", &JobProfile::source, false},
    TextField{"app_class", &JobProfile::app_class, false},
};

Place in_field(const std::string& file, std::string field) {
  return {file, 0, 0, std::move(field)};
}

Status read_version(const Json& document, const std::string& file) {
  const auto found = document.find("version");
  if (found == document.end()) {
    return bad_data(in_field(file, "version"), "is missing",
                    fmt::format("write \"version\": {}", JobProfile::kVersion));
  }
  // Compared as a double, because the library's comparison wraps around for numbers above int64.
  const double version = found->is_number_integer() ? found->get<double>() : 0;
  if (version < 1) {
    return bad_data(in_field(file, "version"), "must be an integer >= 1",
                    fmt::format("write \"version\": {}", JobProfile::kVersion));
  }
  if (version > JobProfile::kVersion) {
    return bad_data(in_field(file, "version"),
                    fmt::format("is {}; this program reads versions up to {}", found->dump(),
                                JobProfile::kVersion),
                    "use a newer Goban, or write the profile with this one");
  }
  return {};
}

Status read_text(const Json& document, const TextField& field, const std::string& file,
                 JobProfile& profile) {
  const auto found = document.find(field.name);
  if (found == document.end()) {
    if (!field.required) return {};
    return bad_data(in_field(file, field.name), "is missing", "name what was measured");
  }
  if (!found->is_string()) {
    return bad_data(in_field(file, field.name),
                    fmt::format("must be a string, not of type {}", found->type_name()),
                    "put it in double quotes");
  }
  found->get_to(profile.*field.member);
  if (field.required && (profile.*field.member).empty()) {
    return bad_data(in_field(file, field.name), "is empty", "name what was measured");
  }
  return {};
}

// A number of the object `parent`, checked; `name` is its name in messages.
Result<double> read_number(const Json& number, const std::string& name, double value_max,
                           const std::string& file) {
  if (!number.is_number()) {
    return bad_data(in_field(file, name),
                    fmt::format("must be a number, not of type {}", number.type_name()),
                    "omit the field if the value is unknown");
  }
  const auto value = number.get<double>();
  if (!std::isfinite(value) || value < 0) {
    return bad_data(in_field(file, name), fmt::format("must be a finite number >= 0, is {}", value),
                    "omit the field if the value is unknown");
  }
  if (value > value_max) {
    return bad_data(in_field(file, name),
                    fmt::format("must be at most {}, is {}", value_max, value),
                    "use the unit in the name of the field");
  }
  return value;
}

Status read_measured(const Json& document, const MeasuredField& field, const std::string& file,
                     JobProfile& profile) {
  const auto found = document.find(field.name);
  if (found == document.end()) return {};
  const std::string name = field.name;
  if (!found->is_object() || !found->contains("value")) {
    return bad_data(in_field(file, name), "must be an object with a value",
                    R"(write {"value": 1.5, "uncertainty": 0.1}; uncertainty is optional)");
  }
  Measured measured;
  const auto value = read_number(found->at("value"), name + ".value", field.value_max, file);
  if (!value) return base::failure(value.error());
  measured.value = *value;
  if (const auto given = found->find("uncertainty"); given != found->end()) {
    const auto uncertainty = read_number(*given, name + ".uncertainty", kNoMax, file);
    if (!uncertainty) return base::failure(uncertainty.error());
    measured.uncertainty = *uncertainty;
  }
  profile.*field.member = measured;
  return {};
}

Status read_shares(const Json& document, const std::string& file, JobProfile& profile) {
  constexpr size_t kMostParts = 100;
  const auto found = document.find("time_pct");
  if (found == document.end()) return {};
  if (!found->is_object() || found->size() > kMostParts) {
    return bad_data(in_field(file, "time_pct"), "must be an object of percentages",
                    "goban-train writes it");
  }
  for (const auto& [part, share] : found->items()) {
    const auto value = read_number(share, "time_pct." + part, kPercentMax, file);
    if (!value) return base::failure(value.error());
    profile.time_pct[part] = *value;
  }
  return {};
}

}  // namespace

Result<JobProfile> parse_job_profile(std::string_view json, const std::string& file) {
  const Result<Json> parsed = base::parse_json(json, file, "a job profile is one JSON object");
  if (!parsed) return base::failure(parsed.error());
  const Json& document = *parsed;
  if (!document.is_object()) {
    return bad_data(
        {file, 1, 0, {}},
        fmt::format("the document must be an object, not of type {}", document.type_name()),
        "a job profile is one JSON object");
  }
  JobProfile profile;
  if (Status read = read_version(document, file); !read) return base::failure(read.error());
  for (const TextField& field : kTextFields) {
    const Status read = read_text(document, field, file, profile);
    if (!read) return base::failure(read.error());
  }
  for (const MeasuredField& field : kMeasuredFields) {
    const Status read = read_measured(document, field, file, profile);
    if (!read) return base::failure(read.error());
  }
  if (Status read = read_shares(document, file, profile); !read) return failure(read.error());
  const std::string& letter = profile.app_class;
  if (!letter.empty() && (letter.size() != 1 || letter[0] < 'A' || letter[0] > 'Z')) {
    return bad_data(in_field(file, "app_class"), "must be one capital letter",
                    "A is the class most sensitive to slow GPUs; omit it if unknown");
  }
  return profile;
}

std::string to_json(const JobProfile& profile) {
  nlohmann::ordered_json document;
  document["version"] = JobProfile::kVersion;
  for (const TextField& field : kTextFields) {
    const std::string& text = profile.*field.member;
    if (field.required || !text.empty()) document[field.name] = text;
  }
  for (const MeasuredField& field : kMeasuredFields) {
    const auto& measured = profile.*field.member;
    if (!measured) continue;
    GOBAN_CHECK(std::isfinite(measured->value) && std::isfinite(measured->uncertainty), field.name);
    document[field.name]["value"] = measured->value;
    if (measured->uncertainty > 0) document[field.name]["uncertainty"] = measured->uncertainty;
  }
  for (const auto& [part, share] : profile.time_pct) document["time_pct"][part] = share;
  // Invalid UTF-8 is written as replacement characters.
  return document.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

}  // namespace goban::base::reports
