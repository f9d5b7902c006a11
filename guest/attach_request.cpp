#include "guest/attach_request.hpp"

#include "guest/execution_registry.hpp"
#include "guest/execution_request.hpp"

namespace paddock::guest {

execution_attach_request read_execution_attach(const nlohmann::json& body) {
  auto result = execution_attach_request{};
  result.from = 0;
  if (!body.is_object())
    return result;
  if (auto id = body.find("executionId"); id != body.end() && id->is_string() && is_execution_id(id->get_ref<const std::string&>()))
    result.id = id->get<std::string>();
  if (auto from = body.find("fromOffset"); from != body.end())
    result.from = offset_of(*from);
  auto encoding = body.find("outputEncoding");
  result.as_base64 = encoding != body.end() && encoding->is_string() && encoding->get_ref<const std::string&>() == "base64";
  return result;
}

} // namespace paddock::guest
