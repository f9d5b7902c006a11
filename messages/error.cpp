#include "messages/error.hpp"

#include "messages/interfaces.hpp"

#include <caf/io/middleman.hpp>

namespace paddock {

caf::error to_error(problem x) {
  const auto how = x.how;
  return caf::make_error(how, std::move(x));
}

problem to_problem(const caf::error& x) {
  if (x.category() == caf::type_id_v<verdict>) {
    const auto context = x.context();
    if (context.match_elements<problem>())
      return context.get_as<problem>(0);
  }
  return {verdict::unknown, "OutcomeUnknown",
          "the node could not finish the request, and whether it was carried out is not known (" + to_string(x) + ")", "{}"};
}

problem make_problem(verdict how, std::string reason, std::string message) {
  return {how, std::move(reason), std::move(message), "{}"};
}

void register_messages() {
  caf::init_global_meta_objects<caf::id_block::paddock>();
  caf::init_global_meta_objects<caf::id_block::paddock_handles>();
  caf::io::middleman::init_global_meta_objects();
  caf::core::init_global_meta_objects();
}

} // namespace paddock
