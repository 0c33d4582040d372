// What is to be copied: a file, or a folder with everything in it, as it is now. Errors of this
// module: BadData if the same attempt would fail again, Failed if it may succeed later.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"

namespace goban::live::staging {

struct TreeEntry {
  enum class Kind : uint8_t { File, Folder, Link };
  std::string path{};  ///< relative to the root; "" if the root is a file
  Kind kind = Kind::File;
  int64_t bytes = 0;     ///< File
  int64_t mtime_ns = 0;  ///< File
  uint32_t mode = 0;     ///< permissions
  std::string target{};  ///< Link
  friend bool operator==(const TreeEntry&, const TreeEntry&) = default;
};

struct Tree {
  std::string root{};  ///< without symbolic links
  bool is_folder = false;
  std::vector<TreeEntry> entries{};  ///< by path
  int64_t bytes = 0;
  int64_t files = 0;
  /// Equal as long as the root and all entries are: 32 hexadecimal digits.
  std::string version{};
};

/// Errors: BadData if the path or something in it is missing, forbidden, neither file nor folder,
/// or a symbolic link out of the folder.
[[nodiscard]] base::Result<Tree> list_tree(const std::string& path);

/// `root` + "/" + `path`, or `root`.
[[nodiscard]] std::string in_tree(const std::string& root, const std::string& path);

/// An error from errno: BadData if it concerns the path itself, Failed otherwise.
[[nodiscard]] tl::unexpected<base::Error> path_error(std::string_view what,
                                                     const std::string& path);

}  // namespace goban::live::staging
