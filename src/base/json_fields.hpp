// Reads the fields of JSON objects into plain structs, with bounds, and writes them.
#pragma once

#include <concepts>
#include <cstdint>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "base/time.hpp"

namespace goban::base {

/// Parses a document. Errors: BadData with `file`, line and column of the syntax error.
[[nodiscard]] Result<nlohmann::json> parse_json(std::string_view text, const std::string& file,
                                                std::string remedy = {});

/// A member of a document that another program wrote; null if `from` is not an object or has no
/// such member.
[[nodiscard]] const nlohmann::json* find_member(const nlohmann::json& from, std::string_view name);
/// The value of a string member; "" if there is none.
[[nodiscard]] std::string text_of(const nlohmann::json& from, std::string_view name);

/// Reads the fields of an object into a plain struct. Records the first error and the fields that
/// no call named.
class FieldReader {
 public:
  /// `where` is the prefix of field names in errors. `from` must outlive the reader.
  FieldReader(const nlohmann::json& from, std::string where);

  // A field that is absent or null leaves the value unchanged.
  void field(const char* name, std::string& value);
  void field(const char* name, bool& value);
  /// An array of strings.
  void field(const char* name, std::vector<std::string>& value);
  template <std::integral T>
  void field(const char* name, T& value, T low, T high) {
    int64_t wide = 0;
    if (whole(name, wide, int64_t{low}, int64_t{high})) value = static_cast<T>(wide);
  }
  /// An array of integers.
  template <std::integral T>
  void field(const char* name, std::vector<T>& value, T low, T high) {
    std::vector<int64_t> wide;
    if (wholes(name, wide, int64_t{low}, int64_t{high})) value.assign(wide.begin(), wide.end());
  }
  /// An object whose values are strings.
  void field(const char* name, std::map<std::string, std::string>& value);
  template <std::floating_point T>
  void field(const char* name, T& value, double low, double high) {
    double wide = 0;
    if (number(name, wide, low, high)) value = static_cast<T>(wide);
  }
  void seconds(const char* name, base::TimeNs& value, double low = 0);
  /// A nested object, read by `read(FieldReader&)`. Its errors and unknown fields are added to this
  /// reader's.
  template <typename Read>
  void object(const char* name, const Read& read) {
    if (const nlohmann::json* each = find(name)) within(*each, name, read);
  }
  /// The same for each object of an array.
  template <typename Read>
  void list(const char* name, const Read& read) {
    for (const nlohmann::json* each : items(name)) within(*each, name, read);
  }
  /// The same for an object that the caller found; errors name it `name`.
  template <typename Read>
  void within(const nlohmann::json& from, const char* name, const Read& read) {
    FieldReader in(from, where_.empty() ? name : where_ + "." + name);
    read(in);
    take_over(in);
  }
  /// The field, or null if absent. Marks the name as known.
  const nlohmann::json* find(const char* name);
  /// `older` if the object has a field `older` but no field `name`; otherwise `name`.
  const char* present(const char* name, const char* older);

  void fail(const std::string& name, const std::string& what);
  [[nodiscard]] bool good() const { return problem_.empty(); }
  /// Errors: BadData naming the first wrong field, and `file`.
  [[nodiscard]] base::Status status(const std::string& file = {}) const;
  /// Fields that no call named, with their path. Call it last.
  [[nodiscard]] std::vector<std::string> unknown() const;

 private:
  bool whole(const char* name, int64_t& value, int64_t low, int64_t high);
  bool wholes(const char* name, std::vector<int64_t>& values, int64_t low, int64_t high);
  /// Returns what is wrong with an integer; empty if it is valid.
  static std::string read_whole(const nlohmann::json& from, int64_t& value, int64_t low,
                                int64_t high);
  /// Returns what is wrong with a string; empty if it is valid.
  static std::string read_text(const nlohmann::json& from, std::string& value);
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

/// The counterpart of FieldReader: writes the fields of a plain struct into a JSON object and
/// omits those that have their default.
class FieldWriter {
 public:
  /// `out` is an object and must outlive the writer.
  explicit FieldWriter(nlohmann::json& out) : out_(out) {}

  void field(const char* name, const std::string& value, const std::string& normal);
  void field(const char* name, bool value, bool normal);
  template <std::integral T>
  void field(const char* name, T value, T normal) {
    if (value != normal) put(name, int64_t{value});
  }
  template <std::floating_point T>
  void field(const char* name, T value, T normal) {
    if (value != normal) put(name, double{value});
  }
  void seconds(const char* name, base::TimeNs value, base::TimeNs normal);

 private:
  void put(const char* name, int64_t value);
  void put(const char* name, double value);

  nlohmann::json& out_;
};

}  // namespace goban::base
