#pragma once

#include "embedded/list_options.hpp"
#include "embedded/presentation.hpp"
#include "embedded/request_options.hpp"
#include "embedded/resource_service.hpp"
#include "embedded/type_schema.hpp"

namespace paddock::embedded {

/// Carries out one request about objects, whose user may ask it: reads what was sent, asks the store, and writes the answer. Every
/// write passes the admission of the gate.
class servant {
public:
  struct surroundings {
    store& objects;
    const api_call& call;
    const request_target& target;
    const resource_path& where;
    const request_gate* gate;
    const access_attributes& what;
    store::instant now;
    representation shape;
  };

  explicit servant(surroundings of) : of_(std::move(of)), kind_(*of_.where.kind), kept_(kept_as(kind_)), shown_(kind_, of_.shape, of_.now) {
  }

  // -- objects ----------------------------------------------------------------------------------------------------

  outcome get();
  outcome create();
  outcome replace(store::part which);
  outcome patch(store::part which);
  /// A server-side apply; makes the object where it is absent.
  outcome apply(store::part which);
  outcome remove();
  /// Answers what is created to ask something.
  outcome review();

  // -- collections ------------------------------------------------------------------------------------------------

  outcome list();
  outcome watch();
  outcome remove_all();

  // -- subresources -----------------------------------------------------------------------------------------------

  outcome bind();
  outcome log();
  outcome token();
  outcome get_scale();
  outcome replace_scale();
  outcome patch_scale();

private:
  using edit = std::function<api_result<json>(const json&)>;

  struct read_patch {
    edit apply;
    std::vector<std::string> twice;
  };

  outcome create_applied(const json& config, const std::vector<std::string>& twice, const write_parameters& sent, write_options how);
  [[nodiscard]] edit json_patch_edit(json patch) const;
  /// The object that was sent, as it is kept.
  [[nodiscard]] json kept_form(json sent) const;
  [[nodiscard]] edit kept_edit(edit of) const;
  /// Why one that is made in the form of a view is refused.
  [[nodiscard]] std::optional<api_status> unfit_view(const json& made) const;
  /// A refusal of the store in the words of the kind that was asked for.
  [[nodiscard]] api_status shown_refusal(const api_status& why) const;
  /// The hook of a write. `name` is the object's, where the path names none.
  admission_hook admission(std::string_view operation, bool dry_run, std::string name = {});
  /// The patch that was sent. `form` is the type of the object that it changes; null: strategic merge is not for it.
  api_result<read_patch> read_change(const type_schema* form) const;
  api_result<write_options> options_of(std::string_view options, std::string_view operation, write_parameters& sent, bool applies = false);
  outcome finish(unsigned status, const api_result<written>& done, const write_parameters& sent, const std::vector<std::string>& twice);
  outcome write_scale(const edit& wanted, std::string_view options);
  /// The page that the query asks for, where its version is still known and has been reached.
  [[nodiscard]] api_result<list_query> asked_page() const;
  [[nodiscard]] list_position position_of(const listed& page, const list_query& query) const;
  [[nodiscard]] std::optional<api_status> behind(std::optional<std::uint64_t> at_least) const;

  surroundings of_;
  const resource_kind& kind_;
  const resource_kind& kept_; // as which the store has its objects
  presentation shown_;
  std::vector<std::string> warnings_; // of the policies
};

} // namespace paddock::embedded
