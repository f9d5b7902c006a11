// A configuration and one CiliumNetworkPolicy as JSON: it is judged, whatever it is.

#include "tests/fuzz/policy_fuzz.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  paddock::egress::fuzz_policy(paddock::egress::resource_kind::cilium_network_policy, data, size);
  return 0;
}
