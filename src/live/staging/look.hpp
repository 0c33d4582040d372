// Whether a copy on the fast tier is still there: somebody else may have
// removed it.
#pragma once

#include <functional>
#include <string>

#include "base/result.hpp"

namespace goban::live::staging {

/// The first file of a complete copy that is not there with its size and time
/// of change; the copy itself if it is not complete. Empty: all are there.
/// `go_on` is called every few files; false ends it (Failed).
[[nodiscard]] base::Result<std::string> missing_of(const std::string& copy,
                                                   const std::string& notes,
                                                   const std::function<bool()>& go_on = {});

}  // namespace goban::live::staging
