#include "apps/paddock/completion.hpp"

namespace paddock::cli {

namespace {

std::string joined(const std::vector<std::string>& words) {
  std::string out;
  for (const auto& x : words)
    out += (out.empty() ? "" : " ") + x;
  return out;
}

std::string names(const std::vector<verb_words>& verbs) {
  std::vector<std::string> out;
  for (const auto& x : verbs)
    out.push_back(x.name);
  return joined(out);
}

std::string bash(const std::vector<verb_words>& verbs) {
  auto out = std::string{"_paddock() {\n  local word=${COMP_WORDS[COMP_CWORD]} verb= i\n"
                         "  for ((i = 1; i < COMP_CWORD; i++)); do\n    case ${COMP_WORDS[i]} in\n"};
  for (const auto& x : verbs)
    out += "      " + x.name + ") verb=" + x.name + " ;;\n";
  out += "    esac\n    [[ -z $verb ]] || break\n  done\n  case $verb in\n";
  for (const auto& x : verbs)
    out += "    " + x.name + ") mapfile -t COMPREPLY < <(compgen -W '" + joined(x.options) + "' -- \"$word\") ;;\n";
  return out + "    *) mapfile -t COMPREPLY < <(compgen -W '" + names(verbs)
         + "' -- \"$word\") ;;\n  esac\n}\ncomplete -o default -F _paddock paddock\n";
}

std::string zsh(const std::vector<verb_words>& verbs) {
  auto out = std::string{"#compdef paddock\n_paddock() {\n  local verb word\n  for word in ${words[2,CURRENT-1]}; do\n    case $word in\n"};
  for (const auto& x : verbs)
    out += "      " + x.name + ") verb=" + x.name + "; break ;;\n";
  out += "    esac\n  done\n  case $verb in\n";
  for (const auto& x : verbs)
    out += "    " + x.name + ") compadd -- " + joined(x.options) + "; _files ;;\n";
  return out + "    *) compadd -- " + names(verbs) + " ;;\n  esac\n}\ncompdef _paddock paddock\n";
}

std::string fish(const std::vector<verb_words>& verbs) {
  auto out = "complete -c paddock -f -n __fish_use_subcommand -a '" + names(verbs) + "'\n";
  for (const auto& x : verbs)
    for (const auto& option : x.options)
      if (option.starts_with("--"))
        out += "complete -c paddock -n '__fish_seen_subcommand_from " + x.name + "' -l " + option.substr(2) + "\n";
  return out;
}

} // namespace

std::optional<std::string> completion(const std::string& shell, const std::vector<verb_words>& verbs) {
  if (shell == "bash")
    return bash(verbs);
  if (shell == "zsh")
    return zsh(verbs);
  if (shell == "fish")
    return fish(verbs);
  return std::nullopt;
}

} // namespace paddock::cli
