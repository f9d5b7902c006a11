#include "embedded/cel_function.hpp"

#include <algorithm>
#include <array>
#include <map>

namespace paddock::embedded::cel {

namespace {

/// Reads `string.split(string) list(string)`.
void add(std::vector<overload>& to, std::string_view signature, evaluated (*run)(arguments)) {
  overload out;
  const auto open = signature.find('(');
  // The closing bracket of the arguments: the first at depth 0.
  std::size_t close = open;
  for (int depth = 0; close < signature.size(); ++close) {
    depth += signature[close] == '(' ? 1 : signature[close] == ')' ? -1 : 0;
    if (depth == 0)
      break;
  }
  const auto head = signature.substr(0, open);
  // `optional.of` and `sets.contains` are names with a dot; a type stands before the dot of a member.
  const auto dot = head.starts_with("optional.") || head.starts_with("sets.") ? std::string_view::npos : head.rfind('.');
  out.member = dot != std::string_view::npos && dot != 0;
  out.name = head.substr(out.member ? dot + 1 : 0);
  std::string takes{"list("};
  if (out.member)
    takes += std::string{head.substr(0, dot)} + (close > open + 1 ? ", " : "");
  takes += std::string{signature.substr(open + 1, close - open - 1)} + ")";
  if (takes != "list()")
    out.takes = read_type(takes).of;
  out.gives = read_type(signature.substr(close + 2));
  out.run = run;
  to.push_back(std::move(out));
}

using table = std::map<std::pair<std::string, bool>, std::vector<overload>, std::less<>>;

const table& all_overloads() {
  static const auto out = [] {
    std::vector<overload> all;
    add_operators(all, &add);
    add_conversions(all, &add);
    add_texts(all, &add);
    add_lists(all, &add);
    table by_name;
    for (auto& x : all)
      by_name[{x.name, x.member}].push_back(std::move(x));
    return by_name;
  }();
  return out;
}

constexpr std::array<std::string_view, 71> elsewhere{"quantity",
                                                     "isQuantity",
                                                     "sign",
                                                     "isInteger",
                                                     "asInteger",
                                                     "asApproximateFloat",
                                                     "isGreaterThan",
                                                     "isLessThan",
                                                     "compareTo",
                                                     "add",
                                                     "sub",
                                                     "url",
                                                     "isURL",
                                                     "getScheme",
                                                     "getHost",
                                                     "getHostname",
                                                     "getPort",
                                                     "getEscapedPath",
                                                     "getQuery",
                                                     "ip",
                                                     "isIP",
                                                     "ip.isCanonical",
                                                     "family",
                                                     "isUnspecified",
                                                     "isLoopback",
                                                     "isLinkLocalMulticast",
                                                     "isLinkLocalUnicast",
                                                     "isGlobalUnicast",
                                                     "cidr",
                                                     "isCIDR",
                                                     "containsIP",
                                                     "containsCIDR",
                                                     "prefixLength",
                                                     "masked",
                                                     "duration",
                                                     "timestamp",
                                                     "getDate",
                                                     "getDayOfMonth",
                                                     "getDayOfWeek",
                                                     "getDayOfYear",
                                                     "getFullYear",
                                                     "getHours",
                                                     "getMilliseconds",
                                                     "getMinutes",
                                                     "getMonth",
                                                     "getSeconds",
                                                     "format",
                                                     "optMap",
                                                     "optFlatMap",
                                                     "semver",
                                                     "isSemver",
                                                     "major",
                                                     "minor",
                                                     "patch",
                                                     "namedFormat",
                                                     "validate",
                                                     "check",
                                                     "resource",
                                                     "group",
                                                     "serviceAccount",
                                                     "path",
                                                     "allowed",
                                                     "reason",
                                                     "errored",
                                                     "error",
                                                     "subresource",
                                                     "namespace",
                                                     "name",
                                                     "fieldSelector",
                                                     "labelSelector",
                                                     "findAll"};

} // namespace

std::span<const overload> overloads_of(std::string_view name, bool member) {
  const auto found = all_overloads().find(std::pair{std::string{name}, member});
  return found == all_overloads().end() ? std::span<const overload>{} : found->second;
}

const overload* choose(std::string_view name, bool member, std::span<const value> given) {
  std::vector<type::kind> kinds;
  for (const auto& x : given)
    kinds.push_back(read_type(x.type_name()).what);
  const auto is = [](type::kind have, const type& wanted) { return wanted.what == type::kind::dyn || have == wanted.what; };
  for (const auto& x : overloads_of(name, member))
    if (x.takes.size() == kinds.size() && std::equal(kinds.begin(), kinds.end(), x.takes.begin(), is))
      return &x;
  return nullptr;
}

bool known_elsewhere(std::string_view name) {
  return std::find(elsewhere.begin(), elsewhere.end(), name) != elsewhere.end();
}

} // namespace paddock::embedded::cel
