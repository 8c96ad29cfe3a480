#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace gnnbench {

/// One cell measured on two sides: seconds per epoch of each trial. Where `paired`, a[i] and b[i] were measured by turns
/// (see interleaved_pairs), so that what slowed the machine then slowed both. Else a difference between the sides may
/// be the machine's.
struct Samples {
    std::vector<double> a_s, b_s;
    bool paired = true;
};

enum class Judgement { faster, slower, same, unclear };
const char* to_text(Judgement judgement);  ///< "FASTER" …

/// How B compares with A.
struct Comparison {
    double a_s = 0, b_s = 0;   ///< medians of the samples
    double ratio = 1;          ///< b_s ÷ a_s
    double low = 1, high = 1;  ///< bootstrap 95% interval of the ratio
    double p = 1,
           corrected_p = 1;  ///< p of pairs this unequal if sides are equal; after Holm's correction. 1 unpaired
    Judgement judgement = Judgement::unclear;
    /// Pairs of trials needed for a clear verdict; 0 if there is one, or if no estimate is possible.
    std::int64_t trials_wanted = 0;
};

struct CompareRules {
    double level = 0.05;      ///< chance of any false FASTER or SLOWER among all cells compared
    double margin = 0.03;     ///< sides that differ by less are SAME
    double power = 0.9;       ///< probability that the suggested number of trials suffices
    std::int64_t fewest = 6;  ///< trials; with fewer there are numbers and no verdict
    std::uint64_t seed = 0;   ///< of the bootstrap
};

/// Judges all cells of a comparison together: each is tested by Wilcoxon's signed-rank test of the log ratios of pairs,
/// the p values corrected after Holm. FASTER and SLOWER need the corrected p within the level, ranks and ratio that
/// point the same way, an interval that leaves 1 out, and a ratio beyond the margin; SAME an interval within the
/// margin. Samples that are not paired have numbers and no verdict.
std::vector<Comparison> judge(std::span<const Samples> cells, const CompareRules& rules);

/// Wilcoxon's signed-rank test.
struct SignedRank {
    double p = 1;     ///< two-sided; exact up to 50 values other than 0, normal beyond
    double lean = 0;  ///< above 0: the ranks of positive values outweigh those of negative ones
};
SignedRank signed_rank(std::span<const double> differences);
/// Holm's step-down correction.
std::vector<double> holm(std::span<const double> p);
/// Pairs of trials that find a ratio of `ratio` beyond the margin under a spread (standard deviation of the log
/// ratio of a pair of trials), with the rules' power, when `cells` are compared.
std::int64_t trials_for(double ratio, double spread, std::int64_t cells, const CompareRules& rules);
/// That spread, from the samples: midway between the standard deviation and what a few outliers cannot move.
double spread_of(const Samples& samples);
/// The spread of normal times whose medians would be as uncertain as these samples': not less than spread_of(), and
/// more where times are multimodal, for example because of memory placement.
double spread_of_medians(const Samples& samples, const CompareRules& rules);

}  // namespace gnnbench
