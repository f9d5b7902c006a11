#include "client/result.hpp"

#include "messages/error.hpp"

namespace paddock::client {

problem node_gone(effect what) {
  return what == effect::reads ? make_problem(verdict::unreachable, "Unreachable", "the node went away before it answered")
                               : make_problem(verdict::unknown, "OutcomeUnknown",
                                              "the node went away before it answered; whether the request was carried out is not known");
}

} // namespace paddock::client
