// Whether slurmctld has stored anything since a look at its queue. It writes what changes into its
// state folder (StateSaveLocation) within five seconds, the script of a new batch job at once.
// Where that folder can be read, a queue at rest is asked for rarely, and a change is still seen
// soon. Only names and times of files are read.
#pragma once

#include <string>
#include <vector>

#include "base/time.hpp"

namespace goban::live::engine::slurm {

class StateWatch {
 public:
  /// `folder`: StateSaveLocation; empty: none. Another folder is to show first that it is in use.
  void watch(std::string folder);
  /// Remembers how the folder is now; call it before Slurm is asked.
  void mark();
  /// A file was written, added or removed since mark().
  [[nodiscard]] bool has_changed() const;
  /// Slurm was asked after mark(). `has_news`: jobs came, went or changed their states. A folder
  /// that shows nothing for `kPatience_ns` after news is not that of this slurmctld.
  void asked(bool has_news, base::TimeNs now_ns);
  /// The folder has shown changes, and has missed none.
  [[nodiscard]] bool is_of_use() const { return is_in_use_ && !folder_.empty(); }

  static constexpr base::TimeNs kPatience_ns = 15 * base::kSecond;

 private:
  struct File {
    std::string name{};
    int64_t written_ns = 0;
    uint64_t inode = 0;
    friend auto operator<=>(const File&, const File&) = default;
  };
  [[nodiscard]] std::vector<File> files() const;

  std::string folder_;
  std::vector<File> marked_;
  bool is_in_use_ = false;
  bool has_shown_ = false;        ///< the last mark() found a change
  base::TimeNs news_at_ns_ = -1;  ///< that the folder has not shown yet; -1 = none
};

/// StateSaveLocation in what `scontrol show config` printed; empty if it is not there, or names
/// the host (%h).
[[nodiscard]] std::string state_folder(std::string_view config);

}  // namespace goban::live::engine::slurm
