// Where this program lies, and what was installed with it.
#pragma once

#include <string>

namespace goban::cli {

/// The path of this program.
[[nodiscard]] std::string program_path();
/// The folder of our Python files: $GOBAN_PYTHON, or that of this installation.
[[nodiscard]] std::string python_folder();

}  // namespace goban::cli
