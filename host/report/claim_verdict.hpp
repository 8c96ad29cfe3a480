#pragma once
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "report/resolved_table.hpp"
#include "spec/claims_file.hpp"

namespace gnnbench {

/// In the order in which they replace each other where a claim has several relations: the last one counts.
enum class Ruling { reproduced, within_2, undecided, contradicted, fitted };
std::string_view to_text(Ruling ruling);

/// What decides a claim: numbers that were measured, or simulated ones.
enum class EvidenceKind { measured, simulated };

struct ClaimVerdict {
    Ruling ruling = Ruling::undecided;
    std::string
        setting;  ///< "paper's setting", "scaled", "counted", "SIMULATED on dgx-v100"; empty: there are no numbers
    std::string ours;  ///< the numbers that were compared, as text
    std::string why;   ///< it is undecided or wrong
    std::vector<const ResolvedCell*> places;
};

struct JudgedClaim {
    const PaperClaim* claim = nullptr;
    ClaimVerdict measured, simulated;
    /// The measured verdict where there is one, else the simulated one.
    const ClaimVerdict& decisive() const { return measured.ruling != Ruling::undecided ? measured : simulated; }
};

/// The places of a table, by row and column, that hold measured or simulated numbers. Of measured ones those of the
/// paper's setting go before others. Null where a table has none.
using FindPlace = std::function<const ResolvedCell*(const std::string& table, const std::string& row,
                                                    const std::string& column, EvidenceKind kind)>;

JudgedClaim judge(const PaperClaim& claim, const FindPlace& find);

/// What the claim states, as text: "plain ÷ overlapped = 1.27", "a < b".
std::string stated(const PaperClaim& claim);

}  // namespace gnnbench
