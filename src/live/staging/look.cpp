#include "live/staging/look.hpp"

#include <sys/stat.h>

#include "live/staging/copy_notes.hpp"
#include "live/staging/tree.hpp"

namespace goban::live::staging {

base::Result<std::string> missing_of(const std::string& copy, const std::string& notes,
                                     const std::function<bool()>& go_on) {
  constexpr size_t kOften = 256;
  const auto files = read_copied_files(notes);
  struct stat facts{};
  if (!files || completed(notes).empty() || ::lstat(copy.c_str(), &facts) != 0) return copy;
  size_t count = 0;
  for (const auto& [path, file] : *files) {
    if (++count % kOften == 0 && go_on && !go_on()) return base::failed("nobody waits for it");
    std::string place = in_tree(copy, path);
    if (!is_as_copied(place, file)) return place;
  }
  return std::string{};
}

}  // namespace goban::live::staging
