#include "core/knowledge/measure/measure_book.hpp"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <set>

namespace goban::core::knowledge {
namespace {

using base::bad_data;
using base::Result;
using base::Status;
using Json = nlohmann::json;

constexpr double kTimeMax_s = 1e6;
constexpr size_t kBlocksMax = 1000;

/// Reads members of one object; keeps the first problem.
class Fields {
 public:
  Fields(const Json& object, const std::string& file, std::string where)
      : object_(object), file_(file), where_(std::move(where)) {
    if (!object_.is_object()) complain("", "must be an object");
  }

  int64_t whole(const char* name, int64_t low, int64_t high) {
    const Json* value = member(name);
    if (value == nullptr) return low;
    if (!value->is_number_integer() ||
        (value->is_number_unsigned() && value->get<uint64_t>() > static_cast<uint64_t>(high))) {
      return complain(name, fmt::format("must be an integer from {} to {}", low, high)), low;
    }
    const auto number = value->get<int64_t>();
    if (number >= low && number <= high) return number;
    return complain(name, fmt::format("must be an integer from {} to {}", low, high)), low;
  }
  double number(const char* name, double low, double high) {
    const Json* value = member(name);
    if (value == nullptr) return low;
    const double found = value->is_number() ? value->get<double>() : NAN;
    if (found >= low && found <= high) return found;
    return complain(name, fmt::format("must be a number from {} to {}", low, high)), low;
  }
  std::string text(const char* name) {
    const Json* value = member(name);
    if (value == nullptr) return {};
    if (value->is_string()) return value->get<std::string>();
    return complain(name, "must be a string"), std::string{};
  }
  bool flag(const char* name) {
    const Json* value = member(name);
    if (value == nullptr) return false;
    if (value->is_boolean()) return value->get<bool>();
    return complain(name, "must be true or false"), false;
  }
  const Json* list(const char* name) {
    const Json* value = member(name);
    if (value != nullptr && value->is_array()) return value;
    if (value != nullptr) complain(name, "must be an array");
    return nullptr;
  }
  const Json* member(const char* name) {
    if (!status_) return nullptr;
    const auto found = object_.find(name);
    if (found != object_.end()) return &*found;
    complain(name, "is missing");
    return nullptr;
  }
  void complain(const std::string& name, std::string what) {
    if (!status_) return;
    status_ = bad_data({file_, 0, 0, where_ + name}, std::move(what),
                       "delete the file; the next goban profile creates a new one");
  }
  [[nodiscard]] const Status& status() const { return status_; }

 private:
  const Json& object_;
  const std::string& file_;
  std::string where_;
  Status status_;
};

Status read_blocks(const Json& from, const std::string& file, const std::string& where,
                   GpuSession& session) {
  Fields fields(from, file, where);
  for (const Kernel kernel : kKernels) {
    const std::string name(kernel_name(kernel));
    const Json* list = fields.list(name.c_str());
    if (list == nullptr) break;
    if (list->empty() || list->size() > kBlocksMax) {
      fields.complain(name,
                      fmt::format("has {} values; 1 to {} are allowed", list->size(), kBlocksMax));
    }
    for (const Json& value : *list) {
      const double time_s = value.is_number() ? value.get<double>() : NAN;
      if (!(time_s > 0 && time_s <= kTimeMax_s)) {
        fields.complain(name,
                        fmt::format("contains a value that is not a time up to {} s", kTimeMax_s));
        break;
      }
      session.block_s[static_cast<size_t>(kernel)].push_back(time_s);
    }
  }
  return fields.status();
}

Result<GpuSession> read_session(const Json& from, const std::string& file,
                                const std::string& where) {
  Fields fields(from, file, where);
  GpuSession out{.unix_s = fields.whole("unix_s", 0, kUnixMax_s)};
  out.condition = {.driver = fields.text("driver"),
                   .firmware = fields.text("firmware"),
                   .kernel_version = fields.whole("kernel_version", 1, 1'000'000)};
  out.temperature_c = fields.number("temperature_c", -1, 1000);
  out.neighbours = fields.whole("neighbours", 0, 1'000'000);
  out.forced = fields.flag("forced");
  const Json* blocks = fields.member("block_s");
  if (blocks == nullptr) return base::failure(fields.status().error());
  const Status read = read_blocks(*blocks, file, where + "block_s.", out);
  if (!read) return base::failure(read.error());
  return out;
}

Result<GpuBook> read_gpu(const Json& from, const std::string& file, const std::string& where) {
  Fields fields(from, file, where);
  GpuBook out{.uuid = fields.text("uuid"), .name = fields.text("name")};
  const Json* sessions = fields.list("sessions");
  if (sessions == nullptr) return base::failure(fields.status().error());
  if (sessions->size() > MeasureBook::kSessionsMax) {
    fields.complain("sessions", fmt::format("has more than {} entries", MeasureBook::kSessionsMax));
  }
  if (!fields.status()) return base::failure(fields.status().error());
  for (size_t i = 0; i < sessions->size(); ++i) {
    auto session = read_session((*sessions)[i], file, fmt::format("{}sessions[{}].", where, i));
    if (!session) return base::failure(session.error());
    out.sessions.push_back(std::move(*session));
  }
  return out;
}

Json session_json(const GpuSession& session) {
  Json blocks;
  for (const Kernel kernel : kKernels) {
    blocks[std::string(kernel_name(kernel))] = session.block_s[static_cast<size_t>(kernel)];
  }
  return {{"unix_s", session.unix_s},
          {"driver", session.condition.driver},
          {"firmware", session.condition.firmware},
          {"kernel_version", session.condition.kernel_version},
          {"temperature_c", session.temperature_c},
          {"neighbours", session.neighbours},
          {"forced", session.forced},
          {"block_s", std::move(blocks)}};
}

}  // namespace

GpuBook& MeasureBook::of(const std::string& uuid) {
  const auto found = std::ranges::find(gpus, uuid, &GpuBook::uuid);
  if (found != gpus.end()) return *found;
  return gpus.emplace_back(GpuBook{.uuid = uuid});
}

const GpuBook* MeasureBook::find(std::string_view uuid) const {
  const auto found = std::ranges::find(gpus, uuid, &GpuBook::uuid);
  return found == gpus.end() ? nullptr : &*found;
}

void add_session(GpuBook& gpu, GpuSession session) {
  if (gpu.sessions.size() >= MeasureBook::kSessionsMax) gpu.sessions.erase(gpu.sessions.begin());
  gpu.sessions.push_back(std::move(session));
}

size_t valid_sessions(const GpuBook& gpu, const GpuCondition& now) {
  const auto other =
      std::ranges::find_if(gpu.sessions.rbegin(), gpu.sessions.rend(),
                           [&](const GpuSession& session) { return !(session.condition == now); });
  return static_cast<size_t>(other - gpu.sessions.rbegin());
}

Result<MeasureBook> parse_book(std::string_view json, const std::string& file) {
  constexpr const char* kRemedy = "delete the file; the next goban profile creates a new one";
  const Json document = Json::parse(json, nullptr, false);
  if (document.is_discarded())
    return bad_data({file, 0, 0, {}}, "is not a valid JSON document", kRemedy);
  Fields fields(document, file, "");
  const int64_t version = fields.whole("version", 1, 1'000'000);
  if (fields.status() && version > MeasureBook::kVersion) {
    return bad_data(
        {file, 0, 0, "version"}, fmt::format("is {}, written by a newer release of goban", version),
        fmt::format("this release reads up to version {}; update goban", MeasureBook::kVersion));
  }
  MeasureBook out{.since_unix_s = fields.whole("since_unix_s", 0, kUnixMax_s),
                  .spent_s = fields.number("spent_s", 0, 1e15)};
  const Json* gpus = fields.list("gpus");
  if (gpus == nullptr) return base::failure(fields.status().error());
  std::set<std::string> seen;
  for (size_t i = 0; i < gpus->size(); ++i) {
    auto gpu = read_gpu((*gpus)[i], file, fmt::format("gpus[{}].", i));
    if (!gpu) return base::failure(gpu.error());
    if (!seen.insert(gpu->uuid).second) {
      return bad_data({file, 0, 0, fmt::format("gpus[{}].uuid", i)}, "is a duplicate", kRemedy);
    }
    out.gpus.push_back(std::move(*gpu));
  }
  return out;
}

std::string to_json(const MeasureBook& book) {
  Json gpus = Json::array();
  for (const GpuBook& gpu : book.gpus) {
    Json sessions = Json::array();
    for (const GpuSession& session : gpu.sessions) sessions.push_back(session_json(session));
    gpus.push_back({{"uuid", gpu.uuid}, {"name", gpu.name}, {"sessions", std::move(sessions)}});
  }
  const Json document{{"version", MeasureBook::kVersion},
                      {"since_unix_s", book.since_unix_s},
                      {"spent_s", book.spent_s},
                      {"gpus", std::move(gpus)}};
  return document.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::string book_path(const std::string& scores_path) {
  std::string_view stem = scores_path;
  constexpr std::string_view kTable = ".csv";
  if (stem.ends_with(kTable)) stem.remove_suffix(kTable.size());
  return std::string(stem) + ".profile.json";
}

}  // namespace goban::core::knowledge
