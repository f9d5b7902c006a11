#include "embedded/bootstrap.hpp"

#include "base/base64.hpp"

namespace paddock::embedded {

namespace {

using nlohmann::json;

std::string templates_path(const std::string& name_space) {
  return "/apis/extensions.agents.x-k8s.io/v1beta1/namespaces/" + k8s::encode_component(name_space) + "/sandboxtemplates";
}

} // namespace

k8s::call make_default_template(const std::string& name_space) {
  auto agent = json{
    {"name", "agent"},
    {"image", "paddock-guest"},
    {"ports", json::array({json{{"name", "agent"}, {"containerPort", 1024}, {"protocol", "TCP"}}})},
    {"env", json::array({json{{"name", "NAMZU_AGENT_TCP_PORT"}, {"value", "1024"}},
                         json{{"name", "NAMZU_AGENT_BIND_TOKEN"}, {"valueFrom", {{"fieldRef", {{"fieldPath", "metadata.uid"}}}}}}})},
    {"volumeDevices", json::array({json{{"name", "workspace"}, {"devicePath", "/dev/workspace"}}})},
  };
  auto disk = json{
    {"metadata", {{"name", "workspace"}}},
    {"spec",
     {{"accessModes", json::array({"ReadWriteOnce"})}, {"volumeMode", "Block"}, {"resources", {{"requests", {{"storage", "1Gi"}}}}}}},
  };
  auto spec = json{
    {"networkPolicyManagement", "Unmanaged"},
    {"podTemplate", {{"spec", {{"terminationGracePeriodSeconds", 5}, {"containers", json::array({agent})}}}}},
    {"volumeClaimTemplates", json::array({disk})},
  };
  return k8s::post(templates_path(name_space), json{{"apiVersion", "extensions.agents.x-k8s.io/v1beta1"},
                                                    {"kind", "SandboxTemplate"},
                                                    {"metadata", {{"name", default_template_name}, {"namespace", name_space}}},
                                                    {"spec", spec}});
}

k8s::call read_default_template(const std::string& name_space) {
  return k8s::get(templates_path(name_space) + "/" + default_template_name);
}

std::string write_kubeconfig(const std::string& server, const std::string& authority, const std::string& token,
                             const std::string& name_space) {
  // Quoted as JSON, which YAML reads.
  auto quoted = [](const std::string& text) { return json(text).dump(); };
  return "apiVersion: v1\n"
         "kind: Config\n"
         "clusters:\n"
         "- name: paddock\n"
         "  cluster:\n"
         "    server: "
         + quoted(server)
         + "\n"
           "    certificate-authority-data: "
         + quoted(to_base64(authority))
         + "\n"
           "users:\n"
           "- name: admin\n"
           "  user:\n"
           "    token: "
         + quoted(token)
         + "\n"
           "contexts:\n"
           "- name: paddock\n"
           "  context:\n"
           "    cluster: paddock\n"
           "    user: admin\n"
           "    namespace: "
         + quoted(name_space)
         + "\n"
           "current-context: paddock\n";
}

} // namespace paddock::embedded
