// Files of one generated variant: made in memory, then put in place as a whole.
#pragma once

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "generator/spec/diagnostic.h"

namespace rocegen::outputs {

/// Files by their path relative to the output folder, in the order of their making.
class FileSet {
 public:
  /// Adds a file. Throws std::logic_error when the path exists already (a fault of the generator).
  void add(std::string path, std::string content);
  const std::vector<std::pair<std::string, std::string>>& files() const { return files_; }
  const std::string* find(const std::string& path) const;

 private:
  std::vector<std::pair<std::string, std::string>> files_;
};

/// Puts `files` in place as the folder `target`: they are written into a fresh folder beside it, synced, and the
/// folders are exchanged in one step, so that a failing or killed run leaves the old output whole. Entries of the old
/// folder named in `keep` (results of other commands) move over. A folder that exists but was not written by rocegen
/// (no manifest.json) is not touched: E0501. File-system faults are E0502. True when done.
bool replace_folder(const std::filesystem::path& target, const FileSet& files, const std::vector<std::string>& keep,
                    spec::Diagnostics& diagnostics);

}  // namespace rocegen::outputs
