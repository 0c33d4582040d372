#include "live/controller/core_image_json.hpp"

#include <array>
#include <cmath>
#include <fmt/format.h>
#include <limits>
#include <nlohmann/json.hpp>
#include <tuple>
#include <type_traits>

#include "live/controller/core_image_members.hpp"

namespace goban::live::controller {
namespace {

using core::scheduler::CoreImage;
using core::scheduler::NodePower;
using nlohmann::json;

/// Images with reserved nodes have version 2: a reader of version 1 would give these nodes to other
/// jobs. Images with resources that others hold have version 3, and those with a policy of a part
/// version 4, for the same reason.
constexpr uint64_t kVersion = 4;

template <typename T>
concept Struct = requires(const T* value) { members_of(value); };
template <typename T>
concept IdLike = !Struct<T> && std::is_class_v<T> &&
                 requires(T id) { requires std::integral<decltype(id.value)>; };
template <typename T>
concept OptionalLike = requires(T value) { value.has_value(); };

constexpr auto last_of(core::model::JobPhase) { return core::model::JobPhase::Running; }
constexpr auto last_of(core::model::SharingRequest) { return core::model::SharingRequest::Yes; }
constexpr auto last_of(NodePower::NodeState) { return NodePower::NodeState::Waking; }

json written(double value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value > 0 ? "inf" : "-inf";
  return value;
}
json written(const std::string& value) { return value; }
template <typename T>
json written(const T& value);
template <typename A, typename B>
json written(const std::pair<A, B>& value) {
  return json::array({written(value.first), written(value.second)});
}

template <typename T>
json written_list(const T& values) {
  json out = json::array();
  for (const auto& value : values) out.push_back(written(value));
  return out;
}

/// Whether `value` equals the default `normal`, so that it can be omitted. Structs never do.
template <typename T>
bool is_normal(const T& value, const T& normal) {
  if constexpr (Struct<T>) {
    return false;
  } else if constexpr (OptionalLike<T>) {
    return !value.has_value();
  } else if constexpr (requires { value.empty(); }) {
    return value.empty() && normal.empty();
  } else {
    return value == normal;
  }
}

template <typename T>
json written(const T& value) {
  if constexpr (Struct<T>) {
    json out = json::object();
    const T normal{};
    const auto put = [&](const auto& member) {
      if (is_normal(value.*member.at, normal.*member.at)) return;
      json inner = written(value.*member.at);
      if (!inner.empty() || OptionalLike<std::remove_cvref_t<decltype(value.*member.at)>>) {
        out[member.name] = std::move(inner);
      }
    };
    std::apply([&](const auto&... member) { (put(member), ...); },
               members_of(static_cast<const T*>(nullptr)));
    return out;
  } else if constexpr (IdLike<T>) {
    return value.value;
  } else if constexpr (OptionalLike<T>) {
    return written(*value);
  } else if constexpr (std::is_enum_v<T>) {
    return static_cast<std::underlying_type_t<T>>(value);
  } else if constexpr (std::is_same_v<T, float>) {
    return written(double{value});
  } else if constexpr (std::is_arithmetic_v<T>) {
    return value;
  } else {
    return written_list(value);
  }
}

/// Reads values; keeps the first problem with its path.
class Reader {
 public:
  [[nodiscard]] const std::string& problem() const { return problem_; }

  void read(const json& from, bool& out) {
    if (!from.is_boolean()) return fail("must be a boolean");
    out = from.get<bool>();
  }
  void read(const json& from, std::string& out) {
    if (!from.is_string()) return fail("must be a string");
    out = from.get<std::string>();
  }
  void read(const json& from, double& out) {
    if (from.is_number()) {
      out = from.get<double>();
    } else if (from == "inf" || from == "-inf") {
      out = std::numeric_limits<double>::infinity() * (from == "inf" ? 1 : -1);
    } else if (from == "nan") {
      out = std::numeric_limits<double>::quiet_NaN();
    } else {
      fail("must be a number");
    }
  }
  void read(const json& from, float& out) {
    double wide = 0;
    read(from, wide);
    out = static_cast<float>(wide);
  }
  template <std::integral T>
  void read(const json& from, T& out) {
    if (from.is_number_unsigned()) {
      const auto value = from.get<uint64_t>();
      if (value > static_cast<uint64_t>(std::numeric_limits<T>::max())) return fail("is too large");
      out = static_cast<T>(value);
    } else if (from.is_number_integer() && std::is_signed_v<T>) {
      const auto value = from.get<int64_t>();
      if (value < static_cast<int64_t>(std::numeric_limits<T>::min())) return fail("is too small");
      out = static_cast<T>(value);
    } else {
      fail("must be an integer in range");
    }
  }
  template <typename T>
    requires std::is_enum_v<T>
  void read(const json& from, T& out) {
    std::underlying_type_t<T> value{};
    read(from, value);
    if (value > static_cast<std::underlying_type_t<T>>(last_of(T{}))) return fail("is unknown");
    out = static_cast<T>(value);
  }
  template <IdLike T>
  void read(const json& from, T& out) {
    read(from, out.value);
  }
  template <typename T>
  void read(const json& from, std::optional<T>& out) {
    read(from, out.emplace());
  }
  template <typename A, typename B>
  void read(const json& from, std::pair<A, B>& out) {
    if (!from.is_array() || from.size() != 2) return fail("must be an array of two elements");
    read(from[0], out.first);
    read(from[1], out.second);
  }
  template <typename T>
  void read(const json& from, std::vector<T>& out) {
    if (!from.is_array()) return fail("must be an array");
    out.resize(from.size());
    for (size_t i = 0; i < out.size(); ++i) within(fmt::format("[{}]", i), from[i], out[i]);
  }
  template <typename T, size_t N>
  void read(const json& from, std::array<T, N>& out) {
    if (!from.is_array() || from.size() != N)
      return fail("must be an array of the expected length");
    for (size_t i = 0; i < N; ++i) within(fmt::format("[{}]", i), from[i], out[i]);
  }
  template <Struct T>
  void read(const json& from, T& out) {
    if (!from.is_object()) return fail("must be an object");
    const auto take = [&](const auto& member) {
      const auto found = from.find(member.name);
      if (found != from.end()) within(fmt::format(".{}", member.name), *found, out.*member.at);
    };
    std::apply([&](const auto&... member) { (take(member), ...); },
               members_of(static_cast<const T*>(nullptr)));
  }

 private:
  template <typename T>
  void within(const std::string& name, const json& from, T& out) {
    if (!problem_.empty()) return;
    const size_t length = path_.size();
    path_ += name;
    read(from, out);
    path_.resize(length);
  }
  void fail(std::string_view what) {
    if (problem_.empty()) problem_ = fmt::format("core{} {}", path_, what);
  }

  std::string path_;
  std::string problem_;
};

}  // namespace

json to_json(const CoreImage& image) {
  json out = written(image);
  if (!image.part_policy.empty()) {
    out["version"] = kVersion;
  } else if (!image.found.empty()) {
    out["version"] = 3;
  } else {
    out["version"] = image.promises.empty() ? 1 : 2;
  }
  return out;
}

base::Result<CoreImage> parse_core_image(const json& from) {
  const auto version = from.is_object() ? from.find("version") : from.end();
  if (!from.is_object() || version == from.end() || !version->is_number_unsigned()) {
    return base::bad_data({}, "the state of the core has no version");
  }
  if (version->get<uint64_t>() > kVersion) {
    return base::bad_data({},
                          fmt::format("the state of the core has version {}; this release "
                                      "reads versions up to {}",
                                      version->get<uint64_t>(), kVersion),
                          "use the release that wrote it or a newer one");
  }
  CoreImage image;
  Reader reader;
  reader.read(from, image);
  if (!reader.problem().empty()) return base::bad_data({}, reader.problem());
  return image;
}

}  // namespace goban::live::controller
