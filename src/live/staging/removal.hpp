// What becomes of copies that are no longer needed, and of originals that have
// been copied.
#pragma once

#include <string>

#include "base/result.hpp"
#include "live/staging/tree.hpp"

namespace goban::live::staging {

/// Removes what was copied from the source, if copy_tree() completed it and it
/// has not changed since. What came later stays. Errors: see tree.hpp.
[[nodiscard]] base::Status remove_copied(const Tree& tree, const std::string& notes);

/// Removes a copy and its notes. Missing ones are no error. Errors: Failed.
[[nodiscard]] base::Status remove_copy(const std::string& copy, const std::string& notes);

/// Removes what a copy to `to` left behind that was given up: the file that is
/// not complete. Whole files stay.
void remove_part(const std::string& to, const std::string& notes);

}  // namespace goban::live::staging
