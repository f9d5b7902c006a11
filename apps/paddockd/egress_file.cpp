#include "apps/paddockd/egress_file.hpp"

#include "audit/configuration.hpp"
#include "audit/words.hpp"

#include <fstream>
#include <sstream>

namespace paddock {

namespace {

std::string refusal(const std::string& file, const egress::egress_error& why) {
  return std::string{egress::reason_of(why)} + ": " + file + ": " + egress::to_string(why);
}

} // namespace

tl::expected<egress::egress_config, std::string> read_egress_file(const std::string& file, const egress::policy_target& target) {
  std::ifstream in{file};
  std::stringstream text;
  text << in.rdbuf();
  if (!in.good())
    return tl::unexpected{"InvalidConfig: egress: cannot read " + file};
  auto got = audit::read_configuration({file, text.str()});
  if (!got) {
    const auto& no = got.error();
    return tl::unexpected{(no.why ? std::string{egress::reason_of(*no.why)} : "InvalidConfig") + ": " + audit::one_line(to_string(no))};
  }
  if (kind_of(got->policy) == egress::policy_kind::resolver)
    return tl::unexpected{
      refusal(file, egress::illegal_config{"policy.kind", "is resolver, whose hosts an embedding program says: a node has none, list "
                                                          "them as static"})};
  if (auto meant = egress::translate(*got, target); !meant)
    return tl::unexpected{refusal(file, meant.error())};
  return std::move(*got);
}

} // namespace paddock
