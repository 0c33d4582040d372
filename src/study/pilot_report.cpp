#include "study/pilot_report.hpp"

#include <algorithm>
#include <array>
#include <fmt/format.h>

#include "base/date_time.hpp"
#include "base/html_text.hpp"
#include "base/units.hpp"

namespace goban::study {
namespace {

using core::pilot::Arm;
using core::pilot::Comparison;
using core::pilot::Outcomes;
using core::pilot::Ratio;
using core::pilot::Verdict;
using site::analysis::Language;

struct Table {
  std::vector<std::string> head;
  std::vector<std::vector<std::string>> rows;
};

struct Page {
  std::string title;
  std::string verdict;
  std::string meaning;
  Table totals;
  std::vector<std::string> ratios;
  std::string method_title;
  std::vector<std::string> method;
  std::string pairs_title;
  Table pairs;
};

/// The words of core::pilot::harm_text() in Japanese. What operators wrote stays.
std::string japanese_detail(std::string text) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 6> kWords = {{
      {"slowdown: ", "スローダウン："},
      {"misses: ", "期限超過・強制終了："},
      {"errors: ", "異常終了："},
      {" on average under B, ", "（B の平均）、"},
      {" of the jobs under B, ", "（B のジョブ）、"},
      {" under A", "（A）"},
  }};
  const bool is_harm =
      std::ranges::any_of(kWords.begin(), kWords.begin() + 3,
                          [&](const auto& word) { return text.starts_with(word.first); });
  if (!is_harm) return text;
  for (const auto& [english, japanese] : kWords) {
    const size_t at = text.find(english);
    if (at != std::string::npos) text.replace(at, english.size(), japanese);
  }
  return text;
}

std::string listed(const std::vector<std::string>& names) {
  constexpr size_t kShown = 8;
  std::string out;
  for (size_t i = 0; i < std::min(names.size(), kShown); ++i) {
    out += (i > 0 ? ", " : "") + names[i];
  }
  if (names.size() > kShown) out += fmt::format(", ... ({})", names.size());
  return out;
}

class Writer {
 public:
  Writer(const PilotFacts& facts, Language language)
      : facts_(facts), japanese_(language == Language::Japanese), shown_(facts.comparison()) {}

  [[nodiscard]] Page page() const {
    const core::pilot::Plan& plan = facts_.plan;
    Page page;
    page.title = say(fmt::format("Pilot: {} against {}", plan.policy_b, plan.policy_a),
                     fmt::format("試行運用：{}（現行 {} との比較）", plan.policy_b, plan.policy_a));
    page.verdict = verdict();
    page.meaning = meaning();
    page.totals = totals();
    if (shown_.wait) {
      page.ratios.push_back(ratio(say("Mean wait + 1 min", "平均待ち時間 + 1 分"), *shown_.wait));
    }
    if (shown_.overall_wait) {
      page.ratios.push_back(say(fmt::format("Mean wait of all compared jobs of these pairs: {:.3f} "
                                            "of {}",
                                            *shown_.overall_wait, plan.policy_a),
                                fmt::format("これらの組の比較対象ジョブ全体の平均待ち時間：{} の "
                                            "{:.3f} 倍",
                                            plan.policy_a, *shown_.overall_wait)));
    }
    if (shown_.slowdown) {
      page.ratios.push_back(ratio(say("Mean slowdown", "平均スローダウン"), *shown_.slowdown));
    }
    page.method_title = say("How it was done", "実施方法");
    page.method = method();
    page.pairs_title = say("Pairs of periods: mean wait", "期間の組ごとの平均待ち時間");
    page.pairs = pairs();
    return page;
  }

 private:
  [[nodiscard]] std::string say(std::string english, std::string japanese) const {
    return japanese_ ? std::move(japanese) : std::move(english);
  }

  [[nodiscard]] std::string verdict() const {
    const core::pilot::Plan& plan = facts_.plan;
    const double percent = shown_.wait ? 100 * (1 - shown_.wait->value) : 0;
    switch (shown_.verdict) {
      case Verdict::Gain:
        return say(
            fmt::format("Gain: in the typical pair of periods, the mean wait + 1 min is {:.0f} % "
                        "shorter under {}.",
                        percent, plan.policy_b),
            fmt::format("改善あり：典型的な期間の組で、{} では「平均待ち時間 + 1 分」が {:.0f} % "
                        "短い。",
                        plan.policy_b, percent));
      case Verdict::Loss:
        return say(
            fmt::format("Loss: in the typical pair of periods, the mean wait + 1 min is {:.0f} % "
                        "longer under {}.",
                        -percent, plan.policy_b),
            fmt::format("悪化：典型的な期間の組で、{} では「平均待ち時間 + 1 分」が {:.0f} % "
                        "長い。",
                        plan.policy_b, -percent));
      case Verdict::NoGain:
        return say(fmt::format("No gain of {:.0f} % or more.", 100 * plan.effect),
                   fmt::format("{:.0f} % 以上の改善はない。", 100 * plan.effect));
      case Verdict::NotEnoughData:
        if (shown_.contradicts) return say("No clear result.", "明確な結果は得られなかった。");
        return say("Not enough data.", "データ不足のため判定できない。");
    }
    return {};
  }

  [[nodiscard]] std::string meaning() const {
    if (facts_.fell_back) {
      return say(
          fmt::format("A stop rule ended the pilot, so that it has no verdict: {}.{}",
                      facts_.detail,
                      facts_.decides.empty() ? "" : " " + facts_.decides + " decides now."),
          fmt::format(
              "停止条件により試行を打ち切ったため、判定しない（{}）。{}",
              japanese_detail(facts_.detail),
              facts_.decides.empty() ? "" : "現在のポリシーは " + facts_.decides + " である。"));
    }
    if (facts_.runs) {
      return say(
          "The pilot is not over. There is no verdict before its planned end: who may choose "
          "the end can choose the result.",
          "試行はまだ終わっていない。終了時点を選べば結果も選べてしまうため、計画した終了までは"
          "判定しない。");
    }
    if (!facts_.is_over) {
      return say(fmt::format("The pilot ended before its plan ({}), so that it shows nothing.",
                             facts_.detail),
                 fmt::format("計画より前に終了した（{}）ため、何も示さない。",
                             japanese_detail(facts_.detail)));
    }
    if (!shown_.wait) {
      return say(fmt::format("{} of {} pairs of periods have enough jobs; at least 6 are needed.",
                             shown_.pairs, facts_.plan.pairs),
                 fmt::format("ジョブ数が足りる期間の組は {} 組中 {} 組で、6 組以上が必要。",
                             facts_.plan.pairs, shown_.pairs));
    }
    if (shown_.contradicts) {
      return say(
          "The typical pair of periods and the mean of all jobs differ in opposite ways: a few "
          "pairs outweigh the others. Look at the pairs below.",
          "典型的な期間の組と全ジョブの平均とで、差の向きが逆である。少数の組の影響が大きい。"
          "下の組ごとの表を確認すること。");
    }
    switch (shown_.verdict) {
      case Verdict::Gain:
      case Verdict::Loss:
        return say(
            "The 95 % interval does not contain 1: without an effect, at most 1 pilot in 40 "
            "shows such a result.",
            "95 % 信頼区間は 1 を含まない。効果がない場合にこのような結果が出る試行は 40 回に 1 "
            "回以下である。");
      case Verdict::NoGain:
        return say("The 95 % interval excludes a gain of the size that matters.",
                   "95 % 信頼区間は、意味のある大きさの改善を含まない。");
      case Verdict::NotEnoughData:
        return say(fmt::format("The 95 % interval contains both no difference and a gain of {:.0f} "
                               "%. A longer pilot could tell them apart.",
                               100 * facts_.plan.effect),
                   fmt::format("95 % 信頼区間は「差なし」と「{:.0f} % の改善」の両方を含む。"
                               "より長い試行が必要である。",
                               100 * facts_.plan.effect));
    }
    return {};
  }

  [[nodiscard]] std::string ratio(const std::string& name, const Ratio& of) const {
    return say(fmt::format("{} in the typical pair: {:.3f} of {} (95 % interval {:.3f} to {:.3f}, "
                           "{} pairs)",
                           name, of.value, facts_.plan.policy_a, of.low, of.high, shown_.pairs),
               fmt::format("典型的な組の{}：{} の {:.3f} 倍（95 % 信頼区間 {:.3f}～{:.3f}、{} 組）",
                           name, facts_.plan.policy_a, of.value, of.low, of.high, shown_.pairs));
  }

  [[nodiscard]] static std::string share(int64_t part, int64_t whole) {
    return whole == 0 ? "-"
                      : fmt::format("{:.1f} %",
                                    100.0 * static_cast<double>(part) / static_cast<double>(whole));
  }
  [[nodiscard]] static std::string wait(const Outcomes& of) {
    if (of.judged == 0) return "-";
    return base::human_seconds(of.wait_s / static_cast<double>(of.judged));
  }

  [[nodiscard]] Table totals() const {
    Table table;
    table.head = {say("policy", "ポリシー"),       say("jobs", "ジョブ"),
                  say("judged", "比較対象"),       say("mean wait", "平均待ち時間"),
                  say("slowdown", "スローダウン"), say("late or killed", "期限超過・強制終了"),
                  say("failed", "異常終了"),       say("GPU-hours", "GPU 時間")};
    for (const Arm arm : {Arm::A, Arm::B}) {
      const Outcomes of = core::pilot::of_arm(facts_.plan, facts_.periods, arm);
      table.rows.push_back(
          {arm == Arm::A ? facts_.plan.policy_a : facts_.plan.policy_b, std::to_string(of.jobs),
           std::to_string(of.judged), wait(of),
           of.judged == 0 ? "-"
                          : fmt::format("{:.2f}", of.slowdown / static_cast<double>(of.judged)),
           share(of.missed, of.jobs), share(of.failed, of.jobs),
           fmt::format("{:.0f}", of.gpu_hours)});
    }
    return table;
  }

  [[nodiscard]] std::vector<std::string> method() const {
    const core::pilot::Plan& plan = facts_.plan;
    const std::string from = base::date_time_text(facts_.started_ns) + " UTC";
    const std::string to = base::date_time_text(facts_.until_ns) + " UTC";
    const std::string period = base::duration_text(plan.period_ns);
    const std::string settle = base::duration_text(plan.settle_ns);
    std::vector<std::string> lines;
    if (plan.is_limited()) {
      std::vector<std::string> people = plan.users;
      people.insert(people.end(), plan.accounts.begin(), plan.accounts.end());
      lines.push_back(
          say("Each policy in its turn " + pilot_limits_text(plan) +
                  " only, and both have these nodes alone; the site's policy decides about "
                  "everything else.",
              fmt::format("対象はノード {} と {} のジョブに限る。どちらのポリシーもこれらのノード"
                          "だけを使い、その他は現行のポリシーが決める。",
                          listed(plan.nodes), listed(people))));
    }
    const std::vector<std::string> rest = {
        say(fmt::format(
                "From {} to {}: {} pairs of periods of {}, one of each policy; seed {} drew "
                "which came first.",
                from, to, plan.pairs, period, plan.seed),
            fmt::format("{} から {} まで。1 期間 {}、両ポリシーを 1 期間ずつ含む {} 組。"
                        "組の中の順序は乱数の種 {} で決めた。",
                        from, to, period, plan.pairs, plan.seed)),
        say(fmt::format("A job counts for the period of its submission; those of the first {} of a "
                        "period are left out, as queues are carried over.",
                        settle),
            fmt::format(
                "ジョブは投入された期間に数える。前の期間の待ち行列が残るため、各期間の最初の "
                "{} は比較から除く。",
                settle)),
        say("What is carried over all the same makes an effect look smaller, not larger.",
            "それでも残る持ち越しは、効果を小さく見せる方向に働く。"),
        say(fmt::format(
                "Stop rules: slowdown above {:g} times, {:g} points more late or killed jobs, "
                "{:g} points more failed ones, from {} jobs on.",
                plan.stop.slowdown, 100 * plan.stop.misses, 100 * plan.stop.errors, plan.stop.jobs),
            fmt::format(
                "停止条件（{} ジョブ以上から）：スローダウンが {:g} 倍を超える、期限超過・強制"
                "終了が {:g} ポイント多い、異常終了が {:g} ポイント多い。",
                plan.stop.jobs, plan.stop.slowdown, 100 * plan.stop.misses,
                100 * plan.stop.errors)),
        say("The result holds for the load of these days; other loads are not shown.",
            "結果はこの期間の負荷についてのもので、ほかの負荷については示さない。")};
    lines.insert(lines.end(), rest.begin(), rest.end());
    return lines;
  }

  [[nodiscard]] Table pairs() const {
    Table table;
    table.head = {say("pair", "組"), say("first", "先の期間"), facts_.plan.policy_a,
                  facts_.plan.policy_b};
    for (size_t first = 0; first + 1 < facts_.complete(); first += 2) {
      const bool b_first = facts_.plan.arm(static_cast<int32_t>(first)) == Arm::B;
      table.rows.push_back({std::to_string(first / 2 + 1),
                            b_first ? facts_.plan.policy_b : facts_.plan.policy_a,
                            wait(facts_.periods[first + (b_first ? 1 : 0)]),
                            wait(facts_.periods[first + (b_first ? 0 : 1)])});
    }
    return table;
  }

  const PilotFacts& facts_;
  bool japanese_;
  Comparison shown_;
};

std::string text_of(const Table& table) {
  std::string out;
  for (size_t row = 0; row < table.rows.size(); ++row) {
    for (size_t i = 0; i < table.head.size(); ++i) {
      out += fmt::format("{}{}: {}", i == 0 ? "  " : ", ", table.head[i], table.rows[row][i]);
    }
    out += '\n';
  }
  return out;
}

std::string html_of(const Table& table) {
  // A table that is wider than a phone is scrolled, by keyboard, too.
  std::string out =
      "<div class=\"wide\" tabindex=\"0\" role=\"group\" aria-label=\"Table\"><table><tr>";
  for (const std::string& each : table.head) out += "<th>" + base::html_escaped(each) + "</th>";
  out += "</tr>\n";
  for (const auto& row : table.rows) {
    out += "<tr>";
    for (const std::string& each : row) out += "<td>" + base::html_escaped(each) + "</td>";
    out += "</tr>\n";
  }
  return out + "</table></div>\n";
}

constexpr std::string_view kStyle =
    "body{font:15px/1.5 sans-serif;max-width:50em;margin:2em auto;padding:0 1em;color:#222;"
    "background:#fff}h1{font-size:1.3em}h2{font-size:1.05em}.verdict{font-size:1.5em;"
    "font-weight:bold;margin:.3em 0}table{border-collapse:collapse;margin:1em 0}th,td{padding:.2em "
    ".7em;border-bottom:1px solid #ccc;text-align:right}th:first-child,td:first-child{text-align:"
    "left}.wide{overflow-x:auto}@media print{body{margin:0}}";

}  // namespace

std::string pilot_limits_text(const core::pilot::Plan& plan) {
  std::string people = listed(plan.users);
  if (!plan.accounts.empty()) {
    people += (people.empty() ? "" : " and ") + ("accounts " + listed(plan.accounts));
  }
  return fmt::format("decides on nodes {} about the jobs of {}", listed(plan.nodes), people);
}

size_t PilotFacts::complete() const {
  const bool at_end = is_over && !fell_back;
  return at_end ? periods.size() : std::min(periods.size(), static_cast<size_t>(period));
}

Comparison PilotFacts::comparison() const {
  return core::pilot::compare(plan, std::span(periods).first(complete()), is_over && !fell_back);
}

std::string pilot_text(const PilotFacts& facts, Language language) {
  const Page page = Writer(facts, language).page();
  std::string out = page.title + "\n\n" + page.verdict + " " + page.meaning + "\n\n";
  out += text_of(page.totals);
  for (const std::string& each : page.ratios) out += each + "\n";
  out += "\n" + page.method_title + "\n";
  for (const std::string& each : page.method) out += "  " + each + "\n";
  if (!page.pairs.rows.empty()) out += "\n" + page.pairs_title + "\n" + text_of(page.pairs);
  return out;
}

std::string pilot_html(const PilotFacts& facts, Language language) {
  const Page page = Writer(facts, language).page();
  std::string out = fmt::format(
      "<!doctype html>\n<html lang=\"{}\"><head><meta charset=\"utf-8\"><meta name=\"viewport\" "
      "content=\"width=device-width\"><title>{}</title>"
      "<style>{}</style></head><body><main>\n<h1>{}</h1>\n<p class=\"verdict\">{}</p>\n<p>{}</p>\n",
      language == Language::Japanese ? "ja" : "en", base::html_escaped(page.title), kStyle,
      base::html_escaped(page.title), base::html_escaped(page.verdict),
      base::html_escaped(page.meaning));
  out += html_of(page.totals);
  for (const std::string& each : page.ratios) out += "<p>" + base::html_escaped(each) + "</p>\n";
  out += "<h2>" + page.method_title + "</h2>\n<ul>\n";
  for (const std::string& each : page.method) out += "<li>" + base::html_escaped(each) + "</li>\n";
  out += "</ul>\n";
  if (!page.pairs.rows.empty()) out += "<h2>" + page.pairs_title + "</h2>\n" + html_of(page.pairs);
  return out + "</main></body></html>\n";
}

}  // namespace goban::study
