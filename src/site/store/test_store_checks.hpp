// For tests: checks that every store must pass, on any database.
#pragma once

#include <array>
#include <ostream>
#include <string_view>

#include "site/store/test_servers.hpp"

namespace goban::site::store {

struct ServerCheck {
  std::string_view name;
  void (*run)(TestServer& server);
  friend std::ostream& operator<<(std::ostream& out, const ServerCheck& check) {
    return out << check.name;
  }
};

void check_round_trip(TestServer& server);
void check_same_file_again(TestServer& server);
void check_growing_dumps(TestServer& server);
void check_pending_arrays(TestServer& server);
void check_fiscal_years(TestServer& server);
void check_odd_texts(TestServer& server);
void check_refusals(TestServer& server);
void check_migration(TestServer& server);
void check_one_writer(TestServer& server);
void check_killed_imports(TestServer& server);
void check_seen(TestServer& server);
void check_seen_runs(TestServer& server);
void check_retention(TestServer& server);
void check_parts_of_gpus(TestServer& server);
void check_forgetting(TestServer& server);
void check_details(TestServer& server);

inline constexpr std::array kStoreChecks = {
    ServerCheck{"RoundTrip", check_round_trip},
    ServerCheck{"SameFileAgain", check_same_file_again},
    ServerCheck{"GrowingDumps", check_growing_dumps},
    ServerCheck{"PendingArrays", check_pending_arrays},
    ServerCheck{"FiscalYears", check_fiscal_years},
    ServerCheck{"OddTexts", check_odd_texts},
    ServerCheck{"Refusals", check_refusals},
    ServerCheck{"Migration", check_migration},
    ServerCheck{"OneWriter", check_one_writer},
    ServerCheck{"KilledImports", check_killed_imports},
    ServerCheck{"Seen", check_seen},
    ServerCheck{"SeenRuns", check_seen_runs},
    ServerCheck{"Retention", check_retention},
    ServerCheck{"PartsOfGpus", check_parts_of_gpus},
    ServerCheck{"Forgetting", check_forgetting},
    ServerCheck{"Details", check_details},
};

}  // namespace goban::site::store
