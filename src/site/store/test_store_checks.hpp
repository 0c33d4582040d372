// For tests: checks that every store must pass, on any database.
#pragma once

#include <array>
#include <string_view>

#include "site/store/test_servers.hpp"

namespace goban::site::store {

struct StoreCheck {
  std::string_view name;
  void (*run)(TestServer& server);
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

inline constexpr std::array kStoreChecks = {
    StoreCheck{"RoundTrip", check_round_trip},
    StoreCheck{"SameFileAgain", check_same_file_again},
    StoreCheck{"GrowingDumps", check_growing_dumps},
    StoreCheck{"PendingArrays", check_pending_arrays},
    StoreCheck{"FiscalYears", check_fiscal_years},
    StoreCheck{"OddTexts", check_odd_texts},
    StoreCheck{"Refusals", check_refusals},
    StoreCheck{"Migration", check_migration},
    StoreCheck{"OneWriter", check_one_writer},
    StoreCheck{"KilledImports", check_killed_imports},
    StoreCheck{"Seen", check_seen},
    StoreCheck{"SeenRuns", check_seen_runs},
    StoreCheck{"Retention", check_retention},
    StoreCheck{"PartsOfGpus", check_parts_of_gpus},
    StoreCheck{"Forgetting", check_forgetting},
};

}  // namespace goban::site::store
