#include "workspace/flows/authenticate.hpp"

#include "k8s/paths.hpp"
#include "workspace/expected_identity.hpp"
#include "workspace/flows/verbs_steps.hpp"

namespace paddock::workspace {

namespace asio = boost::asio;

asio::awaitable<result<void>> authenticate(world& on, id which, sandbox_uid expected, std::map<std::string, claim_uid> claims,
                                           nlohmann::json object, deadline until) {
  auto ok = check_expected_sandbox(which, expected, object);
  for (auto at = claims.begin(); ok && at != claims.end(); ++at) {
    auto claim = co_await read(on, k8s::volume_claim_path(on.how.name_space, at->first, which.sandbox_name()), until);
    if (claim)
      ok = check_expected_claim(which, expected, at->first, at->second, *claim);
    else if (!is_gone(claim.error()))
      ok = tl::unexpected{failure{claim.error()}};
  }
  co_return ok;
}

} // namespace paddock::workspace
