#include "base/json_fields.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace goban::base {

using nlohmann::json;

FieldReader::FieldReader(const json& from, std::string where)
    : from_(from), where_(std::move(where)) {
  if (!from.is_object()) fail("", "is no object");
}

const json* FieldReader::find(const char* name) {
  known_.insert(name);
  if (!from_.is_object()) return nullptr;
  const auto found = from_.find(name);
  return found == from_.end() || found->is_null() ? nullptr : &*found;
}

void FieldReader::field(const char* name, std::string& value) {
  const json* each = find(name);
  if (each == nullptr) return;
  if (!each->is_string()) return fail(name, "is no text");
  value = each->get<std::string>();
  if (value.find('\0') != std::string::npos) fail(name, "holds a zero byte");
}

void FieldReader::field(const char* name, bool& value) {
  const json* each = find(name);
  if (each == nullptr) return;
  if (!each->is_boolean()) return fail(name, "is neither true nor false");
  value = each->get<bool>();
}

void FieldReader::field(const char* name, std::vector<std::string>& value) {
  const json* list = find(name);
  if (list == nullptr) return;
  if (!list->is_array()) return fail(name, "is no list");
  value.clear();
  for (const json& each : *list) {
    if (!each.is_string()) return fail(name, "holds something that is no text");
    value.push_back(each.get<std::string>());
    if (value.back().find('\0') != std::string::npos) return fail(name, "holds a zero byte");
  }
}

bool FieldReader::whole(const char* name, int64_t& value, int64_t low, int64_t high) {
  const json* each = find(name);
  if (each == nullptr) return false;
  if (!each->is_number_integer()) {
    fail(name, "is no whole number");
    return false;
  }
  const bool large = each->is_number_unsigned() && each->get<uint64_t>() > uint64_t{INT64_MAX};
  value = large ? INT64_MAX : each->get<int64_t>();
  if (!large && value >= low && value <= high) return true;
  fail(name, fmt::format("is not from {} to {}", low, high));
  return false;
}

bool FieldReader::number(const char* name, double& value, double low, double high) {
  const json* each = find(name);
  if (each == nullptr) return false;
  if (!each->is_number()) {
    fail(name, "is no number");
    return false;
  }
  value = each->get<double>();
  if (value >= low && value <= high) return true;
  fail(name, fmt::format("is not from {} to {}", low, high));
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
    fail(name, "is no list");
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

base::Status FieldReader::status() const {
  if (good()) return {};
  return base::bad_data({.file = {}, .line = 0, .column = 0, .field = field_}, problem_);
}

std::vector<std::string> FieldReader::unknown() const {
  std::vector<std::string> found = strange_;
  if (!from_.is_object()) return found;
  for (const auto& [name, value] : from_.items()) {
    if (!known_.contains(name)) found.push_back(where_.empty() ? name : where_ + "." + name);
  }
  return found;
}

}  // namespace goban::base
