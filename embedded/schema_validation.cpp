#include "embedded/schema_validation.hpp"

#include "embedded/cel.hpp"

#include <algorithm>
#include <re2/re2.h>
#include <set>

namespace paddock::embedded {

namespace {

using type = type_schema::type;

constexpr std::int64_t rule_cost = 1'000'000;

std::string_view type_text(type x) {
  switch (x) {
    case type::object: return "object";
    case type::array: return "array";
    case type::string: return "string";
    case type::integer: return "integer";
    case type::number: return "number";
    case type::boolean: return "boolean";
    case type::int_or_string: return "integer,string";
    case type::any: break;
  }
  return "any";
}

bool fits(type wanted, const json& value) {
  switch (wanted) {
    case type::object: return value.is_object();
    case type::array: return value.is_array();
    case type::string: return value.is_string();
    case type::integer: return value.is_number_integer();
    case type::number: return value.is_number();
    case type::boolean: return value.is_boolean();
    case type::int_or_string: return value.is_string() || value.is_number_integer();
    case type::any: break;
  }
  return true;
}

bool is_date_time(const std::string& text) {
  static const re2::RE2 form{
    R"(\d{4}-(0\d|1[0-2])-([0-2]\d|3[01])[Tt ]([01]\d|2[0-3]):[0-5]\d:([0-5]\d|60)(\.\d+)?([Zz]|[+-]([01]\d|2[0-3]):[0-5]\d))"};
  return text.size() <= 64 && re2::RE2::FullMatch(text, form);
}

/// Where a value stands: as a field, and as texts name it.
struct place {
  std::string field;
  std::string shown;
  [[nodiscard]] place member(const std::string& key) const {
    return {field.empty() ? key : field + "." + key, shown.empty() ? key : shown + "." + key};
  }
  [[nodiscard]] place item(std::size_t i) const {
    const auto index = "[" + std::to_string(i) + "]";
    return {field + index, shown + index};
  }
};

class form_checker {
public:
  void look(const type_schema& schema, const json& value, const place& at) {
    if (!fits(schema.is, value))
      return wrong_type(schema, value, at);
    if (value.is_string())
      look_at_text(schema, value.get_ref<const std::string&>(), at);
    else if (value.is_number_integer())
      look_at_number(schema, value, at);
    else if (value.is_array())
      look_at_items(schema, value, at);
    else if (value.is_object())
      look_at_members(schema, value, at);
  }

  std::vector<status_cause> out;

private:
  void wrong_type(const type_schema& schema, const json& value, const place& at) {
    // The type that was found stands where the value would.
    const auto found = in_quotes(value.is_number_integer() ? "integer" : value.type_name());
    out.push_back(
      field_type_invalid(at.field, found, said(at) + " in body must be of type " + std::string{type_text(schema.is)} + ": " + found));
  }

  static std::string said(const place& at) {
    return at.shown.empty() ? at.field : at.shown;
  }

  void look_at_text(const type_schema& schema, const std::string& text, const place& at) {
    if (!schema.words.empty() && std::find(schema.words.begin(), schema.words.end(), text) == schema.words.end())
      out.push_back(field_unsupported(at.field, in_quotes(text), schema.words));
    if (schema.format == "date-time" && !is_date_time(text))
      out.push_back(field_type_invalid(at.field, in_quotes(text), said(at) + " in body must be of type date-time: " + in_quotes(text)));
    if (schema.min_length && characters(text) < *schema.min_length)
      out.push_back(field_invalid(at.field, in_quotes(text),
                                  said(at) + " in body should be at least " + std::to_string(*schema.min_length) + " chars long"));
    else if (schema.max_length && characters(text) > *schema.max_length)
      out.push_back({"FieldValueTooLong", "Too long: may not be more than " + std::to_string(*schema.max_length) + " bytes", at.field});
    else if (schema.pattern && !re2::RE2::PartialMatch(text, *schema.pattern))
      out.push_back(field_invalid(at.field, in_quotes(text), said(at) + " in body should match '" + schema.pattern_text + "'"));
  }

  void look_at_number(const type_schema& schema, const json& value, const place& at) {
    const bool negative = value.is_number_integer() && !value.is_number_unsigned();
    const auto number = negative ? value.get<std::int64_t>() : std::int64_t{0};
    if (schema.minimum && negative && number < *schema.minimum)
      out.push_back(
        field_invalid(at.field, value.dump(), said(at) + " in body should be greater than or equal to " + std::to_string(*schema.minimum)));
    const auto limit = schema.format == "int32" ? std::uint64_t{INT32_MAX} : std::uint64_t{INT64_MAX};
    if (schema.is == type::integer
        && ((!negative && value.get<std::uint64_t>() > limit) || (schema.format == "int32" && number < INT32_MIN)))
      out.push_back(field_invalid(
        at.field, value.dump(), said(at) + " in body must be of type " + (schema.format == "int32" ? "int32" : "int64") + ": \"integer\""));
  }

  void look_at_items(const type_schema& schema, const json& value, const place& at) {
    if (schema.items == nullptr)
      return;
    for (std::size_t i = 0; i < value.size(); ++i)
      look(*schema.items, value[i], at.item(i));
    if (schema.list_keys.empty())
      return;
    std::set<std::string> seen;
    for (std::size_t i = 0; i < value.size(); ++i) {
      auto key = json::object();
      for (const auto& name : schema.list_keys)
        if (const auto* x = embedded::member(value[i], name))
          key[name] = *x;
      if (const auto text = encode_json(key); !seen.insert(text).second)
        out.push_back({"FieldValueDuplicate", "Duplicate value: " + text, at.item(i).field});
    }
  }

  void look_at_members(const type_schema& schema, const json& value, const place& at) {
    for (const auto& name : schema.required)
      if (!value.contains(name))
        out.push_back(field_required(at.member(name).field));
    for (const auto& [key, x] : value.items()) {
      const auto found = schema.members.find(key);
      if (const auto* below = found != schema.members.end() ? found->second : schema.values)
        look(*below, x, at.member(key));
    }
  }
};

// -- rules --------------------------------------------------------------------------------------------------------

class rule_scope final : public cel::scope {
public:
  rule_scope(const json& self, const json* old) : self_(self), old_(old) {
  }
  cel::evaluated find(std::string_view name) const override {
    if (name == "self")
      return cel::value::of(self_);
    if (name == "oldSelf" && old_ != nullptr)
      return cel::value::of(*old_);
    return tl::unexpected{"no such name: " + std::string{name}};
  }
  cel::evaluated variable(std::string_view name, cel::budget&) const override {
    return tl::unexpected{"no such variable: " + std::string{name}};
  }

private:
  const json& self_;
  const json* old_;
};

/// Nothing: the rule holds, or is about a change and there is none.
std::optional<std::string> broken(const schema_rule& rule, const json* before, const json& value) {
  if (before == nullptr && rule.expression.find("oldSelf") != std::string::npos)
    return std::nullopt;
  cel::environment known;
  known.names.emplace("self", cel::type{});
  known.names.emplace("oldSelf", cel::type{});
  const auto made = cel::program::compile(rule.expression, known);
  if (!made)
    return "the rule cannot be evaluated here: " + rule.expression;
  cel::budget cost{rule_cost};
  const auto got = made->run(rule_scope{value, before}, cost);
  const auto* holds = got ? got->as<bool>() : nullptr;
  if (holds != nullptr && *holds)
    return std::nullopt;
  return rule.message.empty() ? "failed rule: " + rule.expression : rule.message;
}

/// Follows the members that are there before and after; rules within lists and maps do not occur.
void look_at_rules(const type_schema& schema, const json* before, const json& value, const place& at, std::vector<status_cause>& out) {
  for (const auto& rule : schema.rules)
    if (auto why = broken(rule, before, value))
      out.push_back(field_invalid(at.field, value.is_structured() ? std::string{} : encode_json(value), *why));
  for (const auto& [name, below] : schema.members)
    if (const auto* x = member(value, name))
      look_at_rules(*below, before == nullptr ? nullptr : member(*before, name), *x, at.member(name), out);
}

} // namespace

std::vector<status_cause> validate(const type_schema& schema, const json* before, const json& value, const std::string& path) {
  form_checker form;
  form.look(schema, value, {path, ""});
  if (form.out.empty())
    look_at_rules(schema, before, value, {path, ""}, form.out);
  return std::move(form.out);
}

} // namespace paddock::embedded
