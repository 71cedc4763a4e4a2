#include "generator/model/codes.h"

#include <array>

namespace rocegen::model {

namespace {

constexpr std::array kCodes = {
    spec::CodeInfo{"E0520", "a file that is no model",
                   "A model is XGBoost JSON, LightGBM text, the rules of IIsy, or the integer JSON of "
                   "docs/services-dpi.md. XGBoost's binary format is not read: its own program can save it as JSON.",
                   "rocegen model mushroom.model", "booster.save_model(\"mushroom.json\")"},
    spec::CodeInfo{"E0521", "a member of a model is missing or of the wrong kind",
                   "The message names the member and what is expected of it. In the integer JSON, unknown keys are "
                   "faults; other formats may have more than what is read.",
                   "{ \"format\": \"rocegen-model\", \"trees\": [] }", "Give the model at least one tree."},
    spec::CodeInfo{"E0522", "a tree that is none",
                   "Every test has two children that nothing else leads to. A node that is reached twice, or a child "
                   "that there is not, would make another function than the one that was trained.",
                   "{ \"feature\": 0, \"less\": 3, \"left\": 1, \"right\": 1 }",
                   "Give each side a node of its own; write the model out again if a program made it."},
    spec::CodeInfo{"E0523", "a feature that there is not",
                   "A test reads a feature by a number or name that the model does not have, or the names of the "
                   "features do not match their number.",
                   "{ \"feature\": 7, ... } in a model of 3 features", "Correct the number, or list the feature."},
    spec::CodeInfo{
        "E0524", "a model of a kind that is not read",
        "Boosters other than gbtree, dropped trees, averaged forests, linear leaves, and leaves with several "
        "values compute in other ways than a sum of trees. They are refused rather than read wrongly.",
        "\"name\": \"gblinear\"", "Train a sum of plain trees (gbtree, gbdt)."},
    spec::CodeInfo{"E0525", "a number that the hardware cannot hold",
                   "Thresholds, leaves and weights are finite, and their sum fits into 120 bits in fixed point.",
                   "leaf_value=nan", "Round the leaves: \"fraction_bits\" of the service, or --fraction-bits."},
    spec::CodeInfo{"E0526", "a categorical split that is broken",
                   "A split by categories names a set that there is not, or a category that no value can have.",
                   "cat_boundaries=0 9 with two words in cat_threshold", "Write the model out again."},
    spec::CodeInfo{"E0527", "layers that do not fit together",
                   "Each row of weights has one weight for every output of the layer before, or for every feature.",
                   "\"weights\": [[1, 0], [1]]", "Give every row as many weights as there are inputs."},
    spec::CodeInfo{
        "E0528", "arithmetic of a layer out of range",
        "Weights and biases are whole numbers up to 2^44, exponents -40 to 40, outputs 1 to 48 bits, sums up "
        "to 120 bits; roundings are floor, half_up and half_even, overflow saturates or wraps.",
        "\"rounding\": \"nearest\"", "\"rounding\": \"half_even\""},
    spec::CodeInfo{
        "E0529", "a decision that does not go with the scores",
        "One score is compared with thresholds (ascending), or its value is the class; of several scores the "
        "greatest decides. There are 2 to 16 classes.",
        "\"decision\": \"greatest\" with one score", "Leave \"decision\" out."},
    spec::CodeInfo{"E0530", "a line of a text model that is not understood",
                   "LightGBM's text is key=value; rules are `when CONDITIONS then CLASS;`.", "when src<11 then 2;",
                   "when src<=11.0 then 2;"},
};

}  // namespace

std::span<const spec::CodeInfo> codes() { return kCodes; }

}  // namespace rocegen::model
