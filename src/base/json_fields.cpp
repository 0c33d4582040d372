#include "base/json_fields.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace goban::base {

using nlohmann::json;

Result<json> parse_json(std::string_view text, const std::string& file, std::string remedy) {
  try {
    return json::parse(text);
  } catch (const json::parse_error& error) {
    const std::string_view before = text.substr(0, error.byte == 0 ? 0 : error.byte - 1);
    const size_t line_begin = before.rfind('\n') + 1;  // npos + 1 = 0
    std::string detail = error.what();
    if (const size_t end = detail.rfind("; "); end != std::string::npos) detail.erase(0, end + 2);
    return bad_data({file,
                     static_cast<int>(std::ranges::count(before, '\n')) + 1,
                     static_cast<int>(before.size() - line_begin) + 1,
                     {}},
                    "invalid JSON: " + detail, std::move(remedy));
  } catch (const json::exception& error) {
    return bad_data({file, 0, 0, {}}, fmt::format("invalid JSON: {}", error.what()),
                    std::move(remedy));
  }
}

const json* find_member(const json& from, std::string_view name) {
  if (!from.is_object()) return nullptr;
  const auto found = from.find(name);
  return found == from.end() ? nullptr : &*found;
}

std::string text_of(const json& from, std::string_view name) {
  const json* found = find_member(from, name);
  return found != nullptr && found->is_string() ? found->get<std::string>() : std::string();
}

FieldReader::FieldReader(const json& from, std::string where)
    : from_(from), where_(std::move(where)) {
  if (!from.is_object()) fail("", "must be an object");
}

const json* FieldReader::find(const char* name) {
  known_.insert(name);
  if (!from_.is_object()) return nullptr;
  const auto found = from_.find(name);
  return found == from_.end() || found->is_null() ? nullptr : &*found;
}

const char* FieldReader::present(const char* name, const char* older) {
  const bool has_name = find(name) != nullptr;
  return !has_name && find(older) != nullptr ? older : name;
}

std::string FieldReader::read_text(const json& from, std::string& value) {
  if (!from.is_string()) return "must be a string";
  value = from.get<std::string>();
  return value.find('\0') == std::string::npos ? "" : "contains a zero byte";
}

void FieldReader::field(const char* name, std::string& value) {
  const json* each = find(name);
  if (each == nullptr) return;
  if (const std::string wrong = read_text(*each, value); !wrong.empty()) fail(name, wrong);
}

void FieldReader::field(const char* name, bool& value) {
  const json* each = find(name);
  if (each == nullptr) return;
  if (!each->is_boolean()) return fail(name, "must be a boolean");
  value = each->get<bool>();
}

void FieldReader::field(const char* name, std::vector<std::string>& value) {
  const json* list = find(name);
  if (list == nullptr) return;
  if (!list->is_array()) return fail(name, "must be an array");
  value.clear();
  for (const json& each : *list) {
    if (!each.is_string()) return fail(name, "must be an array of strings");
    const std::string wrong = read_text(each, value.emplace_back());
    if (!wrong.empty()) return fail(name, wrong);
  }
}

void FieldReader::field(const char* name, std::map<std::string, std::string>& value) {
  const json* object = find(name);
  if (object == nullptr) return;
  if (!object->is_object()) return fail(name, "must be an object");
  value.clear();
  for (const auto& [key, each] : object->items()) {
    if (const std::string wrong = read_text(each, value[key]); !wrong.empty()) {
      return fail(std::string(name) + "." + key, wrong);
    }
  }
}

std::string FieldReader::read_whole(const json& from, int64_t& value, int64_t low, int64_t high) {
  if (!from.is_number_integer()) return "must be an integer";
  const bool large = from.is_number_unsigned() && from.get<uint64_t>() > uint64_t{INT64_MAX};
  value = large ? INT64_MAX : from.get<int64_t>();
  if (!large && value >= low && value <= high) return {};
  return fmt::format("must be from {} to {}", low, high);
}

bool FieldReader::whole(const char* name, int64_t& value, int64_t low, int64_t high) {
  const json* each = find(name);
  if (each == nullptr) return false;
  const std::string wrong = read_whole(*each, value, low, high);
  if (!wrong.empty()) fail(name, wrong);
  return wrong.empty();
}

bool FieldReader::wholes(const char* name, std::vector<int64_t>& values, int64_t low,
                         int64_t high) {
  const json* list = find(name);
  if (list == nullptr) return false;
  if (!list->is_array()) {
    fail(name, "must be an array");
    return false;
  }
  for (const json& each : *list) {
    const std::string wrong = read_whole(each, values.emplace_back(), low, high);
    if (wrong.empty()) continue;
    fail(name, wrong);
    return false;
  }
  return true;
}

bool FieldReader::number(const char* name, double& value, double low, double high) {
  const json* each = find(name);
  if (each == nullptr) return false;
  if (!each->is_number()) {
    fail(name, "must be a number");
    return false;
  }
  value = each->get<double>();
  if (value >= low && value <= high) return true;
  fail(name, fmt::format("must be from {} to {}", low, high));
  return false;
}

void FieldReader::seconds(const char* name, base::TimeNs& value, double low) {
  double given = 0;
  if (number(name, given, low, base::kMaxSeconds)) value = base::from_seconds(given);
}

std::vector<const json*> FieldReader::items(const char* name) {
  std::vector<const json*> found;
  const json* each = find(name);
  if (each == nullptr) return found;
  if (!each->is_array()) {
    fail(name, "must be an array");
    return found;
  }
  for (const json& item : *each) found.push_back(&item);
  return found;
}

void FieldReader::take_over(const FieldReader& inner) {
  for (const std::string& name : inner.unknown()) strange_.push_back(name);
  if (inner.good() || !good()) return;
  field_ = inner.field_;
  problem_ = inner.problem_;
}

void FieldReader::fail(const std::string& name, const std::string& what) {
  if (!good()) return;
  field_ = where_.empty() || name.empty() ? where_ + name : where_ + "." + name;
  problem_ = what;
}

Status FieldReader::status(const std::string& file) const {
  if (good()) return {};
  return bad_data({.file = file, .line = 0, .column = 0, .field = field_}, problem_);
}

std::vector<std::string> FieldReader::unknown() const {
  std::vector<std::string> found = strange_;
  if (!from_.is_object()) return found;
  for (const auto& [name, value] : from_.items()) {
    if (!known_.contains(name)) found.push_back(where_.empty() ? name : where_ + "." + name);
  }
  return found;
}

void FieldWriter::field(const char* name, const std::string& value, const std::string& normal) {
  if (value != normal) out_[name] = value;
}

void FieldWriter::field(const char* name, bool value, bool normal) {
  if (value != normal) out_[name] = value;
}

void FieldWriter::seconds(const char* name, TimeNs value, TimeNs normal) {
  if (value != normal) put(name, to_seconds(value));
}

void FieldWriter::put(const char* name, int64_t value) { out_[name] = value; }
void FieldWriter::put(const char* name, double value) { out_[name] = value; }

}  // namespace goban::base
