#include "embedded/request_body.hpp"
#include "embedded/resource_answer.hpp"
#include "embedded/resource_servant.hpp"
#include "embedded/scale.hpp"
#include "embedded/token_request.hpp"

namespace paddock::embedded {

outcome servant::bind() {
  auto how = read_write_parameters(of_.target, "CreateOptions");
  if (!how)
    return to_answer(how.error());
  auto body = read_body("Binding", false, of_.call.content_type, of_.call.body);
  if (!body)
    return to_answer(body.error());
  if (auto why = misfit(*builtin_type("Binding"), body->value, "Binding"))
    return to_answer(bad_request("Binding in version \"v1\" cannot be handled as a Binding: " + *why));
  if (const auto admit = admission("CREATE", how->dry_run))
    if (auto admitted = admit(&body->value, nullptr); !admitted)
      return to_answer(admitted.error());
  auto done = of_.objects.bind(of_.where.name_space, of_.where.name, body->value, of_.now, how->dry_run);
  return done ? done_answer(201) : to_answer(done.error());
}

outcome servant::log() {
  const auto pod = of_.objects.get(kind_, of_.where.name_space, of_.where.name);
  if (!pod)
    return to_answer(pod.error());
  auto what = read_log_request((*pod)->value(), of_.target, of_.now);
  if (!what)
    return to_answer(what.error());
  return std::move(*what);
}

outcome servant::token() {
  auto how = read_write_parameters(of_.target, "CreateOptions");
  if (!how)
    return to_answer(how.error());
  auto body = read_body("TokenRequest", false, of_.call.content_type, of_.call.body);
  if (!body)
    return to_answer(body.error());
  if (of_.gate == nullptr)
    return to_answer(internal_error("this server knows no tokens"));
  if (const auto admit = admission("CREATE", how->dry_run))
    if (auto admitted = admit(&body->value, nullptr); !admitted)
      return to_answer(admitted.error());
  auto made =
    answer_token_request(of_.gate->who().accounts(), of_.objects, of_.where.name_space, of_.where.name, std::move(body->value), of_.now);
  return made ? make_answer(201, encode_json(*made)) : to_answer(made.error());
}

// -- scale --------------------------------------------------------------------------------------------------------

outcome servant::get_scale() {
  const auto found = of_.objects.get(kind_, of_.where.name_space, of_.where.name);
  return found ? make_answer(200, encode_json(scale_of((*found)->value()))) : to_answer(found.error());
}

/// Changes the object by way of its Scale: policies are asked about that.
outcome servant::write_scale(const edit& wanted, std::string_view options) {
  write_parameters sent;
  auto how = options_of(options, "UPDATE", sent);
  if (!how)
    return to_answer(how.error());
  if (const auto admit = std::exchange(how->admit, {}))
    how->admit = [admit](const json* object, const json* old) {
      const auto after = scale_of(*object);
      const auto before = scale_of(*old);
      return admit(&after, &before);
    };
  const auto change_object = [&](const json& object) -> api_result<json> {
    auto scale = wanted(scale_of(object));
    if (!scale)
      return scale;
    return scaled(object, *scale);
  };
  const auto& at = of_.where;
  const auto done = of_.objects.update(kind_, at.name_space, at.name, store::part::main, store::form::patch, change_object, *how);
  if (!done)
    return to_answer(done.error());
  auto out = make_answer(200, encode_json(scale_of(done->object->value())));
  add_warnings(out, warnings_);
  return out;
}

outcome servant::replace_scale() {
  auto body = read_body("Scale", true, of_.call.content_type, of_.call.body);
  if (!body)
    return to_answer(body.error());
  return write_scale([&](const json&) -> api_result<json> { return body->value; }, "UpdateOptions");
}

outcome servant::patch_scale() {
  auto read = read_change(nullptr);
  if (!read)
    return to_answer(read.error());
  return write_scale(read->apply, "PatchOptions");
}

} // namespace paddock::embedded
