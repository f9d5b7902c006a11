#include "egress/host_entry.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>

namespace paddock::egress {

namespace {

bool is_digit(char x) {
  return x >= '0' && x <= '9';
}

bool is_letter_or_digit(char x) {
  return (x >= 'a' && x <= 'z') || is_digit(x);
}

bool is_label(std::string_view x) {
  return !x.empty() && is_letter_or_digit(x.front()) && is_letter_or_digit(x.back())
         && std::all_of(x.begin(), x.end(), [](char c) { return is_letter_or_digit(c) || c == '-'; });
}

bool are_labels(std::string_view x) {
  for (;;) {
    auto dot = x.find('.');
    if (!is_label(x.substr(0, dot)))
      return false;
    if (dot == std::string_view::npos)
      return true;
    x.remove_prefix(dot + 1);
  }
}

constexpr std::size_t longest_name = 253;

// Only ASCII has case here: a letter that Unicode lowers to an ASCII one is no letter of a host name.
std::string lower(std::string x) {
  std::transform(x.begin(), x.end(), x.begin(), [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
  return x;
}

/// What is wrong with an entry in lower case; empty: nothing.
std::string_view problem_of(std::string_view entry) {
  if (entry.empty())
    return "is empty";
  if (entry == ".")
    return "has nothing after the leading dot";
  if (entry.find('*') != std::string_view::npos)
    return "contains a glob (*): write .example.com for a domain and everything below it";
  auto whole_domain = entry.front() == '.';
  auto name = entry.substr(whole_domain ? 1 : 0);
  if (!are_labels(name))
    return "is not a DNS name: only letters, digits, dashes and single dots, without a scheme, port, path or trailing dot";
  if (name.size() > longest_name)
    return "is longer than the 253 characters of a DNS name";
  auto dot = name.rfind('.');
  if (whole_domain && dot == std::string_view::npos)
    return "names a whole top-level domain";
  auto last = name.substr(dot == std::string_view::npos ? 0 : dot + 1);
  if (std::all_of(last.begin(), last.end(), is_digit))
    return "is an address and not a name: its last label is numeric";
  return {};
}

} // namespace

bool is_dns_name(std::string_view text) {
  return text.size() <= longest_name && are_labels(text);
}

result<host_entry> host_entry::parse(std::string text) {
  if (auto problem = problem_of(lower(text)); !problem.empty())
    return tl::unexpected{illegal_host{std::move(text), std::string{problem}}};
  return host_entry{std::move(text)};
}

host_entry host_entry::lowered() const {
  return host_entry{lower(text_)};
}

bool host_entry::covers(const host_entry& x) const {
  if (!whole_domain())
    return text_ == x.text_;
  return x.name() == name() || std::string_view{x.text_}.ends_with(text_);
}

result<std::vector<host_entry>> parse_hosts(const std::vector<std::string>& texts) {
  auto got = std::vector<host_entry>{};
  got.reserve(texts.size());
  for (const auto& text : texts) {
    auto entry = host_entry::parse(text);
    if (!entry)
      return tl::unexpected{entry.error()};
    got.push_back(*std::move(entry));
  }
  return got;
}

result<std::vector<std::string>> read_host_list(const nlohmann::json& list, std::string_view field) {
  if (!list.is_array())
    return tl::unexpected{illegal_config{std::string{field}, "must be a list of host entries"}};
  auto got = std::vector<std::string>{};
  got.reserve(list.size());
  for (const auto& x : list) {
    if (!x.is_string())
      return tl::unexpected{illegal_host{x.dump(), "is not a string"}};
    got.push_back(x.get<std::string>());
  }
  return got;
}

} // namespace paddock::egress
