// Reads a module that the dataflow compiler wrote, independently of it, and counts the registers between its ports.
#pragma once

#include <cctype>
#include <map>
#include <set>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace rocegen::dataflow::sample {

/// What the text says about every signal.
struct TextNetlist {
  struct Driver {
    bool registered = false;
    std::set<std::string> reads;
  };
  std::map<std::string, Driver> drivers;
  std::set<std::string> inputs;
  std::set<std::string> outputs;
  std::map<std::string, int> widths;
  int register_bits = 0;
};

/// Words, literals (one token each) and symbols; comments and compiler directives are left out.
inline std::vector<std::string> tokens_of(std::string_view text) {
  const auto word = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '$'; };
  std::vector<std::string> r;
  for (std::size_t i = 0; i < text.size();) {
    if (text.substr(i, 2) == "//" || text[i] == '`') {
      i = std::min(text.find('\n', i), text.size());
    } else if (word(text[i])) {
      std::size_t end = i;
      while (end < text.size() && (word(text[end]) || text[end] == '\'')) ++end;
      r.emplace_back(text.substr(i, end - i));
      i = end;
    } else if (text.substr(i, 2) == "<=") {
      r.emplace_back("<=");
      i += 2;
    } else {
      if (std::isspace(static_cast<unsigned char>(text[i])) == 0) r.emplace_back(1, text[i]);
      ++i;
    }
  }
  return r;
}

/// The subset that the compiler writes: ports, `logic` declarations, `assign`, and registers under `if (ce_i)`.
inline TextNetlist read_netlist(const std::string& text) {
  TextNetlist r;
  const auto tokens = tokens_of(text);
  const auto is_name = [](const std::string& t) {
    return std::isalpha(static_cast<unsigned char>(t[0])) != 0 && t.rfind("Mask", 0) != 0 && t.rfind("rom", 0) != 0 &&
           t.rfind("count", 0) != 0;
  };
  // An optional range at position i; returns the width and moves i behind it.
  const auto range = [&tokens](std::size_t& i) {
    if (tokens.at(i) != "[") return 1;
    const int width = std::stoi(tokens.at(i + 1)) + 1;
    i += 5;
    return width;
  };
  const auto drive = [&](std::size_t& i, std::string_view op, bool registered) {
    const std::string target = tokens.at(i);
    if (tokens.at(++i) != op) throw std::runtime_error("unexpected '" + tokens.at(i) + "' after " + target);
    if (r.drivers.contains(target)) throw std::runtime_error("two drivers of " + target);
    auto& driver = r.drivers[target];
    driver.registered = registered;
    if (registered) r.register_bits += r.widths.at(target);
    for (++i; tokens.at(i) != ";"; ++i) {
      if (is_name(tokens[i])) driver.reads.insert(tokens[i]);
    }
  };
  bool in_rank = false;
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    const std::string& t = tokens[i];
    if (t == "input" || t == "output") {
      i += 2;
      const int width = range(i);
      (t == "input" ? r.inputs : r.outputs).insert(tokens.at(i));
      r.widths[tokens[i]] = width;
    } else if (t == "function") {  // counters
      while (tokens.at(i) != "endfunction") ++i;
    } else if (t == "localparam" || t == "initial") {  // masks; tables, whose contents have no registers
      while (tokens.at(i) != (t == "initial" ? "end" : ";")) ++i;
    } else if (t == "logic") {
      ++i;
      const int width = range(i);
      for (; tokens.at(i) != ";"; ++i) {
        if (is_name(tokens[i])) r.widths[tokens[i]] = width;
      }
    } else if (t == "assign") {
      drive(++i, "=", false);
    } else if (t == "always_ff") {
      in_rank = true;
      while (tokens.at(i) != "ce_i") ++i;
      i += 2;  // ) begin
    } else if (in_rank) {
      if (t == "end") {
        in_rank = tokens.at(i - 1) == ";";  // the first `end` closes the if, the second the block
      } else {
        drive(i, "<=", true);
      }
    }
  }
  return r;
}

/// Register counts of all paths that end in `signal`; a constant has none.
inline const std::set<int>& depths(const TextNetlist& n, const std::string& signal,
                                   std::map<std::string, std::set<int>>& known) {
  const auto it = known.find(signal);
  if (it != known.end()) return it->second;
  std::set<int> r;
  if (n.inputs.contains(signal)) {
    r.insert(0);
  } else {
    const auto driver = n.drivers.find(signal);
    if (driver == n.drivers.end()) throw std::runtime_error("no driver of " + signal);
    for (const auto& read : driver->second.reads) {
      for (const int d : depths(n, read, known)) r.insert(d + (driver->second.registered ? 1 : 0));
    }
  }
  return known[signal] = r;
}

}  // namespace rocegen::dataflow::sample
