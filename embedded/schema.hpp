#pragma once

#include "embedded/object.hpp"
#include "embedded/resource.hpp"
#include "embedded/status.hpp"

#include <optional>
#include <string>
#include <vector>

namespace paddock::embedded {

// What an object of each kind may look like. An object goes through here in the order shape, prune, defaults, checks; each
// step relies on the one before.
//
// The members that a kind knows, and their types, are those of its schema (type_schema.hpp). Custom kinds are held against all of it;
// of the others this file has the rules that a schema cannot say.

/// Why the object cannot be read as one of `kind` at all (a label that is a number); nothing when it can.
[[nodiscard]] std::optional<api_status> misshapen(const resource_kind& kind, const json& object);

/// Takes out what the kind does not know and members that are null. Answers the paths of the unknown ones.
std::vector<std::string> prune(const resource_kind& kind, json& object);

/// Fills in what the server fills in.
void set_defaults(const resource_kind& kind, json& object);

/// What is wrong with an object that is being created.
[[nodiscard]] std::vector<status_cause> check_new(const resource_kind& kind, const json& object);

/// What is wrong with a change. With `status_only`, the change came by way of the subresource `status`.
[[nodiscard]] std::vector<status_cause> check_change(const resource_kind& kind, const json& before, const json& after, bool status_only);

// -- per kind -----------------------------------------------------------------------------------------------------

namespace schema {

/// What is said of a text that is no DNS label.
inline constexpr std::string_view label_text =
  "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric "
  "character (e.g. 'my-name',  or '123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')";

void default_custom(const resource_kind& kind, json& object);
/// Of spec (or status): its form first, the rules about changes only when the form is right.
std::vector<status_cause> check_custom(const resource_kind& kind, const json* before, const json& after, bool status_only);

std::optional<std::string> misshapen_core(const resource_kind& kind, const json& object);
void default_core(const resource_kind& kind, json& object);
std::vector<status_cause> check_core(const resource_kind& kind, const json* before, const json& after);

// ConfigMap, Secret, Event and Lease.
std::optional<std::string> misshapen_plain(const resource_kind& kind, const json& object);
void default_plain(const resource_kind& kind, json& object);
std::vector<status_cause> check_plain(const resource_kind& kind, const json* before, const json& after);

void default_network_policy(json& object);
std::vector<status_cause> check_network_policy(const json& after);

/// Names, labels, annotations, owners.
std::vector<status_cause> check_metadata(const resource_kind& kind, const json* before, const json& after);

} // namespace schema

} // namespace paddock::embedded
