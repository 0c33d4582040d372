// Fields of Kubernetes' objects, with bounds: what is absent, too long or of another type has its
// default.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

#include "live/engine/kubernetes/objects.hpp"

namespace goban::live::engine::kubernetes {

inline constexpr size_t kNameMost = 253;
inline constexpr size_t kTextMost = 512;
inline constexpr size_t kListMost = 256;
inline constexpr int64_t kPodsMost = 100'000;

/// Null if there is none.
[[nodiscard]] const nlohmann::json& member(const nlohmann::json& from, std::string_view name);
[[nodiscard]] std::string text_at(const nlohmann::json& from, std::string_view name,
                                  size_t most = kTextMost);
[[nodiscard]] bool flag_at(const nlohmann::json& from, std::string_view name);
[[nodiscard]] int64_t whole_at(const nlohmann::json& from, std::string_view name, int64_t least,
                               int64_t most, int64_t absent);
/// An empty array if there is none, or it is too long.
[[nodiscard]] const nlohmann::json& list_at(const nlohmann::json& from, std::string_view name);
/// As Kubernetes writes times: in UTC, with microseconds.
[[nodiscard]] std::string time_text(TimeNs unix_ns);
/// False: it has no name or uid.
[[nodiscard]] bool read_meta(const nlohmann::json& object, Meta& meta);

}  // namespace goban::live::engine::kubernetes
