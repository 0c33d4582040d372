// Divides the energy of a GPU among the runs that hold it, in equal parts. Each GPU has a file
// `<state>/energy/<gpu>`, the ledger. The supervisor of each run that holds the GPU polls the
// energy counter and adds its increase since the last poll by any supervisor to all holders, in
// equal parts. So the energy charged to runs adds up to what the GPU used while it was held. Works
// without a daemon.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "base/time.hpp"

namespace goban::live::engine::local {

/// The content of a GPU's file.
struct EnergyBook {
  struct Holder {
    std::string run{};  ///< path of its run folder, relative to the state folder
    double energy_j = 0;
    double busy = 0;  ///< virtual GPUs: the run's utilisation of the GPU, 0 to 1
    friend bool operator==(const Holder&, const Holder&) = default;
  };
  double counter_j = -1;   ///< energy counter of the GPU at the last poll
  base::TimeNs at_ns = 0;  ///< time of the last poll, on the machine's steady clock
  uint64_t joined = 0;     ///< number of runs that ever joined; detects runs that joined in between
  std::vector<Holder> holders{};

  [[nodiscard]] Holder* find(std::string_view run);
  /// Adds energy to all holders in equal parts.
  void share(double energy_j);
  friend bool operator==(const EnergyBook&, const EnergyBook&) = default;
};

[[nodiscard]] std::string to_text(const EnergyBook& book);
/// Errors: BadData.
[[nodiscard]] base::Result<EnergyBook> parse_energy_book(std::string_view text,
                                                         const std::string& file);

/// A run's share of a GPU's energy, from construction until leave() or the end of the process.
class EnergyShare {
 public:
  /// Joules since the last poll according to the ledger; updates the ledger's counter. `own`: the
  /// entry of the polling run, null before it holds the GPU. Negative = no counter.
  using Since = std::function<double(EnergyBook& book, EnergyBook::Holder* own)>;
  /// Whether the supervisor of another holder is running.
  using Lives = std::function<bool(const std::string& run)>;

  /// `state`: the state folder; `gpu`: names the file; `run` as in EnergyBook.
  EnergyShare(const std::string& state, const std::string& gpu, std::string run, Since since,
              Lives lives = {});
  /// Polls the counter; to be called about once per second. The next poll makes up for a failed
  /// one.
  void look();
  /// The last poll. Returns the total joules of this run; negative = unknown.
  [[nodiscard]] double leave();
  /// Whether no other run held the GPU at any time, as of the last poll.
  [[nodiscard]] bool was_alone() const { return was_alone_; }

 private:
  [[nodiscard]] bool visit(bool leaves);
  void update(EnergyBook& book, bool leaves);

  std::string folder_;
  std::string gpu_;
  std::string run_;
  Since since_;
  Lives lives_;
  bool joined_ = false;
  bool has_counter_ = true;
  bool was_alone_ = true;
  uint64_t joined_as_ = 0;
  double energy_j_ = 0;  ///< of this run at the last poll
};

}  // namespace goban::live::engine::local
