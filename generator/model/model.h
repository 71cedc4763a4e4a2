// A trained model as integers: what the readers make of a file, and what becomes hardware.
//
// Every feature is an unsigned integer of the packet, or missing. A test of a tree is therefore a range of integers,
// whatever comparison and threshold the file had: the reader rewrites it once, exactly. Sums of leaves are fixed point.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace rocegen::model {

/// Wide enough for the exact sum of leaves that a file gives as doubles.
__extension__ using Wide = __int128;

/// Widest feature in bits.
inline constexpr int kMaxFeatureBits = 48;
/// A bound that no feature reaches.
inline constexpr std::uint64_t kNoBound = std::uint64_t{1} << kMaxFeatureBits;
/// Values from here on are no categories (XGBoost: categories are below 2^24, being float32).
inline constexpr std::uint64_t kMaxCategory = std::uint64_t{1} << 24U;
/// Most classes of a verdict.
inline constexpr int kMaxClasses = 16;
/// Widest score in bits.
inline constexpr int kMaxScoreBits = 120;

struct Feature {
  std::string name;  ///< as the file says, or "f<index>"
  int bits = 0;      ///< width if the file says it, else 0: whoever uses the model does
  bool used = false;
};

/// One node of a tree: a leaf, or a test that sends a value to the left when it holds.
struct Node {
  bool leaf = false;
  int feature = 0;
  bool categorical = false;
  std::uint64_t low = 0;  ///< left when low <= x < high
  std::uint64_t high = 0;
  std::vector<std::uint64_t> categories;  ///< categorical: left when x is one of them (ascending)
  bool inverted = false;                  ///< categorical: left when x is none of them
  bool missing_left = false;              ///< where a missing value goes
  int left = 0;
  int right = 0;
  double value = 0;  ///< leaf: what it adds to its score, as the file says
  Wide fixed = 0;    ///< leaf: the same, in units of 2^-Forest::fraction_bits
};

struct Tree {
  int score = 0;            ///< index of the score that it adds to
  std::vector<Node> nodes;  ///< the root first; children behind their parents
};

/// A sum of trees.
struct Forest {
  std::vector<Tree> trees;
  std::vector<double> base;      ///< by score, as the file says
  std::vector<Wide> base_fixed;  ///< by score
  int fraction_bits = 0;         ///< of all scores
  bool exact = true;             ///< no leaf was rounded
  bool float32 = false;          ///< the file's own program adds leaves up in float32 (XGBoost), else in double
};

enum class Rounding { floor, half_up, half_even };
enum class Overflow { saturate, wrap };

/// A dense layer over integers: y[o] = fit(round((bias[o] + sum of weights[o][i] x[i]) * 2^shift[o])).
struct Layer {
  std::vector<std::vector<std::int64_t>> weights;  ///< [output][input]
  std::vector<std::int64_t> bias;
  std::vector<int> shift;
  bool linear = false;  ///< no rounding and no limits: the sums are the outputs (shift >= 0)
  bool relu = false;    ///< outputs are not negative: `bits` unsigned bits, else two's complement
  int bits = 0;
  Rounding rounding = Rounding::half_even;
  Overflow overflow = Overflow::saturate;

  int inputs() const { return static_cast<int>(weights[0].size()); }
  int outputs() const { return static_cast<int>(weights.size()); }
};

enum class Decision {
  thresholds,  ///< the class is how many thresholds the one score exceeds
  greatest,    ///< the class is the index of the greatest score, the first of equals
  value        ///< the class is the score itself
};

struct Model {
  std::string format;  ///< "XGBoost JSON", ...
  std::string name;
  std::string objective;  ///< what the file says it was trained for, or empty
  std::vector<Feature> features;
  Forest forest;              ///< trees, or
  std::vector<Layer> layers;  ///< layers, if there are any
  int scores = 1;
  Decision decision = Decision::thresholds;
  std::vector<double> thresholds = {0};  ///< ascending, in the score's own unit
  int classes = 2;

  bool network() const { return !layers.empty(); }
};

/// Value of a feature, or missing.
using Sample = std::vector<std::optional<std::uint64_t>>;

/// The leaves in fixed point of the fewest fraction bits that hold them all exactly, or rounded half to even to
/// `fraction_bits` if given. False if that takes more than kMaxScoreBits.
bool fix_point(Model& model, std::optional<int> fraction_bits = std::nullopt);

/// Largest magnitude that a score may reach, in its fixed-point unit.
Wide score_limit(const Forest& forest, int score);

/// `value` * 2^fraction_bits, rounded half to even; exact if that is whole. The value must fit.
Wide to_fixed(double value, int fraction_bits);

/// Thresholds in units of the score: a score s exceeds thresholds[i] exactly if s > result[i].
std::vector<Wide> fixed_thresholds(const Model& model);

// ---- evaluation, from the definitions above and nothing else -----------------------------------------------------

/// Index of the leaf in which a sample ends.
int find_leaf(const Tree& tree, const Sample& sample);

/// Scores in units of 2^-fraction_bits.
std::vector<Wide> scores(const Model& model, const Sample& sample);

/// Scores of a forest as the program that wrote the file computes them: floats added in its order.
std::vector<double> float_scores(const Model& model, const Sample& sample);

/// The class.
int decide(const Model& model, const Sample& sample);

}  // namespace rocegen::model
