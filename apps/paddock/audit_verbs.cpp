#include "apps/paddock/audit_verbs.hpp"

#include "actors/translate.hpp"
#include "apps/paddock/audit_cluster.hpp"
#include "audit/configuration.hpp"
#include "audit/flows/cluster.hpp"
#include "audit/render.hpp"
#include "audit/words.hpp"
#include "documents/documents.hpp"
#include "egress/host_entry.hpp"
#include "messages/error.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <iostream>
#include <memory>

namespace paddock::cli {

namespace {

template <class T>
using or_code = tl::expected<T, int>; // the exit code, once it is said why

// -- what goes wrong ----------------------------------------------------------

/// `how`: that of what is no failed request.
problem to_problem(const egress::egress_error& x, verdict how) {
  if (const auto* request = std::get_if<k8s::failure>(&x))
    return paddock::to_problem(workspace::failure{*request});
  return {how, std::string{egress::reason_of(x)}, audit::one_line(egress::to_string(x)),
          egress::details_of(x).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace)};
}

int refuse_input(const arguments& args, const std::string& text) {
  return refuse(args, make_problem(verdict::usage, "UnreadableInput", audit::one_line(text)));
}

// -- files --------------------------------------------------------------------

/// The files, `-` being stdin; together no more than one text may be.
or_code<std::vector<audit::source>> read_files(const arguments& args, const std::vector<std::string>& names) {
  auto got = std::vector<audit::source>{};
  auto left = documents::largest_text;
  for (const auto& path : names) {
    const auto is_stdin = path == "-";
    const auto name = is_stdin ? std::string{"stdin"} : path;
    const auto close = [](std::FILE* x) { return x == stdin ? 0 : std::fclose(x); };
    const auto file = std::unique_ptr<std::FILE, decltype(close)>{is_stdin ? stdin : std::fopen(path.c_str(), "rbe"), close};
    if (!file)
      return tl::unexpected{refuse_input(args, name + ": cannot be opened: " + std::strerror(errno))};
    auto text = std::string{};
    auto piece = std::array<char, 64 * 1024>{};
    while (const auto n = std::fread(piece.data(), 1, piece.size(), file.get())) {
      if (n > left)
        return tl::unexpected{refuse_input(args, name + ": is too large: all that is read may have "
                                                   + std::to_string(documents::largest_text / 1024 / 1024) + " MiB")};
      left -= n;
      text.append(piece.data(), n);
    }
    if (std::ferror(file.get()) != 0)
      return tl::unexpected{refuse_input(args, name + ": cannot be read: " + std::strerror(errno))};
    got.push_back({name, std::move(text)});
  }
  return got;
}

or_code<egress::egress_config> read_config(const arguments& args) {
  const auto files = read_files(args, {args.egress_file});
  if (!files)
    return tl::unexpected{files.error()};
  auto got = audit::read_configuration(files->front());
  if (got)
    return std::move(*got);
  const auto text = audit::to_string(got.error());
  if (!got.error().why)
    return tl::unexpected{refuse_input(args, text)};
  auto why = to_problem(*got.error().why, verdict::usage);
  why.message = audit::one_line(text);
  return tl::unexpected{refuse(args, why)};
}

// -- words --------------------------------------------------------------------

/// Those of all, where one may hold several with commas between.
std::vector<std::string> at_commas(const std::vector<std::string>& all) {
  auto got = std::vector<std::string>{};
  for (const auto& x : all)
    for (auto from = std::size_t{0}; from <= x.size();) {
      const auto end = std::min(x.find(',', from), x.size());
      got.push_back(x.substr(from, end - from));
      from = end + 1;
    }
  return got;
}

or_code<egress::label_map> read_labels(const arguments& args) {
  auto got = audit::read_labels(args.labels);
  if (!got)
    return tl::unexpected{misuse(args, "--labels: " + got.error())};
  return std::move(*got);
}

/// Where the answer is: in files, or in a cluster.
struct asked_place {
  std::vector<audit::source> files;
  std::optional<k8s::cluster_access> access; // absent: in the files
  std::string name_space;
};

or_code<asked_place> place_of(const arguments& args) {
  auto got = asked_place{{}, std::nullopt, args.name_space};
  if (!args.manifests.empty()) {
    if (!args.kubeconfig.empty())
      return tl::unexpected{misuse(args, "--kubeconfig reads a cluster instead of files: name one or the other")};
    if (got.name_space.empty())
      return tl::unexpected{misuse(args, "files want --namespace: that of the pod")};
    auto files = read_files(args, args.manifests);
    if (!files)
      return tl::unexpected{files.error()};
    got.files = std::move(*files);
    return got;
  }
  auto access = access_for_audit(args.kubeconfig, args.context);
  if (!access)
    return tl::unexpected{misuse(args, access.error())};
  if (got.name_space.empty())
    got.name_space = access->name_space;
  got.access = std::move(*access);
  return got;
}

/// Prints a report and answers with its exit code.
int report(const arguments& args, const nlohmann::json& document, const std::string& text,
           const std::optional<egress::egress_error>& refused) {
  if (args.how() == format::json)
    std::cout << document.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) << '\n';
  else
    std::cout << text;
  return refused ? refuse(args, to_problem(*refused, verdict::refused)) : 0;
}

// -- the verbs ----------------------------------------------------------------

int render(const arguments& args) {
  auto config = read_config(args);
  if (!config)
    return config.error();
  if (!args.object_name.empty()) {
    if (!egress::is_dns_name(args.object_name))
      return misuse(args, "--name wants the name of an object, not \"" + args.object_name + "\"");
    config->network_policy_name = args.object_name;
  }
  auto what = audit::render_question{
    {args.name_space.empty() ? "default" : args.name_space, args.template_name.empty() ? "default" : args.template_name},
    at_commas(args.allowed_hosts),
    {},
    at_commas(args.granted_hosts)};
  for (const auto& x : args.owners) {
    auto owner = audit::read_owner(x);
    if (!owner)
      return misuse(args, "--per-sandbox: " + owner.error());
    what.owners.push_back(std::move(*owner));
  }
  if (what.owners.empty() == what.granted.empty()) {
    const auto got = audit::render(*config, what);
    if (!got)
      return refuse(args, to_problem(got.error(), verdict::usage));
    if (args.how() == format::json)
      std::cout << audit::to_json(*got).dump(2) << '\n';
    else
      std::cout << audit::to_yaml(*got);
    return 0;
  }
  return misuse(args, "--per-sandbox and --grant go together: for whom, and which hosts");
}

/// What `of_cluster(cluster, deadline)` or `of_files(files)` answers; a failure is said.
template <class OfFiles, class OfCluster>
auto answer(const arguments& args, asked_place place, std::chrono::nanoseconds budget, OfFiles of_files, OfCluster of_cluster)
  -> or_code<std::decay_t<decltype(*of_files(place.files))>> {
  if (!place.access) {
    auto got = of_files(place.files);
    if (!got)
      return tl::unexpected{refuse_input(args, audit::to_string(got.error()))};
    return std::move(*got);
  }
  auto cluster = audit_cluster{std::move(*place.access), budget};
  auto got = cluster.ask(of_cluster);
  if (!got) {
    auto why = to_problem(got.error(), verdict::failed);
    if (why.how != verdict::unreachable)
      why.how = verdict::failed; // a refused request is no answer, and 3 is one
    return tl::unexpected{refuse(args, why)};
  }
  return std::move(*got);
}

int judge(const arguments& args, std::chrono::nanoseconds budget) {
  if (args.manifests.empty() && args.kubeconfig.empty())
    return misuse(args, "egress judge wants files, or - for stdin, or --kubeconfig");
  const auto config = read_config(args);
  if (!config)
    return config.error();
  auto labels = read_labels(args);
  if (!labels)
    return labels.error();
  const auto of_template = labels->find(std::string{egress::template_label_key});
  if (of_template == labels->end())
    return misuse(args, "--labels are those of the pod, " + std::string{egress::template_label_key} + " among them");
  auto place = place_of(args);
  if (!place)
    return place.error();
  auto named = egress::translate(*config, {place->name_space, of_template->second}, at_commas(args.allowed_hosts));
  if (!named)
    return refuse(args, to_problem(named.error(), verdict::usage));
  const auto what = audit::egress_question{std::move(*named), {place->name_space, std::move(*labels)}};
  const auto got = answer(
    args, std::move(*place), budget, [&](const auto& files) { return audit::judge_files(files, what); },
    [&](egress::cluster& on, deadline until) { return audit::judge_cluster(on, config->engine, what, until); });
  return got ? report(args, audit::to_json(*got), audit::to_text(*got, what), audit::refusal_of(*got, what)) : got.error();
}

int check_fence(const arguments& args, std::chrono::nanoseconds budget) {
  const auto config = read_config(args);
  if (!config)
    return config.error();
  if (!config->per_sandbox)
    return misuse(args, args.egress_file + " has no perSandbox: there is no fence to prove");
  auto place = place_of(args);
  if (!place)
    return place.error();
  const auto what = egress::fence_question{*config->per_sandbox, place->name_space};
  const auto got = answer(
    args, std::move(*place), budget, [&](const auto& files) { return audit::check_fence_in(files, what); },
    [&](egress::cluster& on, deadline until) { return audit::check_fence_of(on, what, until); });
  return got ? report(args, audit::to_json(*got, what), audit::to_text(*got, what), got->missing) : got.error();
}

int check_ingress(const arguments& args, std::chrono::nanoseconds budget) {
  auto labels = read_labels(args);
  if (!labels)
    return labels.error();
  auto how = egress::ingress_config{};
  if (!args.engine.empty())
    how.engine = args.engine == to_string(egress::policy_engine::cilium) ? egress::policy_engine::cilium : egress::policy_engine::core;
  auto of_egress = std::optional<egress::egress_config>{};
  if (!args.egress_file.empty()) {
    auto config = read_config(args);
    if (!config)
      return config.error();
    of_egress = std::move(*config);
  }
  auto place = place_of(args);
  if (!place)
    return place.error();
  const auto engine = egress::engine_of(how, of_egress);
  const auto what = egress::ingress_question{"the pod", std::move(*labels), place->name_space, args.agent_port};
  const auto got = answer(
    args, std::move(*place), budget, [&](const auto& files) { return audit::check_ingress_in(files, engine, what); },
    [&](egress::cluster& on, deadline until) { return audit::check_ingress_of(on, engine, what, until); });
  return got ? report(args, audit::to_json(*got, what), audit::to_text(*got, what), got->refused) : got.error();
}

void add_place(CLI::App& verb, arguments& args) {
  verb.add_option("--namespace", args.name_space, "Of the pod (default with a cluster: that of the kubeconfig's context)");
  verb.add_option("--kubeconfig", args.kubeconfig, "Read the cluster that it names instead of files; nothing is written");
  verb.add_option("--context", args.context, "Of the kubeconfig (default: the current one)");
  verb.add_option("MANIFEST", args.manifests, "Files of YAML or JSON, - for stdin");
}

CLI::Option* add_list(CLI::App& verb, const std::string& name, std::vector<std::string>& to, const std::string& text) {
  return verb.add_option(name, to, text)->expected(1)->allow_extra_args(false)->take_all();
}

} // namespace

bool audit_verbs::parsed() const {
  return render->parsed() || judge->parsed() || fence->parsed() || ingress->parsed();
}

audit_verbs add_audit_verbs(CLI::App& on, arguments& args) {
  auto got = audit_verbs{};
  auto* egress = on.add_subcommand("egress", "What pods may reach, without a node: render, judge");
  egress->require_subcommand(1);
  got.render = egress->add_subcommand("render", "Print the policy that a configuration means, for kubectl apply");
  got.render->add_option("--egress", args.egress_file, "The configuration of egress, - for stdin")->required();
  got.render->add_option("--name", args.object_name, "Name of the object (default: as configured)");
  got.render->add_option("--namespace", args.name_space, "Of the pods (default: default)");
  got.render->add_option("--template", args.template_name, "The SandboxTemplate of the pods (default: default)");
  add_list(*got.render, "--allowed-hosts", args.allowed_hosts, "HOST,... that the resolver of the configuration would say");
  add_list(*got.render, "--per-sandbox", args.owners, "Also the policy of this sandbox: NAME=UID, or claim/NAME=UID of a SandboxClaim");
  add_list(*got.render, "--grant", args.granted_hosts, "HOST,... of the --per-sandbox policies");
  got.render->add_option("-o,--output", args.output, "yaml (default) or json")->check(CLI::IsMember({"yaml", "json"}));

  got.judge = egress->add_subcommand("judge", "Do all policies together keep a pod within its configuration? 3: they do not");
  got.judge->add_option("--egress", args.egress_file, "The configuration of egress, - for stdin")->required();
  got.judge->add_option("--labels", args.labels, "KEY=VALUE,... of the pod")->required();
  add_list(*got.judge, "--allowed-hosts", args.allowed_hosts, "HOST,... that the resolver of the configuration would say");
  add_place(*got.judge, args);

  auto* fence = on.add_subcommand("fence", "What bounds the policies that a host writes: check");
  fence->require_subcommand(1);
  got.fence = fence->add_subcommand("check", "Prove the admission fence, or say what mends it; 3: it does not hold");
  got.fence->add_option("--egress", args.egress_file, "The configuration of egress, - for stdin")->required();
  add_place(*got.fence, args);

  auto* ingress = on.add_subcommand("ingress", "Who reaches the agent in a pod: check");
  ingress->require_subcommand(1);
  got.ingress = ingress->add_subcommand("check", "Prove that only the host does, or say what mends it; 3: others do");
  got.ingress->add_option("--labels", args.labels, "KEY=VALUE,... of the pod")->required();
  got.ingress->add_option("--egress", args.egress_file, "The configuration of egress, whose engine counts");
  got.ingress->add_option("--engine", args.engine, "core or cilium (default: that of --egress, else core)")
    ->check(CLI::IsMember({"core", "cilium"}));
  got.ingress->add_option("--agent-port", args.agent_port, "Default 1024")->check(CLI::Range(1, 65535));
  add_place(*got.ingress, args);
  return got;
}

int run_audit(const audit_verbs& verbs, const arguments& args, std::chrono::nanoseconds budget) {
  if (args.egress_file == "-" && std::ranges::find(args.manifests, "-") != args.manifests.end())
    return misuse(args, "stdin is read once: for --egress or for MANIFEST");
  if (verbs.render->parsed())
    return render(args);
  if (verbs.judge->parsed())
    return judge(args, budget);
  if (verbs.fence->parsed())
    return check_fence(args, budget);
  return check_ingress(args, budget);
}

} // namespace paddock::cli
