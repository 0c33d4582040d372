#include "base/csv.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace goban::base {
namespace {

using testing::ElementsAre;
using Rows = std::vector<std::vector<std::string>>;

Rows rows_of(CsvReader& csv) {
  Rows rows;
  while (csv.next()) {
    rows.emplace_back();
    for (size_t i = 0; i < csv.num_fields(); ++i) rows.back().emplace_back(csv.field(i));
  }
  return rows;
}

TEST(Csv, ReadsRowsByTheirHeader) {
  CsvReader csv("id,name\n1,ann\n2,bob", "x.csv");
  EXPECT_THAT(csv.header(), ElementsAre("id", "name"));
  EXPECT_EQ(csv.column("name"), 1u);
  EXPECT_FALSE(csv.column("age"));
  EXPECT_EQ(rows_of(csv), (Rows{{"1", "ann"}, {"2", "bob"}}));
  EXPECT_TRUE(csv.status());
}

TEST(Csv, UnquotesFields) {
  CsvReader csv("a,b,c\n\"x,y\",\"say \"\"hi\"\"\",\"\"\n\"\"\"\",\"two\nlines\",z\n", "x.csv");
  EXPECT_EQ(rows_of(csv), (Rows{{"x,y", "say \"hi\"", ""}, {"\"", "two\nlines", "z"}}));
  EXPECT_TRUE(csv.status());
}

TEST(Csv, TakesCarriageReturnsByteOrderMarkAndBlankLines) {
  CsvReader csv("\xEF\xBB\xBF\"a\",b\r\n\r\n1,\"2\"\r\n\n3,\r\n", "x.csv");
  EXPECT_THAT(csv.header(), ElementsAre("a", "b"));
  EXPECT_EQ(rows_of(csv), (Rows{{"1", "2"}, {"3", ""}}));
}

TEST(Csv, KeepsShortAndLongRows) {
  CsvReader csv("a,b\n1\n1,2,3\n,\n", "x.csv");
  ASSERT_TRUE(csv.next());
  EXPECT_EQ(csv.num_fields(), 1u);
  EXPECT_EQ(csv.field(1), "");
  ASSERT_TRUE(csv.next());
  EXPECT_EQ(csv.num_fields(), 3u);
  EXPECT_EQ(csv.row(), "1,2,3");
  ASSERT_TRUE(csv.next());
  EXPECT_EQ(csv.num_fields(), 2u);
  EXPECT_FALSE(csv.next());
  EXPECT_EQ(csv.num_fields(), 0u);
}

TEST(Csv, PlacesNameFileLineColumnAndField) {
  CsvReader csv("a,b\n\"x\ny\",7\n3,4\n", "x.csv");
  ASSERT_TRUE(csv.next());
  EXPECT_EQ(csv.line(), 2);
  EXPECT_EQ(csv.place(0).line, 2);
  EXPECT_EQ(csv.place(0).column, 1);
  EXPECT_EQ(csv.place(1).line, 3);
  EXPECT_EQ(csv.place(1).column, 4);
  ASSERT_TRUE(csv.next());
  EXPECT_EQ(csv.line(), 4);
  const Error error{ErrorCode::BadData, "bad", csv.place(1), {}};
  EXPECT_EQ(error.text(), "x.csv:4:3: b: bad");
  EXPECT_EQ(csv.place(9).line, 4);
}

TEST(Csv, RefusesBrokenQuotes) {
  CsvReader open("a,b\n1,2\n3,\"4\n5,6\n", "x.csv");
  EXPECT_EQ(rows_of(open).size(), 1u);
  ASSERT_FALSE(open.status());
  EXPECT_THAT(open.status().error().text(),
              testing::StartsWith("x.csv:3:3: b: this quoted field is not closed"));
  CsvReader text("a,b\n\"1\"2,3\n", "x.csv");
  EXPECT_FALSE(text.next());
  EXPECT_FALSE(text.next());
  ASSERT_FALSE(text.status());
  EXPECT_THAT(text.status().error().text(), testing::StartsWith("x.csv:2:4: a: unexpected text"));
}

TEST(Csv, RequiredColumnsAreThereOnce) {
  CsvReader csv("a,b,b\n", "x.csv");
  EXPECT_EQ(csv.require("a"), 0u);
  ASSERT_FALSE(csv.require("c"));
  EXPECT_THAT(csv.require("c").error().text(), testing::HasSubstr("a, b, b"));
  ASSERT_FALSE(csv.require("b"));
  CsvReader empty("", "x.csv");
  EXPECT_FALSE(empty.next());
  ASSERT_FALSE(empty.require("a"));
  EXPECT_THAT(empty.require("a").error().text(), testing::StartsWith("x.csv: the file is empty"));
}

TEST(Csv, FieldsReadBackAsWritten) {
  const std::vector<std::string> fields = {"plain", "", "a,b", "say \"hi\"", "two\r\nlines", " x "};
  std::string text = "h\n";
  for (size_t i = 0; i < fields.size(); ++i) {
    if (i > 0) text += ',';
    append_csv_field(text, fields[i]);
  }
  CsvReader csv(text, "x.csv");
  EXPECT_EQ(rows_of(csv), Rows{fields});
}

}  // namespace
}  // namespace goban::base
