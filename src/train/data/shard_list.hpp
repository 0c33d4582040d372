// Lists of shards as text: braces, "::" and environment variables, as in WebDataset.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"

namespace goban::train::data {

/// The value of an environment variable; nullopt if unset.
using Lookup = std::function<std::optional<std::string>(const std::string&)>;

/// "a-{000..011}.tar::b-{x,y}.tar" as paths. Parts are separated by "::"; ${NAME} is the variable
/// WDS_NAME; {000..011} counts with leading zeros, {a,b} lists; braces may nest. Errors: Usage for
/// an unset variable, braces that do not match, and more than a million paths.
[[nodiscard]] base::Result<std::vector<std::string>> expand_shards(std::string_view text,
                                                                   const Lookup& variable);
/// The same with the variables of this process.
[[nodiscard]] base::Result<std::vector<std::string>> expand_shards(std::string_view text);

}  // namespace goban::train::data
