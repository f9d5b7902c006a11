// Requests to the embedded API server: the first line is `METHOD TARGET CONTENT-TYPE ACCEPT` (`-` for none), the rest is the body.
// Whatever comes, there is one answer, it is what it says to be, and what is kept afterwards can be read and told in every form.

#include "embedded/resource_service.hpp"
#include "embedded/store_watch.hpp"
#include "tests/fuzz/require.hpp"

#include <sstream>

using namespace paddock;
using namespace paddock::embedded;

namespace {

constexpr auto now = store::instant{std::chrono::seconds{1'795'972'289}};
constexpr auto as_table = "application/json;as=Table;v=v1;g=meta.k8s.io";

outcome ask(store& objects, const api_call& call) {
  return serve(objects, call, nullptr, now);
}

void make(store& objects, const std::string& target, const std::string& body) {
  const auto got = ask(objects, {"POST", target, "application/json", "", body, "root"});
  require(std::get<api_answer>(got).status == 201);
}

void set_up(store& objects) {
  require(objects.bootstrap({"n"}, now).has_value());
  objects.serve_cilium();
  make(objects, "/api/v1/namespaces/n/configmaps", R"({"metadata":{"name":"c","labels":{"a":"b"}},"data":{"k":"v"}})");
  make(objects, "/api/v1/namespaces/n/pods",
       R"({"metadata":{"name":"p"},"spec":{"containers":[{"name":"main","image":"i","env":[{"name":"A","value":"1"}]}]}})");
  make(objects, "/api/v1/namespaces/n/serviceaccounts", R"({"metadata":{"name":"s"}})");
  make(objects, "/apis/agents.x-k8s.io/v1beta1/namespaces/n/sandboxes",
       R"({"apiVersion":"agents.x-k8s.io/v1beta1","kind":"Sandbox","metadata":{"name":"b"},)"
       R"("spec":{"podTemplate":{"spec":{"containers":[{"name":"main"}]}}}})");
  make(objects, "/apis/extensions.agents.x-k8s.io/v1beta1/namespaces/n/sandboxwarmpools",
       R"({"apiVersion":"extensions.agents.x-k8s.io/v1beta1","kind":"SandboxWarmPool","metadata":{"name":"w"},)"
       R"("spec":{"replicas":1,"sandboxTemplateRef":{"name":"t"}}})");
}

/// Every kind can still be listed as a table.
void tell_all(store& objects) {
  for (const auto& kind : served_kinds()) {
    if (kind.asks)
      continue;
    const auto path = (kind.group.empty() ? "/api/" : "/apis/") + kind.api_version() + "/" + std::string{kind.plural};
    const auto got = ask(objects, {"GET", path, "", as_table, "", "root"});
    const auto& answer = std::get<api_answer>(got);
    require(answer.status == 200 && json::accept(answer.body));
  }
}

std::string word(std::istringstream& in) {
  std::string out;
  in >> out;
  return out == "-" ? std::string{} : out;
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto text = std::string{reinterpret_cast<const char*>(data), size};
  const auto end = std::min(text.find('\n'), text.size());
  std::istringstream line{text.substr(0, end)};
  api_call call;
  call.method = word(line);
  call.target = word(line);
  call.content_type = word(line);
  std::getline(line >> std::ws, call.accept);
  if (call.accept == "-")
    call.accept.clear();
  call.body = text.substr(std::min(end + 1, text.size()));
  call.user = "root";
  store objects;
  set_up(objects);
  auto got = ask(objects, call);
  if (const auto* answer = std::get_if<api_answer>(&got)) {
    require(answer->status >= 200 && answer->status < 600);
    for (const auto& [name, value] : answer->headers)
      if (name == "Content-Type" && value.starts_with("application/json"))
        require(json::accept(answer->body));
  } else if (auto* start = std::get_if<watch_start>(&got)) {
    (void)store_watch{objects, std::move(start->request)}.next(1 << 20, now);
  }
  tell_all(objects);
  return 0;
}
