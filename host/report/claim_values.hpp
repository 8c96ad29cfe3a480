#pragma once
#include <cstddef>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "record/statistics.hpp"
#include "report/claim_evidence.hpp"
#include "report/draws.hpp"
#include "spec/claims_file.hpp"

namespace gnnbench {

/// A claim's numbers, by the names that its relations use.
using NumbersByName = std::map<std::string, Numbers>;

/// Whether all doubt about numbers is that of draws.
bool is_over_draws(std::span<const ResolvedCell* const> numbers);

/// What a claim's expression gives. Points into its arguments.
class ClaimValues {
public:
    ClaimValues(const PaperClaim& claim, const NumbersByName& numbers);

    /// One for each place, or the one that they are combined to.
    std::size_t wanted() const;

    /// Each with what is certain of it: two standard errors over draws, or the range that the numbers' intervals leave. Fewer
    /// than wanted where some number is a word, or a value is not finite.
    std::vector<Estimate> values() const;

private:
    const ResolvedCell& at(const std::string& name, std::size_t place) const;
    std::optional<double> value_at(std::size_t place, const ReadNumber& read) const;
    std::optional<Estimate> range_at(std::size_t place) const;
    std::vector<Estimate> over_draws() const;

    const PaperClaim& claim_;
    const NumbersByName& numbers_;
    std::vector<std::string> names_;  ///< in the expression
    Numbers used_;                    ///< theirs
    std::size_t places_ = 1;
};

}  // namespace gnnbench
