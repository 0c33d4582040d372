// The energy of a GPU among the runs that hold it, in equal parts while there are several. Each GPU
// has a file `<state>/energy/<gpu>`; the supervisor of each run that holds the GPU looks at the
// energy counter again and again, and adds what it rose by since the last look of any of them, in
// equal parts, to all. So what runs are charged adds up to what the GPU took while anybody held it,
// whoever looked when. No daemon is needed for it.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "base/time.hpp"

namespace goban::live::engine::local {

/// What the file of a GPU says.
struct EnergyBook {
  struct Holder {
    std::string run{};  ///< path of its folder below the state folder
    double energy_j = 0;
    double busy = 0;  ///< virtual GPUs: how busy it keeps the GPU, 0 to 1
    friend bool operator==(const Holder&, const Holder&) = default;
  };
  double counter_j = -1;   ///< of the GPU at the last look
  base::TimeNs at_ns = 0;  ///< of the last look, on the machine's steady clock
  uint64_t joined = 0;     ///< runs that ever came; says whether somebody did meanwhile
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

/// A run's hold on a GPU, from its construction until it leaves or dies.
class EnergyShare {
 public:
  /// Joules since the last look, which the book tells; brings the book's counter up to date. `own`:
  /// of the run that looks, null before it holds the GPU. Negative = there is no counter.
  using Since = std::function<double(EnergyBook& book, EnergyBook::Holder* own)>;
  /// Whether the supervisor of another holder lives.
  using Lives = std::function<bool(const std::string& run)>;

  /// `state`: the state folder; `gpu`: names the file; `run` as in EnergyBook.
  EnergyShare(const std::string& state, const std::string& gpu, std::string run, Since since,
              Lives lives = {});
  /// Once a second or so. A look that fails is made up for by the next one.
  void look();
  /// The last look. Joules of this run in all; negative = not known.
  [[nodiscard]] double leave();
  /// Nobody else held the GPU at any time, as of the last look.
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
  double energy_j_ = 0;  ///< ours at the last look
};

}  // namespace goban::live::engine::local
