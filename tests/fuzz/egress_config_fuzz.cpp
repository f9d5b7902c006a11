// A configuration of egress. Whatever it holds, it is read or refused by a named error; what was read is not refused by the
// translation but for its hosts and its name, and is composed into an object of the kind that its policy has.

#include "egress/read_config.hpp"
#include "egress/translate.hpp"
#include "tests/fuzz/require.hpp"

#include <nlohmann/json.hpp>

#include <cstdint>
#include <string>

using namespace paddock::egress;
using paddock::require;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size > 4000)
    return 0;
  auto object = nlohmann::json::parse(data, data + size, nullptr, false);
  if (object.is_discarded())
    return 0;
  auto config = read_egress_config(object);
  if (!config) {
    require(!to_string(config.error()).empty() && details_of(config.error()).is_object());
    return 0;
  }
  auto kind = kind_of(config->policy);
  auto got = translate(*config, {"ns", "tpl"}, {"a.example"});
  if (!got) {
    require(std::holds_alternative<illegal_host>(got.error()) && names_hosts(kind));
    return 0;
  }
  require(got->policy_kind == kind);
  require((got->kind == resource_kind::cilium_network_policy) == names_hosts(kind));
  require(got->manifest["spec"]["egress"].is_array());
  require(got->manifest["metadata"]["name"] == got->name);
  return 0;
}
