// The fields of JSON objects and of plain structs: read with bounds, and written.
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

/// A document. Errors: BadData with `file`, line and column of what is not JSON.
[[nodiscard]] Result<nlohmann::json> parse_json(std::string_view text, const std::string& file,
                                                std::string remedy = {});

/// A member of a document that another program wrote, where any may be missing; null: there is
/// none.
[[nodiscard]] const nlohmann::json* find_member(const nlohmann::json& from, std::string_view name);
/// A member that is a string, or "".
[[nodiscard]] std::string text_of(const nlohmann::json& from, std::string_view name);

/// Reads the fields of an object into a plain struct, and remembers the first thing that is wrong
/// and which fields nobody asked for.
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
  /// A list of whole numbers.
  template <std::integral T>
  void field(const char* name, std::vector<T>& value, T low, T high) {
    std::vector<int64_t> wide;
    if (wholes(name, wide, int64_t{low}, int64_t{high})) value.assign(wide.begin(), wide.end());
  }
  /// An object of texts.
  void field(const char* name, std::map<std::string, std::string>& value);
  template <std::floating_point T>
  void field(const char* name, T& value, double low, double high) {
    double wide = 0;
    if (number(name, wide, low, high)) value = static_cast<T>(wide);
  }
  void seconds(const char* name, base::TimeNs& value, double low = 0);
  /// An object in a field, read by `read(FieldReader&)`; its errors and unknown fields are ours.
  template <typename Read>
  void object(const char* name, const Read& read) {
    if (const nlohmann::json* each = find(name)) within(*each, name, read);
  }
  /// The same for each object of a list.
  template <typename Read>
  void list(const char* name, const Read& read) {
    for (const nlohmann::json* each : items(name)) within(*each, name, read);
  }
  /// The same for an object that was found otherwise; errors name it `name`.
  template <typename Read>
  void within(const nlohmann::json& from, const char* name, const Read& read) {
    FieldReader in(from, where_.empty() ? name : where_ + "." + name);
    read(in);
    take_over(in);
  }
  /// The field, or null; counted as known.
  const nlohmann::json* find(const char* name);
  /// `older` if the object has a field of that name and none that is called `name`; else `name`.
  const char* present(const char* name, const char* older);

  void fail(const std::string& name, const std::string& what);
  [[nodiscard]] bool good() const { return problem_.empty(); }
  /// Errors: BadData naming the first wrong field, and `file`.
  [[nodiscard]] base::Status status(const std::string& file = {}) const;
  /// Fields that were not asked for, with what stands above them. Call it last.
  [[nodiscard]] std::vector<std::string> unknown() const;

 private:
  bool whole(const char* name, int64_t& value, int64_t low, int64_t high);
  bool wholes(const char* name, std::vector<int64_t>& values, int64_t low, int64_t high);
  /// What is wrong with a whole number; empty: nothing.
  static std::string read_whole(const nlohmann::json& from, int64_t& value, int64_t low,
                                int64_t high);
  /// What is wrong with a text; empty: nothing.
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

/// Writes the fields of a plain struct into a JSON object and leaves out those that have their
/// default: the counterpart of FieldReader.
class FieldWriter {
 public:
  /// `out` is an object, and outlives this.
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
