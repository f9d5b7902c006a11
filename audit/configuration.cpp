#include "audit/configuration.hpp"

#include "base/overloaded.hpp"
#include "documents/documents.hpp"
#include "egress/host_entry.hpp"
#include "egress/members.hpp"
#include "egress/read_config.hpp"

#include <algorithm>

namespace paddock::audit {

namespace {

/// The path of what is wrong, below `config.egress`; empty where the error has none.
std::string field_of(const egress::egress_error& x) {
  return std::visit(overloaded{
                      [](const egress::illegal_config& e) { return e.field; },
                      [](const egress::illegal_profile& e) { return e.field; },
                      [](const egress::illegal_per_sandbox& e) { return "perSandbox." + e.field; },
                      [](const egress::narrowing_unsupported&) { return std::string{"ciliumNarrowing"}; },
                      [](const egress::unenforceable_policy&) { return std::string{"policy.kind"}; },
                      [](const egress::illegal_host&) { return std::string{"policy.allowedHosts"}; },
                      [](const auto&) { return std::string{}; },
                    },
                    x);
}

} // namespace

std::string to_string(const configuration_refused& x) {
  return egress::to_string(x.place) + ": " + (x.why ? egress::to_string(*x.why) : x.problem);
}

tl::expected<egress::egress_config, configuration_refused> read_configuration(const source& from) {
  const auto refused = [&](std::size_t line, std::string problem) {
    return tl::unexpected{configuration_refused{{from.name, line}, std::move(problem), std::nullopt}};
  };
  auto documents = documents::read_documents(from.text);
  if (!documents)
    return refused(documents.error().line, documents.error().problem);
  std::erase_if(*documents, [](const documents::document& x) { return x.value.is_null(); });
  if (documents->empty())
    return refused(1, "holds no configuration");
  if (documents->size() > 1)
    return refused(documents->at(1).line, "holds a second document: a configuration is one");
  const auto& only = documents->front();
  const auto line_of = [&](const std::string& path) { return documents::lines_of(from.text, {{only.line, path}}).front(); };
  if (!only.doubts.empty())
    return refused(only.doubts.front().line, to_string(only.doubts.front()));
  const auto* below = egress::member(only.value, "egress");
  const auto refused_at = [&](const std::string& field, egress::egress_error why) {
    const auto path = below == nullptr ? field : "egress" + (field.empty() ? "" : "." + field);
    return tl::unexpected{configuration_refused{{from.name, line_of(path)}, {}, std::move(why)}};
  };
  auto got = egress::read_egress_config(below != nullptr ? *below : only.value);
  if (!got)
    return refused_at(field_of(got.error()), got.error());
  if (const auto* listed = std::get_if<egress::static_hosts>(&got->policy))
    for (auto i = std::size_t{0}; i < listed->allowed_hosts.size(); ++i)
      if (auto host = egress::host_entry::parse(listed->allowed_hosts[i]); !host)
        return refused_at("policy" + egress::at_index("allowedHosts", i), host.error());
  return std::move(*got);
}

} // namespace paddock::audit
