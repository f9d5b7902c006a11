#pragma once

#include "egress/errors.hpp"
#include "k8s/list_request.hpp"

#include <nlohmann/json.hpp>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace paddock::egress {

// Which policies there are ([E] 3.3): what is asked, and what the answers mean.

/// A collection of policies of a namespace.
struct policy_collection {
  egress::resource_kind kind{};
  std::string resource; // `networkpolicies`
  std::string path;
};

/// What the check lists, in this order: core policies, and under Cilium its own as well.
[[nodiscard]] std::vector<policy_collection> policy_collections(std::string_view name_space, policy_engine engine);

inline constexpr std::size_t policies_per_page = 500;
/// More than this of one kind are not read: the check fails, it does not pass over the rest.
inline constexpr std::size_t most_policies = 200'000;
/// Of one collection, empty ones among them.
inline constexpr std::size_t most_pages = 2'000;

/// The request for a page; `more` is the token of the page before, empty for the first.
[[nodiscard]] k8s::call page_request(const policy_collection& of, std::string_view more);

struct policy_page {
  std::vector<nlohmann::json> items; // none where the answer has no list of them
  std::string more;                  // empty: the last page
};
[[nodiscard]] policy_page read_policy_page(std::optional<nlohmann::json> answer);

/// A first page that was refused so that the collection counts as not read; nothing for every other failure, which the check
/// ends with.
[[nodiscard]] std::optional<unread_collection> unread_of(const policy_collection& of, const k8s::failure& why);

} // namespace paddock::egress
