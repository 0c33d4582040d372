// Numbers as text: strict parsing, and the shortest form that reads back equal.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/time.hpp"

namespace goban::base {

/// Parses all of `text` as a finite number; nullopt if it contains anything else.
[[nodiscard]] std::optional<double> parse_double(std::string_view text);
[[nodiscard]] std::optional<int64_t> parse_int(std::string_view text);

/// Appends the shortest decimal form that reads back as the same double; integers without ".0".
void append_number(std::string& out, double value);
void append_number(std::string& out, int64_t value);
/// Appends a time as decimal seconds, exactly, without trailing zeros.
void append_seconds(std::string& out, TimeNs time_ns);

[[nodiscard]] std::string number_text(double value);

}  // namespace goban::base
