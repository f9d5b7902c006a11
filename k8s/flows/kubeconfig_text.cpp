#include "k8s/flows/kubeconfig_text.hpp"

#include "base/base64.hpp"
#include "base/utf8.hpp"

#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <set>

namespace paddock::k8s {

using nlohmann::json;

namespace {

constexpr std::size_t largest_text = 4 * 1024 * 1024;
constexpr std::size_t most_extension_values = 10'000;
constexpr std::size_t deepest_extension = 32;
constexpr std::string_view plugin_extension = "client.authentication.k8s.io/exec";

/// What is wrong with a kubeconfig. Thrown and caught in this file, like the library's own.
struct complaint {
  std::string text;
};

/// The members of one map, taken by name. Who it belongs to stands in front of each complaint.
class members {
public:
  members(const YAML::Node& of, std::string owner) : of_(of), owner_(std::move(owner)) {
    if (of_.IsNull() || !of_.IsDefined())
      return;
    if (!of_.IsMap())
      throw complaint{owner_ + " is not a map"};
    for (const auto& x : of_)
      if (!x.first.IsScalar() || !left_.insert(x.first.Scalar()).second)
        throw complaint{owner_ + " has a member twice, or one without a name"};
  }

  [[nodiscard]] const std::string& owner() const {
    return owner_;
  }
  /// The node; undefined when absent or null.
  YAML::Node node(const char* name) {
    left_.erase(name);
    const auto& all = of_; // so that looking up does not insert
    if (!all.IsMap() || !all[name] || all[name].IsNull())
      return YAML::Node{YAML::NodeType::Undefined};
    return all[name];
  }
  std::string text(const char* name) {
    const auto it = node(name);
    if (!it)
      return {};
    if (!it.IsScalar() || !is_utf8(it.Scalar()))
      refuse(name, "is not a text");
    return it.Scalar();
  }
  bool flag(const char* name) {
    const auto got = text(name);
    if (!got.empty() && got != "true" && got != "false")
      refuse(name, "is neither true nor false");
    return got == "true";
  }
  YAML::Node list(const char* name) {
    auto it = node(name);
    if (it && !it.IsSequence())
      refuse(name, "is not a list");
    return it;
  }
  /// Takes `data` or `file`; both at once are refused, as kubectl does.
  pem_place pem(const char* data, const char* file, const std::filesystem::path& folder) {
    auto got = pem_place{};
    const auto inlined = text(data);
    const auto name = text(file);
    if (!inlined.empty() && !name.empty())
      refuse(data, std::string{"and "} + file + " are both given");
    if (!inlined.empty()) {
      auto bytes = from_base64(inlined);
      if (!bytes)
        refuse(data, "is not base64");
      got.data = std::move(*bytes);
    }
    if (!name.empty())
      got.file = folder / name;
    return got;
  }
  /// Those that have a value and that nobody has asked for.
  [[nodiscard]] std::vector<std::string> others() const {
    auto got = std::vector<std::string>{};
    for (const auto& name : left_)
      if (const auto x = of_[name]; !x.IsNull() && !(x.IsScalar() && x.Scalar().empty()))
        got.push_back(name);
    return got;
  }
  [[noreturn]] void refuse(const char* name, const std::string& why) const {
    throw complaint{owner_ + ": " + name + " " + why};
  }

private:
  const YAML::Node of_;
  std::string owner_;
  std::set<std::string> left_;
};

/// Copies a tree out of the library. Aliases are followed, so the values are counted here.
class to_json {
public:
  json operator()(const YAML::Node& from, std::size_t depth = 0) {
    if (++count_ > most_extension_values || depth > deepest_extension)
      throw complaint{"an extension has more than " + std::to_string(most_extension_values) + " values, or is nested too deep"};
    if (from.IsSequence()) {
      auto got = json::array();
      for (const auto& x : from)
        got.push_back((*this)(x, depth + 1));
      return got;
    }
    if (from.IsMap()) {
      auto got = json::object();
      for (const auto& x : from)
        if (x.first.IsScalar())
          got[x.first.Scalar()] = (*this)(x.second, depth + 1);
      return got;
    }
    return from.IsScalar() ? scalar(from) : json{};
  }

private:
  /// Plain `true`, `7` and `0.5` are what they look like; a quoted one is a text.
  static json scalar(const YAML::Node& from) {
    const auto& text = from.Scalar();
    if (from.Tag() != "!") {
      auto value = json::parse(text, nullptr, false);
      if (value.is_boolean() || value.is_number())
        return value;
    }
    return text;
  }
  std::size_t count_ = 0;
};

/// Calls `read` for each entry of a list of {name, `kind`: {...}}.
template <class F>
void each_entry(members& root, const char* list, const char* kind, F read) {
  auto seen = std::set<std::string>{};
  for (const auto& x : root.list(list)) {
    auto entry = members{x, std::string{"an entry of "} + list};
    const auto name = entry.text("name");
    if (name.empty())
      throw complaint{std::string{"an entry of "} + list + " has no name"};
    if (!seen.insert(name).second)
      throw complaint{std::string{list} + " has two entries named '" + name + "'"};
    read(name, members{entry.node(kind), std::string{kind} + " '" + name + "'"});
  }
}

void read_cluster(members from, const std::filesystem::path& folder, kubeconfig::cluster& got) {
  got.server = from.text("server");
  got.authority = from.pem("certificate-authority-data", "certificate-authority", folder);
  got.server_name = from.text("tls-server-name");
  got.proxy = from.text("proxy-url");
  got.insecure = from.flag("insecure-skip-tls-verify");
  got.plain_answers = from.flag("disable-compression");
  for (const auto& x : from.list("extensions")) {
    auto one = members{x, "an extension of " + from.owner()};
    if (one.text("name") == plugin_extension)
      got.for_plugins = to_json{}(one.node("extension"));
  }
  got.others = from.others();
}

exec_plugin read_exec(members from, const std::filesystem::path& folder, bool& tell) {
  auto got = exec_plugin{};
  got.api_version = from.text("apiVersion");
  if (!is_known_exec_version(got.api_version))
    from.refuse("apiVersion", "is neither client.authentication.k8s.io/v1 nor v1beta1");
  got.command = from.text("command");
  if (got.command.empty())
    from.refuse("command", "is missing");
  if (got.command.find('/') != std::string::npos)
    got.command = folder / got.command;
  for (const auto& x : from.list("args")) {
    if (!x.IsScalar())
      from.refuse("args", "holds something that is not a text");
    got.arguments.push_back(x.Scalar());
  }
  for (const auto& x : from.list("env")) {
    auto one = members{x, from.owner() + ": an entry of env"};
    auto name = one.text("name");
    if (name.empty() || name.find('=') != std::string::npos)
      one.refuse("name", "is no name of a variable");
    got.environment.emplace_back(std::move(name), one.text("value"));
  }
  got.install_hint = from.text("installHint");
  tell = from.flag("provideClusterInfo");
  const auto mode = from.text("interactiveMode");
  if (mode == "Always")
    from.refuse("interactiveMode", "is Always, and there is no terminal here");
  if (mode.empty() && got.api_version == "client.authentication.k8s.io/v1")
    from.refuse("interactiveMode", "is missing, and v1 wants it");
  if (!mode.empty() && mode != "Never" && mode != "IfAvailable")
    from.refuse("interactiveMode", "is none of Never, IfAvailable and Always");
  if (const auto others = from.others(); !others.empty())
    from.refuse(others.front().c_str(), "is not supported");
  const auto has_nul = [](const std::string& x) { return x.find('\0') != std::string::npos; };
  if (has_nul(got.command) || std::ranges::any_of(got.arguments, has_nul)
      || std::ranges::any_of(got.environment, [&](const auto& x) { return has_nul(x.first) || has_nul(x.second); }))
    throw complaint{from.owner() + ": a text holds a NUL"};
  return got;
}

void read_user(members from, const std::filesystem::path& folder, kubeconfig::user& got) {
  got.certificate = from.pem("client-certificate-data", "client-certificate", folder);
  got.key = from.pem("client-key-data", "client-key", folder);
  got.token = secret{from.text("token")};
  if (const auto file = from.text("tokenFile"); !file.empty())
    got.token_file = folder / file;
  if (const auto exec = from.node("exec"))
    got.exec = read_exec(members{exec, from.owner() + ": exec"}, folder, got.tell_plugin);
  from.node("extensions");
  got.others = from.others();
}

template <class F>
std::string complaint_of(F read) {
  try {
    read();
    return {};
  } catch (const complaint& x) {
    return x.text;
  }
}

kubeconfig read_root(const YAML::Node& document, const std::filesystem::path& folder) {
  auto root = members{document, "the kubeconfig"};
  auto got = kubeconfig{};
  got.current = root.text("current-context");
  each_entry(root, "contexts", "context", [&](const std::string& name, members from) {
    got.contexts.emplace(name, kubeconfig::context{from.text("cluster"), from.text("user"), from.text("namespace")});
  });
  each_entry(root, "clusters", "cluster", [&](const std::string& name, members from) {
    auto& x = got.clusters[name];
    x.refusal = complaint_of([&] { read_cluster(std::move(from), folder, x); });
  });
  each_entry(root, "users", "user", [&](const std::string& name, members from) {
    auto& x = got.users[name];
    x.refusal = complaint_of([&] { read_user(std::move(from), folder, x); });
  });
  return got;
}

} // namespace

tl::expected<kubeconfig, std::string> read_kubeconfig_text(std::string_view text, const std::filesystem::path& folder) {
  if (text.size() > largest_text)
    return tl::unexpected{"the kubeconfig is larger than " + std::to_string(largest_text) + " bytes"};
  try {
    return read_root(YAML::Load(std::string{text}), folder);
  } catch (const YAML::Exception& x) {
    // The text of an exception may repeat a line of the file, and a line may be a key.
    return tl::unexpected{"the kubeconfig is not YAML as expected, line " + std::to_string(x.mark.line + 1)};
  } catch (const complaint& x) {
    return tl::unexpected{x.text};
  }
}

kubeconfig merge(kubeconfig first, kubeconfig second) {
  if (first.current.empty())
    first.current = std::move(second.current);
  first.contexts.merge(second.contexts);
  first.clusters.merge(second.clusters);
  first.users.merge(second.users);
  return first;
}

} // namespace paddock::k8s
