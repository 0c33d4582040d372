// Reads the fields of a JSON object into a plain struct, with bounds, and remembers the first thing
// that is wrong and which fields nobody asked for.
#pragma once

#include <concepts>
#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <set>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "base/time.hpp"

namespace goban::base {

class FieldReader {
 public:
  /// `where` stands before the names of fields in errors. `from` outlives the reader.
  FieldReader(const nlohmann::json& from, std::string where);

  // A field that is absent or null leaves the value as it is.
  void field(const char* name, std::string& value);
  void field(const char* name, bool& value);
  /// A list of texts.
  void field(const char* name, std::vector<std::string>& value);
  template <std::integral T>
  void field(const char* name, T& value, T low, T high) {
    int64_t wide = 0;
    if (whole(name, wide, int64_t{low}, int64_t{high})) value = static_cast<T>(wide);
  }
  template <std::floating_point T>
  void field(const char* name, T& value, double low, double high) {
    double wide = 0;
    if (number(name, wide, low, high)) value = static_cast<T>(wide);
  }
  void seconds(const char* name, base::TimeNs& value, double low = 0);
  /// An object in a field, read by `read(FieldReader&)`; its errors and strange fields are ours.
  template <typename Read>
  void object(const char* name, const Read& read) {
    if (const nlohmann::json* each = find(name)) {
      FieldReader in(*each, where_.empty() ? name : where_ + "." + name);
      read(in);
      take_over(in);
    }
  }
  /// The same for each object of a list.
  template <typename Read>
  void list(const char* name, const Read& read) {
    for (const nlohmann::json* each : items(name)) {
      FieldReader in(*each, where_.empty() ? name : where_ + "." + name);
      read(in);
      take_over(in);
    }
  }
  /// The field, or null; counted as known.
  const nlohmann::json* find(const char* name);

  void fail(const std::string& name, const std::string& what);
  [[nodiscard]] bool good() const { return problem_.empty(); }
  [[nodiscard]] base::Status status() const;
  /// Fields that were not asked for, with what stands above them. Call it last.
  [[nodiscard]] std::vector<std::string> unknown() const;

 private:
  bool whole(const char* name, int64_t& value, int64_t low, int64_t high);
  bool number(const char* name, double& value, double low, double high);
  std::vector<const nlohmann::json*> items(const char* name);
  void take_over(const FieldReader& inner);

  const nlohmann::json& from_;
  std::string where_;
  std::set<std::string, std::less<>> known_;
  std::vector<std::string> strange_;  ///< of inner objects
  std::string field_;
  std::string problem_;
};

}  // namespace goban::base
