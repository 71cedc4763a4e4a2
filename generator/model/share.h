// Common parts of many sums: what several outputs of a dense layer add up alike is added up once.
#pragma once

#include <cstdint>
#include <vector>

namespace rocegen::model {

/// A set of variables, by index.
class VariableSet {
 public:
  void insert(int variable);
  void erase(const VariableSet& other);
  bool contains(int variable) const;
  bool empty() const;
  std::vector<int> members() const;
  friend VariableSet operator&(const VariableSet& a, const VariableSet& b);
  friend VariableSet operator|(const VariableSet& a, const VariableSet& b);

 private:
  std::vector<std::uint64_t> words_;
};

/// The sum of some variables less the sum of others.
struct SignedSum {
  VariableSet plus;
  VariableSet minus;
};

struct SharedSums {
  /// The sums that were asked for, in their order, then the common parts: sums[asked + k] is variable inputs + k.
  std::vector<SignedSum> sums;
  int inputs = 0;
};

/// Rewrites `sums` over variables 0 .. spans.size() - 1 so that parts that two of them have in common, up to the sign
/// of all, become variables of their own, as long as that saves bits to add. spans[v] is the greatest less the smallest
/// value of variable v, 1 or more. Parts lie within parts at most `depth` deep: each adds latency. Greedy: the pair
/// with the greatest gain first.
SharedSums share_sums(std::vector<SignedSum> sums, const std::vector<double>& spans, int depth);

}  // namespace rocegen::model
