#include "apps/paddock/print.hpp"

#include <algorithm>
#include <array>

namespace paddock::cli {

namespace {

using nlohmann::json;

std::string or_dash(const std::string& text) {
  return text.empty() ? "-" : text;
}

void print_json(std::ostream& out, const json& x) {
  out << x.dump(2, ' ', false, json::error_handler_t::replace) << '\n';
}

} // namespace

void print_table(std::ostream& out, const std::vector<std::vector<std::string>>& rows) {
  std::vector<std::size_t> width;
  for (const auto& row : rows) {
    width.resize(std::max(width.size(), row.size()));
    for (std::size_t i = 0; i < row.size(); ++i)
      width[i] = std::max(width[i], row[i].size());
  }
  for (const auto& row : rows) {
    for (std::size_t i = 0; i < row.size(); ++i)
      out << row[i] << (i + 1 < row.size() ? std::string(width[i] - row[i].size() + 2, ' ') : "");
    out << '\n';
  }
}

json to_json(const workspace_view& x) {
  auto out = identity_json(x);
  out["workspace"] = x.workspace;
  out["sandboxName"] = x.sandbox_name;
  out["template"] = x.template_name;
  if (!x.mode.empty())
    out["operatingMode"] = x.mode;
  if (!x.state.empty()) {
    out["state"] = x.state;
    out["origin"] = x.origin;
    out["templateCurrent"] = x.template_current;
  }
  if (x.created_at)
    out["createdAt"] = *x.created_at;
  if (x.mode_changed_at)
    out["operatingModeChangedAt"] = *x.mode_changed_at;
  if (x.holder_epoch)
    out["holderEpoch"] = *x.holder_epoch;
  if (x.template_revision)
    out["templateRevision"] = *x.template_revision;
  return out;
}

namespace {

/// Of a `workspace_view`, and of an `identity_view`.
template <class T>
json uids_of(const T& x) {
  auto out = json::object();
  if (!x.sandbox_uid.empty())
    out["sandboxUid"] = x.sandbox_uid;
  if (!x.pod_uid.empty())
    out["podUid"] = x.pod_uid;
  if (!x.guest_boot_id.empty())
    out["guestBootId"] = x.guest_boot_id;
  out["volumeClaimUids"] = x.volume_claim_uids;
  return out;
}

} // namespace

json identity_json(const workspace_view& x) {
  return uids_of(x);
}

json to_json(const policy_view& x) {
  auto out = json{{"workspace", x.workspace},
                  {"sandboxUid", x.sandbox_uid},
                  {"policy", x.policy},
                  {"stands", x.stands},
                  {"allowedHosts", x.allowed_hosts}};
  if (x.stands)
    out["spec"] = json::parse(x.spec, nullptr, false);
  return out;
}

json to_json(const node_info& x) {
  return {{"version", x.version},        {"protocol", x.protocol}, {"instance", x.instance}, {"namespace", x.name_space},
          {"template", x.template_name}, {"embedded", x.embedded}, {"shards", x.shards},     {"workspaces", x.workspaces}};
}

void print(std::ostream& out, format how, const workspace_view& x) {
  switch (how) {
    case format::json: print_json(out, to_json(x)); return;
    case format::name: out << x.workspace << '\n'; return;
    case format::table: break;
  }
  std::vector<std::vector<std::string>> rows = {{"workspace", x.workspace},
                                                {"sandbox", x.sandbox_name},
                                                {"template", or_dash(x.template_name)},
                                                {"mode", or_dash(x.mode)},
                                                {"state", or_dash(x.state)},
                                                {"origin", or_dash(x.origin)},
                                                {"created", x.created_at.value_or("-")},
                                                {"mode changed", x.mode_changed_at.value_or("-")},
                                                {"holder epoch", x.holder_epoch ? std::to_string(*x.holder_epoch) : "-"},
                                                {"sandbox uid", or_dash(x.sandbox_uid)},
                                                {"pod uid", or_dash(x.pod_uid)},
                                                {"guest boot id", or_dash(x.guest_boot_id)}};
  for (const auto& [entry, uid] : x.volume_claim_uids)
    rows.push_back({"disk " + entry, uid});
  print_table(out, rows);
}

void print_opened(std::ostream& out, format how, const opened_view& x) {
  if (how == format::json) {
    auto all = to_json(x.view);
    all["origin"] = x.origin;
    print_json(out, all);
  } else if (how == format::name) {
    out << x.view.workspace << '\n';
  } else {
    out << x.origin << '\n';
  }
}

void print_identity(std::ostream& out, format how, const workspace_view& x) {
  if (how == format::json) {
    print_json(out, identity_json(x));
    return;
  }
  if (how == format::name) {
    out << x.sandbox_uid << '\n';
    return;
  }
  std::vector<std::vector<std::string>> rows = {
    {"sandbox uid", or_dash(x.sandbox_uid)}, {"pod uid", or_dash(x.pod_uid)}, {"guest boot id", or_dash(x.guest_boot_id)}};
  for (const auto& [entry, uid] : x.volume_claim_uids)
    rows.push_back({"disk " + entry, uid});
  print_table(out, rows);
}

json to_json(const workspace_event& x) {
  auto out = json{{"number", x.number}, {"at", x.at}, {"event", x.what}, {"previous", uids_of(x.previous)}, {"current", uids_of(x.current)},
                  {"message", x.text}};
  if (!x.reason.empty())
    out["reason"] = x.reason;
  if (!x.agent.empty())
    out["agent"] = x.agent;
  return out;
}

void print_event(std::ostream& out, format how, const workspace_event& x) {
  switch (how) {
    case format::json: out << to_json(x).dump(-1, ' ', false, json::error_handler_t::replace) << '\n'; return;
    case format::name: out << x.what << '\n'; return;
    case format::table: break;
  }
  out << x.at << "  " << x.what << (x.reason.empty() ? "" : " (" + x.reason + ")") << ": " << x.text << '\n';
}

void print_events(std::ostream& out, format how, const std::vector<workspace_event>& all) {
  if (how != format::json) {
    for (const auto& x : all)
      print_event(out, how, x);
    return;
  }
  auto items = json::array();
  for (const auto& x : all)
    items.push_back(to_json(x));
  print_json(out, items);
}

void print_policy(std::ostream& out, format how, const policy_view& x) {
  if (how == format::json)
    return print_json(out, to_json(x));
  if (how == format::name) {
    for (const auto& host : x.allowed_hosts)
      out << host << '\n';
    return;
  }
  std::string hosts;
  for (const auto& host : x.allowed_hosts)
    hosts += (hosts.empty() ? "" : " ") + host;
  print_table(out, {{"POLICY", "SANDBOX-UID", "HOSTS"}, {x.stands ? x.policy : "-", x.sandbox_uid, or_dash(hosts)}});
}

void print_nodes(std::ostream& out, format how, const std::string& place, const node_info& x) {
  if (how == format::json) {
    auto one = to_json(x);
    one["address"] = place;
    print_json(out, json::array({one}));
  } else if (how == format::name) {
    out << x.instance << '\n';
  } else {
    print_table(out, {{"NODE", "ADDRESS", "VERSION", "CLUSTER", "NAMESPACE", "SHARDS", "WORKSPACES"},
                      {x.instance, place, x.version, x.embedded ? "embedded" : "kubernetes", x.name_space, std::to_string(x.shards),
                       std::to_string(x.workspaces)}});
  }
}

void print_problem(std::ostream& err, format how, const problem& x) {
  if (how == format::json) {
    auto details = json::parse(x.details, nullptr, false);
    if (details.is_discarded())
      details = json::object();
    err << json{{"reason", x.reason}, {"message", x.message}, {"details", details}}.dump(-1, ' ', false, json::error_handler_t::replace)
        << '\n';
    return;
  }
  auto message = x.message;
  std::replace(message.begin(), message.end(), '\n', ' ');
  err << "paddock: " << x.reason << ": " << message << '\n';
}

} // namespace paddock::cli
