#include "guest/privilege_probe.hpp"

#include "base/utf8.hpp"
#include "guest/privilege.hpp"

#include <algorithm>

namespace paddock::guest {

namespace {

constexpr auto longest_budget = std::chrono::milliseconds{15'000};
constexpr auto most_shown = std::size_t{40}; // characters of stderr

std::string probe_command() {
  return std::string{probe_program} + " " + std::string{probe_argument};
}

/// The beginning of `text`, without white space around it, as text whatever the guest printed.
std::string beginning(std::string_view text) {
  constexpr auto white = std::string_view{" \t\r\n"};
  const auto first = text.find_first_not_of(white);
  if (first == std::string_view::npos)
    return {};
  text = text.substr(first, text.find_last_not_of(white) - first + 1);
  return to_utf8_with_replacement(text.substr(0, most_shown));
}

/// How the command ended, where that was not with 0.
std::string ended_with(const command_end& end) {
  if (end.timed_out)
    return "ran out of its time";
  return end.signal ? "ended by " + *end.signal : "ended with exit code " + std::to_string(end.exit_code);
}

} // namespace

std::chrono::milliseconds probe_budget(std::chrono::milliseconds ready_timeout) {
  return std::min(ready_timeout, longest_budget);
}

std::optional<probe_refusal> judge_probe(const std::string& sandbox_name, const probe_outcome& seen) {
  const auto of = "sandbox " + sandbox_name + ": ";
  if (seen.expired)
    return probe_refusal{"probe-failed", of + "the guest accepted the connection and did not answer within "
                                           + std::to_string(seen.expired->count()) + " ms"};
  if (!seen.end)
    return probe_refusal{"probe-failed", of + "`" + probe_command() + "` could not be run: " + to_string(seen.end.error())};
  if (seen.end->exit_code != 0 || seen.end->signal || seen.end->timed_out) {
    const auto said = beginning(seen.err);
    return probe_refusal{"probe-failed", of + "`" + probe_command() + "` " + ended_with(*seen.end) + (said.empty() ? "" : " (" + said + ")")
                                           + "; the diagnosis failed, which says nothing about what the guest may do"};
  }
  if (seen.out_overflown || seen.end->out_truncated)
    return probe_refusal{"unreadable-output", of + "the output is longer than any " + std::string{probe_argument}};
  const auto got = read_privileges(seen.out);
  switch (got.what) {
    case privilege::unprivileged: return std::nullopt;
    case privilege::unreadable: return probe_refusal{std::string{to_string(got.what)}, of + got.detail};
    case privilege::privileged: break;
  }
  return probe_refusal{std::string{to_string(got.what)}, of + "the guest has privileges, or may gain them: " + got.detail};
}

} // namespace paddock::guest
