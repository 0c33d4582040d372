// Removal of a user's identity; run on all databases by store_test.cpp.
#include "site/store/forget.hpp"

#include <gmock/gmock.h>

#include "site/store/test_store_checks.hpp"
#include "site/store/test_stores.hpp"

namespace goban::site::store {

using testing::HasSubstr;
using testing::Not;

namespace {

std::string jobs_of(int begin, int end, const std::string& seldom) {
  std::string out = records::records_csv_header();
  for (int i = begin; i < end; ++i) {
    const std::string id = fmt::format("{}", i);
    const bool hers = i % 4 == 0;
    const std::string group = hers ? seldom + "_group" : "staff";
    const std::vector<std::string_view> software = {hers ? "annegrets-container" : "cuda"};
    records::AccountingRecord r;
    r.id = id;
    r.job_number = i;
    r.user = hers ? std::string_view(seldom) : "bob";
    r.group = group;
    r.account = "physics";
    r.software = software;
    r.submit_ns = at("2019-03-20 00:00:00") + int64_t{i} * 86'400 * base::kSecond;
    r.start_ns = r.submit_ns;
    r.end_ns = r.start_ns + 3'600 * base::kSecond;
    r.state = records::RecordedState::Completed;
    r.num_gpus = 2;
    r.num_nodes = 1;
    records::append_records_csv(out, r);
  }
  return out;
}

/// The bytes of a SQLite store; empty for other databases.
std::string bytes_of(const std::string& location) {
  std::string out;
  for (const char* part : {"", "-wal"}) {
    std::ifstream file(location + part, std::ios::binary);
    out.append(std::istreambuf_iterator<char>(file), {});
  }
  return out;
}

double gpu_seconds(JobStore& store) {
  double sum = 0;
  EXPECT_TRUE(store.daily_sums([&](const DailySum& each) { sum += each.gpu_s; }));
  return sum;
}

std::string users_of_sums(JobStore& store) {
  std::string out;
  EXPECT_TRUE(store.daily_sums([&](const DailySum& each) { out += std::string(each.user) + " "; }));
  return out;
}

}  // namespace

void check_forgetting(TestServer& server) {
  const std::string location = server.fresh();
  {
    JobStore store = open_store(location);
    import_text(store, jobs_of(0, 40, "annegret"));
    ASSERT_TRUE(store.reduce_before(2019));  // the first days are reduced to sums
    const double before = gpu_seconds(store);
    const std::string bobs = export_of(store, {.user = "bob"});
    const auto found = find_user_records(store.connection(), "annegret");
    ASSERT_TRUE(found);
    EXPECT_GT(found->days, 0);
    EXPECT_EQ(found->jobs + found->days, 10);
    EXPECT_THAT(export_of(store), HasSubstr("annegret"));

    const auto forgotten = store.forget("annegret");
    ASSERT_TRUE(forgotten) << forgotten.error().text();
    EXPECT_EQ(forgotten->jobs, found->jobs);
    EXPECT_THAT(forgotten->name_now, HasSubstr("forgotten-"));
    EXPECT_EQ(gpu_seconds(store), before) << "sums stay";
    EXPECT_EQ(export_of(store, {.user = "bob"}), bobs) << "others stay";
    EXPECT_THAT(export_of(store), Not(HasSubstr("annegret")));
    EXPECT_THAT(export_of(store), HasSubstr(forgotten->name_now));
    EXPECT_THAT(users_of_sums(store), Not(HasSubstr("annegret")));
    EXPECT_EQ(bytes_of(location).find("annegret"), std::string::npos) << "in a free page";
    const auto again = store.forget("annegret");
    ASSERT_TRUE(again);
    EXPECT_EQ(again->jobs + again->days, 0);
    EXPECT_EQ(again->name_now, "");
    // The same user name imported again is a new user.
    import_text(store, jobs_of(40, 41, "annegret"));
    EXPECT_EQ(find_user_records(store.connection(), "annegret")->jobs, 1);
    EXPECT_EQ(find_user_records(store.connection(), forgotten->name_now)->jobs, found->jobs);
  }
}

}  // namespace goban::site::store
