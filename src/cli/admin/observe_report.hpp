// The nightly page of a site whose own scheduler decides: what it did, what policies of ours would
// have done, and the error of the simulator beside it.
#pragma once

#include <string>
#include <vector>

#include "base/result.hpp"

namespace goban::cli {

struct ObserveReport {
  std::string system{};  ///< whose records these are, as users call it: "Slurm"
  std::string format{};  ///< of the records
  std::string out = ".";
  std::vector<std::string> policies = {"easy-backfill+pal"};
  std::string site_policy{};  ///< the one that represents the site's scheduler
  std::string jobs{};         ///< file of the records
  std::string cluster{};      ///< cluster file
};

/// Runs a command with `environment` besides PATH, LC_ALL and TZ=UTC; what it prints is written to
/// a file. Errors: Failed, with `remedy` where the command ends with another code than 0.
[[nodiscard]] base::Status print_into(const std::vector<std::string>& words,
                                      const std::string& path, std::vector<std::string> environment,
                                      const std::string& install, const std::string& remedy);

/// Writes cluster.toml into `out`, of nodes as `from` prints them. Returns its path.
[[nodiscard]] base::Result<std::string> cluster_of_nodes(const std::string& from,
                                                         const std::string& nodes,
                                                         const std::string& out);

/// Prints the comparison and writes observe-DATE.html. Returns the exit code.
[[nodiscard]] int write_observe_report(const ObserveReport& report);

}  // namespace goban::cli
