#include "generator/model/share.h"

#include <algorithm>
#include <bit>
#include <cmath>

namespace rocegen::model {

void VariableSet::insert(int variable) {
  const auto word = static_cast<std::size_t>(variable) / 64;
  if (words_.size() <= word) words_.resize(word + 1);
  words_[word] |= std::uint64_t{1} << (static_cast<unsigned>(variable) % 64);
}

void VariableSet::erase(const VariableSet& other) {
  for (std::size_t i = 0; i < std::min(words_.size(), other.words_.size()); ++i) words_[i] &= ~other.words_[i];
}

bool VariableSet::contains(int variable) const {
  const auto word = static_cast<std::size_t>(variable) / 64;
  return word < words_.size() && (words_[word] >> (static_cast<unsigned>(variable) % 64) & 1) != 0;
}

bool VariableSet::empty() const {
  return std::all_of(words_.begin(), words_.end(), [](std::uint64_t w) { return w == 0; });
}

std::vector<int> VariableSet::members() const {
  std::vector<int> r;
  for (std::size_t i = 0; i < words_.size(); ++i) {
    for (std::uint64_t word = words_[i]; word != 0; word &= word - 1) {
      r.push_back(static_cast<int>(i) * 64 + std::countr_zero(word));
    }
  }
  return r;
}

VariableSet operator&(const VariableSet& a, const VariableSet& b) {
  VariableSet r;
  r.words_.resize(std::min(a.words_.size(), b.words_.size()));
  for (std::size_t i = 0; i < r.words_.size(); ++i) r.words_[i] = a.words_[i] & b.words_[i];
  return r;
}

VariableSet operator|(const VariableSet& a, const VariableSet& b) {
  VariableSet r = a.words_.size() >= b.words_.size() ? a : b;
  const VariableSet& other = a.words_.size() >= b.words_.size() ? b : a;
  for (std::size_t i = 0; i < other.words_.size(); ++i) r.words_[i] |= other.words_[i];
  return r;
}

namespace {

/// Above this many sums the search for pairs takes too long, and sharing is left out.
constexpr std::size_t kMostSums = 600;
/// Bits that an extraction must save; one more variable also costs depth.
constexpr int kLeastGain = 6;

int bits_of(double span) { return std::ilogb(std::max(span, 1.0)) + 1; }

struct Choice {
  int gain = 0;
  bool opposite = false;
};

class Sharer {
 public:
  Sharer(std::vector<SignedSum> sums, const std::vector<double>& spans, int depth)
      : spans_(spans), asked_(sums.size()), depth_(depth) {
    result_.sums = std::move(sums);
    result_.inputs = static_cast<int>(spans.size());
  }

  SharedSums run() {
    if (result_.sums.size() > kMostSums) return std::move(result_);
    for (std::size_t i = 0; i < result_.sums.size(); ++i) add_row(i);
    while (extract()) {
    }
    return std::move(result_);
  }

 private:
  SignedSum common(std::size_t i, std::size_t j, bool opposite) const {
    const SignedSum& a = result_.sums[i];
    const SignedSum& b = result_.sums[j];
    if (opposite) return {a.plus & b.minus, a.minus & b.plus};
    return {a.plus & b.plus, a.minus & b.minus};
  }

  /// Bits that need not be added if the part becomes a variable: it is added up once less, and enters twice.
  int gain(const SignedSum& part) const {
    int bits = 0;
    double span = 0;
    int count = 0;
    for (const auto* side : {&part.plus, &part.minus}) {
      for (const int v : side->members()) {
        bits += bits_of(spans_[static_cast<std::size_t>(v)]);
        span += spans_[static_cast<std::size_t>(v)];
        ++count;
      }
    }
    return count < 2 ? 0 : bits - 2 * bits_of(span);
  }

  Choice choose(std::size_t i, std::size_t j) const {
    const int same = gain(common(i, j, false));
    const int opposite = gain(common(i, j, true));
    return same >= opposite ? Choice{same, false} : Choice{opposite, true};
  }

  void add_row(std::size_t i) {
    choices_.emplace_back();
    for (std::size_t j = 0; j < i; ++j) choices_[i].push_back(choose(i, j));
  }

  void update_row(std::size_t row) {
    for (std::size_t k = 0; k < choices_.size(); ++k) {
      if (k < row) choices_[row][k] = choose(row, k);
      if (k > row) choices_[k][row] = choose(k, row);
    }
  }

  /// Longest chain of parts within parts, from sum number `row` down.
  int depth(std::size_t row) const {
    int deepest = 0;
    for (const auto* side : {&result_.sums[row].plus, &result_.sums[row].minus}) {
      for (const int v : side->members()) {
        if (v >= result_.inputs)
          deepest = std::max(deepest, 1 + depth(asked_ + static_cast<std::size_t>(v - result_.inputs)));
      }
    }
    return deepest;
  }

  bool too_deep() const {
    for (std::size_t i = 0; i < asked_; ++i) {
      if (depth(i) > depth_) return true;
    }
    return false;
  }

  /// Makes one common part a variable. False when none is worth it.
  bool extract() {
    std::size_t best_i = 0;
    std::size_t best_j = 0;
    Choice best;
    for (std::size_t i = 0; i < choices_.size(); ++i) {
      for (std::size_t j = 0; j < i; ++j) {
        if (choices_[i][j].gain <= best.gain) continue;
        best = choices_[i][j];
        best_i = i;
        best_j = j;
      }
    }
    if (best.gain < kLeastGain) return false;
    const SignedSum part = common(best_i, best_j, best.opposite);
    const int variable = static_cast<int>(spans_.size());
    const VariableSet all = part.plus | part.minus;
    double span = 0;
    for (const int v : all.members()) span += spans_[static_cast<std::size_t>(v)];
    spans_.push_back(span);
    const auto replace = [&](SignedSum& sum, bool negative) {
      sum.plus.erase(all);
      sum.minus.erase(all);
      (negative ? sum.minus : sum.plus).insert(variable);
    };
    const SignedSum old_i = result_.sums[best_i];
    const SignedSum old_j = result_.sums[best_j];
    replace(result_.sums[best_i], false);
    replace(result_.sums[best_j], best.opposite);
    result_.sums.push_back(part);
    if (too_deep()) {
      result_.sums.pop_back();
      result_.sums[best_i] = old_i;
      result_.sums[best_j] = old_j;
      spans_.pop_back();
      choices_[best_i][best_j].gain = 0;
      return true;
    }
    update_row(best_i);
    update_row(best_j);
    add_row(result_.sums.size() - 1);
    return true;
  }

  std::vector<double> spans_;
  std::size_t asked_;
  int depth_;
  SharedSums result_;
  std::vector<std::vector<Choice>> choices_;  ///< lower triangle
};

}  // namespace

SharedSums share_sums(std::vector<SignedSum> sums, const std::vector<double>& spans, int depth) {
  return Sharer(std::move(sums), spans, depth).run();
}

}  // namespace rocegen::model
