#include "generator/services/preprocess/codes.h"

#include <array>

namespace rocegen::preprocess {

namespace {

constexpr std::array kCodes = {
    spec::CodeInfo{
        "E0540", "wrong shape of a row layout",
        "A preprocess service has \"columns\", a list of the columns of a row in their order, each \"label\", "
        "\"dense\", \"sparse\" or \"pad\" with how many there are; \"operators\", an object from columns to "
        "lists of operators; and \"output\", a list of columns. docs/services-preprocess.md describes them.",
        "\"columns\": [\"label\", \"numbers 13\"]", "\"columns\": [\"label\", \"dense 13\"]"},
    spec::CodeInfo{"E0541", "row that is too long", "A row has 1 to 1024 words of 32 bits.",
                   "\"columns\": [\"dense 2000\"]", "Send the row as several messages of shorter rows."},
    spec::CodeInfo{"E0542", "columns that the row does not have",
                   "Operators and output name columns by kind, all of them (\"dense\"), one (\"dense 3\") or a range "
                   "(\"dense 2..5\"), counted from 1. Words of kind pad have no operators and no place in the output.",
                   "\"columns\": [\"dense 13\"], \"operators\": { \"dense 14\": [] }",
                   "\"operators\": { \"dense 13\": [] }"},
    spec::CodeInfo{"E0543", "column with two lists of operators",
                   "The list of a whole kind counts for the columns that have none of their own. Two lists that name a "
                   "column alike contradict each other.",
                   "\"operators\": { \"dense 1..4\": [], \"dense 4\": [] }",
                   "\"operators\": { \"dense 1..3\": [], \"dense 4\": [] }"},
    spec::CodeInfo{"E0544", "unknown operator of a column",
                   "An operator is a name, or an object with one name and its arguments.",
                   "\"operators\": { \"dense\": [\"log2\"] }", "\"operators\": { \"dense\": [\"log1p\"] }"},
    spec::CodeInfo{"E0545", "wrong arguments of an operator",
                   "An operator got something else than it takes, or a number outside of its range. The message says "
                   "what is allowed.",
                   "{\"modulus\": 0}", "{\"modulus\": 8192}"},
    spec::CodeInfo{"E0546", "operator where it cannot stand",
                   "A column holds a whole number, signed in dense columns, until a logarithm or float32 makes a "
                   "floating-point number of it. fill_null looks at the word as it came and is the first; bfloat16 and "
                   "scale change the size of the column and are the last.",
                   "[\"log1p\", \"neg2zero\"]", "[\"neg2zero\", \"log1p\"]"},
    spec::CodeInfo{"E0547", "column that is twice in the output", "\"output\" names every column at most once.",
                   "\"output\": [\"dense 1\", \"dense\"]", "\"output\": [\"dense\"]"},
    spec::CodeInfo{"E0548", "row of which nothing is left", "The output of a row has at least one column.",
                   "\"columns\": [\"pad 16\"]", "\"columns\": [\"dense 4\", \"pad 12\"]"},
    spec::CodeInfo{
        "E0549", "order of the output that needs another beat",
        "Columns leave in the beat in which they come; nothing of a row is kept for later. So columns change "
        "places only within groups of gcd(words of a beat, words of a row) words, counted from the first word "
        "of the row. A row that fills whole beats has groups of a whole beat.",
        "40 words a row at 512 bits: \"output\": [\"sparse\", \"dense\"]",
        "\"output\": [\"dense\", \"sparse\"], or rows in the order that the output shall have"},
    spec::CodeInfo{
        "E0550", "preprocessing with selective recovery",
        "With transport.recovery \"selective\" packets behind a lost one go to memory before it. Which word of "
        "a row a packet begins with, and where its output goes, follows from the lengths of the packets in "
        "front of it, so that they must come in order.",
        "\"transport\": { \"recovery\": \"selective\" }, \"services\": [ { \"type\": \"preprocess\", ... } ]",
        "\"transport\": { \"recovery\": \"go_back_n\" }"},
    spec::CodeInfo{
        "E0551", "rows that cannot be read",
        "`rocegen preprocess` reads a file of rows: a line a row, a cell a column, separated by commas or tabs, "
        "a first line of names if there is one. Cells of dense and label columns are whole numbers, cells of "
        "sparse columns hexadecimal; empty cells are missing values, which the column's fill_null stands for.",
        "0,1,,x", "0,1,,5db9164"},
    spec::CodeInfo{"E0552", "hardware and evaluator disagree",
                   "`rocegen preprocess` ran the rows through the Verilated modules and found other bytes than the "
                   "evaluator has. That is a bug in rocegen (or in the simulator).",
                   "rocegen preprocess spec.json rows.csv", "Report it, with the specification and the rows."},
    spec::CodeInfo{"E0553", "specification without preprocessing",
                   "`rocegen preprocess` runs rows through the preprocess service of a specification; this one has none.",
                   "rocegen preprocess specs/nic_100g.json rows.csv",
                   "rocegen preprocess specs/nic_100g_recsys.json rows.csv"},
};

}  // namespace

std::span<const spec::CodeInfo> codes() { return kCodes; }

}  // namespace rocegen::preprocess
