// Arrays whose pending tasks share one record; run on all databases by store_test.cpp.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include "site/store/test_store_checks.hpp"
#include "site/store/test_stores.hpp"

namespace goban::site::store {
namespace {

using testing::ElementsAre;

constexpr const char* kSubmit = "2024-02-01T10:00:00";

std::string waits(const std::string& id) {
  return sacct(id, kSubmit, "Unknown", "Unknown", "PENDING");
}
std::string done(const std::string& id, const std::string& state = "COMPLETED") {
  return sacct(id, kSubmit, "2024-02-01T11:00:00", "2024-02-01T12:00:00", state);
}

/// `id STATE` of each row, and the number of open ones.
std::vector<std::string> rows_of(JobStore& store) {
  RecordTable table;
  EXPECT_TRUE(store.read({}, table));
  std::vector<std::string> out;
  for (size_t i = 0; i < table.rows().size(); ++i) {
    out.push_back(
        fmt::format("{} {}", table.id(i), records::job_state_name(table.rows()[i].state)));
  }
  out.push_back(fmt::format(
      "{} open", store.connection().query_whole("SELECT COUNT(*) FROM goban_open")->value()));
  return out;
}

}  // namespace

void check_pending_arrays(TestServer& server) {
  JobStore store = open_store(server.fresh());
  const std::string other = waits("6_[1-3]");
  const std::string day_1 = kSacct + waits("5_[1-3]") + other;
  const std::string day_2 = kSacct + done("5_1") + waits("5_[2-3]") + other;
  const std::string day_3 = kSacct + done("5_1") + done("5_2") + done("5_3", "FAILED") + other;
  import_text(store, day_1);
  EXPECT_THAT(rows_of(store), ElementsAre("5_[1-3] PENDING", "6_[1-3] PENDING", "2 open"));
  import_text(store, day_2);
  const std::vector<std::string> after_2 = {"5_[2-3] PENDING", "5_1 COMPLETED", "6_[1-3] PENDING",
                                            "2 open"};
  EXPECT_THAT(rows_of(store), testing::UnorderedElementsAreArray(after_2));
  JobImportOptions again;
  again.again = true;
  EXPECT_EQ(import_text(store, day_1, again).outdated, 1);
  EXPECT_THAT(rows_of(store), testing::UnorderedElementsAreArray(after_2));
  import_text(store, day_3);
  const std::vector<std::string> after_3 = {"5_1 COMPLETED", "5_2 COMPLETED", "5_3 FAILED",
                                            "6_[1-3] PENDING", "1 open"};
  EXPECT_THAT(rows_of(store), testing::UnorderedElementsAreArray(after_3));
  EXPECT_EQ(import_text(store, day_2, again).outdated, 1) << "an old dump";
  EXPECT_THAT(rows_of(store), testing::UnorderedElementsAreArray(after_3));
  // The pending tasks are cancelled, all of them or all but one that runs.
  import_text(store,
              kSacct +
                  sacct("6_[2-3]", kSubmit, "Unknown", "2024-02-01T12:00:00", "CANCELLED by 7") +
                  sacct("6_1", kSubmit, "2024-02-01T11:00:00", "Unknown", "RUNNING"));
  EXPECT_THAT(rows_of(store),
              testing::UnorderedElementsAre("5_1 COMPLETED", "5_2 COMPLETED", "5_3 FAILED",
                                            "6_1 RUNNING", "6_[2-3] CANCELLED", "1 open"));
}

}  // namespace goban::site::store
