#include "live/journal/journal_text.hpp"

#include <gmock/gmock.h>

namespace goban::live::journal {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

/// A header, then these commits of records.
std::string text_of(const std::vector<std::vector<std::string>>& commits) {
  std::string text;
  append_line(text, {}, to_text({.kind = "journal", .generation = {1, 1}}));
  uint64_t number = 0;
  for (const auto& commit : commits) {
    ++number;
    uint64_t index = 0;
    for (const auto& record : commit) append_line(text, {number, index++}, record);
  }
  return text;
}

TEST(JournalText, LinesAreAsDocumented) {
  std::string text;
  append_line(text, {.commit = 7, .index = 2}, "job 3 ended");
  EXPECT_EQ(text, "6c7947ac 11 7.2 job 3 ended\n");  // python3: zlib.crc32(b"11 7.2 job 3 ended")
}

TEST(JournalText, ReadsBackWhatWasWritten) {
  const std::string text = text_of({{"a", ""}, {"c d"}});
  const auto lines = read_journal_text(text, "j");
  ASSERT_TRUE(lines) << lines.error().text();
  EXPECT_THAT(lines->records, ElementsAre("a", "", "c d"));
  EXPECT_EQ(lines->last_commit, 2U);
  EXPECT_EQ(lines->good_bytes, text.size());
}

TEST(JournalText, HeaderSaysWhereItStands) {
  const JournalHeader header{
      .kind = "journal", .build = "0.4", .generation = {3, 9}, .before = {2, 8}, .repeats = true};
  const auto read = parse_header(to_text(header), "j");
  ASSERT_TRUE(read);
  EXPECT_EQ(read->kind, "journal");
  EXPECT_EQ(read->build, "0.4");
  EXPECT_EQ(read->generation, (Generation{3, 9}));
  EXPECT_EQ(read->before, (Generation{2, 8}));
  EXPECT_TRUE(read->repeats);
}

TEST(JournalText, HeaderSaysWhatDecisionsWereMadeWith) {
  const std::vector<MadeWith> made = {{.facts = {{"policy", "goban"}, {"seed", "1"}}},
                                      {.from = 7, .facts = {{"policy", "fifo \"x\""}}}};
  const auto read = parse_header(to_text({.kind = "journal", .made_with = made}), "j");
  ASSERT_TRUE(read);
  EXPECT_EQ(read->made_with, made);
  const auto old = parse_header(to_text({.kind = "journal"}), "j");
  ASSERT_TRUE(old);
  EXPECT_TRUE(old->made_with.empty()) << "of release 0.1";
  EXPECT_FALSE(parse_header(R"({"goban":"journal","version":1,"made_with":[3]})", "j"));
  EXPECT_TRUE(
      parse_header(R"({"goban":"journal","version":1,"made_with":[{"facts":{"a":1}}]})", "j"));
}

TEST(JournalText, NewerVersionIsRefused) {
  const auto read = parse_header(R"({"goban":"journal","version":2,"build":"9.1"})", "j");
  ASSERT_FALSE(read);
  EXPECT_THAT(read.error().text(), HasSubstr("goban 9.1"));
}

TEST(JournalText, TailIsLeftOutWhereverItIsCut) {
  const std::string all = text_of({{"a"}, {"b"}, {"last one"}});
  const size_t whole = text_of({{"a"}, {"b"}}).size();
  for (size_t size = whole; size < all.size(); ++size) {
    const auto lines = read_journal_text(std::string_view(all).substr(0, size), "j");
    ASSERT_TRUE(lines) << size << ": " << lines.error().text();
    EXPECT_THAT(lines->records, ElementsAre("a", "b"));
    EXPECT_EQ(lines->good_bytes, whole);
  }
}

TEST(JournalText, EveryFlippedBitIsFound) {
  const std::string all = text_of({{"alpha", "beta"}, {"gamma"}, {"delta"}});
  const size_t last = text_of({{"alpha", "beta"}, {"gamma"}}).size();
  for (size_t at = 0; at < all.size(); ++at) {
    for (int bit = 0; bit < 8; ++bit) {
      std::string text = all;
      text[at] = static_cast<char>(text[at] ^ (1 << bit));
      const auto lines = read_journal_text(text, "j");
      if (at < last) {
        ASSERT_FALSE(lines) << "byte " << at << " bit " << bit;
        EXPECT_THAT(lines.error().text(), HasSubstr("byte "));
      } else {
        ASSERT_TRUE(lines) << "byte " << at << " bit " << bit;
        EXPECT_THAT(lines->records, ElementsAre("alpha", "beta", "gamma"));
      }
    }
  }
}

TEST(JournalText, LastCommitMayHaveReachedTheDiskOutOfOrder) {
  const std::string before = text_of({{"a"}});
  const std::string all = text_of({{"a"}, {"first", "second", "third"}});
  std::string text = all;
  text[before.size() + 15] ^= 1;  // in "first"; "second" and "third" are intact
  const auto lines = read_journal_text(text, "j");
  ASSERT_TRUE(lines) << lines.error().text();
  EXPECT_THAT(lines->records, ElementsAre("a"));
}

TEST(JournalText, DamageBeforeTheLastCommitIsNoTail) {
  const std::string before = text_of({{"a"}});
  std::string text = text_of({{"a"}, {"b", "c"}, {"d"}});
  text[before.size() + 15] ^= 1;  // in "b"; "d" is of another commit than "c"
  const auto lines = read_journal_text(text, "j");
  ASSERT_FALSE(lines);
  EXPECT_EQ(lines.error().place.field, "byte " + std::to_string(before.size()));
}

TEST(JournalText, MissingLinesAreFound) {
  std::string text = text_of({{"a"}});
  append_line(text, {3, 0}, "c");
  EXPECT_THAT(read_journal_text(text, "j").error().text(), HasSubstr("missing"));
  std::string twice = text_of({{"a"}});
  append_line(twice, {1, 0}, "a");
  EXPECT_FALSE(read_journal_text(twice, "j"));
}

}  // namespace
}  // namespace goban::live::journal
