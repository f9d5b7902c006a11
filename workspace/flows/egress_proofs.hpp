#pragma once

#include "workspace/flows/verbs.hpp"

#include <boost/asio/awaitable.hpp>

#include <optional>
#include <string>

namespace paddock::workspace {

// What a verb proves about the network of a workspace before anything of it runs ([W] 3.1, 3.15; [E] 3.1, 5.8). Nothing is
// remembered: the next verb proves anew. What the settings do not ask for succeeds, and sends nothing.

/// That the policy which an operator applies for workspaces of this template stands, and then the admission fence where single
/// sandboxes are granted hosts. A configuration that means no policy fails before anything is sent.
boost::asio::awaitable<result<void>> prove_applied(world& on, std::string template_name, deadline until);

/// That a pod with all of these labels can be reached by nobody but this host, and that the policies which select it allow no more
/// than the configuration. What the workspace itself was granted is left out: it was judged when it was written.
boost::asio::awaitable<result<void>> prove_selected(world& on, id which, std::string template_name, egress::label_map labels,
                                                    deadline until);

/// `prove_selected`, unless these labels are those of `proved`, for which the verb has done it. They are from then on.
boost::asio::awaitable<result<void>> prove_labels(world& on, id which, std::string template_name, egress::label_map labels,
                                                  std::optional<egress::label_map>& proved, deadline until);

/// Whether the verb has proved the fence before it asks.
enum class fence { to_prove, proved };

/// Takes away what former Sandboxes of this name were granted, and leaves what `owner` was. Fails where `owner` is not known: whose
/// grants they are cannot be told then.
boost::asio::awaitable<result<void>> drop_predecessors(world& on, id which, std::optional<sandbox_uid> owner, fence how, deadline until);

} // namespace paddock::workspace
