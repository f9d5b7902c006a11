#pragma once

#include "egress/errors.hpp"

#include <nlohmann/json_fwd.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace paddock::egress {

/// At most 253 of `a-z 0-9 - .`: labels that neither begin nor end with a dash, with single dots between ([E] 1.3, rules 5 and
/// 6). Also what the API server takes for the name of a policy.
[[nodiscard]] bool is_dns_name(std::string_view text);

/// One entry of a list of hosts: `api.example.com`, or `.example.com` for that domain and everything below it. Made by `parse`
/// only, so whoever holds one need not check again.
class host_entry {
public:
  /// Judges `text` in lower case and keeps it as it is. A refusal quotes it.
  static result<host_entry> parse(std::string text);

  /// As it was given.
  [[nodiscard]] const std::string& text() const noexcept {
    return text_;
  }
  /// Whether it begins with a dot.
  [[nodiscard]] bool whole_domain() const {
    return text_.front() == '.';
  }
  /// Without the leading dot.
  [[nodiscard]] std::string name() const {
    return text_.substr(whole_domain() ? 1 : 0);
  }
  [[nodiscard]] host_entry lowered() const;

  /// Whether everything that `x` names is named by this entry too. Both are compared as they are written.
  [[nodiscard]] bool covers(const host_entry& x) const;

  friend bool operator==(const host_entry&, const host_entry&) = default;

private:
  explicit host_entry(std::string text) : text_(std::move(text)) {
  }
  std::string text_;
};

/// All of them, in order; nothing is sorted or left out. One bad entry refuses the list.
[[nodiscard]] result<std::vector<host_entry>> parse_hosts(const std::vector<std::string>& texts);

/// The texts of a JSON list of hosts, not yet parsed. What is no string is refused as a host entry, what is no list as the
/// configuration `field`.
[[nodiscard]] result<std::vector<std::string>> read_host_list(const nlohmann::json& list, std::string_view field);

} // namespace paddock::egress
