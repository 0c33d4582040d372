#include "live/engine/local/energy_ledger.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/field_splitter.hpp"
#include "base/files.hpp"
#include "base/number.hpp"
#include "live/engine/local/run_folder.hpp"

namespace goban::live::engine::local {
namespace {

constexpr std::string_view kTitle = "goban-energy";
constexpr int kVersion = 1;
constexpr size_t kBytesMax = 1 << 20;
constexpr double kMost = 1e18;

/// Opens and locks the file. Gives up after a short time, as a stopped process may hold the lock.
base::Descriptor open_locked(const std::string& path) {
  constexpr int kTries = 200;
  base::Descriptor file(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
  struct flock lock{};
  lock.l_type = F_WRLCK;
  lock.l_whence = SEEK_SET;
  for (int i = 0; file && i < kTries; ++i) {
    if (::fcntl(file.get(), F_OFD_SETLK, &lock) == 0) return file;
    ::usleep(1000);
  }
  return {};
}

std::string read_all(int file) {
  std::string text;
  std::array<char, 4096> buffer{};
  ssize_t count = 0;
  while (text.size() < kBytesMax && (count = ::pread(file, buffer.data(), buffer.size(),
                                                     static_cast<off_t>(text.size()))) > 0) {
    text.append(buffer.data(), static_cast<size_t>(count));
  }
  return text;
}

/// Writes in place: the file only grows with the number of holders, so later writes need no space.
bool write_whole(int file, const std::string& text) {
  const auto size = static_cast<off_t>(text.size());
  return ::pwrite(file, text.data(), text.size(), 0) == size && ::ftruncate(file, size) == 0;
}

bool is_amount(const std::optional<double>& value, double least) {
  return value && *value >= least && *value <= kMost;
}

}  // namespace

EnergyBook::Holder* EnergyBook::find(std::string_view run) {
  const auto found = std::ranges::find(holders, run, &Holder::run);
  return found == holders.end() ? nullptr : &*found;
}

void EnergyBook::share(double energy_j) {
  for (Holder& each : holders) each.energy_j += energy_j / static_cast<double>(holders.size());
}

std::string to_text(const EnergyBook& book) {
  std::string out =
      fmt::format("{} {} {} {} {}\n", kTitle, kVersion, book.counter_j, book.at_ns, book.joined);
  for (const EnergyBook::Holder& each : book.holders) {
    out += fmt::format("{} {} {}\n", each.run, each.energy_j, each.busy);
  }
  return out;
}

base::Result<EnergyBook> parse_energy_book(std::string_view text, const std::string& file) {
  EnergyBook book;
  base::FieldSplitter fields;
  for (int line = 1; !text.empty(); ++line) {
    const auto wrong = [&](const char* what) { return base::bad_data({file, line, 0, {}}, what); };
    const size_t end = text.find('\n');
    if (end == std::string_view::npos) return wrong("the line is truncated");
    fields.split_blanks(text.substr(0, end));
    text.remove_prefix(end + 1);
    const auto words = fields.fields();
    if (line == 1) {
      if (words.size() != 5 || words[0] != kTitle || base::parse_int(words[1]) != kVersion) {
        return wrong("this is not an energy ledger that this release can read");
      }
      const auto counter_j = base::parse_double(words[2]);
      const auto at_ns = base::parse_int(words[3]);
      const auto joined = base::parse_int(words[4]);
      if (!is_amount(counter_j, -1) || !at_ns || !joined || *joined < 0) {
        return wrong("a number is out of range");
      }
      book.counter_j = *counter_j;
      book.at_ns = *at_ns;
      book.joined = static_cast<uint64_t>(*joined);
      continue;
    }
    if (words.size() != 3) return wrong("must have three words");
    const auto energy_j = base::parse_double(words[1]);
    const auto busy = base::parse_double(words[2]);
    if (!is_amount(energy_j, 0) || !is_amount(busy, 0)) return wrong("a number is out of range");
    book.holders.push_back({.run = std::string(words[0]), .energy_j = *energy_j, .busy = *busy});
  }
  return book;
}

EnergyShare::EnergyShare(const std::string& state, const std::string& gpu, std::string run,
                         Since since, Lives lives)
    : folder_(state + "/energy"),
      gpu_(gpu),
      run_(std::move(run)),
      since_(std::move(since)),
      lives_(std::move(lives)) {
  if (!lives_) {
    lives_ = [state](const std::string& other) {
      return RunFolder(state + "/" + other).stage() == RunStage::Running;
    };
  }
  static_cast<void>(::mkdir(folder_.c_str(), 0700));
  look();
}

void EnergyShare::update(EnergyBook& book, bool leaves) {
  std::erase_if(book.holders,
                [&](const auto& each) { return each.run != run_ && !lives_(each.run); });
  EnergyBook::Holder* own = book.find(run_);
  const double since_j = since_(book, own);
  has_counter_ = has_counter_ && since_j >= 0;
  book.share(std::max(0.0, since_j));
  if (own == nullptr) {
    if (!joined_) joined_as_ = ++book.joined;
    was_alone_ = was_alone_ && book.holders.empty();
    own = &book.holders.emplace_back(EnergyBook::Holder{.run = run_, .energy_j = energy_j_});
    joined_ = true;
  }
  was_alone_ = was_alone_ && book.joined == joined_as_;
  energy_j_ = own->energy_j;
  if (leaves) std::erase_if(book.holders, [&](const auto& each) { return each.run == run_; });
}

bool EnergyShare::visit(bool leaves) {
  const std::string path = folder_ + "/" + gpu_;
  const base::Descriptor file = open_locked(path);
  if (!file) return false;
  // An unreadable ledger is restarted: holders rejoin at their next poll with their energy so far.
  EnergyBook book = parse_energy_book(read_all(file.get()), path).value_or(EnergyBook{});
  update(book, leaves);
  return write_whole(file.get(), to_text(book));
}

void EnergyShare::look() { static_cast<void>(visit(false)); }

double EnergyShare::leave() {
  const bool written = visit(true);
  return has_counter_ && (written || joined_) ? energy_j_ : -1;
}

}  // namespace goban::live::engine::local
