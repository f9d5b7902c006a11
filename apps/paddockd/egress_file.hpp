#pragma once

#include "egress/egress_config.hpp"
#include "egress/translate.hpp"

#include <tl/expected.hpp>

#include <string>

namespace paddock {

/// Reads what `egress` of the configuration names: a file as `paddock egress render --egress` takes it. All of it is checked, and that
/// it means a policy for `target`, so that no verb has to find out. The failure is a text for people, with its reason in front.
[[nodiscard]] tl::expected<egress::egress_config, std::string> read_egress_file(const std::string& file,
                                                                                const egress::policy_target& target);

} // namespace paddock
