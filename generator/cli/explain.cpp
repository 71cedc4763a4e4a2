// rocegen explain [CODE]: what a diagnostic code means, with an example and the fix.
#include <fmt/format.h>

#include <iterator>
#include <memory>
#include <string>
#include <vector>

#include "generator/cli/catalogue.h"
#include "generator/cli/commands.h"
#include "generator/spec/files.h"
#include "generator/spec/text.h"

namespace rocegen::cli {

namespace {

// `text` in lines of at most 80 columns; a line break in it stays.
std::string wrapped(std::string_view text, std::string_view indent) {
  constexpr std::size_t kColumns = 80;
  std::string out;
  while (!text.empty()) {
    const std::size_t line_end = std::min(text.find('\n'), text.size());
    std::size_t take = line_end;
    if (take + indent.size() > kColumns) {
      take = text.rfind(' ', kColumns - indent.size());
      if (take == std::string_view::npos || take == 0) take = std::min(text.find(' '), line_end);
    }
    out += indent;
    out += text.substr(0, take);
    out += '\n';
    text.remove_prefix(std::min(take + 1, text.size()));
  }
  return out;
}

// Examples are shown as they are.
std::string indented(std::string_view text, std::string_view indent) {
  std::string out(indent);
  for (const char c : text) {
    out += c;
    if (c == '\n') out += indent;
  }
  return out + "\n";
}

std::string list_of_codes() {
  std::string out;
  for (const spec::CodeInfo& info : catalogue()) {
    fmt::format_to(std::back_inserter(out), "{}  {}\n", info.code, info.title);
  }
  return out + "\n`rocegen explain CODE` says more about one of them\n";
}

std::string explanation(const spec::CodeInfo& info) {
  return fmt::format("{}: {}\n\n{}\nFor example:\n{}\nFix:\n{}", info.code, info.title, wrapped(info.explanation, ""),
                     indented(info.example, "  "), indented(info.fix, "  "));
}

int explain(const std::string& code) {
  spec::Diagnostics diagnostics;
  if (code.empty()) {
    const bool written = spec::write_stdout(list_of_codes(), diagnostics);
    spec::print(stderr, diagnostics);
    return written ? kDone : kBadInput;
  }
  const spec::CodeInfo* info = find_code(code);
  if (info == nullptr) {
    std::vector<std::string> known;
    for (const spec::CodeInfo& each : catalogue()) known.emplace_back(each.code);
    const std::string near = spec::nearest(code, known);
    fmt::print(stderr, "rocegen: no diagnostic has the code `{}`{}\n", spec::printable(spec::shorten(code, 40)),
               near.empty() ? ", `rocegen explain` lists them" : fmt::format(", did you mean {}?", near));
    return kUsage;
  }
  const bool written = spec::write_stdout(explanation(*info), diagnostics);
  spec::print(stderr, diagnostics);
  return written ? kDone : kBadInput;
}

}  // namespace

void add_explain(CLI::App& app, int& exit_code) {
  CLI::App* command = app.add_subcommand("explain", "explain a diagnostic code, or list all codes");
  auto code = std::make_shared<std::string>();
  command->add_option("CODE", *code, "code as printed in brackets, such as E0201");
  command->footer(examples({"rocegen explain", "rocegen explain E0201"}));
  command->callback([code, &exit_code] { exit_code = explain(*code); });
}

}  // namespace rocegen::cli
