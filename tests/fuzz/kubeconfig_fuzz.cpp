// Kubeconfigs, and what credential plug-ins print, from bytes of anyone's choosing. Besides not crashing: what was read has
// names, merging a kubeconfig with itself changes nothing, and a context that is usable leads to a host and a port.
#include "k8s/flows/kubeconfig.hpp"
#include "tests/fuzz/require.hpp"

#include <cstdint>
#include <string_view>

using namespace paddock::k8s;
using paddock::require;

namespace {

bool names_a_file(const pem_place& x) {
  return !x.file.empty();
}

/// No file of this machine is to be opened.
bool names_a_file(const kubeconfig& all) {
  for (const auto& [name, x] : all.clusters)
    if (names_a_file(x.authority))
      return true;
  for (const auto& [name, x] : all.users)
    if (names_a_file(x.certificate) || names_a_file(x.key))
      return true;
  return false;
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto text = std::string_view{reinterpret_cast<const char*>(data), size};
  if (auto got = read_exec_credential(text, "client.authentication.k8s.io/v1"))
    require((!got->token.empty() || !got->certificate.empty()) && got->certificate.empty() == got->key.empty());
  auto read = read_kubeconfig_text(text, "/folder");
  if (!read) {
    require(!read.error().empty());
    return 0;
  }
  const auto twice = merge(*read, *read);
  require(twice.current == read->current && twice.contexts.size() == read->contexts.size());
  require(twice.clusters.size() == read->clusters.size() && twice.users.size() == read->users.size());
  require(!read->contexts.contains("") && !read->clusters.contains("") && !read->users.contains(""));
  if (names_a_file(*read))
    return 0;
  for (const auto& [name, x] : read->contexts)
    if (auto access = access_of(*read, name))
      require(!access->server.host.empty() && access->server.port != 0 && !access->base_path.ends_with('/'));
  return 0;
}
