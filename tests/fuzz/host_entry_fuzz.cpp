// A list of host entries, one a line. Each is judged as the expressions of the specification judge it, is kept as it is or
// refused whole, and what is composed of a list names its entries and nothing else.

#include "egress/host_entry.hpp"
#include "egress/per_sandbox_policy.hpp"
#include "tests/fuzz/require.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstdint>
#include <regex>
#include <set>
#include <string>
#include <string_view>
#include <vector>

using namespace paddock::egress;
using paddock::require;

namespace {

/// The rules of [E] 1.3 as they are written there.
bool good(std::string entry) {
  static const auto grammar = std::regex{R"([a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*)"};
  static const auto digits = std::regex{R"((.*\.)?[0-9]+)"};
  for (auto& x : entry)
    x = x >= 'A' && x <= 'Z' ? static_cast<char>(x + 32) : x;
  auto dot = !entry.empty() && entry.front() == '.';
  auto name = entry.substr(dot ? 1 : 0);
  return std::regex_match(name, grammar) && name.size() <= 253 && !(dot && name.find('.') == std::string::npos)
         && !std::regex_match(name, digits);
}

void judge_one(const std::string& text) {
  auto got = host_entry::parse(text);
  require(got.has_value() == good(text));
  if (!got) {
    auto said = to_string(got.error());
    require(std::none_of(said.begin(), said.end(), [](char x) { return (x >= 0 && x < 0x20) || x == 0x7f; }));
    require(said.find("nothing was written") != std::string::npos);
    return;
  }
  require(got->text() == text);
  auto low = got->lowered();
  require(is_dns_name(low.name()) && low.lowered() == low && low.whole_domain() == (text.front() == '.'));
  require(host_entry::parse(low.text()) == low && low.covers(low));
}

/// What the rules of a policy name, a pattern as the entry that it comes from.
std::set<std::string> named(const nlohmann::json& rules) {
  auto got = std::set<std::string>{};
  for (const auto& rule : rules)
    for (const auto& x : rule.value("toFQDNs", nlohmann::json::array()))
      got.insert(x.contains("matchName") ? x["matchName"].get<std::string>() : x["matchPattern"].get<std::string>().substr(1));
  return got;
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0 || size > 600)
    return 0;
  auto text = std::string{reinterpret_cast<const char*>(data), size};
  auto how = per_sandbox_egress{"fence"};
  if ((text[0] & 3) != 0) {
    how.narrowing = narrowing{};
    how.narrowing->tls_server_names = (text[0] & 1) != 0;
    if ((text[0] & 2) != 0)
      how.narrowing->ports = {443, 22};
  }
  auto entries = std::vector<std::string>{};
  for (auto from = std::size_t{1}; from <= size;) {
    auto end = std::min(text.find('\n', from), size);
    entries.push_back(text.substr(from, end - from));
    from = end + 1;
  }
  for (const auto& x : entries)
    judge_one(x);
  auto all_good = std::all_of(entries.begin(), entries.end(), good);
  auto domain = std::any_of(entries.begin(), entries.end(), [](const auto& x) { return !x.empty() && x.front() == '.'; });
  auto hosts = per_sandbox_hosts(how, entries);
  require(hosts.has_value() == (all_good && !(domain && (text[0] & 1) != 0)));
  if (!hosts || hosts->empty())
    return 0;
  auto expected = std::set<std::string>{};
  for (const auto& x : *hosts) {
    expected.insert(x.name());
    if (x.whole_domain())
      expected.insert(x.text());
  }
  auto policy = per_sandbox_policy(how, "ns", {policy_owner::type::sandbox, "s", "u"}, "s", *hosts);
  require(policy.has_value());
  require(named(policy->manifest["spec"]["egress"]) == expected);
  return 0;
}
