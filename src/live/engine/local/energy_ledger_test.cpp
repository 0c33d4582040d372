// The energy of shared GPUs: charges add up to the energy that the GPU used while it was held.
#include "live/engine/local/energy_ledger.hpp"

#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <map>
#include <memory>
#include <set>
#include <unistd.h>

#include "base/random.hpp"

namespace goban::live::engine::local {
namespace {

class EnergyLedger : public testing::Test {
 public:
  EnergyLedger() {
    char pattern[] = "/tmp/goban_energy_XXXXXX";
    state = ::mkdtemp(pattern);
  }
  ~EnergyLedger() override { std::filesystem::remove_all(state); }

  std::unique_ptr<EnergyShare> hold(const std::string& run) {
    alive.insert(run);
    return std::make_unique<EnergyShare>(
        state, "gpu", run,
        [this](EnergyBook& book, EnergyBook::Holder*) {
          if (counter_j < 0) return -1.0;
          const double since_j = book.counter_j < 0 ? 0 : std::max(0.0, counter_j - book.counter_j);
          book.counter_j = counter_j;
          return since_j;
        },
        [this](const std::string& other) { return alive.contains(other); });
  }
  std::string file() const { return state + "/energy/gpu"; }

  std::string state;
  std::set<std::string> alive;
  double counter_j = 1000;
};

TEST_F(EnergyLedger, HoldersShareInEqualPartsWhileTheyAreThere) {
  const auto a = hold("a");
  counter_j += 100;  // a alone
  const auto b = hold("b");
  counter_j += 60;  // both
  EXPECT_DOUBLE_EQ(a->leave(), 130);
  EXPECT_FALSE(a->was_alone());
  counter_j += 40;  // b alone
  EXPECT_DOUBLE_EQ(b->leave(), 70);
  counter_j += 500;  // no holder
  const auto c = hold("c");
  counter_j += 7;
  EXPECT_DOUBLE_EQ(c->leave(), 7);
  EXPECT_TRUE(c->was_alone());
}

TEST_F(EnergyLedger, ANeighbourThatCameAndWentBetweenTwoLooksCounts) {
  const auto a = hold("a");
  {
    const auto b = hold("b");
    counter_j += 10;
    EXPECT_DOUBLE_EQ(b->leave(), 5);
  }
  a->look();
  EXPECT_FALSE(a->was_alone());
  EXPECT_DOUBLE_EQ(a->leave(), 5);
}

TEST_F(EnergyLedger, OneThatDiedHasNoPartFromTheNextLookOn) {
  const auto a = hold("a");
  const auto b = hold("b");
  alive.erase("b");
  a->look();
  counter_j += 10;
  EXPECT_DOUBLE_EQ(a->leave(), 10);
}

TEST_F(EnergyLedger, WithoutACounterNothingIsKnown) {
  counter_j = -1;
  const auto a = hold("a");
  counter_j = 5;
  EXPECT_EQ(a->leave(), -1) << "a part would pass for the whole";
}

TEST_F(EnergyLedger, ACounterThatBeginsAnewChargesNobody) {
  const auto a = hold("a");
  counter_j += 10;
  a->look();
  counter_j = 0;
  a->look();
  counter_j = 3;
  EXPECT_DOUBLE_EQ(a->leave(), 13);
}

TEST_F(EnergyLedger, ABrokenFileBeginsAnewWithWhatIsKnown) {
  const auto a = hold("a");
  counter_j += 10;
  a->look();
  std::ofstream(file()) << "nonsense";
  a->look();
  counter_j += 5;
  EXPECT_DOUBLE_EQ(a->leave(), 15);
}

TEST_F(EnergyLedger, WhatCannotBeWrittenIsNotKnown) {
  std::ofstream(state + "/energy") << "in the way";
  const auto a = hold("a");
  counter_j += 10;
  EXPECT_EQ(a->leave(), -1);
}

/// Runs that join, poll, leave and are killed at random: the charges, including those of killed
/// runs, add up to the increase of the counter while the GPU was held.
TEST_F(EnergyLedger, PartsAddUpToTheWhole) {
  constexpr uint64_t kSeed = 20261122;
  base::Random random(kSeed);
  std::map<std::string, std::unique_ptr<EnergyShare>> holding;
  double held_j = 0;
  double charged_j = 0;
  int next = 0;
  const auto book = [&] {
    std::ifstream in(file());
    const std::string text{std::istreambuf_iterator<char>(in), {}};
    return parse_energy_book(text, "book").value();
  };
  for (int step = 0; step < 3000; ++step) {
    const auto rise_j = static_cast<double>(random.below(1000)) / 7;
    counter_j += rise_j;
    if (!holding.empty()) held_j += rise_j;
    auto some = holding.begin();
    if (!holding.empty()) std::advance(some, random.below(holding.size()));
    switch (random.below(5)) {
      case 0:
      case 1:
        if (holding.size() < 6) {
          const std::string name = "jobs/" + std::to_string(next++) + "/run-1";
          holding[name] = hold(name);
        }
        break;
      case 2:
        if (holding.empty()) break;
        charged_j += some->second->leave();
        alive.erase(some->first);
        holding.erase(some);
        break;
      case 3:
        if (!holding.empty()) some->second->look();
        break;
      default:
        // Its supervisor is killed; its entry is removed at the next poll of another run.
        if (random.below(10) > 0 || holding.size() < 2) break;
        some->second->look();
        charged_j += book().find(some->first)->energy_j;
        alive.erase(some->first);
        holding.erase(some);
        holding.begin()->second->look();
        break;
    }
  }
  for (auto& [name, share] : holding) {
    charged_j += share->leave();
    alive.erase(name);
  }
  ASSERT_GT(next, 100);
  EXPECT_NEAR(charged_j, held_j, 1e-6 * held_j) << "seed " << kSeed;
}

TEST(EnergyBook, ReadsBackWhatWasWrittenAndRefusesTheRest) {
  const EnergyBook book{.counter_j = 0.1 + 0.2,
                        .at_ns = 12,
                        .joined = 3,
                        .holders = {{.run = "jobs/1/run-1", .energy_j = 1e-3, .busy = 0.5}}};
  const auto again = parse_energy_book(to_text(book), "book");
  ASSERT_TRUE(again) << again.error().text();
  EXPECT_EQ(*again, book);
  EXPECT_TRUE(parse_energy_book("", "book"));
  for (const char* wrong :
       {"x\n", "goban-energy 2 0 0 0\n", "goban-energy 1 0 0 -1\n", "goban-energy 1 nan 0 0\n",
        "goban-energy 1 0 0 0", "goban-energy 1 0 0 0\na -1 0\n", "goban-energy 1 0 0 0\na 1\n"}) {
    EXPECT_FALSE(parse_energy_book(wrong, "book")) << wrong;
  }
}

}  // namespace
}  // namespace goban::live::engine::local
