// What is to be copied: a file, or a folder with everything in it, as it is now. Errors of this
// module: BadData if the same attempt would fail again, Failed if it may succeed later.
#pragma once

#include <cstdint>
#include <functional>
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
  uint32_t mode = 0;                 ///< permissions of the root
  std::vector<TreeEntry> entries{};  ///< by path
  int64_t bytes = 0;
  int64_t files = 0;
  /// Equal as long as the root and all entries are: 32 hexadecimal digits.
  std::string version{};
};

/// Errors: BadData if the path is missing, or it or something in it is forbidden, neither file nor
/// folder, or a symbolic link out of the folder; Failed if something in it vanished meanwhile.
/// `go_on` is called every few entries; false ends it, which is then Failed.
[[nodiscard]] base::Result<Tree> list_tree(const std::string& path,
                                           const std::function<bool()>& go_on = {});

/// `root` + "/" + `path`, or `root`.
[[nodiscard]] std::string in_tree(const std::string& root, const std::string& path);

/// An error from errno at a source: BadData if it concerns the path itself, Failed otherwise.
[[nodiscard]] tl::unexpected<base::Error> path_error(std::string_view what,
                                                     const std::string& path);

/// An error from errno where it is copied to, or in what was listed before: always Failed.
[[nodiscard]] tl::unexpected<base::Error> passing_error(std::string_view what,
                                                        const std::string& path);

/// `path` is `folder` or lies in it, whatever links and mounts lead there. What does not exist yet
/// is judged by the nearest folder that does.
[[nodiscard]] bool is_at_or_below(const std::string& path, const std::string& folder);

}  // namespace goban::live::staging
