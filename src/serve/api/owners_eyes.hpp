// The permissions of a job's owner, for opening files.
#pragma once

#include <sys/types.h>
#include <vector>

#include "live/job/job_spec.hpp"

namespace goban::serve::api {

/// If the process is root, opens files of this thread with the owner's permissions while it exists.
/// Other threads keep theirs.
class OwnersEyes {
 public:
  explicit OwnersEyes(const live::job::Owner& owner) : good_(put_on(owner)) {}
  OwnersEyes(const OwnersEyes&) = delete;
  OwnersEyes& operator=(const OwnersEyes&) = delete;
  ~OwnersEyes();
  /// False: nothing may be opened.
  [[nodiscard]] bool good() const { return good_; }

 private:
  bool put_on(const live::job::Owner& owner);

  std::vector<gid_t> before_{};
  bool changed_ = false;
  bool good_;
};

}  // namespace goban::serve::api
